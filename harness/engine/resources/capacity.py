"""What jobs ask of nodes and of the platform besides cores, memory and one partition, and who holds it.

Features, partitions that overlap, countable resources of nodes (GPUs) and of the platform (licences), jobs of so many
nodes with so many cores each, jobs that share their nodes with nobody, memory per node. All arrays here are empty
unless some job of the run asks for such a thing; then `clock.constrained` is `DEMANDING`.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.run_state import DEMANDS
from harness.engine.time_comparison import later

# ---------------------------------------------------------------- on a node


@verb
def suits_demand(state: Any, job: int, node: int) -> bool:
    """Return whether the node is of a partition and has the features that the job asks for."""
    want = state.wants[job]
    offer = state.offers[node]
    return bool(
        (want.features & offer.features) == want.features
        and (want.either == 0 or (want.either & offer.features) != 0)
        and (want.partition == 0 or (want.partition & offer.partitions) != 0)
    )


@verb
def room_left(state: Any, job: int, node: int, free: int, memory: float, alone: int) -> int:
    """Return how many processors the job could have of a node of which so many cores and so much memory are left.

    Of its countable resources there is what `left` says; `alone` if a job holds it that shares it with nobody.
    """
    want = state.wants[job]
    offer = state.offers[node]
    if free <= 0 or alone or (want.alone and free < state.nodes[node].cores) or not suits_demand(state, job, node):
        return 0
    for kind in range(state.allocation.resource_kinds):
        if offer.left[kind] < want.units[kind]:
            return 0
    memory -= want.memory
    if memory < 0:
        return 0
    each = state.jobs[job].memory
    if each > 0 and memory < free * each:
        free = int(memory // each)
    if 0 < want.portion <= free:
        return int(want.portion)
    if want.portion > 0:  # the last of its nodes serves the rest
        rest = (state.jobs[job].procs - 1) % want.portion + 1
        return int(rest) if free >= rest else 0
    return free


@verb
def closed(state: Any, job: int, node: int, begin: float, end: float) -> bool:
    """Return whether the node is kept for others at any time between these virtual times."""
    offer = state.offers[node]
    low, last = offer.first_closure, offer.first_closure + offer.closures
    high = last
    while low < high:  # windows that are all over by then are first
        middle = (low + high) // 2
        if later(state.closures[middle].until, begin):
            high = middle
        else:
            low = middle + 1
    for k in range(low, last):
        closure = state.closures[k]
        if not later(end, closure.begin):
            return False
        if (closure.who & state.wants[job].admitted) == 0 and later(closure.end, begin):
            return True
    return False


@verb
def how_long(state: Any, job: int, node: int) -> float:
    """Return how long the job would hold the node, at most [s]: at reference speed, longer on a slower one.

    Where nodes sleep, with the time that they take to wake.
    """
    return float(state.jobs[job].left / min(1.0, state.nodes[node].speed) + state.sleep_control.max_boot_time)


@verb(family=DEMANDS)
def closed_for(state: Any, job: int, node: int, begin: float) -> bool:
    """Return whether the node is kept for others at any time that the job would run if it began then."""
    return closed(state, job, node, begin, begin + how_long(state, job, node))


@verb(family=DEMANDS)
def next_opening(state: Any, time: float) -> float:
    """Return when the next window after that virtual time is over; infinity if none is."""
    low, high = 0, len(state.closures)
    while low < high:
        middle = (low + high) // 2
        if later(state.closures[middle].opening, time):
            high = middle
        else:
            low = middle + 1
    return float(state.closures[low].opening) if low < len(state.closures) else np.inf


@verb(family=DEMANDS)
def suits_demanded(state: Any, job: int, node: int) -> bool:
    """Return whether the empty node has room for a full share of the job, where jobs ask for more than cores."""
    offer = state.offers[node]
    for kind in range(state.allocation.resource_kinds):
        offer.left[kind] = offer.whole[kind]
    room = room_left(state, job, node, state.nodes[node].cores, state.nodes[node].memory, 0)
    return room > 0 and room >= state.wants[job].portion


@verb(family=DEMANDS)
def room_demanded(state: Any, job: int, node: int) -> int:
    """Return what `room` does, where jobs ask for more than cores."""
    offer = state.offers[node]
    for kind in range(state.allocation.resource_kinds):
        offer.left[kind] = offer.free[kind]
    if closed(state, job, node, state.clock.virtual, state.clock.virtual + how_long(state, job, node)):
        return 0
    return room_left(state, job, node, state.nodes[node].free, state.nodes[node].free_memory, offer.alone)


@verb(family=DEMANDS)
def room_then(state: Any, job: int, node: int) -> int:
    """Return what the job could have of the node at the instant that a plan looks at."""
    offer = state.offers[node]
    for kind in range(state.allocation.resource_kinds):
        offer.left[kind] = offer.then[kind]
    return room_left(state, job, node, state.then[node].free, state.then[node].memory, offer.then_alone)


@verb(family=DEMANDS)
def leave_then(state: Any, job: int, other: int, node: int) -> int:
    """Let `other` leave the node of `state.then`, but for its cores and memory of these; return what room `job` has."""
    offer = state.offers[node]
    want = state.wants[other]
    state.then[node].memory += want.memory
    if want.alone:
        offer.then_alone = 0
    for kind in range(state.allocation.resource_kinds):
        offer.then[kind] += want.units[kind]
    return room_then(state, job, node)


@verb(family=DEMANDS)
def begin_then(state: Any) -> None:
    """Let `then` be now, for nodes and licences."""
    for node in range(len(state.offers)):
        offer = state.offers[node]
        offer.then_alone = offer.alone
        for kind in range(state.allocation.resource_kinds):
            offer.then[kind] = offer.free[kind]
    for kind in range(len(state.licences)):
        state.licences[kind].then = state.licences[kind].free


@verb(family=DEMANDS)
def hold_demands(state: Any, job: int) -> None:
    """Take what the job asks for besides cores of the nodes that it was given. Changes offers and nodes."""
    want = state.wants[job]
    piece = state.jobs[job].slices
    while piece >= 0:
        node = state.slices[piece].node
        offer = state.offers[node]
        state.nodes[node].free_memory -= want.memory
        if want.alone:
            offer.alone = 1
        for kind in range(state.allocation.resource_kinds):
            offer.free[kind] -= want.units[kind]
        piece = state.slices[piece].next


@verb(family=DEMANDS)
def release_demand(state: Any, job: int, node: int) -> None:
    """Give back what the job held of the node besides cores. Changes the offer and the node's memory."""
    offer = state.offers[node]
    want = state.wants[job]
    state.nodes[node].free_memory += want.memory
    if want.alone:
        offer.alone = 0
    for kind in range(state.allocation.resource_kinds):
        offer.free[kind] += want.units[kind]


@verb(family=DEMANDS)
def keep_demand(state: Any, job: int, node: int, sign: int) -> None:
    """Hold what a job suspended in place keeps of the node besides cores, or with −1 give it back."""
    offer = state.offers[node]
    want = state.wants[job]
    state.nodes[node].free_memory -= sign * want.memory
    for kind in range(state.allocation.resource_kinds):
        offer.free[kind] -= sign * want.units[kind]


@verb(family=DEMANDS)
def hold_alone(state: Any, job: int, node: int) -> None:
    """Let a job that resumes share the node with nobody, if it does not."""
    if state.wants[job].alone:
        state.offers[node].alone = 1


@verb(family=DEMANDS)
def resumes_on(state: Any, job: int, node: int) -> bool:
    """Return whether a job suspended in place could resume on the node, if its cores there are free."""
    shared = state.nodes[node].free < state.nodes[node].cores
    return bool(state.offers[node].alone == 0 and not (state.wants[job].alone and shared))


@verb(family=DEMANDS)
def find_room(state: Any, job: int) -> None:
    """Write into `state.then` what the job may take of each node now."""
    found = 0
    for node in range(len(state.nodes)):
        state.then[node].room = counted(state, job, found, room_demanded(state, job, node))
        found += state.then[node].room


@verb
def portion(state: Any, job: int) -> int:
    """Return how many processors of a node the job takes at once, fewer of the last; 0 if any number will do."""
    return int(state.wants[job].portion) if len(state.wants) > 0 else 0


@verb
def counted(state: Any, job: int, found: int, room: int) -> int:
    """Return how much of a node's room counts beside the `found` processors of other nodes.

    Only one node of a job may serve less than a full share: the room of a second such node is 0.
    """
    at_once = portion(state, job)
    return 0 if at_once > 0 and room % at_once > 0 and found % at_once > 0 else room


# ---------------------------------------------------------------- licences


@verb(family=DEMANDS)
def licensed(state: Any, job: int) -> bool:
    """Return whether the licences that the job asks for are free now."""
    lacking = 0
    for kind in range(len(state.licences)):
        lacking = max(lacking, state.wants[job].licences[kind] - state.licences[kind].free)
    return lacking == 0


@verb(family=DEMANDS)
def licensed_then(state: Any, job: int) -> bool:
    """Return whether they are free at the instant that a plan looks at."""
    lacking = 0
    for kind in range(len(state.licences)):
        lacking = max(lacking, state.wants[job].licences[kind] - state.licences[kind].then)
    return lacking == 0


@verb(family=DEMANDS)
def give_licences_then(state: Any, job: int) -> None:
    """Let a running job give its licences back at the instant that a plan looks at."""
    for kind in range(len(state.licences)):
        state.licences[kind].then += state.wants[job].licences[kind]


@verb(family=DEMANDS)
def hold_licences(state: Any, job: int, sign: int) -> None:
    """Take the job's licences, or give them back."""
    for kind in range(len(state.licences)):
        state.licences[kind].free -= sign * state.wants[job].licences[kind]
