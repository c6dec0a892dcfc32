"""The list of held jobs.

A held job is in the system but not in the queue: its status is `HELD`. The list has the time at which the holds are
asked about it again; the loop does that (`events/hold_releases.py`). The list is in order of submission, then of the
log, also after a waiting job has come back to it.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.queue.held_groups import add_to_group, release_groups, remove_from_group
from harness.engine.queue.holds import BY_GROUP, held_like_group
from harness.engine.queue.waiting_jobs import join_queue, keep_reservation, leave_system
from harness.engine.records.public import CANCELLED, HELD, JOB_DELETED
from harness.engine.time_comparison import later


@inner
def add_held(state: Any, job: int, until: float) -> None:
    """Hold a job until a time. Changes held, hold_state, clock."""
    holds = state.hold_state
    if holds.causes & BY_GROUP:
        add_to_group(state, job, until)
        return
    entry = state.held[state.clock.held]
    entry.job = job
    entry.until = until
    state.clock.held += 1
    if -np.inf < until < np.inf:
        holds.next_release = min(holds.next_release, until)


@inner
def sort_held(state: Any) -> None:
    """Sort the list of held jobs by submission, then by place in the log: Shell's sort, in place."""
    held = state.held
    count = state.clock.held
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            job = held[k].job
            until = held[k].until
            place = k
            while place >= gap and held[place - gap].job > job:
                held[place].job = held[place - gap].job
                held[place].until = held[place - gap].until
                place -= gap
            held[place].job = job
            held[place].until = until
        gap //= 3


@inner
def hold_waiting(state: Any, flags: int) -> int:
    """Ask the holds about the waiting jobs, and take those out of the queue that are held now; return how many."""
    clock = state.clock
    waitlist = state.waitlist
    holds = state.hold_state
    kept = waitlist.head
    holds.rounds += 1
    for place in range(waitlist.head, waitlist.tail):
        job = state.queue[place]
        until = held_like_group(state, job, flags, False)
        if until > -np.inf:
            record = state.jobs[job]
            record.status = HELD
            if record.reserved >= 0.0:  # the start policy takes its reservation back
                state.leavers[clock.departed] = job
                clock.departed += 1
            clock.demand -= record.left
            if state.usage_sums.counted:
                state.tally(state, job, 0, -1, 0)
            add_held(state, job, until)
        else:
            state.queue[kept] = job
            kept += 1
    count = waitlist.tail - kept
    waitlist.tail = kept
    clock.queued -= count
    if count > 0:
        waitlist.new_in_queue = -1  # they may come back, and must not be counted twice
        if holds.causes & BY_GROUP == 0:
            sort_held(state)
    return count


@inner
def release_held(state: Any, first: int, ended: bool) -> int:
    """Ask about held jobs whose time has come, and if a job `ended`, about those without one; return how many go.

    The holds are asked in order of submission, then of the log, from the `first` job on of which that may be true. A
    released job joins the queue at once, before the holds are asked about the next one.
    """
    clock = state.clock
    holds = state.hold_state
    if holds.causes & BY_GROUP:
        return release_groups(state, ended)
    kept = first
    if first == 0:
        holds.next_release = np.inf
    holds.rounds += 1
    count = clock.held
    for k in range(first, count):
        job = state.held[k].job
        until = state.held[k].until
        if not later(until, clock.now) or (ended and until == np.inf):
            until = held_like_group(state, job, -1, True)
        if until == -np.inf:
            state.ranking[0] = job
            keep_reservation(state, job)
            clock.demand += state.jobs[job].left
            join_queue(state, 1)
        else:
            state.held[kept].job = job
            state.held[kept].until = until
            kept += 1
            if until < np.inf:
                holds.next_release = min(holds.next_release, until)
    clock.held = kept
    return count - kept


@inner
def first_held(state: Any) -> int:
    """Return one of the held jobs: the first in the list, or in the first group."""
    if state.hold_state.causes & BY_GROUP:
        return int(state.held_groups[state.held_groups[0].listed].first)
    return int(state.held[0].job)


@inner
def remove_held_job(state: Any, job: int) -> bool:
    """Take a held job out of the system; return whether it was held. Changes held, jobs, clock, sums."""
    clock = state.clock
    if state.hold_state.causes & BY_GROUP:
        if not remove_from_group(state, job):
            return False
    else:
        place = 0
        while place < clock.held and state.held[place].job != job:
            place += 1
        if place == clock.held:
            return False
        clock.held -= 1
        for k in range(place, clock.held):
            state.held[k].job = state.held[k + 1].job
            state.held[k].until = state.held[k + 1].until
    keep_reservation(state, job)
    state.sums.backlog -= state.truth[job].work
    leave_system(state, job, CANCELLED)
    return True


@once
def leave_while_held(state: Any) -> None:
    """Remove held jobs whose patience ends at this instant, or that an event deletes. Changes what `leave` changes."""
    clock = state.clock
    for k in range(state.loop.next_cancellation, len(state.cancellations)):
        job = state.cancellations[k]
        if state.patience[job] > clock.now:
            break
        record = state.jobs[job]
        if record.status == HELD and job < clock.next and np.isnan(record.start) and record.restarts == 0:
            remove_held_job(state, job)
    for k in range(state.loop.next_event, len(state.events)):
        if state.events[k].time > clock.now:
            break
        if state.events[k].kind == JOB_DELETED and remove_held_job(state, state.events[k].subject):
            state.sums.ignored_events -= 1  # the event will be counted as one that changed nothing
