"""Nodes that hold no job, in the order in which they came to hold none: who has been idle longest is found at once.

The line is kept only in runs in which nodes may sleep, and only of those that can. A node joins its end when it falls
vacant, and stays in it when it gets a job: it is passed over, and taken out, when it has come to be first.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import NO_NODE, SLEEPING, PolicyFault, note
from harness.engine.records.node_records import VACANCY
from harness.engine.records.public import AWAKE


def line_up(nodes: Any, *, sleeping: bool) -> Any:
    """Return the line before the first instant, when every node is vacant; empty if no node will sleep.

    What is both behind the last node and before the first has the place after all of them.
    """
    if not sleeping:
        return np.zeros(0, VACANCY).view(np.recarray)
    line = np.full(len(nodes) + 1, -1, VACANCY)
    ring = np.append(np.flatnonzero(nodes.depths > 0), len(nodes))
    line["behind"][ring] = np.roll(ring, -1)
    line["before"][ring] = np.roll(ring, 1)
    return line.view(np.recarray)


@verb
def step_out_of_line(state: Any, node: int) -> None:
    """Let a node that stands in the line stand in it no more. Changes vacancies."""
    line = state.vacancies
    line[line[node].before].behind = line[node].behind
    line[line[node].behind].before = line[node].before
    line[node].behind = -1


@verb
def fall_vacant(state: Any, node: int) -> None:
    """Note that from now on no core of the node is held. Changes nodes, vacancies, notes."""
    state.nodes[node].vacant = state.clock.now
    join_line(state, node)


@verb
def join_line(state: Any, node: int) -> None:
    """Let a node that falls vacant, and is awake, be the last of the line, if it is kept. Changes vacancies, notes."""
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
    line = state.vacancies
    if line[node].behind >= 0:
        step_out_of_line(state, node)
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
    return first_in_line(state) if after < 0 else behind(state, after)


@verb
def first_in_line(state: Any) -> int:
    """Return who has been vacant for longest of those that could be put to sleep; −1 if there is none."""
    return behind(state, len(state.nodes))


@verb
def behind(state: Any, after: int) -> int:
    """Return the next in the line that holds no job and is awake, and let others that stand between step out; or −1.

    Changes vacancies.
    """
    if state.sleep_control.keep_idle_list == 0:
        return -1
    end = len(state.nodes)
    node = state.vacancies[after].behind
    while 0 <= node < end:
        record = state.nodes[node]
        if record.status == AWAKE and record.free == record.cores:
            return node
        following = state.vacancies[node].behind
        step_out_of_line(state, node)
        node = following
    return -1
