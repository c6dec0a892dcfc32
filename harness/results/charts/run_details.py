"""One run in detail, thinned for a screen: a few hundred kilobytes for a million jobs."""

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

#: Shorter waits are drawn as this long, because a logarithmic axis has no zero [s].
SHORTEST = 1.0

#: The number of equal parts of a run for averages over time.
STEPS = 96

_SHOWN = ("queued", "running", "busy", "wasted", "rate", "power", "asleep", "switching", "down")


@dataclass(frozen=True)
class RunDetails:
    """The data of one run that charts need."""

    workload: str
    policy: int  # its rank, from 0
    scheduler: str
    procs: int
    nodes: int
    jobs: int
    waits: tuple[Floats, Floats]  # distribution [s]
    slowdowns: tuple[Floats, Floats]  # distribution of bounded slowdowns
    classes: pd.DataFrame  # mean wait [s] and number of jobs by class of width and length
    timeline: pd.DataFrame  # `day` since the first submit, and the columns that are not constant
    averages: pd.DataFrame  # `busy` and `power`, averaged over equal parts of the run
    exact: bool  # whether the averages are over all instants of the run, not a thinned timeline
    gantt: Gantt | None = None
    against_log: Compared | str = ""  # or the reason why it cannot be compared

    @property
    def title(self) -> str:
        """The title of the run."""
        return f"{self.workload} · {self.scheduler}"


def run_details(
    schedule: "Schedule", replay: "Replay", workload: str, scheduler: str, policy: int, rectangles: int, pairs: int
) -> RunDetails:
    """Return the data for a page from a run with a timeline; `replay` repeats the run."""
    return replace(
        run_overview(schedule, workload, scheduler, policy),
        gantt=gantt(schedule, replay, rectangles),
        against_log=against_log(schedule, replay, pairs),
    )


def run_overview(schedule: "Schedule", workload: str, scheduler: str, policy: int = 0) -> RunDetails:
    """Return the data that a run with a timeline gives without repeating it."""
    ran = schedule.ran
    return RunDetails(
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
    """Return the thinned timeline, without constant columns and unknown power."""
    whole = schedule.timeline
    constant = {"rate": 1.0, "asleep": 0, "switching": 0, "down": 0}
    shown = [
        name
        for name in _SHOWN
        if not (name in constant and (whole[name] == constant[name]).all()) and not whole[name].isna().all()
    ]
    thinned = instants(whole[["time", *shown]])
    thinned.insert(0, "day", (thinned.pop("time") - whole["time"].iloc[0]) / 86400)
    return thinned


def averages(timeline: pd.DataFrame, steps: int = STEPS) -> pd.DataFrame:
    """Return busy processors and power, averaged over equal parts of the run; `day` is the beginning of each part."""
    time = timeline["time"].to_numpy()
    edges = np.linspace(time[0], time[-1], steps + 1)
    table = pd.DataFrame({"day": (edges[:-1] - time[0]) / 86400})
    for name in ("busy", "power"):
        if not timeline[name].isna().all():
            # The integral grows linearly from each instant to the next.
            integral = np.concatenate([[0.0], np.cumsum(timeline[name].to_numpy()[:-1] * np.diff(time))])
            table[name] = np.diff(np.interp(edges, time, integral)) / max(edges[1] - edges[0], 1e-9)
    return table
