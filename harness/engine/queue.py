"""Who waits, in what order: the queue, and the two sorted companions of the running jobs.

The order of jobs is total: by score, then by submission, then by place in the log. A job's index is its place in
(submission, log) order, so the last two are one comparison.
"""

from typing import Any

import numpy as np

from harness.engine.faults import BACKFILLING, NAN_SCORE, ORDERING, PolicyFault, note
from harness.engine.state import CANCELLED, WAITING, inner, seen, window


@window
def waiting(state: Any) -> Any:
    """The jobs that wait, in queue order. Jobs started meanwhile stay in it until the decision is over."""
    return state.queue[state.clock.head : state.clock.tail]


@window
def running(state: Any) -> Any:
    """The jobs in service, by the end their estimates promise. Changes when a job starts or is suspended."""
    return state.plan[: state.clock.running]


@window
def departed(state: Any) -> Any:
    """The jobs that left at this instant: completed, or cancelled while they waited."""
    return state.leavers[: state.clock.departed]


@inner
def check_scores(state: Any, count: int) -> None:
    """Refuse scores that are not numbers: they would put the queue in no order at all."""
    for k in range(count):
        if np.isnan(state.scores[k]):
            note(state.clock, NAN_SCORE, state.ranking[k], -1, state.scores[k])
            raise PolicyFault


@inner
def sort_ranking(state: Any, count: int) -> None:
    """Put the first `count` of `ranking` in order of score, then index.

    Shell's sort: in place, and nearly linear when the order has changed little since it was last sorted.
    """
    who = state.ranking
    scores = state.scores
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            job = who[k]
            score = scores[k]
            place = k
            while place >= gap:
                before = place - gap
                if scores[before] < score or (scores[before] == score and who[before] < job):
                    break
                scores[place] = scores[before]
                who[place] = who[before]
                place = before
            scores[place] = score
            who[place] = job
        gap //= 3


@inner
def rank_queue(state: Any) -> None:
    """Score every waiting job anew and put the queue in order. Changes queue, scores."""
    clock = state.clock
    count = clock.queued
    head = clock.head
    for k in range(count):
        state.ranking[k] = state.queue[head + k]
    clock.hook = ORDERING
    state.order(seen(state), state.ranking[:count], state.scores[:count], state.order_own)
    check_scores(state, count)
    sort_ranking(state, count)
    for k in range(count):
        job = state.ranking[k]
        state.queue[head + k] = job
        state.jobs[job].score = state.scores[k]


@inner
def rank_anew(state: Any) -> int:
    """Rank the waiting jobs by the second order, in `ranking`; returns how many they are."""
    clock = state.clock
    count = 0
    for k in range(clock.head, clock.tail):
        state.ranking[count] = state.queue[k]
        count += 1
    asked = clock.hook
    clock.hook = BACKFILLING
    state.second(seen(state), state.ranking[:count], state.scores[:count], state.second_own)
    check_scores(state, count)
    clock.hook = asked
    sort_ranking(state, count)
    return count


@inner
def rank_running(state: Any) -> int:
    """Rank the running jobs by what remains of them now, in `ranking`; returns how many they are. Changes jobs."""
    clock = state.clock
    count = clock.running
    for k in range(count):
        job = state.plan[k]
        # What remains of a running job's estimate is known from its planned end.
        if state.jobs[job].ready <= clock.now:
            state.jobs[job].left = (state.jobs[job].planned - clock.virtual) * state.jobs[job].speed
        state.ranking[k] = job
    asked = clock.hook
    clock.hook = ORDERING
    state.order(seen(state), state.ranking[:count], state.scores[:count], state.order_own)
    check_scores(state, count)
    clock.hook = asked
    sort_ranking(state, count)
    return count


@inner
def find_prefix(state: Any, procs: int) -> tuple[int, int]:
    """Merge the running jobs, ranked anew, with the queue, as long as they all fit on `procs` processors.

    The running jobs are put into `ranking`, in order, and the merged ones behind them. Returns how many running jobs
    were merged, and how many jobs in all.
    """
    clock = state.clock
    count = rank_running(state)
    taken = 0
    merged = 0
    waiting = clock.head
    while True:
        first = -1
        if waiting < clock.tail:
            first = state.queue[waiting]
        if taken < count:
            job = state.ranking[taken]
            score = state.scores[taken]
            if first < 0 or score < state.jobs[first].score or (score == state.jobs[first].score and job < first):
                first = job
        if first < 0 or state.jobs[first].procs > procs:
            return taken, merged
        procs -= state.jobs[first].procs
        state.ranking[count + merged] = first
        merged += 1
        if taken < count and first == state.ranking[taken]:
            taken += 1
        else:
            waiting += 1


@inner
def enqueue(state: Any, job: int) -> None:
    """Insert a scored job at its place in the queue. Changes queue, clock."""
    clock = state.clock
    queue = state.queue
    if clock.tail == len(queue):  # the window has reached the end: move it back to the front
        for k in range(clock.head, clock.tail):
            queue[k - clock.head] = queue[k]
        clock.tail -= clock.head
        clock.head = 0
    score = state.jobs[job].score
    low = clock.head
    high = clock.tail
    while low < high:
        middle = (low + high) >> 1
        other = queue[middle]
        before = state.jobs[other].score
        if before < score or (before == score and other < job):
            low = middle + 1
        else:
            high = middle
    if clock.head > 0 and low - clock.head < clock.tail - low:  # move the side where fewer jobs stand
        for k in range(clock.head, low):
            queue[k - 1] = queue[k]
        clock.head -= 1
        low -= 1
    else:
        for k in range(clock.tail, low, -1):
            queue[k] = queue[k - 1]
        clock.tail += 1
    queue[low] = job
    clock.queued += 1


@inner
def join_queue(state: Any, count: int) -> None:
    """Score the first `count` jobs of `ranking`, and let them wait. Changes jobs, queue, clock."""
    state.clock.hook = ORDERING
    state.order(seen(state), state.ranking[:count], state.scores[:count], state.order_own)
    check_scores(state, count)
    for k in range(count):
        state.jobs[state.ranking[k]].score = state.scores[k]
    for k in range(count):
        state.jobs[state.ranking[k]].status = WAITING
        enqueue(state, state.ranking[k])


@inner
def remove(state: Any, position: int) -> None:
    """Close the gap at `position`, from the side where fewer jobs have to move. Changes queue, clock."""
    clock = state.clock
    queue = state.queue
    if position - clock.head < clock.tail - position:
        for k in range(position, clock.head, -1):
            queue[k] = queue[k - 1]
        clock.head += 1
    else:
        for k in range(position, clock.tail - 1):
            queue[k] = queue[k + 1]
        clock.tail -= 1


@inner
def leave(state: Any, job: int, status: int) -> None:
    """A job that does not run leaves the system. Changes jobs, clock."""
    clock = state.clock
    state.jobs[job].status = status
    state.jobs[job].end = clock.now
    state.leavers[clock.departed] = job
    clock.departed += 1


@inner
def leave_queue(state: Any, job: int) -> None:
    """A waiting job gives up. Changes jobs, queue, clock, sums."""
    clock = state.clock
    position = clock.head
    while state.queue[position] != job:
        position += 1
    remove(state, position)
    clock.queued -= 1
    state.sums.backlog -= state.truth[job].work
    clock.demand -= state.jobs[job].left
    leave(state, job, CANCELLED)


@inner
def drop_started(state: Any) -> None:
    """Take the jobs that this decision started out of the queue. Changes queue, clock."""
    clock = state.clock
    queue = state.queue
    left = clock.started
    clock.queued -= left
    clock.started = 0
    while left > 0 and state.jobs[queue[clock.head]].status != WAITING:  # mostly the first ones
        clock.head += 1
        left -= 1
    kept = clock.head
    place = clock.head
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
    if kept - clock.head < clock.tail - place:  # close the gap from the side where fewer jobs have to move
        for k in range(kept - 1, clock.head - 1, -1):
            queue[k + gap] = queue[k]
        clock.head += gap
    else:
        for k in range(place, clock.tail):
            queue[k - gap] = queue[k]
        clock.tail -= gap


@inner
def push_due(state: Any, time: float, job: int) -> None:
    """Add a job in service to the heap of due times: earliest first, then lowest index."""
    heap = state.heap
    child = state.clock.heaped
    state.clock.heaped += 1
    while child > 0:
        parent = (child - 1) >> 1
        if heap[parent].time < time or (heap[parent].time == time and heap[parent].job < job):
            break
        heap[child].time = heap[parent].time
        heap[child].job = heap[parent].job
        child = parent
    heap[child].time = time
    heap[child].job = job


@inner
def pop_due(state: Any, place: int) -> None:
    """Take the entry at `place` out of the heap of due times."""
    heap = state.heap
    count = state.clock.heaped - 1
    state.clock.heaped = count
    time = heap[count].time
    job = heap[count].job
    while place > 0:  # the last entry may belong above, when the one taken out was not the first
        parent = (place - 1) >> 1
        if heap[parent].time < time or (heap[parent].time == time and heap[parent].job < job):
            break
        heap[place].time = heap[parent].time
        heap[place].job = heap[parent].job
        place = parent
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        other = child + 1
        if other < count and (
            heap[other].time < heap[child].time
            or (heap[other].time == heap[child].time and heap[other].job < heap[child].job)
        ):
            child = other
        if time < heap[child].time or (time == heap[child].time and job < heap[child].job):
            break
        heap[place].time = heap[child].time
        heap[place].job = heap[child].job
        place = child
    heap[place].time = time
    heap[place].job = job


@inner
def place_in_plan(state: Any, planned: float, job: int) -> int:
    """Where the job stands, or would stand, among the running jobs by planned end, then index."""
    low = 0
    high = state.clock.running
    while low < high:
        middle = (low + high) >> 1
        other = state.plan[middle]
        end = state.jobs[other].planned
        if end < planned or (end == planned and other < job):
            low = middle + 1
        else:
            high = middle
    return low


@inner
def add_to_plan(state: Any, job: int) -> None:
    """Insert a job that begins among the running ones. The caller counts it."""
    place = place_in_plan(state, state.jobs[job].planned, job)
    for k in range(state.clock.running, place, -1):
        state.plan[k] = state.plan[k - 1]
    state.plan[place] = job


@inner
def remove_from_plan(state: Any, job: int) -> None:
    """Take a job that stops out of the running ones. The caller counts it."""
    place = place_in_plan(state, state.jobs[job].planned, job)
    for k in range(place, state.clock.running - 1):
        state.plan[k] = state.plan[k + 1]
