"""Promises in the profile: who was promised which start, and who is due.

A job's promise is `job.reserved`: its processors are reserved in the profile from then on, for as long as it is
believed to take. `state.promised` has the same times by job, and `state.nearest` the least of each block of jobs, or
less; so nobody looks through the queue for the few who are due at an instant, or who came since the last one. Blocks
before `notes.first_block` are those of jobs that have all left, or hold no promise.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb, window
from harness.engine.plan.count_profile import change
from harness.engine.queue.scoring import sort_ranking
from harness.engine.records.public import WAITING
from harness.engine.verbs import when

#: How many jobs have their least promise written down together.
BLOCK = 256


@verb
def reserved_duration(state: Any, job: int) -> float:
    """Return how long a reservation of the job lasts, in virtual time: its estimate and the longest boot of a node."""
    return float(state.jobs[job].left + state.sleep_control.max_boot_time * state.clock.rate)


@verb(apart=True)
def promise_at(state: Any, job: int, time: float) -> None:
    """Promise a waiting job that it begins at that virtual time; its processors are reserved in the profile.

    It is `job.reserved`. Infinity stands for a job that has to wait until nodes are back, and reserves nothing.
    """
    write_promise(state, job, time)
    change(state, state.jobs[job].procs, -1, time, time + state.jobs[job].left)


@verb
def write_promise(state: Any, job: int, time: float) -> None:
    """Note what a job is promised, in its record and for those who look for the next promise."""
    state.jobs[job].reserved = time
    if state.notes.promises == 0:
        state.notes.promises = 1
        for k in range(len(state.promised)):
            state.promised[k] = np.inf
        for k in range(len(state.nearest)):
            state.nearest[k] = np.inf
    state.promised[job] = time
    state.nearest[job // BLOCK] = min(state.nearest[job // BLOCK], time)
    state.notes.first_block = min(state.notes.first_block, job // BLOCK)


@verb
def past_blocks(state: Any) -> int:
    """Return the number behind the last block of jobs submitted so far; 0 if nobody was promised anything.

    Changes notes: blocks in which nobody is promised anything any more are passed by from now on.
    """
    if state.notes.promises == 0:
        return 0
    first = state.notes.first_block
    while (first + 1) * BLOCK <= state.clock.next and state.nearest[first] == np.inf:
        first += 1
    state.notes.first_block = first
    return int((state.clock.next + BLOCK - 1) // BLOCK)


@verb
def stands(state: Any, job: int) -> bool:
    """Return whether the time in `promised` is that of a promise that still stands; forget it if not."""
    if state.jobs[job].status == WAITING and state.jobs[job].reserved == state.promised[job]:
        return True
    state.promised[job] = np.inf
    return False


@verb
def shown_by_queue(state: Any, job: int) -> bool:
    """Return whether the start policy sees the waiting job: a pass may look at the first of the queue only."""
    waitlist = state.waitlist
    if waitlist.tail - waitlist.head >= state.clock.queued:
        return True
    last = state.queue[waitlist.tail - 1]
    score = state.jobs[job].score
    return waitlist.tail > waitlist.head and (
        score < state.jobs[last].score or (score == state.jobs[last].score and job <= last)
    )


@verb(crosses=True)
def _list_due(state: Any) -> int:
    now = state.clock.now
    count = 0
    blocks = past_blocks(state)
    for block in range(state.notes.first_block, blocks):
        if when(state, state.nearest[block]) > now:
            continue
        nearest = np.inf
        for job in range(block * BLOCK, min((block + 1) * BLOCK, state.clock.next)):
            due = not when(state, state.promised[job]) > now
            if due and stands(state, job) and shown_by_queue(state, job):
                state.ranking[count] = job
                state.scores[count] = state.jobs[job].score
                count += 1
            nearest = min(nearest, state.promised[job])
        state.nearest[block] = nearest
    sort_ranking(state, count)
    return count


@window
def due(state: Any) -> Any:
    """List the waiting jobs that `promise_at` promised to begin by now, in queue order."""
    return state.ranking[: _list_due(state)]


@verb(apart=True)
def next_promise(state: Any) -> float:
    """Return the virtual time of the next promise by `promise_at` that is not due yet; infinity if there is none."""
    now = state.clock.now
    soonest = np.inf
    blocks = past_blocks(state)
    for block in range(state.notes.first_block, blocks):
        if not state.nearest[block] < soonest:
            continue
        nearest = np.inf
        for job in range(block * BLOCK, min((block + 1) * BLOCK, state.clock.next)):
            time = state.promised[job]
            if time < max(nearest, soonest) and stands(state, job):
                nearest = min(nearest, time)
                if time < soonest and when(state, time) > now and shown_by_queue(state, job):
                    soonest = time
        state.nearest[block] = nearest
    return soonest


@verb(crosses=True)
def _list_unpromised(state: Any) -> int:
    notes = state.notes
    waitlist = state.waitlist
    count = kept = 0
    if waitlist.new_in_queue < 0:  # no list of new jobs is kept yet: begin one
        waitlist.new_in_queue = 0
        # A pass may look at the first jobs only: the others follow behind `tail`.
        for k in range(waitlist.head, max(waitlist.tail, waitlist.head + state.clock.queued)):
            state.joined[waitlist.new_in_queue] = state.queue[k]
            waitlist.new_in_queue += 1
    for k in range(waitlist.new_in_queue):
        job = state.joined[k]
        reserved = state.jobs[job].reserved
        if state.jobs[job].status != WAITING or (reserved >= 0 and (notes.by_nodes == 0 or reserved < np.inf)):
            continue
        state.joined[kept] = job
        kept += 1
        if shown_by_queue(state, job):
            state.ranking[count] = job
            state.scores[count] = state.jobs[job].score
            count += 1
    waitlist.new_in_queue = kept
    sort_ranking(state, count)
    return count


@window
def unpromised(state: Any) -> Any:
    """List the waiting jobs that were never promised a start (`job.reserved` is below 0), in queue order.

    For policies that take no promise back: who was listed and promised something is not listed again.
    """
    return state.ranking[: _list_unpromised(state)]
