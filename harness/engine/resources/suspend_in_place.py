"""Suspension in place: a job stops, and resumes on the cores on which it ran.

Its cores and licences are free for other jobs meanwhile. Its memory and the countable resources of its nodes stay
taken. It resumes on no other nodes, and the selection is not called. When one of its nodes fails, it loses its place.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, seldom
from harness.engine.faults import NO_PLACE, PolicyFault, note
from harness.engine.records.public import SLICE
from harness.engine.records.request_records import COUNT, NOW, REQUESTS
from harness.engine.resources.allocation import begin_allocation, free_slices, on_cores_taken
from harness.engine.resources.capacity import set_aside, set_exclusive
from harness.engine.resources.nodes import BLOCK

#: How many times the processors of the machine the slices of all suspended jobs may be.
MOST = 8


def add_slices(view: Any) -> Any:
    """Return the view with slices for jobs that are suspended in place, besides those of running jobs."""
    width = np.minimum(view.jobs["procs"], len(view.nodes)).sum()
    count = int(view.clock.cores + min(width, MOST * view.clock.cores)) + 1
    slices = np.zeros(count, SLICE)
    slices["next"] = np.arange(1, count + 1)
    slices["next"][-1] = -1
    return view._replace(slices=slices.view(np.recarray))


@inner
def copy_place(state: Any, job: int) -> int:
    """Copy the slices of a running job, which releases its own when it stops; return the first copy."""
    allocation = state.allocation
    first = -1
    piece = state.jobs[job].slices
    while piece >= 0:
        copy = allocation.free_slice_head
        if copy < 0:
            note(state.clock, NO_PLACE, job, -1, 0.0)
            raise PolicyFault
        allocation.free_slice_head = state.slices[copy].next
        state.slices[copy].node = state.slices[piece].node
        state.slices[copy].cores = state.slices[piece].cores
        state.slices[copy].next = first
        first = copy
        piece = state.slices[piece].next
    return first


@inner
def keep_place(state: Any, job: int, first: int) -> None:
    """Give a job that has stopped the place that begins with this slice. Changes jobs, the allocation."""
    state.jobs[job].slices = first
    state.allocation.suspended_in_place += 1
    hold_place(state, job, 1)


@inner
def hold_place(state: Any, job: int, sign: int) -> None:
    """Take all that a suspended job keeps besides its cores; −1 puts it back. Changes `available`."""
    piece = state.jobs[job].slices
    while piece >= 0 and state.clock.constrained != COUNT:
        node = state.slices[piece].node
        set_aside(state, job, node, state.slices[piece].cores, NOW, sign)
        if state.clock.constrained == REQUESTS:
            set_exclusive(state, job, node, -sign)
        piece = state.slices[piece].next


@seldom
def retake(state: Any, job: int) -> None:
    """Let a job take the cores of its place again. Changes nodes, the allocation."""
    allocation = state.allocation
    allocation.suspended_in_place -= 1
    begin_allocation(state)
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        cores = state.slices[piece].cores
        state.nodes[node].free -= cores
        state.blocks[node // BLOCK] -= cores
        on_cores_taken(state, node)
        if state.clock.constrained == REQUESTS:
            set_exclusive(state, job, node, 1)
        allocation.nodes_taken += 1
        allocation.slowest = min(allocation.slowest, state.nodes[node].speed)
        piece = state.slices[piece].next


@inner
def lose_place(state: Any, job: int) -> None:
    """Take its place from a job that was suspended in place. Changes jobs, slices, the allocation, `available`."""
    hold_place(state, job, -1)
    state.allocation.suspended_in_place -= 1
    last = piece = state.jobs[job].slices
    while piece >= 0:
        last = piece
        piece = state.slices[piece].next
    free_slices(state, job, last)


@inner
def has_place_on(state: Any, job: int, node: int) -> bool:
    """Return whether the job holds cores of the node, or keeps its place there."""
    piece = state.jobs[job].slices
    while piece >= 0 and state.slices[piece].node != node:
        piece = state.slices[piece].next
    return piece >= 0
