"""Advance reservations and maintenance windows: intervals in which a node is kept for some users, or for none."""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.run_state import DEMANDS
from harness.engine.time_comparison import later


@verb
def kept_from(state: Any, job: int, node: int, begin: float, end: float) -> bool:
    """Return whether a reservation keeps the node from the job at any time between these virtual times."""
    node_has = state.properties[node]
    low, last = node_has.first_reservation, node_has.first_reservation + node_has.reservations
    high = last
    while low < high:  # skip the reservations that are over by then: they are first
        middle = (low + high) // 2
        if later(state.reservations[middle].latest_end, begin):
            high = middle
        else:
            low = middle + 1
    for k in range(low, last):
        reservation = state.reservations[k]
        if not later(end, reservation.begin):
            return False
        if (reservation.users & state.requests[job].admitted) == 0 and later(reservation.end, begin):
            return True
    return False


@verb
def longest_stay(state: Any, job: int, node: int) -> float:
    """Return for how long the job would hold the node at most [s], with the time for nodes to wake.

    Its estimate is at reference speed; on a slower node it takes longer.
    """
    return float(state.jobs[job].left / min(1.0, state.nodes[node].speed) + state.sleep_control.max_boot_time)


@verb(family=DEMANDS)
def kept_if_started(state: Any, job: int, node: int, begin: float) -> bool:
    """Return whether a reservation keeps the node from the job at any time that it would run if it started then."""
    return kept_from(state, job, node, begin, begin + longest_stay(state, job, node))


@verb(family=DEMANDS)
def next_reservation_end(state: Any, time: float) -> float:
    """Return the first end of a reservation after that virtual time; infinity if there is none."""
    low, high = 0, len(state.reservations)
    while low < high:
        middle = (low + high) // 2
        if later(state.reservations[middle].ordered_end, time):
            high = middle
        else:
            low = middle + 1
    return float(state.reservations[low].ordered_end) if low < len(state.reservations) else np.inf
