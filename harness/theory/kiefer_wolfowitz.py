"""First come, first served, on identical servers, when a customer needs several of them at once.

The Kiefer–Wolfowitz recursion for simultaneous service (Rumyantsev 2014, equations 1 and 2): customer i
arrives T_i before the next one, needs N_i servers together for S_i seconds, and sees the workloads
W_1 ≤ … ≤ W_s, what is left to do on each server. It waits D_i = W_{N_i}, until the N_i least loaded are
free, and leaves all of them free at the same instant.

The clock stands still here: not the work left W_k but the instant F_k = t + W_k is kept, at which server
k becomes free. Then nothing has to be lowered at every arrival, order survives, whole seconds stay whole,
and one customer costs one merge: its N_i equal entries move up to their place.
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
    same_length,
    series,
    server_count,
    whole_widths,
)


def delays(interarrival: ArrayLike, service: ArrayLike, width: ArrayLike, servers: int) -> FloatArray:
    """How long each customer waits [s].

    `interarrival[i]` [s] passes from customer i to customer i+1 (the last one is not used), `service[i]`
    [s] is how long customer i occupies its `width[i]` servers.
    """
    return delays_of_arrivals(_arrivals(interarrival), service, width, servers)


def delays_of_arrivals(arrival: ArrayLike, service: ArrayLike, width: ArrayLike, servers: int) -> FloatArray:
    """How long each customer waits [s], from the instants of arrival [s], in order.

    A simulator that adds start and service in the same way agrees with this to the last bit.
    """
    arrivals, services, widths, free = _system(arrival, service, width, servers)
    delay = np.empty_like(arrivals)
    _serve(arrivals, services, widths, free, delay)
    return delay


def workloads(
    interarrival: ArrayLike,
    service: ArrayLike,
    width: ArrayLike,
    servers: int,
    keep: Literal["last", "all"] | Sequence[int] = "last",
) -> FloatArray:
    """Work left on the servers [s], ascending, as seen on arrival: one row for each customer in `keep`.

    Rows of `servers` numbers are kept for the customers asked for and for no others. Customers are
    counted from 0, from the end when negative.
    """
    arrivals, services, widths, free = _system(_arrivals(interarrival), service, width, servers)
    customers = _customers(keep, arrivals.size)
    delay = np.empty_like(arrivals)
    seen = np.empty((len(customers), servers))
    served = 0
    for row in np.argsort(customers, kind="stable"):
        until = customers[row]
        stretch = slice(served, until)
        _serve(arrivals[stretch], services[stretch], widths[stretch], free, delay[stretch])
        served = until
        seen[row] = np.maximum(free - arrivals[until], 0.0)
    return seen


def _arrivals(interarrival: ArrayLike) -> FloatArray:
    """Instants of arrival, the first at 0."""
    gaps = series(interarrival, "interarrival")
    return np.concatenate(([0.0], np.cumsum(gaps[:-1])))


def _system(
    arrival: ArrayLike, service: ArrayLike, width: ArrayLike, servers: int
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Checked columns, and the instants at which servers become free: none is busy at the first arrival."""
    servers = server_count(servers)
    arrivals = series(arrival, "arrival")
    services = series(service, "service")
    widths = whole_widths(width, servers)
    same_length(arrival=arrivals, service=services, width=widths)
    early = np.flatnonzero(np.diff(arrivals) < 0)
    if early.size:
        raise HarnessError(f"customer {early[0] + 1} arrives before customer {early[0]}; arrivals must be in order")
    return arrivals, services, widths, np.full(servers, arrivals[0])


def _customers(keep: Literal["last", "all"] | Sequence[int], customers: int) -> list[int]:
    if isinstance(keep, str):
        if keep not in ("last", "all"):
            raise HarnessError(f"keep is {keep!r}; it must be 'last', 'all', or the numbers of customers")
        return list(range(customers)) if keep == "all" else [customers - 1]
    wrong = [customer for customer in keep if not -customers <= customer < customers]
    if wrong:
        raise HarnessError(f"keep names customer {wrong[0]}, but there are only {customers}, counted from 0")
    return [customer % customers for customer in keep]


@njit("void(f8[::1], i8, f8)", cache=True, nogil=True)
def _occupy(free: FloatArray, width: int, end: float) -> None:
    """The first `width` of the ascending `free` become `end`, and move up to their place. Changes `free`."""
    place = width
    while place < free.size and free[place] < end:
        free[place - width] = free[place]
        place += 1
    free[place - width : place] = end


@njit(
    types.void(READ_FLOATS, READ_FLOATS, READ_INTEGERS, types.f8[::1], types.f8[::1]),
    cache=True,
    nogil=True,
)
def _serve(arrival: FloatArray, service: FloatArray, width: IntArray, free: FloatArray, delay: FloatArray) -> None:
    """Serve the customers in order. Changes `free`, when servers become free, ascending; fills `delay`."""
    for i in range(arrival.size):
        start = max(arrival[i], free[width[i] - 1])
        delay[i] = start - arrival[i]
        _occupy(free, width[i], start + service[i])
