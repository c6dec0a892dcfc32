"""Idle nodes, in the order in which they became idle: the one that has been idle for longest is first.

The list is kept only in runs in which nodes may sleep, and only of nodes that can. A node joins its end when it becomes
idle. It stays in the list when a job takes it; it is removed later, when the list is searched.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import NO_NODE, SLEEPING, PolicyFault, note
from harness.engine.records.node_records import IDLE_NODE
from harness.engine.records.public import AWAKE


def init_idle_list(nodes: Any, *, sleeping: bool) -> Any:
    """Return the list before the first instant, when every node is idle; empty if no node will sleep.

    The entry behind those of all nodes closes the ring: it follows the last node and precedes the first.
    """
    if not sleeping:
        return np.zeros(0, IDLE_NODE).view(np.recarray)
    line = np.full(len(nodes) + 1, -1, IDLE_NODE)
    ring = np.append(np.flatnonzero(nodes.depths > 0), len(nodes))
    line["behind"][ring] = np.roll(ring, -1)
    line["before"][ring] = np.roll(ring, 1)
    return line.view(np.recarray)


@verb
def leave_idle_list(state: Any, node: int) -> None:
    """Remove a node from the list."""
    line = state.idle_list
    line[line[node].before].behind = line[node].behind
    line[line[node].behind].before = line[node].before
    line[node].behind = -1


@verb
def become_idle(state: Any, node: int) -> None:
    """Note that the node is idle from now on. Changes nodes, the list."""
    state.nodes[node].vacant = state.clock.now
    join_idle_list(state, node)


@verb
def join_idle_list(state: Any, node: int) -> None:
    """Append a node that is idle and awake to the list, if it is kept; note when it falls asleep."""
    record = state.nodes[node]
    if (
        state.sleep_control.keep_idle_list == 0
        or record.depths == 0
        or record.status != AWAKE
        or record.free < record.cores
    ):
        return
    state.sleep_control.next_sleep_time = min(
        state.sleep_control.next_sleep_time, state.clock.now + state.sleep_control.max_idle_time
    )
    line = state.idle_list
    if line[node].behind >= 0:
        leave_idle_list(state, node)
    end = len(state.nodes)
    last = line[end].before
    line[last].behind = node
    line[node].before = last
    line[node].behind = end
    line[end].before = node


@verb(only=(SLEEPING, "sleep"))
def longest_vacant(state: Any, after: int = -1) -> int:
    """Return the node that could be put to sleep and has held no job for longest, or −1 if there is none.

    It is awake, `node.free == node.cores`, and has a sleep state. Of those that fell vacant at one instant it is any.
    `after`: a node that was the answer before; then the next one behind it.
    """
    end = len(state.nodes)
    if not -1 <= after < end:
        note(state.clock, NO_NODE, -1, after, end)
        raise PolicyFault
    return first_idle(state) if after < 0 else next_idle(state, after)


@verb
def first_idle(state: Any) -> int:
    """Return the node that has been idle for longest and could be put to sleep; −1 if there is none."""
    return next_idle(state, len(state.nodes))


@verb
def next_idle(state: Any, after: int) -> int:
    """Return the next node of the list that is idle and awake, or −1.

    Nodes between that are not idle any more are removed from the list.
    """
    if state.sleep_control.keep_idle_list == 0:
        return -1
    end = len(state.nodes)
    node = state.idle_list[after].behind
    while 0 <= node < end:
        record = state.nodes[node]
        if record.status == AWAKE and record.free == record.cores:
            return node
        following = state.idle_list[node].behind
        leave_idle_list(state, node)
        node = following
    return -1
