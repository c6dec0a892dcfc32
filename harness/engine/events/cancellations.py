"""Cancellations: jobs leave the queue when their patience ends, unless they were started before."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.events.event_source import INPUT, EventSource
from harness.engine.queue.waiting_jobs import cancel_waiting
from harness.engine.records.public import WAITING


@inner
def may_give_up(state: Any, job: int) -> bool:
    """Return whether the job was never started: only such jobs leave when their patience ends."""
    return np.isnan(state.jobs[job].start) and state.jobs[job].restarts == 0


@once
def next_cancellation(state: Any) -> float:
    """Return when the patience of a waiting job ends next [s]; infinity if none does. Changes loop."""
    loop = state.loop
    while loop.next_cancellation < len(state.cancellations):
        job = state.cancellations[loop.next_cancellation]
        if state.jobs[job].status <= WAITING and may_give_up(state, job):
            return float(state.patience[job])
        loop.next_cancellation += 1  # it has been started: the end of its patience is no event
    return np.inf


@once
def cancel(state: Any) -> None:
    """Take the jobs out of the queue whose patience ends at this instant. Changes loop, and what `leave_queue` does."""
    loop = state.loop
    while loop.next_cancellation < len(state.cancellations):
        job = state.cancellations[loop.next_cancellation]
        if state.patience[job] > state.clock.now:
            return
        loop.next_cancellation += 1
        if state.jobs[job].status == WAITING and may_give_up(state, job):
            cancel_waiting(state, job)


SOURCE = EventSource(next_cancellation, cancel, rounding=INPUT)
