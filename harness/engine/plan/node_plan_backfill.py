"""Who may begin before its time beside what the others are promised by the plan of nodes.

Whoever could not begin when it was last looked, can begin now only if it could have more of a node: so only of one of
which a booking was struck out since. Of these, those that have free processors are listed. Jobs that are as long as one
another and need as much memory are looked for room together.
"""

from typing import Any

from harness.engine.decorators import verb
from harness.engine.plan.node_plan import check_nodes, fits_beside
from harness.engine.plan.node_plan_search import room_between
from harness.engine.plan.node_timelines import STRUCK
from harness.engine.records.public import WAITING
from harness.engine.resources.nodes import next_free, room
from harness.engine.verbs import when


@verb
def list_ready(state: Any) -> None:
    """List the nodes that somebody gave something back of, and that have free processors; note who is promised these.

    Whoever could not begin when it was last looked for them can begin now only if it could have more of such a node.
    """
    notes = state.notes
    while notes.told < notes.struck:
        node = state.struck[notes.told & (STRUCK - 1)]
        notes.told += 1
        if state.nodes[node].free == 0 or state.lines[node].turn == notes.turn:
            continue
        state.lines[node].turn = notes.turn
        state.ready[notes.ready] = node
        notes.ready += 1
        place = state.booked[node]
        while place >= 0:
            state.near[state.bookings[place].job].turn = notes.turn
            place = state.bookings[place].after


@verb
def helped(state: Any, job: int) -> bool:
    """Return whether the job could have processors of a node that somebody gave something back of."""
    now = state.clock.virtual
    k = 0
    while k < state.notes.ready:
        node = state.ready[k]
        if state.nodes[node].free == 0:
            state.notes.ready -= 1
            state.ready[k] = state.ready[state.notes.ready]
        elif room_between(state, job, node, now, now + state.jobs[job].left, 0) > 0:
            return True
        else:
            k += 1
    return False


@verb
def look_for_rooms(state: Any, job: int, answer: Any) -> None:
    """Write down how much room there is now for jobs that are as long as the job and need as much memory."""
    notes = state.notes
    answer.turn = notes.turn
    answer.struck = notes.struck
    answer.started = state.clock.started
    answer.helped = helped(state, job)
    answer.total = -1


@verb
def all_rooms(state: Any, job: int) -> int:
    """Return how many processors the job could have now beside the bookings, and beside what it is promised itself."""
    now = state.clock.virtual
    total = 0
    node = next_free(state, -1)
    while node >= 0:
        most = room(state, job, node)
        if most > 0:
            total += min(most, room_between(state, job, node, now, now + state.jobs[job].left, 0))
        node = next_free(state, node)
    return total


@verb
def is_known(state: Any, answer: Any) -> bool:
    """Return whether what is known of jobs alike is from now: nobody was struck out or started since."""
    at_once = answer.struck == state.notes.struck and answer.started == state.clock.started
    return bool(at_once and answer.turn == state.notes.turn)


@verb
def passed_by(state: Any, job: int) -> bool:
    """Return whether it is known without looking at the job that it cannot begin."""
    near = state.near[job]
    if near.procs > state.clock.free:
        return True
    if near.alike == 0 or near.turn == state.notes.turn:
        return False
    answer = state.rooms[near.alike - 1]
    if answer.helped or not is_known(state, answer):
        return False
    return bool(when(state, state.promised[job]) > state.clock.now)


@verb
def may_begin(state: Any, job: int) -> bool:
    """Return whether the job could have some of a node that somebody gave something back of, and enough in all."""
    near = state.near[job].turn == state.notes.turn
    alike = state.near[job].alike
    if alike == 0:
        return (near or helped(state, job)) and fits_beside(state, job)
    answer = state.rooms[alike - 1]
    if not is_known(state, answer):
        look_for_rooms(state, job, answer)
    if not (near or answer.helped):
        return False
    if answer.total < 0:
        answer.total = all_rooms(state, job)
    lacking = state.jobs[job].procs - answer.total
    return lacking <= 0 or own_gain(state, job, lacking, False) >= lacking <= own_gain(state, job, lacking, True)


@verb
def own_gain(state: Any, job: int, lacking: int, exactly: bool) -> int:
    """Return how much more room the job has on the nodes that it is promised processors of, which would be its own.

    No more than is lacking, and at most so much, unless `exactly`.
    """
    now = state.clock.virtual
    end = now + state.jobs[job].left
    gain = 0
    place = state.near[job].booked
    while place >= 0 and gain < lacking:
        node = state.bookings[place].node
        cores = min(state.bookings[place].cores, state.nodes[node].free)
        if cores > 0 and exactly:
            most = room(state, job, node)
            cores = min(most, room_between(state, job, node, now, end, state.bookings[place].cores))
            cores -= min(most, room_between(state, job, node, now, end, 0))
        gain += cores
        place = state.bookings[place].along
    return int(gain)


@verb(apart=True)
def next_beside(state: Any, after: int) -> int:
    """Return the next job in the queue that was promised a start and could begin now beside the others; or −1.

    `after` is the job that was the answer before, or −1 to begin.
    """
    notes = state.notes
    waitlist = state.waitlist
    check_nodes(state)
    if after < 0:
        notes.turn += 1
        notes.looked = notes.ready = 0
        notes.struck_before = notes.struck_now
        notes.struck_now = notes.struck
        notes.told = notes.struck_before
    # What is left changes with time alone where windows end, and where nodes wake.
    everybody = (
        state.sleep_control.max_boot_time > 0.0 or len(state.reservations) > 0 or state.allocation.licence_kinds > 0
    )
    # Some were not looked at the last time, if a pass looks at the first only; or there is no list of what changed.
    everybody = (
        everybody or state.timing.backfill_depth < len(state.jobs) or notes.struck - notes.struck_before > STRUCK
    )
    if not everybody:
        list_ready(state)
    while waitlist.head + notes.looked < waitlist.tail and state.clock.free > 0:
        job = state.queue[waitlist.head + notes.looked]
        notes.looked += 1
        if not everybody and passed_by(state, job):
            continue
        record = state.jobs[job]
        if record.status != WAITING or record.reserved < 0 or record.procs > state.clock.free:
            continue
        due = not when(state, record.reserved) > state.clock.now
        if fits_beside(state, job) if everybody or due else may_begin(state, job):
            return int(job)
    return -1
