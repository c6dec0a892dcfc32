"""Which cores of which nodes a job could have now, and whether it could start."""

from typing import Any

from numba.extending import overload

from harness.engine.decorators import crossing, verb, window
from harness.engine.faults import SELECTING
from harness.engine.records.public import RUNNING, WONDERING
from harness.engine.records.request_records import COUNT, EMPTY, NOW, REQUESTS
from harness.engine.resources.advance_reservations import kept_from, longest_stay
from harness.engine.resources.capacity import (
    capacity,
    licensed,
    node_eligible,
    placeable,
    procs_per_node,
    resumes_on,
    usable,
)
from harness.engine.run_state import DEMANDS, seen

#: Nodes are scanned in blocks of this many, a power of two; a block without a free core is skipped.
BLOCK = 64

# ---------------------------------------------------------------- one node


@verb
def room(state: Any, job: int, node: int) -> int:
    """Return how many processors of `node` the job could have now: all else that it asks for respected."""
    if not 0 <= node < len(state.nodes):
        return 0
    free = state.nodes[node].free
    if state.clock.constrained == COUNT or free == 0:
        return free
    if state.allocation.placement_restricted:
        return state.then[node].room
    if len(state.reservations) > 0 and is_kept_now(state, job, node):
        return 0
    return capacity(state, job, node, free, NOW)


@verb(family=DEMANDS)
def is_kept_now(state: Any, job: int, node: int) -> bool:
    """Return whether a reservation keeps the node from the job at any time that it would run if it started now."""
    now = state.clock.virtual
    return kept_from(state, job, node, now, now + longest_stay(state, job, node))


@verb
def suits(state: Any, job: int, node: int) -> bool:
    """Return whether the job could ever run on the node: its partition, memory for one processor, all it asks for."""
    if not 0 <= node < len(state.nodes):
        return False
    if state.clock.constrained == COUNT:
        return node_eligible(state, job, node) and state.jobs[job].memory <= state.nodes[node].memory
    whole = capacity(state, job, node, state.nodes[node].cores, EMPTY)
    return whole > 0 and whole >= procs_per_node(state, job)


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


# ---------------------------------------------------------------- a job that was suspended in place


@verb
def keeps_place(state: Any, job: int) -> bool:
    """Return whether the job waits suspended in place: it resumes only on the nodes on which it ran."""
    return state.allocation.suspended_in_place > 0 and state.jobs[job].slices >= 0 and state.jobs[job].status != RUNNING


@verb(apart=True)
def place_is_free(state: Any, job: int) -> bool:
    """Return whether a job suspended in place can resume: the cores of its nodes and its licences are free."""
    if not licensed(state, job, NOW):
        return False
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        if state.nodes[node].free < state.slices[piece].cores:
            return False
        if state.clock.constrained == REQUESTS and not resumes_on(state, job, node):
            return False
        piece = state.slices[piece].next
    return True


# ---------------------------------------------------------------- all nodes


@verb
def enough(state: Any, job: int) -> bool:
    """Return whether enough processors are free now, with all else that the job asks for."""
    if state.jobs[job].procs > state.clock.free:
        return False
    if keeps_place(state, job):
        return place_is_free(state, job)
    if state.clock.constrained == COUNT:
        return True
    return enough_nodes(state, job)


@verb(apart=True)
def enough_nodes(state: Any, job: int) -> bool:
    """Return the answer of `enough` where processors alone are not counted."""
    if not licensed(state, job, NOW):
        return False
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += usable(state, job, found, room(state, job, node))
        if placeable(state, job, found):
            return True
        node = next_free(state, node)
    return False


@verb
def fits(state: Any, job: int) -> bool:
    """Return whether the job could start now: enough processors that it may have, and no selection declines them.

    A selection is asked if it has a `fits` of its own, and only for start policies: for others, processors count.
    """
    if not enough(state, job):
        return False
    if state.clock.asks == 0 or keeps_place(state, job):
        return True
    found = 0
    for node in range(len(state.nodes)):
        state.then[node].free = state.nodes[node].free
        state.then[node].room = usable(state, job, found, room(state, job, node))
        found += state.then[node].room
    return would_allocate(state, job)


# ---------------------------------------------------------------- the selection


@verb
def would_allocate(state: Any, job: int) -> bool:
    """Return whether the selection would place the job on the cores that are free in `state.then`."""
    clock = state.clock
    asked = clock.hook
    clock.hook = SELECTING
    clock.culprit = job
    clock.asking = WONDERING
    answer = call_selection(state, job)
    clock.asking = 0
    clock.hook = asked
    return answer


def _ask(state: Any, job: int) -> bool:
    return bool(state.select(seen(state), job, state.select_own))


_asked = crossing(_ask)


def call_selection(state: Any, job: int) -> bool:
    """Return the answer of the selection; True where only a view of the state is at hand, which has none."""
    return "select" not in state._fields or _asked(state, job)


@overload(call_selection, strict=False)
def _call_selection(state: Any, job: Any) -> Any:
    if "select" not in state.kernels:
        return lambda state, job: True
    return _ask
