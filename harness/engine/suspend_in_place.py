"""Suspension in place: the job stops and stays where it is.

Its cores are free for others, and licences; its memory remains held on its nodes, and their resources, and it resumes
nowhere else, without asking the selection. Its place is lost when one of its nodes fails. So gangs of jobs take turns.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, seldom
from harness.engine.faults import NO_PLACE, PolicyFault, note
from harness.engine.power.sleep import is_awake, node_awake
from harness.engine.records.public import SLICE
from harness.engine.records.request_records import DEMANDING
from harness.engine.resources.capacity import hold_alone, keep_demand
from harness.engine.resources.node_classes import restock
from harness.engine.resources.nodes import BLOCK, drop_slices

#: How many times the processors of the machine the slices of all suspended jobs may be.
MOST = 8


def make_room(view: Any) -> Any:
    """Return the view with slices for jobs that are suspended in place besides those that run."""
    width = np.minimum(view.jobs["procs"], len(view.nodes)).sum()
    count = int(view.clock.cores + min(width, MOST * view.clock.cores)) + 1
    slices = np.zeros(count, SLICE)
    slices["next"] = np.arange(1, count + 1)
    slices["next"][-1] = -1
    return view._replace(slices=slices.view(np.recarray))


@inner
def copy_place(state: Any, job: int) -> int:
    """Write down once more what a running job holds, for when it has left; return the first slice."""
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
    """Let a job that has left keep the place that begins with this slice. Changes jobs, nodes, notes."""
    state.jobs[job].slices = first
    state.allocation.suspended_in_place += 1
    hold_place(state, job, 1)


@inner
def hold_place(state: Any, job: int, sign: int) -> None:
    """Hold what the job keeps besides its cores, or with −1 give it back. Changes nodes, offers."""
    piece = state.jobs[job].slices
    while piece >= 0 and state.clock.constrained:
        node = state.slices[piece].node
        state.nodes[node].free_memory -= sign * state.slices[piece].cores * state.jobs[job].memory
        if state.clock.constrained == DEMANDING:
            keep_demand(state, job, node, sign)
        piece = state.slices[piece].next


@seldom
def retake(state: Any, job: int) -> None:
    """Let a job take the cores of its place again; its memory it has kept. Changes nodes, notes."""
    allocation = state.allocation
    allocation.suspended_in_place -= 1
    allocation.nodes_taken = 0
    allocation.nodes_asleep = 0
    allocation.awake_at = state.clock.now
    allocation.slowest = np.inf
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        cores = state.slices[piece].cores
        state.nodes[node].free -= cores
        state.blocks[node // BLOCK] -= cores
        restock(state, node)
        if state.clock.constrained == DEMANDING:
            hold_alone(state, job, node)
        allocation.nodes_taken += 1
        allocation.slowest = min(allocation.slowest, state.nodes[node].speed)
        if not is_awake(state, node):
            allocation.nodes_asleep += 1
            allocation.awake_at = max(allocation.awake_at, node_awake(state, node))
        piece = state.slices[piece].next


@inner
def give_place_up(state: Any, job: int) -> None:
    """Let a job that was suspended in place lose it. Changes jobs, nodes, slices, notes."""
    hold_place(state, job, -1)
    state.allocation.suspended_in_place -= 1
    last = piece = state.jobs[job].slices
    while piece >= 0:
        last = piece
        piece = state.slices[piece].next
    drop_slices(state, job, last)


@inner
def has_place_on(state: Any, job: int, node: int) -> bool:
    """Return whether the job holds cores of the node, or keeps its place there."""
    piece = state.jobs[job].slices
    while piece >= 0 and state.slices[piece].node != node:
        piece = state.slices[piece].next
    return piece >= 0
