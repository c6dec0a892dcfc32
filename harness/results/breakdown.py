"""Break down the difference between a replay and its log by jobs, and measure waiting that no queue explains.

The error Σ (V − v)² is divided among cells of jobs: by user, group, queue, width, requested time, and the hour, weekday
and month of submission. Each cell also has the share of its logged waiting during which the job would have fit on the
free processors of the logged schedule. It has the hour and weekday at which most of its waiting jobs started, too. A
site rule that lets long jobs start in the evening shows in both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.results.adequacy import ROUNDING, logged_stream, simulated_stream
from harness.workload.occupation import Occupation
from harness.workload.wall_clock import DAYS, WallClock

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

#: Shorter waits are ignored for the hour of start: those end soon after the submission [s].
_WAITED = 900.0

#: The hour of start is given only for cells with at least this many waiting jobs.
_ENOUGH = 30

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Departure:
    """The first job with another start than in the log, and the state of the logged machine at that time."""

    job: int
    procs: int
    estimate: float  # [s]
    submit: float  # [s]
    logged: float  # its start [s]
    replayed: float
    waiting: int  # jobs in the logged queue, including this one
    ahead: int  # of them, those submitted before it
    free: int  # processors


@dataclass(frozen=True, eq=False)
class Breakdown:
    """The differences between a replay and its log, by cells of jobs.

    `cells` has a row for each cell: `by`, `cell`, `jobs`, `share` of the jobs, `error` (share of the squared error),
    `bias` (mean of V − v [s]), `fitting` (share of the logged waiting during which the job would have fit). For the
    jobs that waited it has the most frequent `hour` of the day and `weekday` of their starts, with their shares.
    """

    cells: pd.DataFrame
    departure: Departure | None
    fitting: float  # share of all logged waiting; not a number if no job waited
    procs: int
    peak: int  # the most processors busy at once, by the log

    def most_important(self, count: int = 12) -> pd.DataFrame:
        """Return the `count` most important cells: those with much of the error in few jobs."""
        lift = self.cells["error"] / self.cells["share"]
        weight = self.cells["error"] * np.log(lift.clip(lower=1.0))
        order = np.argsort(-weight.to_numpy(), kind="stable")
        return self.cells.iloc[order[: min(count, int((weight > 0).sum()))]].reset_index(drop=True)


def breakdown(schedule: "Schedule") -> Breakdown:
    """Return the breakdown of a replay against the log that it replays."""
    workload = schedule.workload
    ours, theirs = simulated_stream(schedule), logged_stream(workload)
    jobs = workload.jobs.take(np.argsort(workload.jobs["submit"].to_numpy(), kind="stable"))
    start = theirs.submit + theirs.wait
    machine = Occupation(theirs.submit, start, theirs.submit + theirs.residence, theirs.procs)
    procs = schedule.platform.cores
    frame = pd.DataFrame(
        {
            "off": ours.residence - theirs.residence,
            "wait": theirs.wait,
            "fitting": machine.fitting(procs),
            "start": start,
        }
    )
    clock = WallClock.of(workload.header)
    if clock.beyond(start):
        clock = WallClock(None, clock.zone)
    total = float((frame["off"] ** 2).sum())
    rows = [
        {"by": by, "cell": label, **_cell(frame[members], len(frame), total, clock)}
        for by, keys, told in _groupings(jobs, theirs.submit, clock)
        for label, members in _members(keys, told)
    ]
    waiting = float(theirs.wait.sum())
    return Breakdown(
        pd.DataFrame(rows),
        _departure(schedule, jobs, machine, theirs.submit + ours.wait, procs),
        float(frame["fitting"].sum()) / waiting if waiting > 0 else float("nan"),
        procs,
        machine.peak,
    )


def _groupings(jobs: pd.DataFrame, submit: Floats, clock: WallClock) -> Iterator[tuple[str, Any, Any]]:
    """Yield the criteria for groups of jobs: the name, a key for each job, and the function that formats a key."""
    for name in ("user", "group", "queue"):
        if name in jobs and (jobs[name] >= 0).any():
            yield name, jobs[name].to_numpy(), str
    width = np.ceil(np.log2(jobs["procs"].to_numpy())).astype(int)
    yield "width [procs]", width, lambda k: "1" if k <= 0 else "2" if k == 1 else f"{2 ** (k - 1) + 1}–{2**k}"
    hours = np.ceil(np.log2(np.maximum(jobs["estimate"].to_numpy(), 1.0) / 3600)).astype(int)
    yield (
        "requested time [h]",
        np.maximum(hours, -3),
        lambda k: f"up to {2.0**k:g}" if k <= -3 else f"{2.0 ** (k - 1):g}–{2.0**k:g}",
    )
    dated = clock.start is not None
    yield "hour submitted", clock.hours(submit), lambda k: f"{k}–{k + 1} h"
    yield "weekday submitted", clock.weekdays(submit), lambda k: DAYS[k] if dated else f"day {k + 1}"
    yield "month submitted", clock.months(submit), lambda k: f"{k // 100}-{k % 100:02d}" if dated else f"month {k}"


def _members(keys: Any, told: Any) -> Iterator[tuple[str, Any]]:
    values, place = np.unique(keys, return_inverse=True)
    if len(values) > 1:
        for number, value in enumerate(values.tolist()):
            yield told(value), place == number


def _cell(part: pd.DataFrame, jobs: int, total: float, clock: WallClock) -> dict[str, Any]:
    waiting = float(part["wait"].sum())
    began = part["start"][part["wait"] >= _WAITED].to_numpy()
    told: dict[str, Any] = dict.fromkeys(("hour", "hour_share", "weekday", "weekday_share"))
    if len(began) >= _ENOUGH:
        for name, values in (("hour", clock.hours(began)), ("weekday", clock.weekdays(began))):
            counts = np.bincount(values)
            told |= {name: int(counts.argmax()), f"{name}_share": float(counts.max() / len(began))}
    return {
        "jobs": len(part),
        "share": len(part) / jobs,
        "error": float((part["off"] ** 2).sum()) / total if total > 0 else 0.0,
        "bias": float(part["off"].mean()),
        "fitting": float(part["fitting"].sum()) / waiting if waiting > 0 else float("nan"),
        **told,
    }


def _departure(
    schedule: "Schedule", jobs: pd.DataFrame, machine: Occupation, start: Floats, procs: int
) -> Departure | None:
    """Return the first job with another start, by the earlier of both starts, and the logged state at that time."""
    differ = np.abs(start - machine.start) > ROUNDING
    if not differ.any():
        return None
    row = int(np.argmin(np.where(differ, np.minimum(start, machine.start), np.inf)))
    instant = float(min(start[row], machine.start[row]))
    waits = (machine.submit <= instant) & (machine.start >= instant)
    job = jobs.iloc[row]
    return Departure(
        int(job["job"]),
        int(job["procs"]),
        float(job["estimate"]),
        float(machine.submit[row]),
        float(machine.start[row]),
        float(start[row]),
        int(waits.sum()),
        int(waits[:row].sum()),
        procs - int(machine.busy_at(np.array([instant]))[0]),
    )
