"""How a job starts, enters service, is suspended and ends."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once, verb
from harness.engine.faults import BAD_OVERHEAD, NO_ROOM, NOT_PREEMPTIVE, NOT_RUNNING, NOT_WAITING, PolicyFault, note
from harness.engine.power.sleep import wake_nodes_of
from harness.engine.queue.holds import stop_if_start_causes_hold
from harness.engine.records.public import COMPLETED, KILLED, RUNNING, SUSPENDED, WAITING
from harness.engine.records.request_records import NOW
from harness.engine.resources.allocation import allocate, most_available, occupy, release_all, release_busy
from harness.engine.resources.capacity import set_licences_aside
from harness.engine.resources.nodes import enough, keeps_place
from harness.engine.resources.suspend_in_place import copy_place, keep_place, retake
from harness.engine.running_jobs import add_to_plan, pop_due, push_due, remove_from_plan
from harness.engine.time_comparison import later


@verb
def duration_at(clock: Any, work: float, speed: float) -> float:
    """Return the time that `work` takes on processors of this speed, at full rate [s]."""
    return np.floor(work / speed + 0.5) if clock.whole_seconds else work / speed


@inner
def start_job(state: Any, job: int) -> bool:
    """Allocate resources to a waiting job and start it; return False if the selection declines. See `start`."""
    clock = state.clock
    notes = state.notes
    allocation = state.allocation
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != WAITING:
        note(clock, NOT_WAITING, job, -1, 0.0)
        raise PolicyFault
    if not enough(state, job):
        note(clock, NO_ROOM, job, -1, most_available(state, job))
        raise PolicyFault
    if state.hold_state.stop_starting:
        return False
    if keeps_place(state, job):
        retake(state, job)
    elif not allocate(state, job):
        return False
    record = state.jobs[job]
    clock.free -= record.procs
    set_licences_aside(state, job, NOW, 1)
    record.status = RUNNING
    if np.isnan(record.start):
        record.start = clock.now
    record.nodes = allocation.nodes_taken
    record.speed = allocation.slowest
    # The time to wake a node does not depend on the rate.
    record.planned = (
        clock.virtual + (allocation.awake_at - clock.now) * clock.rate + duration_at(clock, record.left, record.speed)
    )
    record.ready = np.inf if allocation.nodes_asleep > 0 else clock.now  # infinity: its nodes must be woken first
    state.truth[job].begun = clock.now
    state.truth[job].due = np.nan  # the loop begins its service once the decision is over
    add_to_plan(state, job)
    clock.running += 1
    clock.started += 1
    clock.booting += record.procs
    state.boots[notes.boots] = job
    notes.boots += 1
    if state.usage_sums.counted:
        state.tally(state, job, 0, -1, 1)
    if state.hold_state.count > 0:
        stop_if_start_causes_hold(state)
    return True


@once
def begin_service(state: Any, job: int) -> None:
    """Begin the service of a job whose nodes are all awake: its completion becomes an event."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    occupy(state, job)
    truth.begun = clock.now
    truth.due = clock.virtual + duration_at(clock, truth.work, record.speed)
    truth.turn = state.notes.served
    state.notes.served += 1
    push_due(state, truth.due, job)
    state.sums.backlog -= truth.work
    state.sums.due_speed += truth.due * record.speed
    clock.demand -= record.left
    clock.promised += record.planned * record.speed
    clock.speed += record.speed


@inner
def end_boot(state: Any, job: int) -> None:
    """Add the time for which a started job waited for its nodes to its boot time."""
    clock = state.clock
    clock.booting -= state.jobs[job].procs
    state.jobs[job].boot += clock.now - state.truth[job].begun
    state.truth[job].begun = clock.now


@inner
def enter_service(state: Any) -> None:
    """Wake the nodes of the jobs that were started, and begin the service of those whose nodes are awake."""
    clock = state.clock
    notes = state.notes
    kept = 0
    for place in range(notes.boots):
        job = state.boots[place]
        record = state.jobs[job]
        if record.ready == np.inf:
            record.ready = wake_nodes_of(state, job)
        if later(record.ready, clock.now):
            state.boots[kept] = job
            kept += 1
            continue
        end_boot(state, job)
        planned = clock.virtual + duration_at(clock, record.left, record.speed)
        if later(planned, record.planned) or later(record.planned, planned):  # the rate was switched meanwhile
            remove_from_plan(state, job)
            clock.running -= 1
            record.planned = planned
            add_to_plan(state, job)
            clock.running += 1
            clock.upset = 2
        begin_service(state, job)
    notes.boots = kept


@inner
def free_resources(state: Any, job: int) -> None:
    """Release the resources of a job in service."""
    remove_from_plan(state, job)
    release_busy(state, job, state.truth[job].begun)
    state.clock.running -= 1
    state.clock.free += state.jobs[job].procs
    if state.usage_sums.counted:
        state.tally(state, job, 0, 0, -1)
    set_licences_aside(state, job, NOW, -1)


@inner
def end_service(state: Any, job: int, place: int) -> None:
    """End the service of a job; `place` is its index in the heap of completions."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    pop_due(state, place)
    if record.status == RUNNING:  # otherwise its resources are free already
        free_resources(state, job)
    record.service += clock.now - truth.begun
    state.sums.due_speed -= truth.due * record.speed
    clock.promised -= record.planned * record.speed
    clock.speed -= record.speed
    if state.notes.heaped == 0:  # no job is in service: drop rounding errors
        state.sums.due_speed = 0.0
        clock.promised = 0.0
        clock.speed = 0.0


@inner
def final_status(state: Any, job: int) -> int:
    """Return the status of a job at its end."""
    return KILLED if state.truth[job].killed else COMPLETED


@inner
def complete_job(state: Any, place: int) -> None:
    """Complete the job at an index of the heap of completions."""
    clock = state.clock
    job = state.heap[place].job
    end_service(state, job, place)
    record = state.jobs[job]
    record.status = final_status(state, job)
    record.end = clock.now
    record.left = 0.0
    state.leavers[clock.departed] = job
    clock.departed += 1
    clock.completed += 1


@inner
def release_job(state: Any, job: int) -> None:
    """Take the resources from a running job that has work left, and count that work as waiting."""
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
        end_boot(state, job)
        remove_from_plan(state, job)
        release_all(state, job)
        clock.running -= 1
        clock.free += record.procs
        if state.usage_sums.counted:
            state.tally(state, job, 0, 0, -1)
        set_licences_aside(state, job, NOW, -1)
        return
    while state.heap[place].job != job:
        place += 1
    end_service(state, job, place)
    truth.work = max(0.0, (truth.due - clock.virtual) * record.speed)
    record.left = max(0.0, (record.planned - clock.virtual) * record.speed)
    state.sums.backlog += truth.work
    clock.demand += record.left


@inner
def reset_progress(state: Any, job: int) -> None:
    """Discard the progress of a job that was interrupted: it will start from the beginning."""
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
def preempt(state: Any, job: int, fault: int, in_place: bool) -> None:
    """Preempt a running job for a policy; `fault` is the error if the job does not run."""
    clock = state.clock
    if clock.preemptive == 0:
        note(clock, NOT_PREEMPTIVE, job, -1, 0.0)
        raise PolicyFault
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != RUNNING:
        note(clock, fault, job, -1, 0.0)
        raise PolicyFault
    kept = copy_place(state, job) if in_place else -1
    release_job(state, job)
    state.jobs[job].status = SUSPENDED
    if in_place:
        keep_place(state, job, kept)
    # It waits again, in queue order, once this decision is over.
    state.paused[clock.suspended] = job
    clock.suspended += 1


@inner
def suspend_job(state: Any, job: int, overhead: float, in_place: bool) -> None:
    """Suspend a running job; see `suspend`."""
    if not 0.0 <= overhead < np.inf:
        note(state.clock, BAD_OVERHEAD, job, -1, overhead)
        raise PolicyFault
    preempt(state, job, NOT_RUNNING, in_place)
    record = state.jobs[job]
    record.preemptions += 1
    record.overhead += overhead
    record.left += overhead
    state.clock.demand += overhead
    state.truth[job].work += overhead
    state.sums.backlog += overhead
