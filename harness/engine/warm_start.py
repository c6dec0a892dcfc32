"""A run that begins with running and waiting jobs.

This is done before the first instant, and compiled only for runs that begin so.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from harness.engine import policy_kernels  # noqa: F401 - every verb has its place in the table before any code reads it
from harness.engine.decorators import entrance, inner
from harness.engine.events.job_arrivals import add_arrivals
from harness.engine.faults import STARTING
from harness.engine.records.public import PENDING, WAITING
from harness.engine.resources.nodes import enough
from harness.engine.run_state import FLOATS, INDICES
from harness.engine.runtime_estimates import predict_next
from harness.engine.service import enter_service, start_job
from harness.errors import HarnessError
from harness.workload.log import STARTED, Workload

#: What taking up a state returns when all is well; else who had no room, as a place among the running jobs.
ALL_WELL = -1


@inner
def go_on(state: Any, job: int, started: float) -> bool:
    """Let a job hold its processors that has run since `started`; False if it has no room. Changes what `begin` does.

    What it has done is over: so much less is left of its work, and of what is believed of it.
    """
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    done = clock.now - started
    record.left = max(0.0, record.estimate - done)
    truth.work = max(0.0, truth.work - done)
    state.sums.backlog += truth.work
    clock.demand += record.left
    if state.usage_sums.counted:
        state.tally(state, job, 1, 1, 0)
    record.status = WAITING
    clock.hook = STARTING
    if not enough(state, job) or not start_job(state, job):
        return False
    record.start = started
    record.service = done
    return True


@inner
def take_up(state: Any, running: Any, started: Any) -> int:
    """Let these jobs run on that began at these times, and all others wait that were submitted up to now."""
    clock = state.clock
    if state.estimates.predicted:
        predict_next(state, len(state.jobs))
    while clock.next < len(state.jobs) and state.jobs[clock.next].submit <= clock.now:
        clock.next += 1  # now policies may be shown who runs
    for k in range(len(running)):
        if state.jobs[running[k]].status != PENDING or not go_on(state, running[k], started[k]):
            return k
    clock.next = 0
    clock.started = 0
    enter_service(state)
    add_arrivals(state, len(state.jobs))
    clock.arrived = 0
    clock.start_timer = clock.now  # the first instant is now, and everybody is asked
    return ALL_WELL


@cache
def compiled_opening() -> Any:
    """Return `take_up`, compiled: called with the state, the jobs that run, and since when."""
    return entrance(take_up, types.int64(INDICES, INDICES, FLOATS))


def open_run(state: Any, workload: Workload, place: np.ndarray[Any, Any]) -> None:
    """Bring the run into the state in which `workload` begins; refuse one that the machine cannot be in."""
    started = workload.jobs[STARTED].to_numpy(dtype=np.float64)[place]
    running = np.flatnonzero(started >= 0)
    running = running[np.argsort(started[running], kind="stable")]
    lacking = compiled_opening()(state, running, started[running])
    if lacking != ALL_WELL:
        job = state.jobs[running[lacking]]
        held = int(state.jobs.procs[running].sum())
        raise HarnessError(
            f"{workload.name}: its running jobs hold {held:,} processors in all; job {job.number} has no room on the "
            f"platform's {int(state.clock.cores):,}: expected a platform on which they all run, as with --procs {held}"
        )
