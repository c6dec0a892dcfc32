"""Jobs are submitted: they are in the system from now on, and join the queue, unless somebody holds them."""

from typing import Any

from harness.engine.decorators import inner, once
from harness.engine.queue.waiting_jobs import join_queue, leave_system
from harness.engine.records.public import CANCELLED, PENDING


@inner
def has_left(state: Any, job: int) -> bool:
    """Return whether the patience of a job that is submitted now is over already."""
    return bool(len(state.patience) > 0 and state.patience[job] <= state.clock.now)


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
        if state.usage_sums.counted:
            state.tally(state, job, 1, 0, 0)
        if has_left(state, job):
            leave_system(state, job, CANCELLED)
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
