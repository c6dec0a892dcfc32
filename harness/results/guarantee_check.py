"""Check from a schedule alone whether it keeps a guarantee: from starts, ends, widths and requested times.

Jobs queue in order of submission, and at the same time in order of the file. Starts may be later than guaranteed by
`slack`, as real schedulers examine their queue at intervals.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError, did_you_mean
from harness.present.words import counted
from harness.results.reservations import ReservationReplay, waiting_jobs
from harness.workload.log import Log
from harness.workload.occupation import Occupation

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The guarantees: none; "fcfs": jobs start in queue order; "easy": backfilled jobs do not delay the first of the
#: queue; "conservative": no job starts after its reservation, which is made at its submission and may improve.
Promise = Literal["none", "fcfs", "easy", "conservative"]

#: The number of waiting jobs that a report names.
_NAMED = 10


@dataclass(frozen=True)
class Violation:
    """The first violation of a guarantee."""

    job: int  # whose guarantee was broken
    instant: float  # of the violation [s]
    start: float  # of the job [s]
    why: str
    queue: tuple[int, ...]  # the first of the jobs that waited then
    waiting: int  # the number of all that waited


@dataclass(frozen=True)
class GuaranteeCheck:
    """The result of a check."""

    name: str
    jobs: int  # that ran
    left_out: int  # jobs that did not run, or without a start time
    procs: int
    overcommitted: Violation | None
    promise: Promise
    broken: Violation | None
    void: int  # guarantees that do not count because an earlier job exceeded its requested time

    @property
    def kept(self) -> bool:
        """Whether there is no violation."""
        return self.overcommitted is None and self.broken is None


def verify(
    log: Log, promise: str = "none", *, procs: int | None = None, slack: float = 0.0, workload: Log | None = None
) -> GuaranteeCheck:
    """Find the first instant with more than `procs` processors in use, and the first violation of the guarantee.

    By default, `procs` is the number that the log names. `slack` is how much later than guaranteed a job may start [s].
    Reservations use the requested times of `workload`, by job number, or else those of `log`.
    """
    if promise not in get_args(Promise):
        raise HarnessError(f"the promise {promise!r}: {did_you_mean(promise, get_args(Promise))}")
    if procs is None:
        procs = log.procs
    if procs is None:
        raise HarnessError(f"{log.name} does not state how many processors its machine had: give --procs N")
    log = log if workload is None else _requested(log, workload)
    starts = _Starts.of(log)
    if not len(starts.job):
        raise HarnessError(f"{log.name}: none of its {len(log.jobs):,} jobs has a start time")
    if promise in ("easy", "conservative") and (unknown := ~(starts.requested > 0)).any():
        raise HarnessError(
            f"{log.name}: job {starts.job[np.argmax(unknown)]} has no requested time "
            f"({counted(int(unknown.sum()), 'such job')}), and the promise of {promise} is made by requested times: "
            "expected a schedule with them, or the log that it was made of (--workload LOG)"
        )
    broken, void = (_overtaking(starts, slack) if promise == "fcfs" else None), 0
    if promise == "easy":
        broken, void = _delay(starts, procs, slack)
    elif promise == "conservative":
        broken, void = _missed_reservation(log, starts, procs, slack)
    left_out = len(log.jobs) - len(starts.job)
    overcommitted = _overcommitment(starts, procs)
    return GuaranteeCheck(
        log.name, len(starts.job), left_out, procs, overcommitted, cast(Promise, promise), broken, void
    )


def _requested(log: Log, workload: Log) -> Log:
    """Return `log` with the requested times of `workload`, which must have all its jobs."""
    known = workload.jobs.drop_duplicates("job").set_index("job")["estimate"]
    lacking = ~log.jobs["job"].isin(known.index)
    if lacking.any():
        raise HarnessError(
            f"{log.name}: job {log.jobs['job'][lacking].iloc[0]} is not in {workload.name} "
            f"({counted(int(lacking.sum()), 'such job')}): expected the log that the schedule was made of"
        )
    return replace(log, jobs=log.jobs.assign(estimate=known.loc[log.jobs["job"]].to_numpy()))


@dataclass(frozen=True)
class _Starts:
    """The jobs that ran, in queue order."""

    job: Ints
    submit: Floats
    start: Floats
    end: Floats
    requested: Floats  # times; not positive if unknown
    procs: Floats

    @staticmethod
    def of(log: Log) -> "_Starts":
        jobs = log.jobs
        submit, wait, run, asked, procs, used = (
            jobs[name].to_numpy(dtype=np.float64)
            for name in ("submit", "wait", "run", "estimate", "procs", "used_procs")
        )
        width = np.where(procs > 0, procs, used)
        kept = np.flatnonzero((submit >= 0) & (wait >= 0) & (run >= 0) & (width > 0))
        kept = kept[np.argsort(submit[kept], kind="stable")]
        start = (submit + wait)[kept]
        number = jobs["job"].to_numpy(dtype=np.float64)[kept]
        number = np.where(np.abs(number) < 2**63, number, -1).astype(np.int64)
        return _Starts(number, submit[kept], start, start + run[kept], asked[kept], width[kept])

    @cached_property
    def planned(self) -> Floats:
        """The latest end of each job, by its requested time."""
        return self.start + self.requested

    @cached_property
    def head_from(self) -> Floats:
        """When each became the first of the queue: after its submission and the starts of all earlier jobs."""
        before = np.concatenate([[-np.inf], np.maximum.accumulate(self.start)[:-1]])
        head: Floats = np.maximum(self.submit, before)
        return head

    def breach(self, row: int, instant: float, why: str) -> Violation:
        """Return the violation of a job's guarantee, with the queue at an instant."""
        waits = np.flatnonzero((self.submit <= instant) & (self.start > instant))
        queue = tuple(self.job[waits[:_NAMED]].tolist())
        return Violation(int(self.job[row]), instant, float(self.start[row]), why, queue, len(waits))


def _overcommitment(starts: _Starts, procs: int) -> Violation | None:
    held = starts.end > starts.start  # jobs with a runtime of 0 hold nothing
    busy = Occupation(starts.submit[held], starts.start[held], starts.end[held], starts.procs[held])
    instants, used = busy.steps
    over = np.flatnonzero(used > procs)
    if not len(over):
        return None
    instant = float(instants[over[0]])
    row = int(np.flatnonzero(held & (starts.start == instant))[-1])
    return starts.breach(row, instant, f"{used[over[0]]:,.0f} processors are in use, of {procs:,}")


def _overtaking(starts: _Starts, slack: float) -> Violation | None:
    """Return the first start of a job while an earlier job of the queue waits."""
    latest = np.concatenate([[-np.inf], np.maximum.accumulate(starts.start)[:-1]])
    rows = np.flatnonzero(starts.start < latest - slack)
    if not len(rows):
        return None
    row = int(rows[np.argmin(starts.start[rows])])
    passed = int(np.flatnonzero(starts.start[:row] > starts.start[row] + slack)[0])
    at_once = starts.submit[row] == starts.submit[passed]
    later = "submitted at the same time but later in the log" if at_once else "submitted later"
    return starts.breach(passed, float(starts.start[row]), f"job {starts.job[row]}, {later}, starts before it")


def _delay(starts: _Starts, procs: int, slack: float) -> tuple[Violation | None, int]:
    """Return the first job that starts later than the time at which it could start, given when it became first in the
    queue.

    The requested times of the running jobs determine that time. Return also the number of late jobs without a valid
    guarantee, because a running job exceeded its requested time.
    """
    late: list[tuple[float, int]] = []
    void = 0
    for row in np.flatnonzero(starts.start > starts.head_from + slack).tolist():
        now = starts.head_from[row]
        # A job that is backfilled at this very instant starts after the guarantee was given.
        runs = (starts.end > now) & (starts.start < now)
        runs[:row] |= (starts.end[:row] > now) & (starts.start[:row] <= now)
        runs = np.flatnonzero(runs)
        ends = np.maximum(starts.planned[runs], now)
        order = np.argsort(ends, kind="stable")
        free = procs - starts.procs[runs].sum() + np.concatenate([[0.0], np.cumsum(starts.procs[runs][order])])
        enough = np.flatnonzero(free >= starts.procs[row])
        if not len(enough):
            continue  # wider than the machine
        promised = float(now if enough[0] == 0 else ends[order[enough[0] - 1]])
        if starts.start[row] <= promised + slack:
            continue
        if (starts.end[runs] > starts.planned[runs]).any():
            void += 1
        else:
            late.append((promised, row))
    if not late:
        return None, void
    instant, first = min(late)
    given = f"its latest start when it became the first of the queue, at {starts.head_from[first]:,.0f} s"
    return starts.breach(first, instant, given), void


def _missed_reservation(log: Log, starts: _Starts, procs: int, slack: float) -> tuple[Violation | None, int]:
    """Return the first job that starts after its reservation, and the number of late jobs without a valid guarantee."""
    columns = ("submit", "wait", "run", "estimate", "procs", "used_procs")
    submit, wait, run, asked, width, used = (log.jobs[name].to_numpy(dtype=np.float64) for name in columns)
    width = np.where(width > 0, width, used)
    # A job that left the queue without running held a reservation until then; other jobs without times are unknown.
    kept = np.flatnonzero((submit >= 0) & (wait >= 0) & (width > 0) & ((run >= 0) | (asked > 0)))
    jobs = waiting_jobs(*(column[kept] for column in (submit, submit + wait, run, asked, width)))
    follower = ReservationReplay(jobs, procs)
    late = follower.first_late_job(slack)
    if late is None:
        return None, follower.void
    number = int(log.jobs["job"].to_numpy()[kept[late.row]])
    row = int(np.flatnonzero(starts.job == number)[0])
    why = "its reservation, given the running jobs and the reservations before it"
    return starts.breach(row, late.reserved, why), follower.void
