"""Jobs are submitted: they are in the system from now on, and join the queue, unless somebody holds them."""

from typing import Any

from harness.engine.marks import once
from harness.engine.queue import join_queue, leave
from harness.engine.state import CANCELLED, PENDING


@once
def submit(state: Any, most: int) -> int:
    """Jobs are submitted at this instant, so many of them at most; return how many are there, in `ranking`.

    Changes jobs, clock, sums.
    """
    clock = state.clock
    count = 0
    last = min(len(state.jobs), clock.next + most)
    while clock.next < last and state.jobs[clock.next].submit <= clock.now:
        job = clock.next
        clock.next += 1
        if state.jobs[job].status != PENDING:  # not accepted
            continue
        if state.notes.shared:
            state.tally(state, job, 1, 0, 0)
        if state.truth[job].cancel <= clock.now:
            leave(state, job, CANCELLED)
            continue
        state.sums.backlog += state.truth[job].work
        clock.demand += state.jobs[job].left
        state.ranking[count] = job
        count += 1
    return count


@once
def arrive(state: Any, most: int) -> None:
    """Jobs submitted at this instant join the queue, so many of them at most. Changes jobs, queue, clock."""
    count = submit(state, most)
    if count > 0:
        join_queue(state, count)
    state.clock.arrived = count
