"""Where two schedules of one workload part: the first job that starts at another time, and what was decided there."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.gate.baseline import Starts
from harness.results.job_outcomes import Ending
from harness.results.schedule import Schedule

#: So many waiting jobs are told of that neither schedule starts at the instant.
BYSTANDERS = 5


@dataclass(frozen=True)
class Candidate:
    """A job that waits at the instant, and in which of the schedules it starts then."""

    job: int
    procs: int
    estimate: float  # [s]
    waited: float  # [s]
    before: bool
    now: bool


@dataclass(frozen=True)
class Decision:
    """What there was to decide at the instant at which two schedules part, and what each decided.

    Up to then both start the same jobs at the same times. So, unless policies also suspend jobs, change rates or let
    nodes sleep, the queue and the free processors are those of both; else they are those of the new schedule.
    """

    free: int  # processors, before anybody starts
    procs: int  # of the platform
    waiting: int  # jobs, before anybody starts
    queue: tuple[Candidate, ...]  # by submission: who starts then in either schedule, and a few of the others
    common: bool  # the state is that of both


@dataclass(frozen=True)
class Difference:
    """The first job that starts at another time than before."""

    job: int
    procs: int
    submit: float  # [s]
    before: float  # its start [s]; not a number: never
    now: float
    instant: float  # when the two part: the earlier of both [s]
    decision: Decision | None = None  # None: it was not looked into


def first_difference(before: Starts, now: Starts, jobs: Any) -> Difference | None:
    """Find where two schedules of a workload's `jobs`, in log order, part; None if they never do."""
    differ = ~((before == now) | (np.isnan(before) & np.isnan(now)))
    if not differ.any():
        return None
    earlier = np.where(differ, np.fmin(before, now), np.inf)
    instant = float(earlier.min())
    submit = jobs["submit"].to_numpy()
    row = min(np.flatnonzero(earlier == instant), key=lambda row: (submit[row], row))
    number, procs = int(jobs["job"].iloc[row]), int(jobs["procs"].iloc[row])
    return Difference(number, procs, float(submit[row]), float(before[row]), float(now[row]), instant)


def decided(schedule: Schedule, before: Starts, instant: float, *, common: bool) -> Decision:
    """Find what was decided at the `instant` in a new schedule, of which placements were kept, and in an old one."""
    frame = schedule.frame
    submit, now, end = (frame[name].to_numpy() for name in ("submit", "start", "end"))
    gone = np.where(np.isnan(now), end <= instant, now < instant)
    waits = (submit <= instant) & ~gone & (schedule.statuses != Ending.UNACCEPTED)
    starts = (before == instant) | (now == instant)
    by_submit = np.argsort(submit, kind="stable")
    others = [row for row in by_submit if waits[row] and not starts[row]]
    told = {*np.flatnonzero(starts), *others[:BYSTANDERS]}
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
    """Count the processors that are held when an instant's decisions begin."""
    assert schedule.places is not None
    stays, jobs = schedule.places.records, np.asarray(schedule.outcome.jobs)
    ends = jobs["end"][stays["job"]]
    # Who ends at the instant has left; who is suspended then has not been yet.
    there = (stays["begin"] < instant) & ((stays["end"] > instant) | ((stays["end"] == instant) & (ends != instant)))
    waking = (jobs["start"] < instant) & (instant < jobs["start"] + jobs["boot"])  # placements begin with the service
    waking[stays["job"][there]] = False
    return int(stays["cores"][there].sum() + jobs["procs"][waking].sum())
