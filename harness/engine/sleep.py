"""Nodes that fall asleep, sleep and wake, and the jobs that wait for them.

A sleeping node can be allocated: its free cores count as free. It is woken then, and the job holds its processors
until the last of them is awake; its service begins there. A transition that has begun is always finished.
"""

from typing import Any

import numpy as np

from harness.engine.faults import BAD_NAP, NO_NODE, PolicyFault, note
from harness.engine.instants import later
from harness.engine.marks import inner, seldom, verb
from harness.engine.power import draw_one, settle, settle_until
from harness.engine.state import ASLEEP, AWAKE, FALLING, WAKING
from harness.engine.stocks import restock
from harness.engine.vacancies import fall_vacant


@inner
def turn(state: Any, node: int, status: int, watts: float, until: float) -> None:
    """Give the node another status: it draws `watts` while it is not awake, and moves on at `until`. Changes nodes."""
    settle(state, node)
    take_status(state, node, status, watts, until)


@inner
def take_status(state: Any, node: int, status: int, watts: float, until: float) -> None:
    """Give a node that is settled another status. Changes nodes, stocks."""
    record = state.nodes[node]
    record.status = status
    record.resting = watts
    record.until = until
    restock(state, node)
    draw_one(state, node)


@inner
def expect_move(state: Any, node: int) -> None:
    """Let the end of the node's transition be an event. Changes moving, clock."""
    notes = state.notes
    state.moving[notes.moving] = node
    notes.moving += 1
    state.clock.transition = min(state.clock.transition, state.nodes[node].until)


@inner
def catch_up(state: Any, node: int) -> None:
    """Let a node be asleep that has fallen asleep since somebody looked at it, and nobody wanted to know."""
    record = state.nodes[node]
    if record.status == FALLING and state.notes.unseen and not (record.wanted or later(record.until, state.clock.now)):
        settle_until(state, node, record.until)
        take_status(state, node, ASLEEP, state.naps[record.first_nap + record.depth].watts, np.inf)


@inner
def doze(state: Any, node: int, depth: int) -> None:
    """Let an idle node fall asleep; see `put_to_sleep`."""
    if not 0 <= node < len(state.nodes):
        note(state.clock, BAD_NAP, -1, node, depth)
        raise PolicyFault
    record = state.nodes[node]
    if record.status != AWAKE or record.free < record.cores or not 0 <= depth < record.depths:
        note(state.clock, BAD_NAP, -1, node, depth)
        raise PolicyFault
    record.depth = depth
    record.wanted = 0
    nap = state.naps[record.first_nap + depth]
    if nap.down > 0.0:
        turn(state, node, FALLING, nap.falling, state.clock.now + nap.down)
        if not state.notes.unseen:
            expect_move(state, node)
    else:
        turn(state, node, ASLEEP, nap.watts, np.inf)


@inner
def awaken(state: Any, node: int) -> None:
    """Let the node be awake and idle. Changes nodes, clock."""
    state.clock.stirred = 1
    turn(state, node, AWAKE, 0.0, np.inf)
    fall_vacant(state, node)


@inner
def rouse(state: Any, node: int) -> None:
    """Wake a node that sleeps, or let one that is falling asleep wake right after; nothing if it is awake."""
    if not 0 <= node < len(state.nodes):
        note(state.clock, NO_NODE, -1, node, len(state.nodes))
        raise PolicyFault
    catch_up(state, node)
    record = state.nodes[node]
    if record.status == FALLING:
        if state.notes.unseen and not record.wanted:
            expect_move(state, node)
        record.wanted = 1
        restock(state, node)
    elif record.status == ASLEEP:
        nap = state.naps[record.first_nap + record.depth]
        if nap.up > 0.0:
            turn(state, node, WAKING, nap.waking, state.clock.now + nap.up)
            expect_move(state, node)
        else:
            awaken(state, node)


@verb
def node_awake(state: Any, node: int) -> float:
    """Return when a node that is not awake is, if it is woken now [s]."""
    record = state.nodes[node]
    if record.status == WAKING:
        return float(record.until)
    up = state.naps[record.first_nap + record.depth].up
    return float((max(record.until, state.clock.now) if record.status == FALLING else state.clock.now) + up)


@seldom
def rouse_all(state: Any, job: int) -> float:
    """Wake the nodes the job took; returns when the last of them is awake [s]."""
    ready = state.clock.now
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        if state.nodes[node].status != AWAKE:
            rouse(state, node)
        if state.nodes[node].status != AWAKE:  # it may have woken at once
            ready = max(ready, node_awake(state, node))
        piece = state.slices[piece].next
    return ready


@inner
def break_off(state: Any, node: int) -> None:
    """Break off the transition that a failing node is in, if it is in one. Changes moving, clock."""
    clock = state.clock
    notes = state.notes
    kept = 0
    clock.transition = np.inf
    for k in range(notes.moving):
        other = state.moving[k]
        if other != node:
            state.moving[kept] = other
            kept += 1
            clock.transition = min(clock.transition, state.nodes[other].until)
    notes.moving = kept


@seldom
def finish_transitions(state: Any) -> None:
    """Let every node whose transition ends now move on. Changes nodes, moving, clock."""
    clock = state.clock
    notes = state.notes
    count = notes.moving
    notes.moving = 0
    clock.transition = np.inf
    for k in range(count):
        node = state.moving[k]
        record = state.nodes[node]
        if later(record.until, clock.now):
            state.moving[notes.moving] = node
            notes.moving += 1
            clock.transition = min(clock.transition, record.until)
        elif record.status == WAKING:
            awaken(state, node)
        else:
            turn(state, node, ASLEEP, state.naps[record.first_nap + record.depth].watts, np.inf)
            if record.wanted:
                rouse(state, node)
