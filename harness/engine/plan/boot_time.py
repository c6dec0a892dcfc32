"""How long jobs wait for nodes to wake: what plans have to know where nodes sleep."""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.plan.head_reservation import check_place
from harness.engine.records.public import TRYING, WAITING
from harness.engine.resources.allocation import allocate, release_all


@verb
def longest_boot(state: Any) -> float:
    """Return how long a job waits for its nodes to wake at most, whichever it gets [s]; 0 where none sleeps.

    It gets one that has just begun to fall asleep then.
    """
    return float(state.sleep_control.max_boot_time)


@verb
def boot_time(state: Any, job: int) -> float:
    """Return how long the job would wait for its nodes to wake if it started now [s].

    Infinity if it does not wait, or if the selection chooses no nodes. The selection allocates nodes on trial.
    """
    check_place(state, job)
    if state.jobs[job].status != WAITING or state.jobs[job].procs > state.clock.free:
        return np.inf
    state.clock.asking = TRYING
    placed = allocate(state, job)
    state.clock.asking = 0
    if not placed:
        return np.inf
    release_all(state, job)
    return float(state.allocation.awake_at - state.clock.now)
