"""Allocation: a job takes cores of nodes, with all else that it requests there, and releases them."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, seldom, verb
from harness.engine.faults import OVERCOMMIT, SELECTING, TOO_FEW, TOO_MANY, UNEVEN, UNTRUE_FITS, PolicyFault, note
from harness.engine.power.draw import draw_anew, recall, settle
from harness.engine.power.sleep import is_awake, node_awake
from harness.engine.records.public import RUNNING, WONDERING
from harness.engine.records.request_records import COUNT, EMPTY, NOW, REQUESTS
from harness.engine.resources.capacity import entry, procs_per_node, set_aside, usable
from harness.engine.resources.idle_nodes import join_idle_list
from harness.engine.resources.node_classes import reclassify
from harness.engine.resources.nodes import BLOCK, call_selection, fits, next_free, room
from harness.engine.run_state import DEMANDS
from harness.engine.samples import record_placement

# ---------------------------------------------------------------- by the selection


@verb
def begin_allocation(state: Any) -> None:
    """Begin to count what a job takes. Changes the allocation."""
    allocation = state.allocation
    allocation.cores_taken = 0
    allocation.nodes_taken = 0
    allocation.nodes_asleep = 0
    allocation.awake_at = state.clock.now
    allocation.slowest = np.inf


@verb
def allocate(state: Any, job: int) -> bool:
    """Let the selection take cores for the job; return False if it declines. Too few or too many stop the run."""
    clock = state.clock
    allocation = state.allocation
    asked = clock.hook
    clock.hook = SELECTING
    clock.culprit = job
    begin_allocation(state)
    restricted = allocation.placement_restricted
    if clock.constrained == REQUESTS and not restricted:  # the capacity of each node is found once
        restrict_to_capacities(state, job)
        allocation.placement_restricted = 1
    accepted = call_selection(state, job)
    allocation.placement_restricted = restricted
    if not accepted:
        release_all(state, job)
        if clock.asks and fits(state, job):
            note(clock, UNTRUE_FITS, job, -1, 0.0)
            raise PolicyFault
        allocation.declined += 1
        clock.hook = asked
        return False
    chosen = allocation.cores_taken
    if chosen != state.jobs[job].procs:
        note(clock, TOO_FEW if chosen < state.jobs[job].procs else TOO_MANY, job, -1, chosen)
        raise PolicyFault
    share = procs_per_node(state, job)
    if share > 0 and allocation.nodes_taken > (chosen + share - 1) // share:
        note(clock, UNEVEN, job, -1, allocation.nodes_taken)
        raise PolicyFault
    clock.hook = asked
    return True


@verb(family=DEMANDS)
def restrict_to_capacities(state: Any, job: int) -> None:
    """Write into `state.then` how many cores of each node the job may take now."""
    found = 0
    for node in range(len(state.nodes)):
        state.then[node].room = usable(state, job, found, room(state, job, node))
        found += state.then[node].room


@seldom
def most_available(state: Any, job: int) -> int:
    """Return how many processors the job could get now, at most; for error messages."""
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += room(state, job, node)
        node = next_free(state, node)
    return found


@verb(only=(SELECTING, "select"))
def take(state: Any, job: int, node: int, procs: int) -> None:
    """Hold `procs` processors of `node` for the job that is being placed. Changes the node's free cores and memory."""
    clock = state.clock
    allocation = state.allocation
    if job != clock.culprit or clock.asking == WONDERING or procs < 1 or procs > room(state, job, node):
        note(clock, OVERCOMMIT, job, node, procs)
        raise PolicyFault
    record = state.nodes[node]
    record.free -= procs
    if clock.constrained != COUNT:
        set_aside(state, job, node, procs, NOW, 1)
    if allocation.placement_restricted:  # all that a job requests of a node besides cores, it is given once
        state.then[node].room = 0 if clock.constrained == REQUESTS else state.then[node].room - procs
    state.blocks[node // BLOCK] -= procs
    if state.sleep_control.track_node_status:
        on_cores_taken(state, node)
    allocation.cores_taken += procs
    allocation.nodes_taken += 1
    allocation.slowest = min(allocation.slowest, record.speed)
    piece = allocation.free_slice_head
    allocation.free_slice_head = state.slices[piece].next
    state.slices[piece].node = node
    state.slices[piece].cores = procs
    state.slices[piece].next = state.jobs[job].slices
    state.jobs[job].slices = piece


@verb
def on_cores_taken(state: Any, node: int) -> None:
    """Count a node of the allocation that is not awake, and reclassify it. Changes the allocation, node classes."""
    if not is_awake(state, node):
        state.allocation.nodes_asleep += 1
        state.allocation.awake_at = max(state.allocation.awake_at, node_awake(state, node))
    reclassify(state, node)


# ---------------------------------------------------------------- release


@verb
def release_slice(state: Any, job: int, piece: int) -> None:
    """Put back the cores of one slice of the job, and all else that it uses there. Changes the node, `available`."""
    node = state.slices[piece].node
    cores = state.slices[piece].cores
    record = state.nodes[node]
    record.free += cores
    if state.clock.constrained != COUNT:
        set_aside(state, job, node, cores, NOW, -1)
        if record.free == record.cores and state.allocation.suspended_in_place == 0:  # free of rounding
            state.available[entry(state, node, NOW)].memory = state.available[entry(state, node, EMPTY)].memory
    state.blocks[node // BLOCK] += cores
    if record.free == record.cores and state.jobs[job].status == RUNNING:  # not a trial of a selection
        record.vacant = state.clock.now


@verb(apart=True)
def on_cores_freed(state: Any, job: int) -> None:
    """Reclassify the nodes whose cores the job released, and list those that are idle now."""
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        reclassify(state, node)
        if state.jobs[job].status == RUNNING:
            join_idle_list(state, node)
        piece = state.slices[piece].next


@verb
def free_slices(state: Any, job: int, last: int) -> None:
    """Put the job's slices, of which `last` is the last, among the unused ones. Changes slices, the allocation."""
    allocation = state.allocation
    if last >= 0:
        state.slices[last].next = allocation.free_slice_head
        allocation.free_slice_head = state.jobs[job].slices
        state.jobs[job].slices = -1


@verb
def release_all(state: Any, job: int) -> None:
    """Release all cores that the job has taken and does not use yet. Changes nodes, slices."""
    last = -1
    piece = state.jobs[job].slices
    while piece >= 0:
        release_slice(state, job, piece)
        last = piece
        piece = state.slices[piece].next
    if state.sleep_control.track_node_status:
        on_cores_freed(state, job)
    free_slices(state, job, last)


# ---------------------------------------------------------------- while a job is in service


@inner
def occupy(state: Any, job: int) -> None:
    """Make the cores of the job busy. Changes nodes, slices."""
    first = state.jobs[job].slices
    piece = first
    known = True
    while piece >= 0:
        node = state.slices[piece].node
        settle(state, node)
        state.nodes[node].busy += state.slices[piece].cores
        known &= recall(state, node)
        state.slices[piece].share = state.nodes[node].share
        piece = state.slices[piece].next
    if not known:
        draw_anew(state, first)


@inner
def release_busy(state: Any, job: int, begun: float) -> None:
    """Release the cores of a job in service since `begun`, and charge it for the energy that they drew."""
    energy = 0.0
    known = True
    first = state.jobs[job].slices
    piece = first
    last = -1
    while piece >= 0:
        node = state.slices[piece].node
        cores = state.slices[piece].cores
        settle(state, node)
        energy += cores * (state.nodes[node].share - state.slices[piece].share)
        state.nodes[node].busy -= cores
        known &= recall(state, node)
        release_slice(state, job, piece)
        if len(state.placements) > 0:
            record_placement(state, job, node, cores, begun)
        last = piece
        piece = state.slices[piece].next
    state.jobs[job].energy += energy
    if not known:
        draw_anew(state, first)
    if state.sleep_control.track_node_status:
        on_cores_freed(state, job)
    free_slices(state, job, last)
