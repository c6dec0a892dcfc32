"""Submissions: jobs come into the system and join the queue. Where jobs may be held, `hold_releases` adds them."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.events.event_source import HOLDS, INPUT, EventSource
from harness.engine.queue.waiting_jobs import join_queue, leave_system
from harness.engine.records.public import CANCELLED, PENDING


@once
def next_submission(state: Any) -> float:
    """Return when the next job is submitted [s]; infinity if none is left."""
    return float(state.jobs[state.clock.next].submit) if state.clock.next < len(state.jobs) else np.inf


@inner
def submission_due(state: Any) -> bool:
    """Return whether a job is submitted now."""
    return bool(state.clock.next < len(state.jobs) and state.jobs[state.clock.next].submit <= state.clock.now)


@inner
def has_left(state: Any, job: int) -> bool:
    """Return whether the patience of a job that is submitted now is over already."""
    return bool(len(state.patience) > 0 and state.patience[job] <= state.clock.now)


@once
def submit(state: Any, most: int) -> int:
    """Submit the jobs of this instant, `most` at most; return how many are in `ranking`.

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
def arrive(state: Any) -> None:
    """Add the jobs submitted at this instant to the queue. Changes jobs, queue, clock."""
    add_arrivals(state, state.timing.arrivals_per_decision)


@once
def add_arrivals(state: Any, most: int) -> None:
    """Add jobs submitted by now to the queue, `most` at most. Changes jobs, queue, clock."""
    count = submit(state, most)
    if count > 0:
        join_queue(state, count)
    state.clock.arrived += count


SOURCE = EventSource(next_submission, arrive, rounding=INPUT, unless=HOLDS)
