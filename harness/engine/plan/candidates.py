"""The walks of a start policy: through the waiting jobs, and through those that may start ahead of a reservation."""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.plan.count_plan import HEAD, ends_by
from harness.engine.plan.reserved_starts import reserved_duration
from harness.engine.queue.queue_iteration import next_overtaker, next_waiting
from harness.engine.time_comparison import later
from harness.engine.verbs import QUEUE_ORDER


@verb
def begin_queue(state: Any) -> None:
    """Begin the walk through the waiting jobs."""
    state.planning.passed = -1


@verb
def next_in_queue(state: Any) -> int:
    """Return the next waiting job in the order of the queue, or −1."""
    job = next_waiting(state, state.planning.passed)
    state.planning.passed = job
    return job


@verb
def begin_candidates(state: Any, order: int = QUEUE_ORDER, until: float = np.inf) -> None:
    """Begin the walk through the backfill candidates: waiting jobs without a reservation that may start now.

    They come in the order that the policy took as a parameter, or in the queue's. Their estimated ends lie at or before
    the virtual time `until`.
    """
    planning = state.planning
    planning.order = order
    planning.until = until
    planning.candidate = -1


@verb(apart=True)
def next_candidate(state: Any) -> int:
    """Return the next backfill candidate, or −1."""
    planning = state.planning
    while True:
        at = planning.until
        spare = 0
        if planning.form == HEAD and at == np.inf:
            at = planning.shadow
            # Where more than widths count, the processors that a job denies the first depend on more than its width.
            spare = state.clock.cores if state.clock.constrained else planning.spare
        job = next_overtaker(state, planning.order, planning.candidate, at, spare)
        planning.candidate = job
        if job < 0 or (state.jobs[job].reserved < 0 and may_end(state, job)):
            return int(job)


@verb
def may_end(state: Any, job: int) -> bool:
    """Return whether the job would end early enough for the walk if it started now, its nodes awake."""
    until = state.planning.until
    if state.sleep_control.max_boot_time == 0.0 or until == np.inf:
        return True
    if state.notes.by_nodes:
        return not later(state.clock.virtual + reserved_duration(state, job), until)
    return ends_by(state, job, until)
