"""External events: failures and repairs of nodes, ends of windows, and operators who delete, kill or requeue jobs."""

from typing import Any

import numpy as np

from harness.engine.decorators import once, seldom
from harness.engine.events.event_source import INPUT, WITH_JOBS, EventSource
from harness.engine.power.draw import draw_one, settle
from harness.engine.power.sleep import cancel_transition, catch_up
from harness.engine.queue.waiting_jobs import cancel_waiting, dequeue, join_queue, leave_system
from harness.engine.records.public import (
    AWAKE,
    DOWN,
    JOB_DELETED,
    JOB_REQUEUED,
    KILLED,
    NODE_DOWN,
    NODE_UP,
    RUNNING,
    WAITING,
    WINDOW_OVER,
)
from harness.engine.resources.idle_nodes import become_idle
from harness.engine.resources.node_classes import reclassify
from harness.engine.resources.nodes import BLOCK, keeps_place
from harness.engine.resources.suspend_in_place import has_place_on, lose_place
from harness.engine.running_jobs import first_running, next_running, who_runs
from harness.engine.service import release_job, reset_progress


@once
def affected_jobs(state: Any, kind: int, subject: int) -> int:
    """Put the jobs that the event interrupts into `paused`. Return how many they are, −1 if it changes nothing."""
    if kind == NODE_UP:
        return 0 if state.nodes[subject].status == DOWN else -1
    if kind == JOB_DELETED:
        return 0 if state.jobs[subject].status == WAITING else -1
    if kind != NODE_DOWN:
        state.paused[0] = subject
        return 1 if state.jobs[subject].status == RUNNING else -1
    if state.nodes[subject].status == DOWN:
        return -1
    count = 0
    at = first_running(state)
    while at >= 0:
        if has_place_on(state, who_runs(state, at), subject):
            state.paused[count] = who_runs(state, at)
            count += 1
        at = next_running(state, at)
    if state.allocation.suspended_in_place > 0:
        for k in range(state.waitlist.head, state.waitlist.tail):
            if has_place_on(state, state.queue[k], subject):
                state.paused[count] = state.queue[k]
                count += 1
    return count


@once
def interrupt_job(state: Any, job: int, again: bool) -> None:
    """Interrupt a job that runs or is suspended in place: it waits again and begins anew, or is killed.

    Changes what `abandon` changes, and the queue.
    """
    if state.jobs[job].status == RUNNING:
        release_job(state, job)
    else:
        lose_place(state, job)
        dequeue(state, job)
    if not again:
        state.sums.backlog -= state.truth[job].work
        state.clock.demand -= state.jobs[job].left
        leave_system(state, job, KILLED)
        return
    reset_progress(state, job)
    state.ranking[0] = job
    join_queue(state, 1)


@once
def switch_node(state: Any, node: int, up: bool) -> None:
    """Take a node without jobs down, or bring it back awake. Changes nodes, clock."""
    clock = state.clock
    record = state.nodes[node]
    cancel_transition(state, node)
    catch_up(state, node)
    settle(state, node)
    record.status = AWAKE if up else DOWN
    record.resting = 0.0
    record.until = np.inf
    record.free = record.cores if up else 0
    become_idle(state, node)
    cores = record.cores if up else -record.cores
    clock.free += cores
    clock.down -= cores
    state.blocks[node // BLOCK] += cores
    reclassify(state, node)
    draw_one(state, node)


@once
def next_external_event(state: Any) -> float:
    """Return when the next external event is [s]. Those before the first arrival are applied with it."""
    if state.loop.next_event == len(state.events):
        return np.inf
    return float(max(state.clock.now, state.events[state.loop.next_event].time))


@once
def apply_external_events(state: Any) -> None:
    """Apply the external events of this instant, if there are any. Changes what `apply_due_events` does."""
    if state.loop.next_event < len(state.events) and state.events[state.loop.next_event].time <= state.clock.now:
        apply_due_events(state)


@seldom
def apply_due_events(state: Any) -> None:
    """Apply the external events of this instant, in their order. Changes loop, clock, sums, and what they change."""
    clock = state.clock
    loop = state.loop
    while loop.next_event < len(state.events) and state.events[loop.next_event].time <= clock.now:
        event = state.events[loop.next_event]
        loop.next_event += 1
        if event.kind == WINDOW_OVER:
            loop.window_ends += 1
            clock.decision_due = 1
            continue
        count = affected_jobs(state, event.kind, event.subject)
        if count < 0:
            state.sums.ignored_events += 1
            continue
        again = event.kind == JOB_REQUEUED or (event.kind == NODE_DOWN and state.sums.requeue == 1)
        for k in range(count):
            interrupt_job(state, state.paused[k], again)
        if event.kind == JOB_DELETED:
            if keeps_place(state, event.subject):
                lose_place(state, event.subject)
            cancel_waiting(state, event.subject)
        elif event.kind in (NODE_DOWN, NODE_UP):
            switch_node(state, event.subject, event.kind == NODE_UP)
        left = event.kind == JOB_DELETED or (event.kind != NODE_UP and not again)
        clock.upset = max(clock.upset, 1 if left and event.kind != NODE_DOWN else 2)


SOURCE = EventSource(next_external_event, apply_external_events, role=WITH_JOBS, rounding=INPUT)
