"""The list of jobs that are held: who comes to it, and who leaves it.

A held job is in the system but not in the queue: its status is `HELD`. It stands in a list with the time at which it
is asked about again. The loop in `holding.py` says when that is. The list is in order of submission, then of the log,
also after a waiting job has come back to it.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.queue.held_groups import give_up_kin, join_kin, let_kin_go
from harness.engine.queue.holds import BY_KIN, held_as_its_kin
from harness.engine.queue.waiting_jobs import join_queue, keep_reservation, leave_system
from harness.engine.records.public import CANCELLED, HELD, JOB_DELETED
from harness.engine.time_comparison import later


@inner
def put_on_list(state: Any, job: int, until: float) -> None:
    """Let a job be held until a time. Changes held, notes, clock."""
    if state.notes.holding & BY_KIN:
        join_kin(state, job, until)
        return
    entry = state.held[state.clock.held]
    entry.job = job
    entry.until = until
    state.clock.held += 1
    if -np.inf < until < np.inf:
        state.notes.release = min(state.notes.release, until)


@inner
def sort_held(state: Any) -> None:
    """Put the list of held jobs in order of submission, then of the log: Shell's sort, in place."""
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
def hold_back(state: Any, flags: int) -> int:
    """Ask again about the jobs that wait, and take those out of the queue that are held now; return how many."""
    clock = state.clock
    notes = state.notes
    waitlist = state.waitlist
    kept = waitlist.head
    notes.rounds += 1
    for place in range(waitlist.head, waitlist.tail):
        job = state.queue[place]
        until = held_as_its_kin(state, job, flags, False)
        if until > -np.inf:
            record = state.jobs[job]
            record.status = HELD
            if record.reserved >= 0.0:  # the start policy takes its reservation back
                state.leavers[clock.departed] = job
                clock.departed += 1
            clock.demand -= record.left
            if state.usage_sums.counted:
                state.tally(state, job, 0, -1, 0)
            put_on_list(state, job, until)
        else:
            state.queue[kept] = job
            kept += 1
    count = waitlist.tail - kept
    waitlist.tail = kept
    clock.queued -= count
    if count > 0:
        waitlist.new_in_queue = -1  # they may come back, and are not to be counted twice
        if notes.holding & BY_KIN == 0:
            sort_held(state)
    return count


@inner
def let_go(state: Any, first: int, ended: bool) -> int:
    """Ask about held jobs whose time has come, and if something `ended`, about those without one; return how many go.

    They are asked about in order of submission, then of the log, from the `first` on of which that may be true. A job
    that is free joins the queue at once, before the next one is asked about.
    """
    clock = state.clock
    notes = state.notes
    if notes.holding & BY_KIN:
        return let_kin_go(state, ended)
    kept = first
    if first == 0:
        notes.release = np.inf
    notes.rounds += 1
    count = clock.held
    for k in range(first, count):
        job = state.held[k].job
        until = state.held[k].until
        if not later(until, clock.now) or (ended and until == np.inf):
            until = held_as_its_kin(state, job, -1, True)
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
                notes.release = min(notes.release, until)
    clock.held = kept
    return count - kept


@inner
def first_held(state: Any) -> int:
    """Return one of the held jobs: the first in the list, or of the first kin."""
    return int(state.kins[state.kins[0].listed].first if state.notes.holding & BY_KIN else state.held[0].job)


@inner
def take_off_list(state: Any, job: int) -> bool:
    """Let a held job leave the system; return whether it was held. Changes held, jobs, clock, sums."""
    clock = state.clock
    if state.notes.holding & BY_KIN:
        if not give_up_kin(state, job):
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
    """Held jobs leave whose patience ends at this instant, or that an event deletes. Changes what `leave` changes."""
    clock = state.clock
    notes = state.notes
    for k in range(notes.cancels, len(state.cancellations)):
        job = state.cancellations[k]
        if state.patience[job] > clock.now:
            break
        record = state.jobs[job]
        if record.status == HELD and job < clock.next and np.isnan(record.start) and record.restarts == 0:
            take_off_list(state, job)
    for k in range(notes.events, len(state.events)):
        if state.events[k].time > clock.now:
            break
        if state.events[k].kind == JOB_DELETED and take_off_list(state, state.events[k].subject):
            state.sums.vain -= 1  # `happen` will count it as one that found nothing to change
