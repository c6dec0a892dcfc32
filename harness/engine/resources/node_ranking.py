"""Placement by a score that the selection gives each node: see `harness.Prefer`.

One node of a class is scored for all of them, if the selection reads nothing in which they differ and the job can use
all their free cores. Otherwise every node with capacity for the job is scored.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import BAD_MERIT, PolicyFault, note
from harness.engine.resources.allocation import take
from harness.engine.resources.node_classes import list_representatives, next_in_class
from harness.engine.resources.nodes import next_free, room


@verb
def list_offers(state: Any, job: int) -> int:
    """Write the nodes to be scored into `candidates`, and return their number. Each has capacity for the job."""
    if state.allocation.ranks_classes:
        return list_representatives(state)
    count = 0
    node = next_free(state, -1)
    while node >= 0:
        if room(state, job, node) > 0:
            state.candidates[count] = node
            count += 1
        node = next_free(state, node)
    return count


@verb
def take_best(state: Any, job: int, count: int, need: int, sized: bool) -> int:
    """Take cores of the nodes with the highest score, in their order; return the number of processors still needed.

    `sized`: scores depend on the number of processors that a node would give. Then one node is taken at a time.
    """
    best = -np.inf
    for k in range(count):
        if np.isnan(state.merits[k]):
            note(state.clock, BAD_MERIT, job, state.candidates[k], state.merits[k])
            raise PolicyFault
        best = max(best, state.merits[k])
    if state.allocation.ranks_classes:
        return take_from_stocks(state, job, count, need, best, sized)
    k = 0
    while k < count and need > 0:
        if state.merits[k] == best:
            procs = min(need, room(state, job, state.candidates[k]))
            take(state, job, state.candidates[k], procs)
            need -= procs
            if sized:
                break
        k += 1
    return need


@verb
def take_from_stocks(state: Any, job: int, count: int, need: int, best: float, sized: bool) -> int:
    """Take cores of the classes with the highest score, while one of them has the lowest-numbered nodes."""
    node = other = len(state.nodes)  # the lowest-numbered node of all, and of the other classes
    for k in range(count):
        if state.merits[k] == best:
            other = min(other, max(node, state.candidates[k]))
            node = min(node, state.candidates[k])
    while need > 0 and 0 <= node < other:
        following = next_in_class(state, node)
        procs = min(need, state.nodes[node].free)
        take(state, job, node, procs)
        need -= procs
        node = -1 if sized else following
    return int(need)
