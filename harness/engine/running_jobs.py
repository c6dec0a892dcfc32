"""The running jobs: a heap of the times at which they complete, and a plan of the ends their estimates promise.

The plan is in order of these ends, then of jobs. It stands on shelves, each of which has room for so many jobs side by
side: who comes and goes moves no more than these, however many run.
"""

from typing import Any

from harness.engine.decorators import inner, verb
from harness.numba_support.memmove import shift

#: How many jobs stand on a shelf at most.
SHELF = 256


@inner
def push_due(state: Any, time: float, job: int) -> None:
    """Add a job in service to the heap of due times: earliest first, then lowest index."""
    notes = state.notes
    heap = state.heap
    child = notes.heaped
    notes.heaped += 1
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
    notes = state.notes
    heap = state.heap
    count = notes.heaped - 1
    notes.heaped = count
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


# ---------------------------------------------------------------- the plan


@inner
def comes_later(state: Any, place: int, end: float, job: int) -> bool:
    """Return whether an entry of the plan stands behind that end and job."""
    entry = state.plan[place]
    return entry.end > end or (entry.end == end and entry.job > job)


@inner
def shelf_of(state: Any, end: float, job: int) -> int:
    """Return which shelf a job with that planned end stands on, or would stand on; there is one."""
    low = 0
    high = state.notes.shelves
    while high - low > 1:
        middle = (low + high) >> 1
        if comes_later(state, state.shelves[middle] * SHELF, end, job):
            high = middle
        else:
            low = middle
    return low


@inner
def place_on_shelf(state: Any, shelf: int, end: float, job: int) -> int:
    """Return behind how many entries of a shelf a job with that planned end stands, or would stand."""
    low = 0
    high = state.stocking[state.shelves[shelf]]
    while low < high:
        middle = (low + high) >> 1
        entry = state.plan[state.shelves[shelf] * SHELF + middle]
        if entry.end < end or (entry.end == end and entry.job < job):
            low = middle + 1
        else:
            high = middle
    return int(low)


@inner
def put_up_shelf(state: Any, place: int) -> int:
    """Let an empty shelf stand at that place of all shelves, and return its number. Changes shelves, notes."""
    notes = state.notes
    number = state.shelves[notes.shelves]
    shift(state.shelves, place + 1, place, notes.shelves - place)
    state.shelves[place] = number
    state.stocking[number] = 0
    notes.shelves += 1
    return int(number)


@inner
def take_shelf_down(state: Any, place: int) -> None:
    """Take the shelf at that place away; it can be put up again. Changes shelves, notes."""
    notes = state.notes
    number = state.shelves[place]
    notes.shelves -= 1
    shift(state.shelves, place, place + 1, notes.shelves - place)
    state.shelves[notes.shelves] = number


@inner
def part_shelf(state: Any, place: int) -> None:
    """Let the second half of a full shelf stand on one of its own, behind it. Changes plan, shelves."""
    number = put_up_shelf(state, place + 1)
    full = state.shelves[place]
    shift(state.plan, number * SHELF, full * SHELF + SHELF // 2, SHELF // 2)
    state.stocking[full] = state.stocking[number] = SHELF // 2


@inner
def add_to_plan(state: Any, job: int) -> None:
    """Insert a job that begins among the running ones. The caller counts it. Changes plan, shelves."""
    end = state.jobs[job].planned
    if state.notes.shelves == 0:
        put_up_shelf(state, 0)
    shelf = shelf_of(state, end, job)
    if state.stocking[state.shelves[shelf]] == SHELF:
        part_shelf(state, shelf)
        shelf = shelf_of(state, end, job)
    number = state.shelves[shelf]
    place = place_on_shelf(state, shelf, end, job)
    first = number * SHELF + place
    shift(state.plan, first + 1, first, state.stocking[number] - place)
    state.plan[first].end = end
    state.plan[first].job = job
    state.stocking[number] += 1


@inner
def remove_from_plan(state: Any, job: int) -> None:
    """Take a job that stops out of the running ones. The caller counts it. Changes plan, shelves."""
    end = state.jobs[job].planned
    shelf = shelf_of(state, end, job)
    number = state.shelves[shelf]
    place = place_on_shelf(state, shelf, end, job)
    first = number * SHELF + place
    state.stocking[number] -= 1
    shift(state.plan, first, first + 1, state.stocking[number] - place)
    if state.stocking[number] == 0:
        take_shelf_down(state, shelf)
    join_shelves(state, shelf)
    join_shelves(state, shelf - 1)


@inner
def join_shelves(state: Any, shelf: int) -> None:
    """Let the next shelf's jobs stand on this one, if both are there and nearly empty: so there are never too many."""
    if not 0 <= shelf < state.notes.shelves - 1:
        return
    number = state.shelves[shelf]
    following = state.shelves[shelf + 1]
    count = state.stocking[number] + state.stocking[following]
    if count <= SHELF // 2:
        shift(state.plan, number * SHELF + state.stocking[number], following * SHELF, state.stocking[following])
        state.stocking[number] = count
        take_shelf_down(state, shelf + 1)


def most_shelves(jobs: int) -> int:
    """Return how many shelves so many running jobs can take: of two neighbours, more than half of one is full."""
    return jobs // (SHELF // 4) + 2


# ---------------------------------------------------------------- one after the other


@verb
def first_running(state: Any) -> int:
    """Return where the first running job stands in the plan; −1 if nobody runs."""
    return 0 if state.notes.shelves > 0 else -1


@verb
def next_running(state: Any, at: int) -> int:
    """Return where the next one stands; −1 if there is none. The plan must not have changed meanwhile."""
    shelf = at // SHELF
    if at % SHELF + 1 < state.stocking[state.shelves[shelf]]:
        return at + 1
    return (shelf + 1) * SHELF if shelf + 1 < state.notes.shelves else -1


@verb
def who_runs(state: Any, at: int) -> int:
    """Return the running job that stands there."""
    return int(state.plan[state.shelves[at // SHELF] * SHELF + at % SHELF].job)


@verb
def when_planned(state: Any, at: int) -> float:
    """Return the virtual time at which the running job that stands there is believed to end."""
    return float(state.plan[state.shelves[at // SHELF] * SHELF + at % SHELF].end)
