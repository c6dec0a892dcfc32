"""Who waits, in what order.

The order of jobs is total: by score, then by submission, then by place in the log. A job's index is its place in
(submission, log) order, so the last two are one comparison.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, seldom, verb, window
from harness.engine.faults import NOT_TO_REJECT, PolicyFault, note
from harness.engine.queue.scoring import score_ranking
from harness.engine.records.public import CANCELLED, UNACCEPTED, WAITING
from harness.engine.running_jobs import first_running, next_running, who_runs
from harness.numba_support.memmove import shift

#: How many jobs that overtook are looked for in the queue one by one; more are found by going through it.
SELDOM = 16


@window
def waiting(state: Any) -> Any:
    """Return the jobs that wait, in queue order. Jobs started meanwhile stay in it until the decision is over."""
    waitlist = state.waitlist
    return state.queue[waitlist.head : waitlist.tail]


@verb
def _list_running(state: Any) -> int:
    count = 0
    at = first_running(state)
    while at >= 0:
        state.listed[count] = who_runs(state, at)
        count += 1
        at = next_running(state, at)
    return count


@window
def running(state: Any) -> Any:
    """List the jobs in service, by the end their estimates promise; the next question writes into the same array."""
    return state.listed[: _list_running(state)]


@window
def departed(state: Any) -> Any:
    """Return the jobs that left at this instant: completed, cancelled while they waited, or held with a reservation."""
    return state.leavers[: state.clock.departed]


@inner
def place_in_queue(state: Any, job: int) -> int:
    """Return where a scored job stands in the queue, or would stand."""
    score = state.jobs[job].score
    low = state.waitlist.head
    high = state.waitlist.tail
    while low < high:
        middle = (low + high) >> 1
        other = state.queue[middle]
        before = state.jobs[other].score
        if before < score or (before == score and other < job):
            low = middle + 1
        else:
            high = middle
    return int(low)


@inner
def grow_queue(state: Any) -> None:
    """Let the window of the queue reach farther if it is long, or begin at the front again. Changes queue, notes.

    So no more of the array is used than some times what the longest queue takes.
    """
    waitlist = state.waitlist
    count = waitlist.tail - waitlist.head
    if 2 * count > waitlist.capacity and waitlist.capacity < len(state.queue):
        waitlist.capacity = min(2 * waitlist.capacity, len(state.queue))
    else:
        shift(state.queue, 0, waitlist.head, count)
        waitlist.tail = count
        waitlist.head = 0


@inner
def enqueue(state: Any, job: int) -> None:
    """Insert a scored job at its place in the queue. Changes queue, clock."""
    clock = state.clock
    waitlist = state.waitlist
    queue = state.queue
    if waitlist.tail == waitlist.capacity:
        grow_queue(state)
    low = place_in_queue(state, job)
    if waitlist.head > 0 and low - waitlist.head < waitlist.tail - low:  # move the side where fewer jobs stand
        shift(queue, waitlist.head - 1, waitlist.head, low - waitlist.head)
        waitlist.head -= 1
        low -= 1
    else:
        shift(queue, low + 1, low, waitlist.tail - low)
        waitlist.tail += 1
    queue[low] = job
    clock.queued += 1
    if state.usage_sums.counted:
        state.tally(state, job, 0, 1, 0)


@inner
def append_note(entries: Any, count: int, job: int) -> int:
    """Note that the job came to the queue; return how many are noted now, −1 if there is no room for it."""
    if count == len(entries):
        return -1
    entries[count] = job
    return count + 1


@inner
def enqueue_waiting(state: Any, job: int) -> None:
    """Let a scored job wait. Changes jobs, queue, clock."""
    state.jobs[job].status = WAITING
    state.clock.newcomer = job
    if state.waitlist.new_in_queue >= 0:
        state.waitlist.new_in_queue = append_note(state.joined, state.waitlist.new_in_queue, job)
    if state.notes.entered >= 0:
        state.notes.entered = append_note(state.entries, state.notes.entered, job)
    enqueue(state, job)


@inner
def join_queue(state: Any, count: int) -> None:
    """Score the first `count` jobs of `ranking`, and let them wait. Changes jobs, queue, clock."""
    score_ranking(state, count)
    for k in range(count):
        enqueue_waiting(state, state.ranking[k])


@inner
def remove(state: Any, position: int) -> None:
    """Close the gap at `position`, from the side where fewer jobs have to move. Changes queue, clock."""
    waitlist = state.waitlist
    queue = state.queue
    if position - waitlist.head < waitlist.tail - position:
        shift(queue, waitlist.head + 1, waitlist.head, position - waitlist.head)
        waitlist.head += 1
    else:
        shift(queue, position, position + 1, waitlist.tail - position - 1)
        waitlist.tail -= 1


@inner
def leave_system(state: Any, job: int, status: int) -> None:
    """Let a job that does not run leave the system. Changes jobs, clock."""
    clock = state.clock
    state.jobs[job].status = status
    state.jobs[job].end = clock.now
    state.leavers[clock.departed] = job
    clock.departed += 1


@inner
def keep_reservation(state: Any, job: int) -> None:
    """Take a held job whose reservation the start policy still has off the list of jobs that left. Changes clock."""
    if state.jobs[job].reserved < 0.0:
        return
    clock = state.clock
    for place in range(clock.departed):
        if state.leavers[place] == job:
            clock.departed -= 1
            state.leavers[place] = state.leavers[clock.departed]
            return
    state.jobs[job].reserved = -1.0  # written by a policy while the job was held


@inner
def dequeue(state: Any, job: int) -> None:
    """Take a waiting job out of the queue. Changes queue, clock, and what is counted."""
    remove(state, place_in_queue(state, job))
    state.clock.queued -= 1
    if state.usage_sums.counted:
        state.tally(state, job, 0, -1, 0)


@seldom
def cancel_waiting(state: Any, job: int) -> None:
    """Let a waiting job give up. Changes jobs, queue, clock, sums."""
    clock = state.clock
    dequeue(state, job)
    state.sums.backlog -= state.truth[job].work
    clock.demand -= state.jobs[job].left
    leave_system(state, job, CANCELLED)


@inner
def find_started(state: Any, started: int, left: int) -> bool:
    """Write into `ranking` where those `left` of the jobs started last stand in the queue, the last of them first.

    False if they are not to be found: those who were rejected have not been started.
    """
    notes = state.notes
    found = 0
    for k in range(notes.boots - 1, max(notes.boots - started, 0) - 1, -1):
        place = place_in_queue(state, state.boots[k])
        if place == state.waitlist.tail or state.queue[place] != state.boots[k]:
            continue
        other = found
        while other > 0 and state.ranking[other - 1] < place:
            state.ranking[other] = state.ranking[other - 1]
            other -= 1
        state.ranking[other] = place
        found += 1
    return found == left


@inner
def drop_started(state: Any) -> None:
    """Take the jobs that this decision started out of the queue. Changes queue, clock."""
    clock = state.clock
    waitlist = state.waitlist
    queue = state.queue
    left = started = clock.started
    clock.queued -= left
    clock.started = 0
    while left > 0 and state.jobs[queue[waitlist.head]].status != WAITING:  # mostly the first ones
        waitlist.head += 1
        left -= 1
    if 0 < left <= SELDOM and find_started(state, started, left):
        head = waitlist.head
        for k in range(left):  # from the last one on; those before it may move
            remove(state, state.ranking[k] + waitlist.head - head)
        return
    kept = waitlist.head
    place = waitlist.head
    while left > 0:
        job = queue[place]
        if state.jobs[job].status == WAITING:
            queue[kept] = job
            kept += 1
        else:
            left -= 1
        place += 1
    gap = place - kept
    if gap == 0:
        return
    if kept - waitlist.head < waitlist.tail - place:  # close the gap from the side where fewer jobs have to move
        for k in range(kept - 1, waitlist.head - 1, -1):
            queue[k + gap] = queue[k]
        waitlist.head += gap
    else:
        for k in range(place, waitlist.tail):
            queue[k - gap] = queue[k]
        waitlist.tail -= gap


@inner
def reject_job(state: Any, job: int) -> None:
    """Refuse a waiting job; see `reject`. It leaves the queue with those that this decision starts."""
    clock = state.clock
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != WAITING or not np.isnan(state.jobs[job].start):
        note(clock, NOT_TO_REJECT, job, -1, 0.0)
        raise PolicyFault
    state.sums.backlog -= state.truth[job].work
    clock.demand -= state.jobs[job].left
    if state.usage_sums.counted:
        state.tally(state, job, 0, -1, 0)
    leave_system(state, job, UNACCEPTED)
    clock.started += 1
