"""Between which widths a moldable job may start: its own bounds, and as wide as no hold holds it."""

from typing import Any

import numpy as np

from harness.engine.apart import HOLDING
from harness.engine.holds import held_until, held_with
from harness.engine.marks import verb


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

    Where jobs may be held, the greatest with which none holds it now; less than `narrowest` if there is none.
    """
    if not has_choice(state, job):
        return int(state.jobs[job].procs)
    return widest_free(state, job) if state.notes.holds > 0 else int(state.shapes[job].most)


@verb(family=HOLDING)
def widest_free(state: Any, job: int) -> int:
    """Return the greatest width with which no hold holds the job, found by halving; one below its least if none."""
    least = int(state.shapes[job].least)
    if held_with(state, job, least) > -np.inf:
        return least - 1
    most = int(state.shapes[job].most)
    while least < most:
        middle = (least + most + 1) // 2
        if held_with(state, job, middle) > -np.inf:
            most = middle - 1
        else:
            least = middle
    return least


@verb(family=HOLDING)
def may_be_so_wide(state: Any, job: int) -> bool:
    """Return whether no hold holds a moldable job as wide as it is."""
    return bool(held_until(state, job, -1) == -np.inf)
