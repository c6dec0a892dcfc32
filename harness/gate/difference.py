"""The first difference of two schedules of one workload: the first job with another start, and the decisions there."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.gate.baseline import Starts
from harness.results.job_outcomes import Ending
from harness.results.schedule import Schedule

#: The number of waiting jobs listed that neither schedule starts at the instant.
OTHER_JOBS = 5


@dataclass(frozen=True)
class Candidate:
    """A job that waits at the instant, and the schedules in which it starts then."""

    job: int
    procs: int
    estimate: float  # [s]
    waited: float  # [s]
    before: bool
    now: bool


@dataclass(frozen=True)
class Decision:
    """The state at the instant of the first difference, and the decision of each schedule.

    Up to then both start the same jobs at the same times. The queue and the free processors are therefore those of both
    schedules, unless policies also suspend jobs, change rates or put nodes to sleep; then they are those of the new
    one.
    """

    free: int  # processors, before any start
    procs: int  # of the platform
    waiting: int  # jobs, before any start
    queue: tuple[Candidate, ...]  # by submission: the jobs that start then in either schedule, and a few others
    common: bool  # the state is that of both schedules


@dataclass(frozen=True)
class Difference:
    """The first job with another start than before."""

    job: int
    procs: int
    submit: float  # [s]
    before: float  # its start [s]; not a number: never
    now: float
    instant: float  # of the first difference: the earlier of both starts [s]
    decision: Decision | None = None  # None: not computed


def first_difference(before: Starts, now: Starts, jobs: Any) -> Difference | None:
    """Return the first difference of two schedules of a workload's `jobs`, in log order; None if they are equal."""
    differ = ~((before == now) | (np.isnan(before) & np.isnan(now)))
    if not differ.any():
        return None
    earlier = np.where(differ, np.fmin(before, now), np.inf)
    instant = float(earlier.min())
    submit = jobs["submit"].to_numpy()
    row = min(np.flatnonzero(earlier == instant), key=lambda row: (submit[row], row))
    number, procs = int(jobs["job"].iloc[row]), int(jobs["procs"].iloc[row])
    return Difference(number, procs, float(submit[row]), float(before[row]), float(now[row]), instant)


def decision_at(schedule: Schedule, before: Starts, instant: float, *, common: bool) -> Decision:
    """Return the decisions at the `instant` in a new schedule with placements and in an old one."""
    frame = schedule.frame
    submit, now, end = (frame[name].to_numpy() for name in ("submit", "start", "end"))
    gone = np.where(np.isnan(now), end <= instant, now < instant)
    waits = (submit <= instant) & ~gone & (schedule.statuses != Ending.UNACCEPTED)
    starts = (before == instant) | (now == instant)
    by_submit = np.argsort(submit, kind="stable")
    others = [row for row in by_submit if waits[row] and not starts[row]]
    told = {*np.flatnonzero(starts), *others[:OTHER_JOBS]}
    queue = tuple(
        Candidate(
            int(frame["job"].iloc[row]),
            int(frame["procs"].iloc[row]),
            float(frame["estimate"].iloc[row]),
            float(instant - submit[row]),
            bool(before[row] == instant),
            bool(now[row] == instant),
        )
        for row in by_submit
        if row in told
    )
    cores = schedule.platform.cores
    return Decision(cores - _held(schedule, instant), cores, int(waits.sum()), queue, common)


def _held(schedule: Schedule, instant: float) -> int:
    """Return the number of processors held before the decisions of an instant."""
    assert schedule.places is not None
    stays, jobs = schedule.places.records, np.asarray(schedule.outcome.jobs)
    ends = jobs["end"][stays["job"]]
    # A job that ends at the instant has left; one that is suspended at the instant still holds its processors.
    there = (stays["begin"] < instant) & ((stays["end"] > instant) | ((stays["end"] == instant) & (ends != instant)))
    waking = (jobs["start"] < instant) & (instant < jobs["start"] + jobs["boot"])  # placements begin with the service
    waking[stays["job"][there]] = False
    return int(stays["cores"][there].sum() + jobs["procs"][waking].sum())
