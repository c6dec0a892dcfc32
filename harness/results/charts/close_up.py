"""One run looked at closely, thinned to what a screen can show: a million jobs leave a few hundred kilobytes."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from harness.results.charts.gantt import Gantt, gantt
from harness.results.charts.log_comparison import Compared, against_log
from harness.results.charts.thinning import Floats, distribution, instants

if TYPE_CHECKING:
    from harness.results.charts.log_comparison import Replay
    from harness.results.schedule import Schedule

#: Classes of width [processors] and of length [s]: each up to and including the number.
WIDTHS = (1, 4, 16, 64, 256, 1024, np.inf)
LENGTHS = (60, 600, 3600, 3 * 3600, 12 * 3600, np.inf)

#: Shorter waits are drawn as this long: a logarithmic axis has no zero [s].
SHORTEST = 1.0

#: Averages over time are over so many parts of a run.
STEPS = 96

_SHOWN = ("queued", "running", "busy", "wasted", "rate", "power", "asleep", "switching", "down")


@dataclass(frozen=True)
class CloseUp:
    """One run, as far as charts need it."""

    workload: str
    policy: int  # its place in the ranking
    scheduler: str
    procs: int
    nodes: int
    jobs: int
    waits: tuple[Floats, Floats]  # distribution [s]
    slowdowns: tuple[Floats, Floats]  # distribution of bounded slowdowns
    classes: pd.DataFrame  # mean wait [s] and number of jobs by class of width and length
    timeline: pd.DataFrame  # `day` since the first submit, and the columns that say anything
    averages: pd.DataFrame  # the same over equal times: `busy`, `power`
    exact: bool  # whether those are of all instants of the run, or of those that were kept
    gantt: Gantt | None = None
    against_log: Compared | str = ""  # or why it cannot be compared

    @property
    def title(self) -> str:
        """Name the run."""
        return f"{self.workload} · {self.scheduler}"


def close_up(
    schedule: "Schedule", replay: "Replay", workload: str, scheduler: str, policy: int, rectangles: int, pairs: int
) -> CloseUp:
    """Thin a run that was made with its timeline, and that `replay` repeats, to what a page shows of it."""
    return replace(
        overview(schedule, workload, scheduler, policy),
        gantt=gantt(schedule, replay, rectangles),
        against_log=against_log(schedule, replay, pairs),
    )


def overview(schedule: "Schedule", workload: str, scheduler: str, policy: int = 0) -> CloseUp:
    """Thin a run that was made with its timeline to what can be drawn of it without repeating it."""
    ran = schedule.ran
    return CloseUp(
        workload,
        policy,
        scheduler,
        schedule.platform.cores,
        schedule.platform.nodes,
        len(schedule.workload),
        distribution(np.maximum(ran["wait"], SHORTEST)),
        distribution(ran["bounded_slowdown"]),
        _classes(ran),
        _timeline(schedule),
        averages(schedule.timeline),
        schedule.samples is not None and schedule.samples.whole,
    )


def _classes(ran: pd.DataFrame) -> pd.DataFrame:
    width = np.searchsorted(WIDTHS, ran["procs"])
    length = np.searchsorted(LENGTHS, ran["run"])
    grouped = ran["wait"].groupby([width, length])
    return pd.DataFrame({"wait": grouped.mean(), "jobs": grouped.size()}).rename_axis(["width", "length"])


def _timeline(schedule: "Schedule") -> pd.DataFrame:
    """Leave out rates that never change, nodes that never sleep, and power that nobody knows."""
    whole = schedule.timeline
    constant = {"rate": 1.0, "asleep": 0, "switching": 0, "down": 0}
    says = [
        name
        for name in _SHOWN
        if not (name in constant and (whole[name] == constant[name]).all()) and not whole[name].isna().all()
    ]
    thinned = instants(whole[["time", *says]])
    thinned.insert(0, "day", (thinned.pop("time") - whole["time"].iloc[0]) / 86400)
    return thinned


def averages(timeline: pd.DataFrame, steps: int = STEPS) -> pd.DataFrame:
    """Return busy processors and power, averaged over equal parts of the run; `day` is where each begins."""
    time = timeline["time"].to_numpy()
    edges = np.linspace(time[0], time[-1], steps + 1)
    table = pd.DataFrame({"day": (edges[:-1] - time[0]) / 86400})
    for name in ("busy", "power"):
        if not timeline[name].isna().all():
            # What has accumulated by every instant grows evenly until the next.
            gone = np.concatenate([[0.0], np.cumsum(timeline[name].to_numpy()[:-1] * np.diff(time))])
            table[name] = np.diff(np.interp(edges, time, gone)) / max(edges[1] - edges[0], 1e-9)
    return table
