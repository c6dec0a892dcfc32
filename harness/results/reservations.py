"""The reservations of conservative backfilling, computed along a given schedule: no reservation ever moves later.

A schedule does not contain reservations. They are computed here as conservative backfilling would. A submitted job gets
the earliest start that fits the running jobs, until their requested ends, and the earlier reservations. If a job ends
early or leaves the queue, each reservation is cancelled once, in queue order, and made again at its earliest time. The
guarantee of a job is kept if it starts by its reservation.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

#: Times are rounded to microseconds: sums of decimals are no more exact.
_DIGITS = 6


@dataclass
class ReservedJob:
    """A job of the schedule and its reservation."""

    row: int
    submit: float
    start: float  # its start, or when it leaves the queue
    end: float
    asked: float
    procs: int
    leaves: bool  # it never runs
    reserved: float = np.inf
    void: float = np.inf  # the reservation that became invalid, if one did

    @property
    def reservation_valid(self) -> bool:
        """Whether its reservation is valid."""
        return self.void == np.inf

    def until(self, begin: float) -> float:
        """Return its latest end if it starts at `begin`."""
        return round(begin + self.asked, _DIGITS)

    @cached_property
    def planned(self) -> float:
        """Its latest end, given its start."""
        return self.until(self.start)


@dataclass
class _Profile:
    """The availability profile: free processors from each time on."""

    times: list[float] = field(default_factory=lambda: [-np.inf])
    free: list[int] = field(default_factory=list)

    def change(self, procs: int, begin: float, end: float) -> None:
        """Add processors from `begin` until `end`."""
        if end <= begin:
            return
        first, last = self._split(begin), self._split(end)
        for place in range(first, last):
            self.free[place] += procs

    def _split(self, time: float) -> int:
        place = bisect_right(self.times, time) - 1
        if self.times[place] == time:
            return place
        self.times.insert(place + 1, time)
        self.free.insert(place + 1, self.free[place])
        return place + 1

    def fit(self, procs: int, length: float, now: float) -> float:
        """Return the earliest time from `now` on at which `procs` processors are free for `length` seconds."""
        begin = np.inf
        for place in range(bisect_right(self.times, now) - 1, len(self.times)):
            if self.free[place] < procs:
                begin = np.inf
                continue
            begin = min(begin, max(now, self.times[place]))
            if place + 1 == len(self.times) or begin + length <= self.times[place + 1]:
                return begin
        return np.inf

    def forget(self, now: float) -> None:
        """Remove entries before `now`, and those that repeat the entry before."""
        place = bisect_right(self.times, now) - 1
        kept = [0] + [k for k in range(1, len(self.times) - place) if self.free[place + k] != self.free[place + k - 1]]
        self.times = [self.times[place + k] for k in kept]
        self.free = [self.free[place + k] for k in kept]


class ReservationReplay:
    """Computes the reservations of conservative backfilling along a schedule."""

    def __init__(self, jobs: list[ReservedJob], procs: int) -> None:
        """Begin with an empty machine; `jobs` are in queue order."""
        self.jobs, self.procs = jobs, procs
        self.plan = _Profile(free=[procs])
        self.queue: list[ReservedJob] = []
        self.running: list[ReservedJob] = []
        self.void = 0  # reservations missed because a job exceeded its requested time

    def first_late_job(self, slack: float) -> ReservedJob | None:
        """Return the first job that starts more than `slack` after its reservation, if one does."""
        for now, arrived in self._instants():
            for job in self.queue:
                if job.reserved + slack < now and job.reservation_valid:
                    return min((late for late in self.queue if late.reservation_valid), key=lambda late: late.reserved)
            self._instant(now, arrived)
        return None

    def _instants(self) -> Iterator[tuple[float, list[ReservedJob]]]:
        """Yield the instants at which something happens, with the jobs submitted then."""
        came = 0
        times = {time for job in self.jobs for time in (job.submit, job.start, job.end)}
        times |= {job.planned for job in self.jobs if job.end > job.planned}
        for now in sorted(times):
            arrived = []
            while came < len(self.jobs) and self.jobs[came].submit <= now:
                arrived.append(self.jobs[came])
                came += 1
            yield now, arrived

    def _instant(self, now: float, arrived: list[ReservedJob]) -> None:
        """Apply the changes at `now`: ends, then departures from the queue, then submissions, then starts."""
        self.plan.forget(now)
        anew = self._outlived(now)
        early = self._left(now)
        if anew:
            self._plan_anew(now)
        elif early:
            self._compress(now)
        for job in arrived:
            if job.procs <= self.procs:
                # A reservation that depends on an invalid one may be too early.
                sure = all(one.reservation_valid for one in self.queue) and all(
                    one.end <= one.planned for one in self.running
                )
                self._promise(job, now)
                job.void = job.void if sure else job.reserved
                self.queue.append(job)
        if self._started(now):
            self._plan_anew(now)
        if self._left(now):  # jobs with a runtime of 0
            self._compress(now)

    def _outlived(self, now: float) -> bool:
        """Return whether a job exceeds its requested time now; this makes all reservations invalid."""
        outlived = any(job.planned == now < job.end for job in self.running)
        if outlived:
            for job in self.queue:
                job.void = min(job.void, job.reserved)
        return outlived

    def _left(self, now: float) -> bool:
        """Remove the jobs that end or leave the queue; return whether one did so earlier than planned."""
        early = False
        for job in [job for job in self.running if job.end <= now]:
            self.running.remove(job)
            self.plan.change(job.procs, now, job.planned)
            early |= job.planned > now
        for job in [job for job in self.queue if job.leaves and job.start <= now]:
            self.queue.remove(job)
            self.plan.change(job.procs, max(job.reserved, now), job.until(job.reserved))
            early = True
        return early

    def _started(self, now: float) -> bool:
        """Start the jobs that start now; return whether one is late, so that the others must be planned again."""
        late = False
        for job in [job for job in self.queue if job.start <= now]:
            self.queue.remove(job)
            self.running.append(job)
            late |= job.reserved < now
            self.void += job.void < now
            self.plan.change(job.procs, max(job.reserved, now), job.until(job.reserved))
            self.plan.change(-job.procs, now, job.planned)
        return late

    def _promise(self, job: ReservedJob, now: float) -> None:
        job.reserved = self.plan.fit(job.procs, job.asked, now)
        self.plan.change(-job.procs, job.reserved, job.until(job.reserved))

    def _compress(self, now: float) -> None:
        """Cancel each reservation once and make it again at its earliest time, which is never later."""
        for job in self.queue:
            if job.reserved > now:
                self.plan.change(job.procs, job.reserved, job.until(job.reserved))
                job.reserved = min(job.reserved, self.plan.fit(job.procs, job.asked, now))
                self.plan.change(-job.procs, job.reserved, job.until(job.reserved))

    def _plan_anew(self, now: float) -> None:
        """Make all reservations again, in queue order; a job that exceeded its requested time is planned until its real
        end.
        """
        self.plan = _Profile([now], [self.procs])
        for job in self.running:
            self.plan.change(-job.procs, now, job.planned if job.planned > now else job.end)
        for job in self.queue:
            self._promise(job, now)


def waiting_jobs(
    submit: npt.NDArray[np.float64],
    start: npt.NDArray[np.float64],
    run: npt.NDArray[np.float64],
    asked: npt.NDArray[np.float64],
    procs: npt.NDArray[np.float64],
) -> list[ReservedJob]:
    """Return jobs in queue order; a job with `run` below 0 never ran, and leaves the queue at its start."""
    rows = np.argsort(submit, kind="stable")
    length = np.where(asked > 0, asked, np.maximum(run, 0.0))
    columns = (np.round(values[rows], _DIGITS).tolist() for values in (submit, start, np.maximum(run, 0.0), length))
    return [
        ReservedJob(int(row), came, began, round(began + ran, _DIGITS), long, int(wide), bool(never))
        for row, came, began, ran, long, wide, never in zip(
            rows, *columns, procs[rows].tolist(), (run[rows] < 0).tolist(), strict=True
        )
    ]
