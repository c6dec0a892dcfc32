"""Where a job has room beside the bookings of the plan of nodes, and when first."""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.plan.count_profile import fit_from
from harness.engine.plan.head_reservation import check_place, check_selection, reservation
from harness.engine.plan.node_reservations import ends, length, licensed_from, room_at
from harness.engine.plan.node_timelines import ANSWERS, STRUCK, left_along, look_along, one_along
from harness.engine.records.public import DOWN, RUNNING
from harness.engine.records.request_records import REQUESTS
from harness.engine.resources.advance_reservations import kept_if_started, next_reservation_end
from harness.engine.resources.capacity import node_eligible, placeable, procs_per_node, usable
from harness.engine.running_jobs import first_running, next_running, when_planned, who_runs
from harness.engine.time_comparison import later

# ---------------------------------------------------------------- what is left beside it


@verb
def room_between(state: Any, job: int, node: int, begin: float, end: float, own: int) -> int:
    """Return how many processors of the node the job could have all the time from `begin` until `end`.

    `own` of them are promised to it, unless they are found in its bookings.
    """
    if state.nodes[node].status == DOWN:
        return 0
    if len(state.step_time) > 0:
        return left_along(state, job, node, begin, end, own) if node_eligible(state, job, node) else 0
    if state.clock.constrained != REQUESTS and not node_eligible(state, job, node):
        return 0
    if len(state.reservations) > 0 and kept_if_started(state, job, node, begin):
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
        state.then[node].room = usable(state, job, total, room_between(state, job, node, begin, end, 0))
        total += state.then[node].room
    return total


# ---------------------------------------------------------------- the earliest place


@verb
def next_end(state: Any, time: float) -> float:
    """Return when the next job after that virtual time gives processors back, by estimates; infinity if none will."""
    found = np.inf
    at = first_running(state)
    while at >= 0 and found == np.inf:
        if later(when_planned(state, at), time):
            found = when_planned(state, at)
        at = next_running(state, at)
    for k in range(state.waitlist.head, state.waitlist.tail):
        job = state.queue[k]
        if state.near[job].booked >= 0 and later(ends(state, job), time):
            found = min(found, ends(state, job))
    return found if len(state.reservations) == 0 else min(found, next_reservation_end(state, time))


@verb
def room_given_back(state: Any, job: int, other: int, since: float, time: float) -> int:
    """Find the room anew on the nodes that `other` gives back after `since` and by `time`; return how much more.

    At least so much: room for less than a full share of a job's nodes is never taken off again.
    """
    end = ends(state, other)
    if later(end, time) or not later(end, since):
        return 0
    more = 0
    at_once = procs_per_node(state, job)
    place = state.near[other].booked
    while place >= 0:
        node = state.bookings[place].node
        found = room_between(state, job, node, time, time + length(state, job), 0)
        more += found - (state.then[node].room if state.then[node].room >= at_once else 0)
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
    while not placeable(state, job, found) or not licensed_from(state, job, time):
        since = time
        time = next_end(state, since)
        if time < np.inf:
            time = fit_from(state, record.procs, lasting, time)
        if time == np.inf:
            return time
        at = first_running(state)
        while at >= 0:
            found += room_given_back(state, job, who_runs(state, at), since, time)
            at = next_running(state, at)
        for k in range(state.waitlist.head, state.waitlist.tail):
            if state.near[state.queue[k]].booked >= 0 and state.jobs[state.queue[k]].status != RUNNING:
                found += room_given_back(state, job, state.queue[k], since, time)
        if placeable(state, job, found) or len(state.reservations) > 0:
            found = find_rooms(state, job, time)
    return time


# ---------------------------------------------------------------- the same by the entries of nodes


@verb
def look_at(state: Any, job: int, node: int, time: float) -> int:
    """Write into `state.then` the job's room on the node if it began then, and, as memory, before when it has no more.

    Return how much more there is than was written there.
    """
    then = state.then[node]
    before = then.room
    then.room = 0
    then.memory = np.inf
    if state.nodes[node].status != DOWN and node_eligible(state, job, node):
        then.memory, then.room = look_along(state, job, node, time, time + length(state, job))
    return int(then.room - before)


@verb
def look_at_all(state: Any, job: int, time: float) -> int:
    """Look at every node, and return how much room the job has if it began then."""
    total = 0
    for node in range(len(state.nodes)):
        state.then[node].room = 0
        total += look_at(state, job, node, time)
    return total


@verb
def enough_by(state: Any, lacking: int) -> float:
    """Return the first virtual time by which so much more room may have come, of all nodes; infinity if never.

    Nodes were looked at: until the time written down a node has no more than was found. The middle one of the times
    that are left is tried, whichever that is, and leaves as many as lie on its side.
    """
    early = -np.inf
    late = np.inf
    count = len(state.nodes)
    while count > 0:
        left = count // 2
        count = 0
        middle = np.inf
        for node in range(len(state.nodes)):
            rise = state.then[node].memory
            if early < rise < late:
                if count <= left:
                    middle = rise
                count += 1
        if middle == np.inf:
            break
        more = 0
        for node in range(len(state.nodes)):
            if state.then[node].memory <= middle:
                more += state.nodes[node].cores - state.then[node].room
        if more >= lacking:
            late = middle
        else:
            early = middle
    return late


@verb
def first_for_one(state: Any, job: int, time: float) -> float:
    """Return when a job of one processor could begin beside the bookings, from `time` on; infinity if never."""
    found = np.inf
    lasting = length(state, job)
    for node in range(len(state.nodes)):
        if state.nodes[node].status != DOWN and node_eligible(state, job, node):
            found = one_along(state, job, node, time, lasting, found)
            if found == time:
                return found
    return found


@verb
def first_along(state: Any, job: int, time: float) -> float:
    """Return when the job could begin beside the bookings, from `time` on; infinity if never.

    Writes the job's room on every node then into `state.then`.
    """
    procs = state.jobs[job].procs
    lasting = length(state, job)
    time = fit_from(state, procs, lasting, time)
    if time == np.inf:
        return time
    if procs == 1:
        time = first_for_one(state, job, time)
        if time < np.inf:
            find_rooms(state, job, time)
        return time
    found = look_at_all(state, job, time)
    while not placeable(state, job, found):
        time = enough_by(state, procs - found)
        if time < np.inf:
            time = fit_from(state, procs, lasting, time)
        if time == np.inf:
            break
        for node in range(len(state.nodes)):
            if not later(state.then[node].memory, time):
                found += look_at(state, job, node, time)
        if placeable(state, job, found):  # of the others there may be less by now
            found = look_at_all(state, job, time)
    return time


@verb
def place_of(procs: int, lasting: float, memory: float) -> int:
    """Return where an answer for such jobs is kept."""
    number = procs * 40503 + int(min(lasting, 1e12) * 8.0) * 2654435761 + int(min(memory, 1e12)) * 97
    return (number >> 7) & (ANSWERS - 1)


@verb
def recalled(state: Any, job: int) -> float:
    """Return a virtual time before which no job like this one has room; minus infinity if nothing is known.

    Only where somebody's booking was struck out since that was found there may be more room than before.
    """
    record = state.jobs[job]
    lasting = length(state, job)
    answer = state.beside[place_of(record.procs, lasting, record.memory)]
    known = answer.procs == record.procs and answer.lasting == lasting and answer.memory == record.memory
    if not known or answer.partition != record.partition or state.notes.struck - answer.struck > STRUCK:
        return -np.inf
    for k in range(answer.struck, state.notes.struck):
        node = state.struck[k & (STRUCK - 1)]
        if state.nodes[node].status != DOWN and node_eligible(state, job, node):
            answer.time = one_along(state, job, node, state.clock.virtual, lasting, answer.time)
    answer.struck = state.notes.struck
    return float(answer.time)


@verb
def keep(state: Any, job: int, time: float) -> None:
    """Keep that no job like this one has room before that virtual time."""
    record = state.jobs[job]
    lasting = length(state, job)
    answer = state.beside[place_of(record.procs, lasting, record.memory)]
    answer.procs = record.procs
    answer.lasting = lasting
    answer.memory = record.memory
    answer.partition = record.partition
    answer.time = time
    answer.struck = state.notes.struck


@verb
def remember(state: Any, job: int) -> None:
    """Note of a job that is promised a start how wide it is, and which jobs are alike: they ask for room together."""
    record = state.jobs[job]
    near = state.near[job]
    near.procs = min(record.procs, 2**31 - 1)
    near.alike = 0
    place = place_of(0, record.left, record.memory)
    for k in range(16):
        like = (place + k) & (ANSWERS - 1)
        room = state.rooms[like]
        if room.left < 0:
            room.left = record.left
            room.memory = record.memory
            room.partition = record.partition
        if room.left == record.left and room.memory == record.memory and room.partition == record.partition:
            near.alike = like + 1
            return


@verb
def earliest_beside(state: Any, job: int) -> float:
    """Return when a waiting job without bookings could begin beside those of the others; infinity if no plan can tell.

    Writes the job's room on every node then into `state.then`.
    """
    now = state.clock.virtual
    if len(state.step_time) == 0:
        time = reservation(state, job)[0]  # with nobody else in the way
        return earliest_by_nodes(state, job, max(time, now)) if time < np.inf else time
    check_selection(state)
    check_place(state, job)
    time = first_along(state, job, max(now, recalled(state, job)))
    keep(state, job, time)
    remember(state, job)
    return time
