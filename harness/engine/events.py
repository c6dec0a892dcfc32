"""What happens to nodes and jobs besides scheduling: failures, repairs, interventions, replayed at their instants."""

from typing import Any

import numpy as np

from harness.engine.nodes import BLOCK
from harness.engine.power import draw_one, settle
from harness.engine.queue import join_queue, leave_queue
from harness.engine.service import abandon
from harness.engine.state import (
    AWAKE,
    DOWN,
    JOB_DELETED,
    JOB_KILLED,
    JOB_REQUEUED,
    KILLED,
    NODE_DOWN,
    NODE_UP,
    RUNNING,
    WAITING,
    inner,
    once,
)


@inner
def kill(state: Any, job: int) -> None:
    """A running job is ended from outside. Changes what `abandon` changes."""
    clock = state.clock
    abandon(state, job)
    state.sums.backlog -= state.truth[job].work
    clock.demand -= state.jobs[job].left
    state.jobs[job].status = KILLED
    state.jobs[job].end = clock.now
    state.leavers[clock.departed] = job
    clock.departed += 1


@inner
def requeue(state: Any, job: int) -> None:
    """A running job is interrupted, loses what it has done, and waits again. Changes what `abandon` changes."""
    abandon(state, job)
    record = state.jobs[job]
    truth = state.truth[job]
    state.sums.backlog += truth.whole - truth.work
    state.clock.demand += record.estimate - record.left
    truth.work = truth.whole
    record.left = record.estimate
    record.lost += record.service
    record.service = 0.0
    record.start = np.nan
    record.reserved = -1.0
    record.restarts += 1
    state.ranking[0] = job
    join_queue(state, 1)


@inner
def interrupt_all(state: Any, node: int) -> None:
    """Every job that holds cores of the node is killed or waits again, as the run was told."""
    k = 0
    while k < state.clock.running:
        job = state.plan[k]
        piece = state.jobs[job].slices
        while piece >= 0 and state.slices[piece].node != node:
            piece = state.slices[piece].next
        if piece < 0:
            k += 1
        elif state.sums.requeue:
            requeue(state, job)
        else:
            kill(state, job)


@inner
def fail(state: Any, node: int) -> None:
    """The node goes down, and what runs on it is interrupted. Changes nodes, clock."""
    clock = state.clock
    interrupt_all(state, node)
    record = state.nodes[node]
    settle(state, node)
    clock.free -= record.free
    clock.down += record.cores
    state.blocks[node // BLOCK] -= record.free
    record.free = 0
    record.status = DOWN
    record.resting = 0.0
    record.until = np.inf
    draw_one(state, node)


@inner
def repair(state: Any, node: int) -> None:
    """The node comes back, awake and empty. Changes nodes, clock."""
    clock = state.clock
    record = state.nodes[node]
    settle(state, node)
    record.status = AWAKE
    record.vacant = clock.now
    record.free = record.cores
    clock.free += record.cores
    clock.down -= record.cores
    state.blocks[node // BLOCK] += record.cores
    draw_one(state, node)


@inner
def apply(state: Any, kind: int, subject: int) -> bool:
    """Let one event happen; False if it finds nothing to change."""
    if kind in (NODE_DOWN, NODE_UP):
        if (state.nodes[subject].status == DOWN) == (kind == NODE_DOWN):
            return False
        if kind == NODE_DOWN:
            fail(state, subject)
        else:
            repair(state, subject)
        return True
    if state.jobs[subject].status != (WAITING if kind == JOB_DELETED else RUNNING):
        return False
    if kind == JOB_DELETED:
        leave_queue(state, subject)
    elif kind == JOB_KILLED:
        kill(state, subject)
    elif kind == JOB_REQUEUED:
        requeue(state, subject)
    return True


@once
def happen(state: Any) -> None:
    """The events of this instant, in their order; counts those without effect. Changes clock, sums."""
    clock = state.clock
    while clock.events < len(state.events) and state.events[clock.events].time <= clock.now:
        event = state.events[clock.events]
        clock.events += 1
        if apply(state, event.kind, event.subject):
            clock.upset = 1
        else:
            state.sums.vain += 1
