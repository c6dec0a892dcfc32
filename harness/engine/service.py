"""Beginning, suspending and ending the service of a job."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once, seldom, verb
from harness.engine.faults import (
    BAD_OVERHEAD,
    NO_ROOM,
    NOT_PREEMPTIVE,
    NOT_RUNNING,
    NOT_WAITING,
    SELECTING,
    TOO_FEW,
    TOO_MANY,
    UNEVEN,
    UNTRUE_FITS,
    PolicyFault,
    note,
)
from harness.engine.power.sleep import rouse_all
from harness.engine.queue.holds import close_if_held
from harness.engine.records.public import COMPLETED, KILLED, RUNNING, SUSPENDED, WAITING
from harness.engine.records.request_records import DEMANDING
from harness.engine.resources.capacity import find_room, hold_demands, hold_licences, portion
from harness.engine.resources.nodes import (
    ask_selection,
    enough,
    fits,
    give_all_back,
    next_free,
    occupy,
    room,
    stays,
    vacate,
)
from harness.engine.running_jobs import add_to_plan, pop_due, push_due, remove_from_plan
from harness.engine.suspend_in_place import copy_place, keep_place, retake
from harness.engine.time_comparison import later


@seldom
def can_have(state: Any, job: int) -> int:
    """Return how many processors the job could get now, at most; for error messages."""
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += room(state, job, node)
        node = next_free(state, node)
    return found


@verb
def place(state: Any, job: int) -> bool:
    """Let the selection hold processors for the job; False when it declines. Refuses too few and too many."""
    clock = state.clock
    allocation = state.allocation
    asked = clock.hook
    clock.hook = SELECTING
    clock.culprit = job
    allocation.cores_taken = 0
    allocation.nodes_taken = 0
    allocation.nodes_asleep = 0
    allocation.awake_at = clock.now
    allocation.slowest = np.inf
    limited = allocation.placement_restricted
    if clock.constrained == DEMANDING and not limited:  # what it may take of each node is found once
        find_room(state, job)
        allocation.placement_restricted = 1
    accepted = ask_selection(state, job)
    allocation.placement_restricted = limited
    if clock.constrained == DEMANDING:
        hold_demands(state, job)
    if not accepted:
        give_all_back(state, job)
        if clock.asks and fits(state, job):
            note(clock, UNTRUE_FITS, job, -1, 0.0)
            raise PolicyFault
        allocation.declined += 1
        clock.hook = asked
        return False
    chosen = allocation.cores_taken
    if chosen != state.jobs[job].procs:
        note(clock, TOO_FEW if chosen < state.jobs[job].procs else TOO_MANY, job, -1, chosen)
        raise PolicyFault
    at_once = portion(state, job)
    if at_once > 0 and allocation.nodes_taken > (chosen + at_once - 1) // at_once:
        note(clock, UNEVEN, job, -1, allocation.nodes_taken)
        raise PolicyFault
    clock.hook = asked
    return True


@verb
def stretched(clock: Any, work: float, speed: float) -> float:
    """Return how long so much work takes on processors of this speed, at full rate [s]."""
    return np.floor(work / speed + 0.5) if clock.whole_seconds else work / speed


@inner
def begin(state: Any, job: int) -> bool:
    """Start a waiting job now; see `start`. Changes jobs, truth, nodes, slices, heap, plan, clock."""
    clock = state.clock
    notes = state.notes
    allocation = state.allocation
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != WAITING:
        note(clock, NOT_WAITING, job, -1, 0.0)
        raise PolicyFault
    if not enough(state, job):
        note(clock, NO_ROOM, job, -1, can_have(state, job))
        raise PolicyFault
    if notes.closed:
        return False
    if stays(state, job):
        retake(state, job)
    elif not place(state, job):
        return False
    record = state.jobs[job]
    clock.free -= record.procs
    if len(state.licences) > 0:
        hold_licences(state, job, 1)
    record.status = RUNNING
    if np.isnan(record.start):
        record.start = clock.now
    record.nodes = allocation.nodes_taken
    record.speed = allocation.slowest
    # A node takes as long to wake whatever the rate.
    record.planned = (
        clock.virtual + (allocation.awake_at - clock.now) * clock.rate + stretched(clock, record.left, record.speed)
    )
    record.ready = np.inf if allocation.nodes_asleep > 0 else clock.now  # infinity: its nodes are still to be woken
    state.truth[job].begun = clock.now
    state.truth[job].due = np.nan  # not in service yet: that is for the loop to do, once the decision is over
    add_to_plan(state, job)
    clock.running += 1
    clock.started += 1
    clock.booting += record.procs
    state.boots[notes.boots] = job
    notes.boots += 1
    if state.usage_sums.counted:
        state.tally(state, job, 0, -1, 1)
    if notes.holds > 0:
        close_if_held(state)
    return True


@once
def serve(state: Any, job: int) -> None:
    """Begin the service of a job whose nodes are all awake. Changes jobs, truth, nodes, heap, clock, sums."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    occupy(state, job)
    truth.begun = clock.now
    truth.due = clock.virtual + stretched(clock, truth.work, record.speed)
    truth.turn = state.notes.served
    state.notes.served += 1
    push_due(state, truth.due, job)
    state.sums.backlog -= truth.work
    state.sums.due_speed += truth.due * record.speed
    clock.demand -= record.left
    clock.promised += record.planned * record.speed
    clock.speed += record.speed


@inner
def boot(state: Any, job: int) -> None:
    """Count how long a job that holds processors waited for its nodes. Changes jobs, truth, clock."""
    clock = state.clock
    clock.booting -= state.jobs[job].procs
    state.jobs[job].boot += clock.now - state.truth[job].begun
    state.truth[job].begun = clock.now


@inner
def enter_service(state: Any) -> None:
    """Started jobs wake their nodes; if all are awake, service begins. Changes what `serve` does, and the plan."""
    clock = state.clock
    notes = state.notes
    kept = 0
    for place in range(notes.boots):
        job = state.boots[place]
        record = state.jobs[job]
        if record.ready == np.inf:
            record.ready = rouse_all(state, job)
        if later(record.ready, clock.now):
            state.boots[kept] = job
            kept += 1
            continue
        boot(state, job)
        planned = clock.virtual + stretched(clock, record.left, record.speed)
        if later(planned, record.planned) or later(record.planned, planned):  # the rate was switched meanwhile
            remove_from_plan(state, job)
            clock.running -= 1
            record.planned = planned
            add_to_plan(state, job)
            clock.running += 1
            clock.upset = 2
        serve(state, job)
    notes.boots = kept


@inner
def give_way(state: Any, job: int) -> None:
    """Let a job in service leave its processors. Changes what `begin` changed."""
    remove_from_plan(state, job)
    vacate(state, job, state.truth[job].begun)
    state.clock.running -= 1
    state.clock.free += state.jobs[job].procs
    if state.usage_sums.counted:
        state.tally(state, job, 0, 0, -1)
    if len(state.licences) > 0:
        hold_licences(state, job, -1)


@inner
def stop(state: Any, job: int, place: int) -> None:
    """End a job's service; `place` is its entry in the heap. Changes what `begin` changed."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    pop_due(state, place)
    if record.status == RUNNING:  # else it has given way already
        give_way(state, job)
    record.service += clock.now - truth.begun
    state.sums.due_speed -= truth.due * record.speed
    clock.promised -= record.planned * record.speed
    clock.speed -= record.speed
    if state.notes.heaped == 0:  # nothing in service: let no rounding error survive
        state.sums.due_speed = 0.0
        clock.promised = 0.0
        clock.speed = 0.0


@inner
def ending(state: Any, job: int) -> int:
    """Return what a job is whose service is over."""
    return KILLED if state.truth[job].killed else COMPLETED


@inner
def finish(state: Any, place: int) -> None:
    """Complete the job at a place of the heap."""
    clock = state.clock
    job = state.heap[place].job
    stop(state, job, place)
    record = state.jobs[job]
    record.status = ending(state, job)
    record.end = clock.now
    record.left = 0.0
    state.leavers[clock.departed] = job
    clock.departed += 1
    clock.completed += 1


@inner
def abandon(state: Any, job: int) -> None:
    """Let a running job leave its processors with work left to do. Changes what `begin` changed."""
    clock = state.clock
    notes = state.notes
    record = state.jobs[job]
    truth = state.truth[job]
    place = 0
    if np.isnan(truth.due):
        while state.boots[place] != job:
            place += 1
        notes.boots -= 1
        for k in range(place, notes.boots):
            state.boots[k] = state.boots[k + 1]
        boot(state, job)
        remove_from_plan(state, job)
        give_all_back(state, job)
        clock.running -= 1
        clock.free += record.procs
        if state.usage_sums.counted:
            state.tally(state, job, 0, 0, -1)
        if len(state.licences) > 0:
            hold_licences(state, job, -1)
        return
    while state.heap[place].job != job:
        place += 1
    stop(state, job, place)
    truth.work = max(0.0, (truth.due - clock.virtual) * record.speed)
    record.left = max(0.0, (record.planned - clock.virtual) * record.speed)
    state.sums.backlog += truth.work
    clock.demand += record.left


@inner
def forfeit(state: Any, job: int) -> None:
    """Count what an abandoned job has done as worthless: it will begin anew. Changes jobs, truth, clock, sums."""
    record = state.jobs[job]
    truth = state.truth[job]
    state.sums.backlog -= truth.work
    state.clock.demand -= record.left
    truth.work = state.wholes[job]
    record.left = record.estimate
    state.sums.backlog += truth.work
    state.clock.demand += record.left
    record.lost += record.service
    record.service = 0.0
    record.overhead = 0.0
    if record.restarts == 0:
        state.first_starts[job] = record.start
    record.start = np.nan
    record.reserved = -1.0
    record.restarts += 1


@inner
def take_off(state: Any, job: int, fault: int, in_place: bool) -> None:
    """Take a running job off its processors, for a policy; `fault` if it does not run. Changes what `abandon` does."""
    clock = state.clock
    if clock.preemptive == 0:
        note(clock, NOT_PREEMPTIVE, job, -1, 0.0)
        raise PolicyFault
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != RUNNING:
        note(clock, fault, job, -1, 0.0)
        raise PolicyFault
    kept = copy_place(state, job) if in_place else -1
    abandon(state, job)
    state.jobs[job].status = SUSPENDED
    if in_place:
        keep_place(state, job, kept)
    # They wait again, in queue order, once this decision is over.
    state.paused[clock.suspended] = job
    clock.suspended += 1


@inner
def interrupt(state: Any, job: int, overhead: float, in_place: bool) -> None:
    """Suspend a running job; see `suspend`."""
    if not 0.0 <= overhead < np.inf:
        note(state.clock, BAD_OVERHEAD, job, -1, overhead)
        raise PolicyFault
    take_off(state, job, NOT_RUNNING, in_place)
    record = state.jobs[job]
    record.preemptions += 1
    record.overhead += overhead
    record.left += overhead
    state.clock.demand += overhead
    state.truth[job].work += overhead
    state.sums.backlog += overhead
