"""Where a job goes if a selection says of each node what it is worth: see `harness.Prefer`.

Of nodes alike one speaks for all, if the selection cannot tell them apart and each has as much room for the job as it
has free cores. Else every node that has room is asked about.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import BAD_MERIT, PolicyFault, note
from harness.engine.resources.node_classes import list_unlike, next_alike
from harness.engine.resources.nodes import next_free, room, take


@verb
def list_offers(state: Any, job: int) -> int:
    """Write into `unlike` the nodes to be asked about, and return how many they are. Each has room for the job."""
    if state.allocation.ranks_classes:
        return list_unlike(state)
    count = 0
    node = next_free(state, -1)
    while node >= 0:
        if room(state, job, node) > 0:
            state.unlike[count] = node
            count += 1
        node = next_free(state, node)
    return count


@verb
def take_best(state: Any, job: int, count: int, need: int, sized: bool) -> int:
    """Take from the nodes of the highest of so many merits, in their order; return how many processors are needed yet.

    `sized` if merits depend on how many processors a node would give: then one node is taken at a time.
    """
    best = -np.inf
    for k in range(count):
        if np.isnan(state.merits[k]):
            note(state.clock, BAD_MERIT, job, state.unlike[k], state.merits[k])
            raise PolicyFault
        best = max(best, state.merits[k])
    if state.allocation.ranks_classes:
        return take_from_stocks(state, job, count, need, best, sized)
    k = 0
    while k < count and need > 0:
        if state.merits[k] == best:
            procs = min(need, room(state, job, state.unlike[k]))
            take(state, job, state.unlike[k], procs)
            need -= procs
            if sized:
                break
        k += 1
    return need


@verb
def take_from_stocks(state: Any, job: int, count: int, need: int, best: float, sized: bool) -> int:
    """Take from the stocks of the highest merit, as long as one of them has the lowest-numbered nodes."""
    node = other = len(state.nodes)  # the lowest-numbered node of all, and of the other stocks
    for k in range(count):
        if state.merits[k] == best:
            other = min(other, max(node, state.unlike[k]))
            node = min(node, state.unlike[k])
    while need > 0 and 0 <= node < other:
        following = next_alike(state, node)
        procs = min(need, state.nodes[node].free)
        take(state, job, node, procs)
        need -= procs
        node = -1 if sized else following
    return int(need)
