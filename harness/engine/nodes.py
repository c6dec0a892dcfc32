"""Which cores a job holds."""

from typing import Any

from harness.engine.faults import OVERCOMMIT, PolicyFault, note
from harness.engine.power import draw, settle
from harness.engine.recording import record_placement
from harness.engine.state import AWAKE, RUNNING, inner, verb

#: Nodes are scanned in blocks of this many; a block without a free core is skipped at once.
BLOCK = 64


@verb
def room(state: Any, job: int, node: int) -> int:
    """How many processors of `node` the job could have now: free cores, memory and partition respected."""
    if not 0 <= node < len(state.nodes):
        return 0
    free = state.nodes[node].free
    if state.clock.constrained == 0 or free == 0:
        return free
    wanted = state.jobs[job].partition
    if wanted >= 0 and wanted != state.nodes[node].partition:
        return 0
    memory = state.jobs[job].memory
    if memory > 0 and state.nodes[node].free_memory < free * memory:
        return int(state.nodes[node].free_memory // memory)
    return free


@verb
def fits(state: Any, job: int) -> bool:
    """Whether the job could start now: enough free processors with the memory and the partition it asks for."""
    procs = state.jobs[job].procs
    if procs > state.clock.free:
        return False
    if state.clock.constrained == 0:
        return True
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += room(state, job, node)
        if found >= procs:
            return True
        node = next_free(state, node)
    return False


@verb
def next_free(state: Any, after: int) -> int:
    """The first node numbered above `after` that has a free core, or −1."""
    nodes = state.nodes
    count = len(nodes)
    node = after + 1
    while node < count:
        block = node // BLOCK
        end = min(count, (block + 1) * BLOCK)
        if state.blocks[block] > 0:
            while node < end:
                if nodes[node].free > 0:
                    return node
                node += 1
        node = end
    return -1


@verb
def take(state: Any, job: int, node: int, procs: int) -> None:
    """Hold `procs` processors of `node` for the job that is being placed. Changes the node's free cores and memory."""
    clock = state.clock
    if job != clock.culprit or procs < 1 or procs > room(state, job, node):
        note(clock, OVERCOMMIT, job, node, procs)
        raise PolicyFault
    record = state.nodes[node]
    record.free -= procs
    if clock.constrained:
        record.free_memory -= procs * state.jobs[job].memory
    state.blocks[node // BLOCK] -= procs
    clock.held += procs
    clock.held_nodes += 1
    clock.held_speed = min(clock.held_speed, record.speed)
    if record.status != AWAKE:
        clock.held_asleep += 1
    piece = clock.slack
    clock.slack = state.slices[piece].next
    state.slices[piece].node = node
    state.slices[piece].cores = procs
    state.slices[piece].next = state.jobs[job].slices
    state.jobs[job].slices = piece


@inner
def give_back(state: Any, job: int, piece: int) -> None:
    """Undo one `take` of the job, but for its slice. Changes the node's free cores and memory."""
    node = state.slices[piece].node
    cores = state.slices[piece].cores
    record = state.nodes[node]
    record.free += cores
    if state.clock.constrained:
        record.free_memory += cores * state.jobs[job].memory
    state.blocks[node // BLOCK] += cores
    if record.free == record.cores and state.jobs[job].status == RUNNING:  # not what a selection tried in vain
        record.vacant = state.clock.now


@inner
def drop_slices(state: Any, job: int, last: int) -> None:
    """The job's slices, of which `last` is the last, are unused again. Changes slices."""
    if last >= 0:
        state.slices[last].next = state.clock.slack
        state.clock.slack = state.jobs[job].slices
        state.jobs[job].slices = -1


@inner
def give_all_back(state: Any, job: int) -> None:
    """Undo every `take` of the job. Changes nodes, slices."""
    last = -1
    piece = state.jobs[job].slices
    while piece >= 0:
        give_back(state, job, piece)
        last = piece
        piece = state.slices[piece].next
    drop_slices(state, job, last)


@inner
def occupy(state: Any, job: int) -> None:
    """The cores the job took become busy. Changes nodes, slices."""
    first = state.jobs[job].slices
    piece = first
    while piece >= 0:
        node = state.slices[piece].node
        settle(state, node)
        state.nodes[node].busy += state.slices[piece].cores
        state.slices[piece].share = state.nodes[node].share
        piece = state.slices[piece].next
    draw(state, first)


@inner
def vacate(state: Any, job: int, begun: float) -> None:
    """The job's cores fall idle and are given back; what they drew since `begun` is charged to the job."""
    energy = 0.0
    first = state.jobs[job].slices
    piece = first
    last = -1
    while piece >= 0:
        node = state.slices[piece].node
        cores = state.slices[piece].cores
        settle(state, node)
        energy += cores * (state.nodes[node].share - state.slices[piece].share)
        state.nodes[node].busy -= cores
        give_back(state, job, piece)
        if len(state.placements) > 0:
            record_placement(state, job, node, cores, begun)
        last = piece
        piece = state.slices[piece].next
    state.jobs[job].energy += energy
    draw(state, first)
    drop_slices(state, job, last)
