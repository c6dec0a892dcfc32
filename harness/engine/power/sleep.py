"""Nodes that fall asleep, sleep and wake, and the jobs that wait for them.

A sleeping node can be allocated: its free cores count as free. It is woken then, and the job holds its processors
until the last of them is awake; its service begins there. A transition that has begun is always finished.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once, seldom, verb
from harness.engine.faults import BAD_NAP, BAD_ORDER, NO_NODE, PolicyFault, note
from harness.engine.power.draw import draw_one, settle, settle_until
from harness.engine.records.public import ASLEEP, AWAKE, FALLING, WAKING
from harness.engine.resources.idle_nodes import fall_vacant, first_in_line
from harness.engine.resources.node_classes import restock
from harness.engine.time_comparison import later


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
    """Let the end of the node's transition be an event. Changes moving, clock, notes."""
    sleep_control = state.sleep_control
    record = state.nodes[node]
    state.moving[sleep_control.moving] = node
    sleep_control.moving += 1
    sleep_control.waking += record.status == WAKING or record.wanted != 0
    state.clock.transition = min(state.clock.transition, record.until)


# ---------------------------------------------------------------- what nobody sees


@verb
def dozes(state: Any, node: int) -> bool:
    """Return whether a node that was awake when it was last looked at has been idle for too long since.

    Only where nobody sees when nodes fall asleep; else it has been put to sleep.
    """
    record = state.nodes[node]
    if state.sleep_control.lazy_sleep == 0 or record.status != AWAKE or record.busy > 0 or record.depths == 0:
        return False
    return later(state.clock.now, record.vacant + state.sleep_control.max_idle_time)


@verb
def is_awake(state: Any, node: int) -> bool:
    """Return whether a node is awake now."""
    return bool(state.nodes[node].status == AWAKE and not dozes(state, node))


@verb
def depth_of_nap(state: Any, node: int) -> int:
    """Return into which of its sleep states an idle node falls."""
    return int(min(state.sleep_control.idle_depth, state.nodes[node].depths - 1))


@inner
def catch_up(state: Any, node: int) -> None:
    """Let a node be what it has become since it was last looked at, where nobody sees when nodes fall asleep."""
    record = state.nodes[node]
    if dozes(state, node):
        since = record.vacant + state.sleep_control.max_idle_time
        record.depth = depth_of_nap(state, node)
        record.wanted = 0
        nap = state.naps[record.first_nap + record.depth]
        settle_until(state, node, since)
        take_status(state, node, FALLING, nap.falling, since + nap.down)
    unfinished = record.wanted or later(record.until, state.clock.now)
    if record.status == FALLING and state.sleep_control.lazy_sleep and not unfinished:
        settle_until(state, node, record.until)
        take_status(state, node, ASLEEP, state.naps[record.first_nap + record.depth].watts, np.inf)


# ---------------------------------------------------------------- to sleep


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
        if not state.sleep_control.lazy_sleep:
            expect_move(state, node)
    else:
        turn(state, node, ASLEEP, nap.watts, np.inf)


@inner
def order_naps(state: Any, idle: float, depth: int) -> None:
    """Let idle nodes sleep from now on; see `sleep_when_idle`. Changes notes."""
    sleep_control = state.sleep_control
    if not (idle >= 0.0 and depth >= 0):
        note(state.clock, BAD_ORDER, -1, -1, idle if not idle >= 0.0 else depth)
        raise PolicyFault
    for node in range(len(state.nodes)):
        catch_up(state, node)
    sleep_control.max_idle_time = idle
    sleep_control.idle_depth = depth
    sleep_control.next_sleep_time = state.clock.now if sleep_control.keep_idle_list else np.inf


@once
def let_idle_sleep(state: Any) -> None:
    """Put nodes to sleep that have been idle for as long as the sleep policy lets them; see `sleep_when_idle`."""
    if not later(state.sleep_control.next_sleep_time, state.clock.now):
        put_idle_to_sleep(state)


@seldom
def put_idle_to_sleep(state: Any) -> None:
    """Put nodes to sleep whose time has come, and note when that of the next one does. Changes nodes, notes."""
    sleep_control = state.sleep_control
    node = first_in_line(state)
    while node >= 0 and not later(state.nodes[node].vacant + sleep_control.max_idle_time, state.clock.now):
        doze(state, node, depth_of_nap(state, node))
        node = first_in_line(state)
    sleep_control.next_sleep_time = state.nodes[node].vacant + sleep_control.max_idle_time if node >= 0 else np.inf


# ---------------------------------------------------------------- to wake


@inner
def awaken(state: Any, node: int) -> None:
    """Let the node be awake, and idle unless somebody holds it. Changes nodes, clock."""
    state.clock.stirred = 1
    turn(state, node, AWAKE, 0.0, np.inf)
    if state.nodes[node].free == state.nodes[node].cores:
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
        first = record.wanted == 0
        record.wanted = 1
        restock(state, node)
        if first and state.sleep_control.lazy_sleep:
            expect_move(state, node)
        elif first:
            state.sleep_control.waking += 1
    elif record.status == ASLEEP:
        nap = state.naps[record.first_nap + record.depth]
        if nap.up > 0.0:
            turn(state, node, WAKING, nap.waking, state.clock.now + nap.up)
            expect_move(state, node)
        else:
            awaken(state, node)


@verb
def node_awake(state: Any, node: int) -> float:
    """Return when a node that is not awake, or dozes, is awake if it is woken now [s]."""
    record = state.nodes[node]
    if record.status == WAKING:
        return float(record.until)
    asleep = state.clock.now
    nap = state.naps[record.first_nap + (depth_of_nap(state, node) if record.status == AWAKE else record.depth)]
    if record.status == FALLING:
        asleep = max(asleep, record.until)
    elif record.status == AWAKE:
        asleep = max(asleep, record.vacant + state.sleep_control.max_idle_time + nap.down)
    return float(asleep + nap.up)


@seldom
def rouse_all(state: Any, job: int) -> float:
    """Wake the nodes the job took; returns when the last of them is awake [s]."""
    ready = state.clock.now
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        if not is_awake(state, node):
            rouse(state, node)
        if state.sleep_control.lazy_sleep:
            state.nodes[node].vacant = np.inf  # it is held, and not idle, even if it waits for others to wake
        if state.nodes[node].status != AWAKE:  # it may have woken at once
            ready = max(ready, node_awake(state, node))
        piece = state.slices[piece].next
    return ready


@inner
def break_off(state: Any, node: int) -> None:
    """Break off the transition that a failing node is in, if it is in one. Changes moving, clock, notes."""
    clock = state.clock
    sleep_control = state.sleep_control
    count = sleep_control.moving
    sleep_control.moving = sleep_control.waking = 0
    clock.transition = np.inf
    for k in range(count):
        if state.moving[k] != node:
            expect_move(state, state.moving[k])


@seldom
def finish_transitions(state: Any) -> None:
    """Let every node whose transition ends now move on. Changes nodes, moving, clock."""
    clock = state.clock
    sleep_control = state.sleep_control
    count = sleep_control.moving
    sleep_control.moving = sleep_control.waking = 0
    clock.transition = np.inf
    for k in range(count):
        node = state.moving[k]
        record = state.nodes[node]
        if later(record.until, clock.now):
            expect_move(state, node)
        elif record.status == WAKING:
            awaken(state, node)
        else:
            turn(state, node, ASLEEP, state.naps[record.first_nap + record.depth].watts, np.inf)
            if record.wanted:
                rouse(state, node)
