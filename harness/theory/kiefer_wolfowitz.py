"""First come, first served, on identical processors, when a job needs several of them at once.

The Kiefer–Wolfowitz recursion for simultaneous service (Rumyantsev 2014, equations 1 and 2): job i
arrives T_i before the next one, needs N_i processors together for S_i seconds, and sees the workloads
W_1 ≤ … ≤ W_s, what is left to do on each processor. It waits D_i = W_{N_i}, until the N_i least loaded are
free, and leaves all of them free at the same instant.

The clock stands still here: not the work left W_k but the instant F_k = t + W_k is kept, at which processor
k becomes free. Then nothing has to be lowered at every arrival, order survives, whole seconds stay whole,
and one job costs one merge: its N_i equal entries move up to their place.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numba import njit, types
from numpy.typing import ArrayLike

from harness.errors import HarnessError
from harness.theory.inputs import (
    READ_FLOATS,
    READ_INTEGERS,
    FloatArray,
    IntArray,
    proc_count,
    same_length,
    series,
    whole_widths,
)


def delays(interarrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int) -> FloatArray:
    """Return how long each job waits [s].

    `interarrival[i]` [s] passes from job i to job i+1 (the last one is not used), `service[i]`
    [s] is how long job i occupies its `width[i]` processors.
    """
    return delays_of_arrivals(_arrivals(interarrival), service, width, procs)


def delays_of_arrivals(arrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int) -> FloatArray:
    """Return how long each job waits [s], from the instants of arrival [s], in order.

    A simulator that adds start and service in the same way agrees with this to the last bit.
    """
    arrivals, services, widths, free = _system(arrival, service, width, procs)
    delay = np.empty_like(arrivals)
    _serve(arrivals, services, widths, free, delay)
    return delay


def workloads(
    interarrival: ArrayLike,
    service: ArrayLike,
    width: ArrayLike,
    procs: int,
    keep: Literal["last", "all"] | Sequence[int] = "last",
) -> FloatArray:
    """Return the work left on the processors [s], ascending, as seen on arrival: one row for each job in `keep`.

    Rows of `procs` numbers are kept for the jobs asked for and for no others. Jobs are
    counted from 0, from the end when negative.
    """
    arrivals, services, widths, free = _system(_arrivals(interarrival), service, width, procs)
    jobs = _numbers_of(keep, arrivals.size)
    delay = np.empty_like(arrivals)
    seen = np.empty((len(jobs), procs))
    served = 0
    for row in np.argsort(jobs, kind="stable"):
        until = jobs[row]
        stretch = slice(served, until)
        _serve(arrivals[stretch], services[stretch], widths[stretch], free, delay[stretch])
        served = until
        seen[row] = np.maximum(free - arrivals[until], 0.0)
    return seen


def _arrivals(interarrival: ArrayLike) -> FloatArray:
    """Return the instants of arrival, the first at 0."""
    gaps = series(interarrival, "interarrival")
    return np.concatenate(([0.0], np.cumsum(gaps[:-1])))


def _system(
    arrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Check the columns; return them, and when each processor becomes free: none is busy at the first arrival."""
    procs = proc_count(procs)
    arrivals = series(arrival, "arrival")
    services = series(service, "service")
    widths = whole_widths(width, procs)
    same_length(arrival=arrivals, service=services, width=widths)
    early = np.flatnonzero(np.diff(arrivals) < 0)
    if early.size:
        raise HarnessError(f"job {early[0] + 1} arrives before job {early[0]}; arrivals must be in order")
    return arrivals, services, widths, np.full(procs, arrivals[0])


def _numbers_of(keep: Literal["last", "all"] | Sequence[int], jobs: int) -> list[int]:
    if isinstance(keep, str):
        if keep not in ("last", "all"):
            raise HarnessError(f"keep is {keep!r}; it must be 'last', 'all', or the numbers of jobs")
        return list(range(jobs)) if keep == "all" else [jobs - 1]
    wrong = [job for job in keep if not -jobs <= job < jobs]
    if wrong:
        raise HarnessError(f"keep names job {wrong[0]}, but there are only {jobs}, counted from 0")
    return [job % jobs for job in keep]


@njit("void(f8[::1], i8, f8)", nogil=True)
def _occupy(free: FloatArray, width: int, end: float) -> None:
    """Set the first `width` of the ascending `free` to `end`, and move them up to their place."""
    place = width
    while place < free.size and free[place] < end:
        free[place - width] = free[place]
        place += 1
    free[place - width : place] = end


@njit(
    types.void(READ_FLOATS, READ_FLOATS, READ_INTEGERS, types.f8[::1], types.f8[::1]),
    nogil=True,
)
def _serve(arrival: FloatArray, service: FloatArray, width: IntArray, free: FloatArray, delay: FloatArray) -> None:
    """Serve the jobs in order. Changes `free`, when processors become free, ascending; fills `delay`."""
    for i in range(arrival.size):
        start = max(arrival[i], free[width[i] - 1])
        delay[i] = start - arrival[i]
        _occupy(free, width[i], start + service[i])
