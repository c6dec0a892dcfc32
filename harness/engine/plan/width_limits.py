"""Between which widths a moldable job may start: its own bounds, and as wide as no hold holds it."""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import STARTING
from harness.engine.queue.holds import STARTS, TIME, asked_until, held_with
from harness.engine.run_state import HOLDING
from harness.engine.service import start_job


@verb
def has_choice(state: Any, job: int) -> bool:
    """Return whether the job's width is still to be chosen."""
    return bool(state.notes.moldable != 0 and np.isnan(state.jobs[job].start))


@verb
def narrowest(state: Any, job: int) -> int:
    """Return the least number of processors that the job may start with: `job.procs`, unless it is moldable."""
    return int(state.shapes[job].least if has_choice(state, job) else state.jobs[job].procs)


@verb
def widest(state: Any, job: int) -> int:
    """Return the greatest number of processors that the job may start with: `job.procs`, unless it is moldable.

    Where jobs may be held, the greatest with which none holds it now; less than `narrowest` if there is none. So for
    start policies: others are told the job's own bound.
    """
    if not has_choice(state, job):
        return int(state.jobs[job].procs)
    asked = state.hold_state.count > 0 and state.clock.hook == STARTING
    return widest_free(state, job) if asked else int(state.shapes[job].most)


@verb(family=HOLDING)
def widest_free(state: Any, job: int) -> int:
    """Return the greatest width with which no hold holds the job again, found by halving; one below its least if none.

    Then somebody has changed his mind: nobody else starts before all are asked.
    """
    least = int(state.shapes[job].least)
    if held_with(state, job, least, TIME | STARTS) > -np.inf:
        state.hold_state.stop_starting = 1
        return least - 1
    most = int(state.shapes[job].most)
    while least < most:
        middle = (least + most + 1) // 2
        if held_with(state, job, middle, TIME | STARTS) > -np.inf:
            most = middle - 1
        else:
            least = middle
    return least


@verb(family=HOLDING)
def may_be_so_wide(state: Any, job: int) -> bool:
    """Return whether no hold holds a moldable job again, as wide as it is."""
    return bool(asked_until(state, job, TIME | STARTS) == -np.inf)


@verb
def begin_as_wide(state: Any, job: int) -> bool:
    """Start a waiting job now, as wide as it is; return whether the selection and the holds let it start."""
    if state.notes.moldable and state.hold_state.count > 0 and not may_be_so_wide(state, job):
        return False
    return start_job(state, job)
