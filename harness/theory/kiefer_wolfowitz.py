"""First come, first served, on identical processors, for jobs that need several of them at once.

This is the Kiefer–Wolfowitz recursion for simultaneous service (Rumyantsev 2014, equations 1 and 2). Job i arrives T_i
before the next one, and needs N_i processors together for S_i seconds. When it arrives, the work left on the processors
is W_1 ≤ … ≤ W_s. It waits D_i = W_{N_i}, until the N_i least loaded processors are free, and later releases all of them
at the same time.

The code stores the time F_k = t + W_k at which processor k becomes free, instead of the work left W_k. These times do
not change at arrivals, stay sorted, and stay whole if all inputs are. One job costs one merge: its N_i equal entries
move up to their place.
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
    """Return the wait of each job [s].

    `interarrival[i]` [s] is the time from job i to job i+1 (the last one is not used). Job i occupies `width[i]`
    processors for `service[i]` [s].
    """
    return delays_of_arrivals(_arrivals(interarrival), service, width, procs)


def delays_of_arrivals(arrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int) -> FloatArray:
    """Return the wait of each job [s], from the sorted times of arrival [s].

    A simulator that adds start and service in the same way gives exactly the same floats.
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
    """Return the work left on the processors [s], ascending, at each arrival in `keep`: one row for each such job.

    Jobs are counted from 0, from the end if negative.
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
    """Return the times of arrival, the first at 0."""
    gaps = series(interarrival, "interarrival")
    return np.concatenate(([0.0], np.cumsum(gaps[:-1])))


def _system(
    arrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Check the columns. Return them, and the times at which processors become free: at first the first arrival."""
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
    """Set the first `width` entries of the ascending `free` to `end`, and move them up to their place."""
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
    """Serve the jobs in order. Fill `delay`, and update `free`, the sorted times at which processors become free."""
    for i in range(arrival.size):
        start = max(arrival[i], free[width[i] - 1])
        delay[i] = start - arrival[i]
        _occupy(free, width[i], start + service[i])
