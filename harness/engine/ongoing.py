"""The running jobs: a heap of the times at which they complete, and a plan of the ends their estimates promise."""

from typing import Any

from harness.engine.marks import inner


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


@inner
def place_in_plan(state: Any, planned: float, job: int) -> int:
    """Return where the job stands, or would stand, among the running jobs by planned end, then index."""
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
