"""When a blocked job can begin, and who may begin before it without delaying it.

Where memory, partitions or the selection may forbid free processors, their number is not enough: then the nodes are
looked at one by one, as the running jobs leave them, and the selection is asked.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import DECLINED, PLACE_KEPT, STARTING, PolicyFault, note
from harness.engine.records.public import TRYING, WAITING
from harness.engine.records.request_records import COUNT, NOW, REQUESTS, THEN
from harness.engine.resources.advance_reservations import kept_if_started, next_reservation_end
from harness.engine.resources.allocation import allocate, release_all
from harness.engine.resources.capacity import (
    capacity,
    copy_available,
    licensed,
    placeable,
    procs_per_node,
    set_aside,
    set_licences_aside,
    usable,
)
from harness.engine.resources.nodes import enough, keeps_place, room, would_allocate
from harness.engine.run_state import DEMANDS
from harness.engine.running_jobs import first_running, next_running, when_planned, who_runs
from harness.engine.time_comparison import later


@verb
def refuse(state: Any, fault: int, value: float) -> None:
    """Stop the run because of what a policy asked of its plan."""
    note(state.clock, fault, -1, -1, value)
    raise PolicyFault


@verb
def check_selection(state: Any) -> None:
    """Refuse to plan around a selection that declined a job for which there were processors, and cannot be asked."""
    if state.allocation.declined > 0 and state.clock.asks == 0:
        refuse(state, DECLINED, state.allocation.declined)


@verb
def check_place(state: Any, job: int) -> None:
    """Refuse to plan for a job that was suspended in place."""
    if keeps_place(state, job):
        note(state.clock, PLACE_KEPT, job, -1, 0.0)
        raise PolicyFault


@verb
def foreseen(state: Any, time: float) -> float:
    """Return the virtual time at which a job could begin; infinity if a pass does not look that far ahead."""
    clock = state.clock
    return np.inf if later(time, clock.virtual + state.timing.horizon * clock.rate) else time


@verb
def possible(state: Any, job: int, total: int) -> bool:
    """Return whether the job could start if `total` processors that it could have were free as `state.then` says."""
    if not placeable(state, job, total) or not licensed(state, job, THEN):
        return False
    return state.clock.asks == 0 or would_allocate(state, job)


@verb
def leave_nodes(state: Any, job: int, other: int) -> int:
    """Let a running job leave the nodes of `state.then`; return how many processors more `job` could have."""
    more = 0
    set_licences_aside(state, other, THEN, -1)
    piece = state.jobs[other].slices
    while piece >= 0:
        node = state.slices[piece].node
        then = state.then[node]
        then.free += state.slices[piece].cores
        set_aside(state, other, node, state.slices[piece].cores, THEN, -1)
        before = then.room
        then.room = capacity(state, job, node, then.free, THEN)
        more += then.room - before
        piece = state.slices[piece].next
    return more


@verb(family=DEMANDS)
def reservation_anew(state: Any, job: int) -> tuple[float, int]:
    """Return the same, with the room of all nodes found anew at each end of a running job or of a window."""
    at = state.clock.virtual
    left = first_running(state)
    while at < np.inf:
        while left >= 0 and not later(when_planned(state, left), at):
            leave_nodes(state, job, who_runs(state, left))
            left = next_running(state, left)
        total = 0
        for node in range(len(state.nodes)):
            kept = kept_if_started(state, job, node, at)
            cores = 0 if kept else capacity(state, job, node, state.then[node].free, THEN)
            state.then[node].room = usable(state, job, total, cores)
            total += state.then[node].room
        if possible(state, job, total):
            return at, total - state.jobs[job].procs
        at = next_reservation_end(state, at)
        if left >= 0:
            at = min(at, when_planned(state, left))
    return at, -1


@verb(apart=True)
def reservation_by_nodes(state: Any, job: int) -> tuple[float, int]:
    """Return what `reservation` does, node by node as running jobs leave, where processors are not all that matters."""
    total = 0
    for node in range(len(state.nodes)):
        copy_available(state, node, NOW, THEN)
        state.then[node].free = state.nodes[node].free
        state.then[node].room = room(state, job, node)
        total += state.then[node].room
    copy_available(state, len(state.nodes), NOW, THEN)
    share = procs_per_node(state, job)
    if len(state.reservations) > 0 or (share > 0 and state.jobs[job].procs % share > 0):
        return reservation_anew(state, job)
    at = state.clock.virtual
    found = False
    left = first_running(state)
    while left >= 0:
        planned = when_planned(state, left)
        if later(planned, at):
            found = possible(state, job, total)
            if found:
                break
        at = max(at, planned)
        total += leave_nodes(state, job, who_runs(state, left))
        left = next_running(state, left)
    if not found and not possible(state, job, total):
        at = np.inf
    return at, total - state.jobs[job].procs


@verb(apart=True)
def reservation(state: Any, job: int) -> tuple[float, int]:
    """Return when a blocked job can begin at the latest, if estimates hold, and how many processors are spare then.

    The virtual time at which enough running jobs have ended, and the processors that are free then beyond what the
    job needs, counting every job that ends at that same time. Infinity if it can never begin, as long as nodes are
    down, or if the selection says so, and if it begins beyond the window of a pass.
    """
    check_selection(state)
    check_place(state, job)
    clock = state.clock
    if clock.constrained != COUNT:
        at, spare = reservation_by_nodes(state, job)
        return foreseen(state, at), spare
    need = state.jobs[job].procs
    free = clock.free
    at = clock.virtual
    left = first_running(state)
    while left >= 0 and not (free >= need and later(when_planned(state, left), at)):
        at = max(at, when_planned(state, left))
        free += state.jobs[who_runs(state, left)].procs
        left = next_running(state, left)
    return foreseen(state, at) if free >= need else np.inf, free - need


@verb(apart=True)
def delays(state: Any, job: int, reserved: int) -> bool:
    """Return whether `reserved` would begin later if the job started now and never ended: it is placed to see, and
    taken back. Also if it cannot start now, or the selection declines it."""
    check_place(state, job)
    if state.jobs[job].status != WAITING or not enough(state, job):
        return True
    before, _ = reservation_by_nodes(state, reserved)
    state.clock.asking = TRYING
    placed = allocate(state, job)
    state.clock.asking = 0
    if not placed:
        return True
    set_licences_aside(state, job, NOW, 1)
    after, _ = reservation_by_nodes(state, reserved)
    set_licences_aside(state, job, NOW, -1)
    release_all(state, job)
    return later(after, before)


@verb
def burden(state: Any, job: int, reserved: int) -> int:
    """Return how many of the processors that `reserved` could use the job denies it, at most, while it runs.

    Where the selection says what it would decline, or jobs ask for features, resources or whole nodes: none if
    `reserved` could begin as early beside the job on the nodes that the selection would give it, else all. Only for
    start policies: for others, processors count.
    """
    procs = state.jobs[job].procs
    if state.clock.constrained == COUNT:
        return procs
    if state.clock.hook == STARTING and (state.clock.asks or state.clock.constrained == REQUESTS):
        return state.clock.cores if delays(state, job, reserved) else 0
    wanted = state.jobs[reserved].partition
    in_pieces = state.nodes[0].partition >= 0
    if in_pieces and wanted >= 0 and state.jobs[job].partition >= 0 and state.jobs[job].partition != wanted:
        return 0
    memory = state.jobs[reserved].memory
    if memory > 0 and state.jobs[job].memory > memory:
        return procs * int(np.ceil(state.jobs[job].memory / memory))
    return procs
