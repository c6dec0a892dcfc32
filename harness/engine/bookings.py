"""The plan of nodes: which processors of which nodes are promised to whom, where their number alone does not tell.

Where memory or partitions bind, a promise names processors: a job's bookings are the cores that it holds, or will hold
from `reserved` on, node by node. What is left beside them over the whole time that a job would run is its room, and
what it starts on lies within that, wherever the selection places it. So nobody who starts delays a promise. The
profile is kept beside, and says when it is not worth looking at the nodes.
"""

from typing import Any

import numpy as np

from harness.engine.blocked import check_place, foreseen, refuse, reservation
from harness.engine.demand_state import DEMANDING
from harness.engine.demands import closed_for, next_opening, portion
from harness.engine.faults import (
    NO_NODE_PLAN,
    NO_PLAN,
    NOT_TO_PROMISE,
    STARTING,
    PolicyFault,
    note,
)
from harness.engine.holdings import book, book_slices, ends, length, licensed_from, room_at, strike_out
from harness.engine.instants import later
from harness.engine.marks import verb
from harness.engine.nodes import admits, enough, next_free, room
from harness.engine.profile import fit_from, forget_past, plan_from_running, release, reserve
from harness.engine.service import begin
from harness.engine.state import AWAKE, COMPLETED, DOWN, RUNNING, WAITING

# ---------------------------------------------------------------- what is left beside it


@verb
def room_between(state: Any, job: int, node: int, begin: float, end: float) -> int:
    """Return how many processors of the node the job could have all the time from `begin` until `end`."""
    if state.nodes[node].status == DOWN:
        return 0
    if state.clock.constrained != DEMANDING and not admits(state, job, node):
        return 0
    if len(state.closures) > 0 and closed_for(state, job, node, begin):
        return 0
    least = room_at(state, job, node, begin)
    place = state.booked[node]
    while place >= 0 and least > 0:  # there is less of it only where somebody's promise begins
        booking = state.bookings[place]
        other = state.jobs[booking.job]
        if other.status != RUNNING and later(other.reserved, begin) and later(end, other.reserved):
            least = min(least, room_at(state, job, node, other.reserved))
        place = booking.after
    return max(0, least)  # who runs on slow nodes may reach into a promise, until everything is planned anew


@verb
def find_rooms(state: Any, job: int, begin: float) -> int:
    """Write the job's room on every node, if it began then, into `state.then`; return their sum."""
    end = begin + length(state, job)
    total = 0
    for node in range(len(state.nodes)):
        found = room_between(state, job, node, begin, end)
        state.then[node].room = found
        total += found
    return total


# ---------------------------------------------------------------- the earliest place


@verb
def next_end(state: Any, time: float) -> float:
    """Return when the next job after that virtual time gives processors back, by estimates; infinity if none will."""
    found = np.inf
    for k in range(state.clock.running):
        found = state.jobs[state.plan[k]].planned
        if later(found, time):
            break
        found = np.inf
    for k in range(state.notes.head, state.notes.tail):
        job = state.queue[k]
        if state.truth[job].booked >= 0 and later(ends(state, job), time):
            found = min(found, ends(state, job))
    return found if len(state.closures) == 0 else min(found, next_opening(state, time))


@verb
def room_given_back(state: Any, job: int, other: int, since: float, time: float) -> int:
    """Find the room anew on the nodes that `other` gives back after `since` and by `time`; return how much more."""
    end = ends(state, other)
    if later(end, time) or not later(end, since):
        return 0
    more = 0
    place = state.truth[other].booked
    while place >= 0:
        node = state.bookings[place].node
        found = room_between(state, job, node, time, time + length(state, job))
        more += found - state.then[node].room
        state.then[node].room = found
        place = state.bookings[place].along
    return more


@verb
def earliest_by_nodes(state: Any, job: int, time: float) -> float:
    """Return when the job could begin beside the bookings, from `time` on in virtual time; infinity if never.

    From one end to the next only the nodes given back are looked at, as if nobody's promise began meanwhile, until
    there seems to be room enough: then at all of them.
    """
    record = state.jobs[job]
    lasting = length(state, job)
    time = fit_from(state, record.procs, lasting, time)
    found = find_rooms(state, job, time) if time < np.inf else record.procs
    while found < record.procs or not licensed_from(state, job, time):
        since = time
        time = next_end(state, since)
        if time < np.inf:
            time = fit_from(state, record.procs, lasting, time)
        if time == np.inf:
            return time
        for k in range(state.clock.running):
            found += room_given_back(state, job, state.plan[k], since, time)
        for k in range(state.notes.head, state.notes.tail):
            if state.truth[state.queue[k]].booked >= 0 and state.jobs[state.queue[k]].status != RUNNING:
                found += room_given_back(state, job, state.queue[k], since, time)
        if found >= record.procs or len(state.closures) > 0:
            found = find_rooms(state, job, time)
    return time


@verb
def name_nodes(state: Any, job: int) -> None:
    """Book processors for the job within the rooms just found: first those not free now, then the last nodes' ones.

    Of the node that it needs fewer of than of the others it books as many: it asks for them when it starts.
    """
    need = state.jobs[job].procs
    at_once = portion(state, job)
    for node in range(len(state.nodes)):
        taken = max(0, state.then[node].room - state.nodes[node].free)
        taken = min(need, max(taken, at_once) if taken > 0 else 0)
        state.then[node].free = taken
        need -= taken
    node = len(state.nodes)
    while need > 0:
        node -= 1
        more = min(need, state.then[node].room - state.then[node].free)
        state.then[node].free += more
        need -= more
    for node in range(len(state.nodes)):
        if state.then[node].free > 0:
            book(state, job, node, max(state.then[node].free, at_once))


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
    notes.by_nodes = 1
    notes.bookings = 0
    notes.spare_booking = -1
    for node in range(len(state.nodes)):
        state.booked[node] = -1
    for k in range(notes.head, notes.tail):
        state.truth[state.queue[k]].booked = -1
        state.jobs[state.queue[k]].reserved = -1.0
    for k in range(state.clock.departed):
        state.truth[state.leavers[k]].booked = -1
    for k in range(state.clock.running):
        state.truth[state.plan[k]].booked = -1
        book_slices(state, state.plan[k])


@verb
def drop_departed(state: Any) -> bool:
    """Take the jobs that left at this instant out of the plan of nodes; return whether one gives something back.

    The plan is made anew, and True returned, if there is none, or if something moved what it was made of.
    """
    clock = state.clock
    if state.notes.by_nodes == 0 or clock.upset or clock.corrected:
        plan_nodes(state)
        return True
    forget_past(state)
    early = False
    for k in range(clock.departed):
        job = state.leavers[k]
        record = state.jobs[job]
        if state.truth[job].booked < 0:
            continue
        strike_out(state, job)
        since, end = clock.virtual, record.planned
        if record.status != COMPLETED:
            since, end = record.reserved, record.reserved + length(state, job)
        if since < end:
            release(state, record.procs, since, end)
            early = True
    return early


@verb
def promise(state: Any, job: int) -> float:
    """Promise a waiting job its earliest place in the plan of nodes, and return its virtual time.

    It is `job.reserved` from then on; who holds a promise keeps it. Infinity, and no promise, if no plan can tell, as
    long as nodes are down, or if that lies beyond the window of a pass.
    """
    check_nodes(state)
    check_waiting(state, job)
    record = state.jobs[job]
    if state.truth[job].booked < 0:
        record.reserved = reservation(state, job)[0]  # with nobody else in the way
        if record.reserved < np.inf:
            record.reserved = foreseen(state, earliest_by_nodes(state, job, max(record.reserved, state.clock.virtual)))
        if record.reserved < np.inf:
            name_nodes(state, job)
            reserve(state, record.procs, record.reserved, record.reserved + length(state, job))
    return float(record.reserved)


@verb
def lift(state: Any, job: int) -> None:
    """Take a waiting job's promise out of the plan of nodes, if it has one."""
    check_nodes(state)
    check_waiting(state, job)
    record = state.jobs[job]
    if state.truth[job].booked >= 0:
        strike_out(state, job)
        release(state, record.procs, record.reserved, record.reserved + length(state, job))
    record.reserved = -1.0


@verb
def find_rooms_now(state: Any, job: int) -> int:
    """Write the job's room on every node, if it starts now, into `state.then`; return their sum.

    Where nodes sleep, those that are awake alone, if there is no time for any to wake.
    """
    begin = state.clock.virtual
    find_rooms(state, job, begin)
    total = 0
    for node in range(len(state.nodes)):
        state.then[node].room = min(state.then[node].room, room(state, job, node))
        total += state.then[node].room
    if total >= state.jobs[job].procs or state.notes.wakes == 0.0:
        return total
    total = 0
    for node in range(len(state.nodes)):
        state.then[node].room = 0
        if state.nodes[node].status == AWAKE:
            found = room_between(state, job, node, begin, begin + state.jobs[job].left)
            state.then[node].room = min(found, room(state, job, node))
        total += state.then[node].room
    return total


@verb
def fits_beside(state: Any, job: int) -> bool:
    """Return whether the job could start now without delaying anybody else in the plan of nodes."""
    check_nodes(state)
    check_place(state, job)
    record = state.jobs[job]
    begin = state.clock.virtual
    if not enough(state, job) or not licensed_from(state, job, begin):
        return False
    if state.notes.wakes > 0.0:
        return find_rooms_now(state, job) >= record.procs
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        most = room(state, job, node)
        if most > 0:
            found += min(most, room_between(state, job, node, begin, begin + record.left))
        if found >= record.procs:
            return True
        node = next_free(state, node)
    return False


@verb(only=(STARTING, "start"), crosses=True)
def start_beside(state: Any, job: int) -> bool:
    """Start a waiting job now, on processors that the plan of nodes leaves it. False if the selection declines.

    It loses its promise, if it has one.
    """
    notes = state.notes
    check_nodes(state)
    if 0 <= job < state.clock.next and state.jobs[job].status == WAITING:  # `begin` refuses others
        check_place(state, job)
        lift(state, job)
        find_rooms_now(state, job)
    notes.limited = 1
    started = begin(state, job)
    notes.limited = 0
    if started:
        book_slices(state, job)
        reserve(state, state.jobs[job].procs, state.clock.virtual, state.jobs[job].planned)
    return started
