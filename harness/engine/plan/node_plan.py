"""The plan of nodes: which processors of which nodes are promised to whom, where their number alone does not tell.

Where memory or partitions bind, a promise names processors: a job's bookings are the cores that it holds, or will hold
from `reserved` on, node by node. What is left beside them over the whole time that a job would run is its room, and
what it starts on lies within that, wherever the selection places it. So nobody who starts delays a promise. The
profile is kept beside, and says when it is not worth looking at the nodes.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import (
    NO_NODE_PLAN,
    NO_PLAN,
    NOT_TO_PROMISE,
    STARTING,
    PolicyFault,
    note,
)
from harness.engine.plan.count_profile import forget_past, plan_from_running, release, reserve
from harness.engine.plan.head_reservation import check_place, foreseen, refuse
from harness.engine.plan.node_plan_search import earliest_beside, room_between
from harness.engine.plan.node_reservations import book, book_slices, length, licensed_from, strike_out
from harness.engine.plan.node_timelines import empty_lines
from harness.engine.plan.reserved_starts import write_promise
from harness.engine.power.sleep import is_awake
from harness.engine.records.public import COMPLETED, KILLED, WAITING
from harness.engine.records.request_records import REQUESTS
from harness.engine.resources.capacity import placeable, procs_per_node, usable
from harness.engine.resources.nodes import enough, next_free, room
from harness.engine.running_jobs import first_running, next_running, who_runs
from harness.engine.service import start_job

# ---------------------------------------------------------------- what is refused


@verb
def check_nodes(state: Any) -> None:
    """Refuse to look into a plan of nodes that was not made."""
    if state.notes.by_nodes == 0:
        refuse(state, NO_PLAN, 0.0)


@verb
def check_waiting(state: Any, job: int) -> None:
    """Refuse to promise a start to a job that does not wait, or to take one back."""
    if state.jobs[job].status != WAITING:
        note(state.clock, NOT_TO_PROMISE, job, -1, 0.0)
        raise PolicyFault


# ---------------------------------------------------------------- the nodes that it names


@verb
def not_free_now(state: Any, job: int, node: int) -> int:
    """Return how many processors of the node the job could have from `reserved` on and cannot have now."""
    then = state.then[node].room
    if state.clock.constrained == REQUESTS and then > 0:
        if room(state, job, node) == 0:  # an exclusive job is there, or other resources that it needs are in use
            return int(then)
        at_once = procs_per_node(state, job)
        begin = state.jobs[job].reserved
        state.requests[job].procs_per_node = 0  # a share is less than the node has
        then = room_between(state, job, node, begin, begin + length(state, job), 0)
        state.requests[job].procs_per_node = at_once
    return max(0, int(then - state.nodes[node].free))


@verb
def name_shares(state: Any, job: int, need: int) -> int:
    """Choose nodes for a job that takes all its room of a node, those with most processors that are not free first.

    Return how many processors it still needs, which are on nodes that are free now.
    """
    level = state.clock.cores
    while level > 0 and need > 0:
        following = 0
        for node in range(len(state.nodes)):
            then = state.then[node]
            if then.free > 0:
                continue
            taken = min(then.room, not_free_now(state, job, node))
            if taken < level:
                following = max(following, taken)
            else:
                then.free = min(need, then.room)
                need -= then.free
        level = following
    return int(need)


@verb
def name_nodes(state: Any, job: int) -> None:
    """Book processors for the job within the rooms just found: first those not free now, then the last nodes' ones."""
    need = state.jobs[job].procs
    begin = state.jobs[job].reserved
    for node in range(len(state.nodes)):
        state.then[node].free = 0
    if state.clock.constrained == REQUESTS and (procs_per_node(state, job) > 0 or state.requests[job].exclusive):
        need = name_shares(state, job, need)
    else:
        for node in range(len(state.nodes)):
            state.then[node].free = min(need, not_free_now(state, job, node))
            need -= state.then[node].free
    node = len(state.nodes)
    while need > 0:
        node -= 1
        more = min(need, state.then[node].room - state.then[node].free)
        state.then[node].free += more
        need -= more
    for node in range(len(state.nodes)):
        if state.then[node].free > 0:
            book(state, job, node, state.then[node].free, begin, begin + length(state, job))


# ---------------------------------------------------------------- the verbs


@verb
def plan_nodes(state: Any) -> None:
    """Make the plan of nodes anew from the running jobs alone, each until its planned end; nobody is promised a thing.

    Where memory or partitions bind, `harness.promise` and its kin plan with it instead of with the profile.
    """
    if len(state.booked) == 0:
        refuse(state, NO_NODE_PLAN, 0.0)
    plan_from_running(state)
    notes = state.notes
    waitlist = state.waitlist
    for place in range(notes.bookings):  # whoever has any: also who gave way and has not left yet
        state.near[state.bookings[place].job].booked = -1
    notes.by_nodes = 1
    notes.bookings = 0
    notes.spare_booking = -1
    waitlist.new_in_queue = -1
    for node in range(len(state.nodes)):
        state.booked[node] = -1
    empty_lines(state)
    for k in range(waitlist.head, waitlist.tail):
        state.jobs[state.queue[k]].reserved = -1.0
    at = first_running(state)
    while at >= 0:
        book_slices(state, who_runs(state, at))
        at = next_running(state, at)


@verb
def drop_departed(state: Any) -> bool:
    """Take the jobs that left at this instant out of the plan of nodes; return whether one gives something back.

    The plan is made anew, and True returned, if there is none, or if something moved what it was made of.
    """
    clock = state.clock
    if state.notes.by_nodes == 0 or clock.upset > 1 or clock.corrected:
        plan_nodes(state)
        return True
    forget_past(state)
    early = False
    for k in range(clock.departed):
        job = state.leavers[k]
        record = state.jobs[job]
        if state.near[job].booked < 0:
            continue
        strike_out(state, job)
        since, end = clock.virtual, record.planned
        if record.status != COMPLETED and record.status != KILLED:
            since, end = record.reserved, record.reserved + length(state, job)
        if since < end:
            release(state, record.procs, since, end)
            early = True
    return early


@verb(apart=True)
def promise(state: Any, job: int) -> float:
    """Promise a waiting job its earliest place in the plan of nodes, and return its virtual time.

    It is `job.reserved` from then on; who holds a promise keeps it. Infinity, and no promise, if no plan can tell, as
    long as nodes are down, or if that lies beyond the window of a pass.
    """
    check_nodes(state)
    check_waiting(state, job)
    record = state.jobs[job]
    if state.hold_state.stop_starting:  # all are asked again without the jobs that are held now
        return np.inf
    if state.near[job].booked < 0:
        begin = foreseen(state, earliest_beside(state, job))
        write_promise(state, job, begin)
        if begin < np.inf:
            name_nodes(state, job)
            reserve(state, record.procs, begin, begin + length(state, job))
    return float(record.reserved)


@verb(apart=True)
def lift(state: Any, job: int) -> None:
    """Take a waiting job's promise out of the plan of nodes, if it has one."""
    check_nodes(state)
    check_waiting(state, job)
    record = state.jobs[job]
    if state.near[job].booked >= 0:
        strike_out(state, job)
        release(state, record.procs, record.reserved, record.reserved + length(state, job))
    record.reserved = -1.0


@verb
def find_rooms_now(state: Any, job: int) -> int:
    """Write the job's room on every node, if it starts now, into `state.then`; return their sum.

    Where nodes sleep, those that are awake alone, if there is no time for any to wake.
    """
    begin = state.clock.virtual
    if state.sleep_control.max_boot_time > 0.0:
        total = find_rooms_until(state, job, begin + length(state, job), False)
        if not placeable(state, job, total):
            total = find_rooms_until(state, job, begin + state.jobs[job].left, True)
        return total
    total = 0
    node = next_free(state, -1)
    while node >= 0:
        found = room_between(state, job, node, begin, begin + state.jobs[job].left, 0)
        state.then[node].room = usable(state, job, total, min(found, room(state, job, node)))
        total += state.then[node].room
        node = next_free(state, node)
    return total


@verb
def find_rooms_until(state: Any, job: int, end: float, awake: bool) -> int:
    """Write the job's room from now until `end` on every node, or on those `awake`, into `state.then`; return the sum.

    What the job is promised is its own.
    """
    begin = state.clock.virtual
    for node in range(len(state.nodes)):
        state.then[node].room = 0
        if not awake or is_awake(state, node):
            state.then[node].room = room_between(state, job, node, begin, end, 0)
    place = state.near[job].booked
    while place >= 0:
        node = state.bookings[place].node
        if not awake or is_awake(state, node):
            state.then[node].room = room_between(state, job, node, begin, end, state.bookings[place].cores)
        place = state.bookings[place].along
    total = 0
    for node in range(len(state.nodes)):
        found = min(state.then[node].room, room(state, job, node))
        state.then[node].room = usable(state, job, total, found)
        total += state.then[node].room
    return total


@verb
def list_own(state: Any, job: int) -> None:
    """Write into `state.then`, as free, what the job is promised of nodes where somebody has room."""
    node = next_free(state, -1)
    while node >= 0:
        state.then[node].free = 0
        node = next_free(state, node)
    place = state.near[job].booked
    while place >= 0:
        state.then[state.bookings[place].node].free = state.bookings[place].cores
        place = state.bookings[place].along


@verb(apart=True)
def fits_beside(state: Any, job: int) -> bool:
    """Return whether the job could start now without delaying anybody else in the plan of nodes."""
    check_nodes(state)
    check_place(state, job)
    record = state.jobs[job]
    begin = state.clock.virtual
    if not enough(state, job) or not licensed_from(state, job, begin):
        return False
    if state.sleep_control.max_boot_time > 0.0:
        return placeable(state, job, find_rooms_now(state, job))
    list_own(state, job)
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        most = room(state, job, node)
        if most > 0:
            most = min(most, room_between(state, job, node, begin, begin + record.left, state.then[node].free))
            found += usable(state, job, found, most)
        if placeable(state, job, found):
            return True
        node = next_free(state, node)
    return False


@verb(only=(STARTING, "start"), crosses=True)
def start_beside(state: Any, job: int) -> bool:
    """Start a waiting job now, on processors that the plan of nodes leaves it. False if the selection declines.

    It loses its promise, if it has one.
    """
    allocation = state.allocation
    check_nodes(state)
    if state.hold_state.stop_starting:  # a job keeps its reservation until starts are allowed again
        return False
    if 0 <= job < state.clock.next and state.jobs[job].status == WAITING:  # `begin` refuses others
        check_place(state, job)
        lift(state, job)
        find_rooms_now(state, job)
    allocation.placement_restricted = 1
    started = start_job(state, job)
    allocation.placement_restricted = 0
    if not started:
        state.waitlist.new_in_queue = -1  # it is to be promised something again
    else:
        book_slices(state, job)
        reserve(state, state.jobs[job].procs, state.clock.virtual, state.jobs[job].planned)
    return started
