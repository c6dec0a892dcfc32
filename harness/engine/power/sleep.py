"""Node states: nodes fall asleep, sleep and wake, and jobs wait for them.

A sleeping node can be allocated: its free cores count as free. It is woken then, and the job holds its processors until
all of its nodes are awake. Its service begins at that time. A transition that has begun is always completed.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once, seldom, verb
from harness.engine.faults import BAD_NAP, BAD_ORDER, NO_NODE, PolicyFault, note
from harness.engine.power.draw import draw_one, settle, settle_until
from harness.engine.records.public import ASLEEP, AWAKE, FALLING, WAKING
from harness.engine.resources.idle_nodes import become_idle, first_idle
from harness.engine.resources.node_classes import reclassify
from harness.engine.time_comparison import later


@inner
def transition(state: Any, node: int, status: int, watts: float, until: float) -> None:
    """Set the status of a node up to `until`; it draws `watts` unless it is awake."""
    settle(state, node)
    set_status(state, node, status, watts, until)


@inner
def set_status(state: Any, node: int, status: int, watts: float, until: float) -> None:
    """Do the same for a node whose energy is accounted up to the transition."""
    record = state.nodes[node]
    record.status = status
    record.resting = watts
    record.until = until
    reclassify(state, node)
    draw_one(state, node)


@inner
def expect_move(state: Any, node: int) -> None:
    """Make the end of the node's transition an event."""
    sleep_control = state.sleep_control
    record = state.nodes[node]
    state.moving[sleep_control.moving] = node
    sleep_control.moving += 1
    sleep_control.waking += record.status == WAKING or record.wanted != 0
    state.clock.transition = min(state.clock.transition, record.until)


# ---------------------------------------------------------------- lazy sleep: transitions that are no events


@verb
def asleep_unseen(state: Any, node: int) -> bool:
    """Return whether a node whose status is awake has been idle for longer than the limit.

    Only under lazy sleep. Otherwise the node has been put to sleep, and its status shows it.
    """
    record = state.nodes[node]
    if state.sleep_control.lazy_sleep == 0 or record.status != AWAKE or record.busy > 0 or record.depths == 0:
        return False
    return later(state.clock.now, record.vacant + state.sleep_control.max_idle_time)


@verb
def is_awake(state: Any, node: int) -> bool:
    """Return whether a node is awake now."""
    return bool(state.nodes[node].status == AWAKE and not asleep_unseen(state, node))


@verb
def idle_sleep_state(state: Any, node: int) -> int:
    """Return the sleep state into which an idle node falls by itself."""
    return int(min(state.sleep_control.idle_depth, state.nodes[node].depths - 1))


@inner
def catch_up(state: Any, node: int) -> None:
    """Apply the transitions of a node up to now, under lazy sleep."""
    record = state.nodes[node]
    if asleep_unseen(state, node):
        since = record.vacant + state.sleep_control.max_idle_time
        record.depth = idle_sleep_state(state, node)
        record.wanted = 0
        nap = state.naps[record.first_nap + record.depth]
        settle_until(state, node, since)
        set_status(state, node, FALLING, nap.falling, since + nap.down)
    unfinished = record.wanted or later(record.until, state.clock.now)
    if record.status == FALLING and state.sleep_control.lazy_sleep and not unfinished:
        settle_until(state, node, record.until)
        set_status(state, node, ASLEEP, state.naps[record.first_nap + record.depth].watts, np.inf)


# ---------------------------------------------------------------- to sleep


@inner
def sleep_node(state: Any, node: int, depth: int) -> None:
    """Put an idle node to sleep; see `put_to_sleep`."""
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
        transition(state, node, FALLING, nap.falling, state.clock.now + nap.down)
        if not state.sleep_control.lazy_sleep:
            expect_move(state, node)
    else:
        transition(state, node, ASLEEP, nap.watts, np.inf)


@inner
def set_idle_limit(state: Any, idle: float, depth: int) -> None:
    """Set the time after which idle nodes fall asleep; see `sleep_when_idle`."""
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
    """Put nodes to sleep that have been idle for the limit of the sleep policy; see `sleep_when_idle`."""
    if not later(state.sleep_control.next_sleep_time, state.clock.now):
        put_idle_to_sleep(state)


@seldom
def put_idle_to_sleep(state: Any) -> None:
    """Put nodes to sleep that have been idle for the limit, and note when the next one will be."""
    sleep_control = state.sleep_control
    node = first_idle(state)
    while node >= 0 and not later(state.nodes[node].vacant + sleep_control.max_idle_time, state.clock.now):
        sleep_node(state, node, idle_sleep_state(state, node))
        node = first_idle(state)
    sleep_control.next_sleep_time = state.nodes[node].vacant + sleep_control.max_idle_time if node >= 0 else np.inf


# ---------------------------------------------------------------- to wake


@inner
def set_awake(state: Any, node: int) -> None:
    """Set a node awake, and idle unless a job holds cores of it."""
    state.clock.decision_due = 1
    transition(state, node, AWAKE, 0.0, np.inf)
    if state.nodes[node].free == state.nodes[node].cores:
        become_idle(state, node)


@inner
def wake_node(state: Any, node: int) -> None:
    """Wake a node that sleeps; one that is falling asleep wakes once it is asleep. An awake node stays as it is."""
    if not 0 <= node < len(state.nodes):
        note(state.clock, NO_NODE, -1, node, len(state.nodes))
        raise PolicyFault
    catch_up(state, node)
    record = state.nodes[node]
    if record.status == FALLING:
        first = record.wanted == 0
        record.wanted = 1
        reclassify(state, node)
        if first and state.sleep_control.lazy_sleep:
            expect_move(state, node)
        elif first:
            state.sleep_control.waking += 1
    elif record.status == ASLEEP:
        nap = state.naps[record.first_nap + record.depth]
        if nap.up > 0.0:
            transition(state, node, WAKING, nap.waking, state.clock.now + nap.up)
            expect_move(state, node)
        else:
            set_awake(state, node)


@verb
def node_awake(state: Any, node: int) -> float:
    """Return the time at which a node that is not awake will be awake if it is woken now [s]."""
    record = state.nodes[node]
    if record.status == WAKING:
        return float(record.until)
    asleep = state.clock.now
    nap = state.naps[record.first_nap + (idle_sleep_state(state, node) if record.status == AWAKE else record.depth)]
    if record.status == FALLING:
        asleep = max(asleep, record.until)
    elif record.status == AWAKE:
        asleep = max(asleep, record.vacant + state.sleep_control.max_idle_time + nap.down)
    return float(asleep + nap.up)


@seldom
def wake_nodes_of(state: Any, job: int) -> float:
    """Wake the nodes that the job took; return the time at which all of them are awake [s]."""
    ready = state.clock.now
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        if not is_awake(state, node):
            wake_node(state, node)
        if state.sleep_control.lazy_sleep:
            state.nodes[node].vacant = np.inf  # it is not idle: its job may wait for other nodes
        if state.nodes[node].status != AWAKE:  # it may have woken at once
            ready = max(ready, node_awake(state, node))
        piece = state.slices[piece].next
    return ready


@inner
def cancel_transition(state: Any, node: int) -> None:
    """Cancel the transition of a node that fails, if it is in one."""
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
    """Complete the transitions that end now."""
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
            set_awake(state, node)
        else:
            transition(state, node, ASLEEP, state.naps[record.first_nap + record.depth].watts, np.inf)
            if record.wanted:
                wake_node(state, node)
