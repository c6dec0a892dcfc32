"""Which cores a job holds."""

from typing import Any

from numba.extending import overload

from harness.engine.decorators import crossing, inner, verb, window
from harness.engine.faults import OVERCOMMIT, SELECTING, PolicyFault, note
from harness.engine.power.draw import draw_anew, recall, settle
from harness.engine.power.sleep import is_awake, node_awake
from harness.engine.records.public import RUNNING, WONDERING
from harness.engine.records.request_records import DEMANDING
from harness.engine.resources.capacity import (
    counted,
    licensed,
    release_demand,
    resumes_on,
    room_demanded,
    suits_demanded,
)
from harness.engine.resources.idle_nodes import join_line
from harness.engine.resources.node_classes import restock
from harness.engine.run_state import seen
from harness.engine.samples import record_placement

#: Nodes are scanned in blocks of this many, a power of two; a block without a free core is skipped at once.
BLOCK = 64


@verb
def admits(state: Any, job: int, node: int) -> bool:
    """Return whether the node is of the partition that the job asks for; a machine in one piece admits everybody."""
    wanted = state.jobs[job].partition
    return wanted < 0 or state.nodes[node].partition < 0 or wanted == state.nodes[node].partition


@verb
def room(state: Any, job: int, node: int) -> int:
    """Return how many processors of `node` the job could have now: all else that it asks for respected."""
    if not 0 <= node < len(state.nodes):
        return 0
    free = state.nodes[node].free
    if state.clock.constrained == 0 or free == 0:
        return free
    if state.allocation.placement_restricted:
        return state.then[node].room
    if state.clock.constrained == DEMANDING:
        return room_demanded(state, job, node)
    if not admits(state, job, node):
        return 0
    memory = state.jobs[job].memory
    if memory > 0 and state.nodes[node].free_memory < free * memory:
        return int(state.nodes[node].free_memory // memory)
    return free


@verb
def stays(state: Any, job: int) -> bool:
    """Return whether the job waits suspended in place: only the nodes that keep its place can have it."""
    return state.allocation.suspended_in_place > 0 and state.jobs[job].slices >= 0 and state.jobs[job].status != RUNNING


@verb(apart=True)
def place_free(state: Any, job: int) -> bool:
    """Return whether what a job suspended in place gave back is free again: cores of its nodes, licences."""
    if len(state.licences) > 0 and not licensed(state, job):
        return False
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        if state.nodes[node].free < state.slices[piece].cores:
            return False
        if state.clock.constrained == DEMANDING and not resumes_on(state, job, node):
            return False
        piece = state.slices[piece].next
    return True


@verb
def fits(state: Any, job: int) -> bool:
    """Return whether the job could start now: enough processors that it may have, and no selection declines them.

    A selection is asked if it has a `fits` of its own, and only for start policies: for others, processors count.
    """
    if not enough(state, job):
        return False
    if state.clock.asks == 0 or stays(state, job):
        return True
    found = 0
    for node in range(len(state.nodes)):
        state.then[node].free = state.nodes[node].free
        state.then[node].room = counted(state, job, found, room(state, job, node))
        found += state.then[node].room
    return would_place(state, job)


@window
def nodes_of(state: Any, job: int) -> Any:
    """Return the nodes on which the job holds processors, as `state.slices` lists them, or keeps its place.

    None unless it runs or was suspended in place. The next question writes its answer into the same array: `copy()` it
    to keep it.
    """
    count = 0
    piece = state.jobs[job].slices
    while piece >= 0 and count < len(state.then):
        state.then[count].held = state.slices[piece].node
        count += 1
        piece = state.slices[piece].next
    return state.then.held[:count]


@verb
def would_place(state: Any, job: int) -> bool:
    """Return whether the selection would place the job on what `state.then` says is free."""
    clock = state.clock
    asked = clock.hook
    clock.hook = SELECTING
    clock.culprit = job
    clock.asking = WONDERING
    answer = ask_selection(state, job)
    clock.asking = 0
    clock.hook = asked
    return answer


def _ask(state: Any, job: int) -> bool:
    return bool(state.select(seen(state), job, state.select_own))


_asked = crossing(_ask)


def ask_selection(state: Any, job: int) -> bool:
    """Return the answer of the selection; yes where only a view of the state is at hand, which has none."""
    return "select" not in state._fields or _asked(state, job)


@overload(ask_selection, strict=False)
def _ask_selection(state: Any, job: Any) -> Any:
    if "select" not in state.kernels:
        return lambda state, job: True
    return _ask


@verb
def enough(state: Any, job: int) -> bool:
    """Return whether enough processors with the memory and the partition that the job asks for are free now."""
    procs = state.jobs[job].procs
    if procs > state.clock.free:
        return False
    if stays(state, job):
        return place_free(state, job)
    if state.clock.constrained == 0:
        return True
    return enough_nodes(state, job)


@verb(apart=True)
def enough_nodes(state: Any, job: int) -> bool:
    """Return whether nodes that are free now have room enough for the job, and the platform has its licences."""
    if len(state.licences) > 0 and not licensed(state, job):
        return False
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += counted(state, job, found, room(state, job, node))
        if found >= state.jobs[job].procs:
            return True
        node = next_free(state, node)
    return False


@verb
def suits(state: Any, job: int, node: int) -> bool:
    """Return whether the job could ever run on the node: its partition, memory for one processor, all it asks for."""
    if not 0 <= node < len(state.nodes):
        return False
    if state.clock.constrained == DEMANDING:
        return suits_demanded(state, job, node)
    return admits(state, job, node) and state.jobs[job].memory <= state.nodes[node].memory


@verb
def next_free(state: Any, after: int) -> int:
    """Return the first node numbered above `after` that has a free core, or −1."""
    nodes = state.nodes
    count = len(nodes)
    if after >= count:  # one more might be beyond the largest number
        return -1
    node = max(after, -1) + 1
    while node < count:
        if node & (BLOCK - 1) == 0 and state.blocks[node // BLOCK] == 0:
            node += BLOCK
        elif nodes[node].free > 0:
            return node
        else:
            node += 1
    return -1


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
    if clock.constrained:
        record.free_memory -= procs * state.jobs[job].memory
    if allocation.placement_restricted:  # what a job asks for on a node besides cores, it is given once
        state.then[node].room = 0 if clock.constrained == DEMANDING else state.then[node].room - procs
    state.blocks[node // BLOCK] -= procs
    if state.sleep_control.track_node_status:
        mind_taken(state, node)
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
def give_back(state: Any, job: int, piece: int) -> None:
    """Undo one `take` of the job, but for its slice. Changes the node's free cores and memory."""
    node = state.slices[piece].node
    cores = state.slices[piece].cores
    record = state.nodes[node]
    record.free += cores
    if state.clock.constrained:
        record.free_memory += cores * state.jobs[job].memory
        if state.clock.constrained == DEMANDING:
            release_demand(state, job, node)
        if record.free == record.cores and state.allocation.suspended_in_place == 0:  # all of it, free of rounding
            record.free_memory = record.memory
    state.blocks[node // BLOCK] += cores
    if record.free == record.cores and state.jobs[job].status == RUNNING:  # not what a selection tried in vain
        record.vacant = state.clock.now


@verb
def mind_taken(state: Any, node: int) -> None:
    """Note of a node that gave cores if it is awake, and put it in its stock, if stocks are kept. Changes notes."""
    if not is_awake(state, node):
        state.allocation.nodes_asleep += 1
        state.allocation.awake_at = max(state.allocation.awake_at, node_awake(state, node))
    restock(state, node)


@verb(apart=True)
def mind_given_back(state: Any, job: int) -> None:
    """Put the nodes of which the job gave cores back where they belong: in stocks, in the line of vacant ones."""
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        restock(state, node)
        if state.jobs[job].status == RUNNING:
            join_line(state, node)
        piece = state.slices[piece].next


@verb
def drop_slices(state: Any, job: int, last: int) -> None:
    """Give back the job's slices, of which `last` is the last. Changes slices."""
    allocation = state.allocation
    if last >= 0:
        state.slices[last].next = allocation.free_slice_head
        allocation.free_slice_head = state.jobs[job].slices
        state.jobs[job].slices = -1


@verb
def give_all_back(state: Any, job: int) -> None:
    """Undo every `take` of the job. Changes nodes, slices."""
    last = -1
    piece = state.jobs[job].slices
    while piece >= 0:
        give_back(state, job, piece)
        last = piece
        piece = state.slices[piece].next
    if state.sleep_control.track_node_status:
        mind_given_back(state, job)
    drop_slices(state, job, last)


@inner
def occupy(state: Any, job: int) -> None:
    """Make the cores that the job took busy. Changes nodes, slices."""
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
def vacate(state: Any, job: int, begun: float) -> None:
    """Give the job's cores back, idle; charge the job for what they drew since `begun`."""
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
        give_back(state, job, piece)
        if len(state.placements) > 0:
            record_placement(state, job, node, cores, begun)
        last = piece
        piece = state.slices[piece].next
    state.jobs[job].energy += energy
    if not known:
        draw_anew(state, first)
    if state.sleep_control.track_node_status:
        mind_given_back(state, job)
    drop_slices(state, job, last)
