"""Beginning, suspending and ending the service of a job."""

from typing import Any

import numpy as np

from harness.engine.faults import (
    NO_ROOM,
    NOT_PREEMPTIVE,
    NOT_RUNNING,
    NOT_WAITING,
    SELECTING,
    TOO_FEW,
    TOO_MANY,
    PolicyFault,
    note,
)
from harness.engine.nodes import fits, give_all_back, next_free, occupy, room, vacate
from harness.engine.ongoing import add_to_plan, pop_due, push_due, remove_from_plan
from harness.engine.sleep import rouse_all, when_awake
from harness.engine.state import COMPLETED, RUNNING, SUSPENDED, WAITING, inner, once, seen


@inner
def can_have(state: Any, job: int) -> int:
    """How many processors the job could get now, at most; for error messages."""
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += room(state, job, node)
        node = next_free(state, node)
    return found


@inner
def place(state: Any, job: int) -> bool:
    """Let the selection hold processors for the job; False when it declines. Refuses too few and too many."""
    clock = state.clock
    asked = clock.hook
    clock.hook = SELECTING
    clock.culprit = job
    clock.held = 0
    clock.held_nodes = 0
    clock.held_asleep = 0
    clock.held_speed = np.inf
    accepted = state.select(seen(state), job, state.select_own)
    if not accepted:
        give_all_back(state, job)
        clock.declined += 1
        clock.hook = asked
        return False
    chosen = clock.held
    if chosen != state.jobs[job].procs:
        note(clock, TOO_FEW if chosen < state.jobs[job].procs else TOO_MANY, job, -1, chosen)
        raise PolicyFault
    clock.hook = asked
    return True


@inner
def begin(state: Any, job: int) -> bool:
    """Start a waiting job now; see `start`. Changes jobs, truth, nodes, slices, heap, plan, clock."""
    clock = state.clock
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != WAITING:
        note(clock, NOT_WAITING, job, -1, 0.0)
        raise PolicyFault
    if not fits(state, job):
        note(clock, NO_ROOM, job, -1, can_have(state, job))
        raise PolicyFault
    if not place(state, job):
        return False
    record = state.jobs[job]
    clock.free -= record.procs
    record.status = RUNNING
    if np.isnan(record.start):
        record.start = clock.now
    record.nodes = clock.held_nodes
    record.speed = clock.held_speed
    ready = when_awake(state, job) if clock.held_asleep > 0 else clock.now
    # A node takes as long to wake whatever the rate.
    record.planned = clock.virtual + (ready - clock.now) * clock.rate + record.left / record.speed
    record.ready = np.inf if clock.held_asleep > 0 else clock.now  # infinity: its nodes are still to be woken
    state.truth[job].begun = clock.now
    state.truth[job].due = np.nan  # not in service yet: that is for the loop to do, once the decision is over
    add_to_plan(state, job)
    clock.running += 1
    clock.started += 1
    clock.booting += record.procs
    state.boots[clock.boots] = job
    clock.boots += 1
    return True


@once
def serve(state: Any, job: int) -> None:
    """All nodes of a started job are awake: its service begins. Changes jobs, truth, nodes, heap, clock, sums."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    occupy(state, job)
    truth.begun = clock.now
    truth.due = clock.virtual + truth.work / record.speed
    push_due(state, truth.due, job)
    state.sums.backlog -= truth.work
    state.sums.due_speed += truth.due * record.speed
    clock.demand -= record.left
    clock.promised += record.planned * record.speed
    clock.speed += record.speed


@inner
def boot(state: Any, job: int) -> None:
    """A job that holds processors waits no longer for its nodes. Changes jobs, truth, clock."""
    clock = state.clock
    clock.booting -= state.jobs[job].procs
    state.jobs[job].boot += clock.now - state.truth[job].begun
    state.truth[job].begun = clock.now


@inner
def enter_service(state: Any) -> None:
    """Started jobs wake their nodes; if all are awake, service begins. Changes what `serve` does, and the plan."""
    clock = state.clock
    kept = 0
    for place in range(clock.boots):
        job = state.boots[place]
        record = state.jobs[job]
        if record.ready == np.inf:
            record.ready = rouse_all(state, job)
        if record.ready > clock.now:
            state.boots[kept] = job
            kept += 1
            continue
        boot(state, job)
        planned = clock.virtual + record.left / record.speed
        if planned != record.planned:  # the rate was switched meanwhile
            remove_from_plan(state, job)
            clock.running -= 1
            record.planned = planned
            add_to_plan(state, job)
            clock.running += 1
            clock.upset = 1
        serve(state, job)
    clock.boots = kept


@inner
def stop(state: Any, job: int, place: int) -> None:
    """A job in service leaves its processors; `place` is its entry in the heap. Changes what `begin` changed."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    pop_due(state, place)
    remove_from_plan(state, job)
    vacate(state, job, truth.begun)
    clock.running -= 1
    clock.free += record.procs
    record.service += clock.now - truth.begun
    state.sums.due_speed -= truth.due * record.speed
    clock.promised -= record.planned * record.speed
    clock.speed -= record.speed
    if clock.heaped == 0:  # nothing in service: let no rounding error survive
        state.sums.due_speed = 0.0
        clock.promised = 0.0
        clock.speed = 0.0


@inner
def finish(state: Any, job: int) -> None:
    """The first job of the heap is done."""
    clock = state.clock
    stop(state, job, 0)
    record = state.jobs[job]
    record.status = COMPLETED
    record.end = clock.now
    record.left = 0.0
    state.leavers[clock.departed] = job
    clock.departed += 1
    clock.completed += 1


@inner
def abandon(state: Any, job: int) -> None:
    """A running job leaves its processors with work left to do. Changes what `begin` changed."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    place = 0
    if np.isnan(truth.due):
        while state.boots[place] != job:
            place += 1
        clock.boots -= 1
        for k in range(place, clock.boots):
            state.boots[k] = state.boots[k + 1]
        boot(state, job)
        remove_from_plan(state, job)
        give_all_back(state, job)
        clock.running -= 1
        clock.free += record.procs
        return
    while state.heap[place].job != job:
        place += 1
    stop(state, job, place)
    truth.work = max(0.0, (truth.due - clock.virtual) * record.speed)
    record.left = max(0.0, (record.planned - clock.virtual) * record.speed)
    state.sums.backlog += truth.work
    clock.demand += record.left


@inner
def interrupt(state: Any, job: int) -> None:
    """Suspend a running job; see `suspend`."""
    clock = state.clock
    if clock.preemptive == 0:
        note(clock, NOT_PREEMPTIVE, job, -1, 0.0)
        raise PolicyFault
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != RUNNING:
        note(clock, NOT_RUNNING, job, -1, 0.0)
        raise PolicyFault
    abandon(state, job)
    state.jobs[job].status = SUSPENDED
    state.jobs[job].preemptions += 1
    # They wait again, in queue order, once this decision is over.
    state.paused[clock.suspended] = job
    clock.suspended += 1
