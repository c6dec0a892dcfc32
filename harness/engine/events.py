"""What happens to nodes and jobs besides scheduling: failures, repairs, interventions, replayed at their instants."""

from typing import Any

import numpy as np

from harness.engine.nodes import BLOCK
from harness.engine.power import draw_one, settle
from harness.engine.queue import join_queue, leave, leave_queue
from harness.engine.service import abandon
from harness.engine.sleep import break_off
from harness.engine.state import (
    AWAKE,
    DOWN,
    JOB_DELETED,
    JOB_REQUEUED,
    KILLED,
    NODE_DOWN,
    NODE_UP,
    RUNNING,
    WAITING,
    once,
)


@once
def find_struck(state: Any, kind: int, subject: int) -> int:
    """Put the running jobs that the event interrupts into `paused`; returns how many, −1 if it changes nothing."""
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
    for k in range(state.clock.running):
        job = state.plan[k]
        piece = state.jobs[job].slices
        while piece >= 0 and state.slices[piece].node != subject:
            piece = state.slices[piece].next
        if piece >= 0:
            state.paused[count] = job
            count += 1
    return count


@once
def strike(state: Any, job: int, again: bool) -> None:
    """A running job is interrupted: it waits again and begins anew, or is killed. Changes what `abandon` changes."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    abandon(state, job)
    state.sums.backlog -= truth.work
    clock.demand -= record.left
    if not again:
        leave(state, job, KILLED)
        return
    truth.work = truth.whole
    record.left = record.estimate
    state.sums.backlog += truth.work
    clock.demand += record.left
    record.lost += record.service
    record.service = 0.0
    record.start = np.nan
    record.reserved = -1.0
    record.restarts += 1
    state.ranking[0] = job
    join_queue(state, 1)


@once
def switch_node(state: Any, node: int, up: bool) -> None:
    """A node without jobs goes down, or comes back awake. Changes nodes, clock."""
    clock = state.clock
    record = state.nodes[node]
    break_off(state, node)
    settle(state, node)
    record.status = AWAKE if up else DOWN
    record.resting = 0.0
    record.until = np.inf
    record.vacant = clock.now
    record.free = record.cores if up else 0
    cores = record.cores if up else -record.cores
    clock.free += cores
    clock.down -= cores
    state.blocks[node // BLOCK] += cores
    draw_one(state, node)


@once
def happen(state: Any) -> None:
    """The events of this instant, in their order; counts those without effect. Changes clock, sums."""
    clock = state.clock
    while clock.events < len(state.events) and state.events[clock.events].time <= clock.now:
        event = state.events[clock.events]
        clock.events += 1
        count = find_struck(state, event.kind, event.subject)
        if count < 0:
            state.sums.vain += 1
            continue
        again = event.kind == JOB_REQUEUED or (event.kind == NODE_DOWN and state.sums.requeue == 1)
        for k in range(count):
            strike(state, state.paused[k], again)
        if event.kind == JOB_DELETED:
            leave_queue(state, event.subject)
        elif event.kind in (NODE_DOWN, NODE_UP):
            switch_node(state, event.subject, event.kind == NODE_UP)
        clock.upset = 1
