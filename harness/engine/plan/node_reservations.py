"""What jobs hold of a node or of the platform at a virtual time, by their bookings, and what is left beside them."""

from typing import Any

from harness.engine.decorators import verb
from harness.engine.faults import FULL_PLAN
from harness.engine.plan.head_reservation import refuse
from harness.engine.plan.node_timelines import STRUCK, write_line
from harness.engine.records.public import RUNNING
from harness.engine.records.request_records import EMPTY, SCRATCH
from harness.engine.resources.capacity import capacity, copy_available, licensed, set_aside, set_licences_aside
from harness.engine.run_state import DEMANDS
from harness.engine.running_jobs import first_running, next_running, who_runs
from harness.engine.time_comparison import later

# ---------------------------------------------------------------- who holds what


@verb
def book(state: Any, job: int, node: int, cores: int, begin: float, end: float) -> None:
    """Write down that the job holds so many cores of the node, or will, between these virtual times."""
    notes = state.notes
    place = notes.spare_booking
    if place >= 0:
        notes.spare_booking = state.bookings[place].along
    else:
        place = notes.bookings
        if place == len(state.bookings):  # wider than they asked to be, some have more
            refuse(state, FULL_PLAN, place)
        notes.bookings += 1
    booking = state.bookings[place]
    booking.job = job
    booking.node = node
    booking.cores = cores
    booking.begin = begin
    booking.end = end
    booking.along = state.near[job].booked
    booking.before = -1
    booking.after = state.booked[node]
    if booking.after >= 0:
        state.bookings[booking.after].before = place
    state.booked[node] = place
    state.near[job].booked = place
    write_line(state, place, -1)


@verb
def strike_out(state: Any, job: int) -> None:
    """Forget the bookings of the job. Changes bookings."""
    notes = state.notes
    place = state.near[job].booked
    while place >= 0:
        booking = state.bookings[place]
        if booking.before >= 0:
            state.bookings[booking.before].after = booking.after
        else:
            state.booked[booking.node] = booking.after
        if booking.after >= 0:
            state.bookings[booking.after].before = booking.before
        state.struck[notes.struck & (STRUCK - 1)] = booking.node
        notes.struck += 1
        write_line(state, place, 1)
        along = booking.along
        booking.along = notes.spare_booking
        notes.spare_booking = place
        place = along
    state.near[job].booked = -1


@verb
def book_slices(state: Any, job: int) -> None:
    """Write down what a running job holds. Changes bookings."""
    piece = state.jobs[job].slices
    begin = state.clock.virtual
    while piece >= 0:
        book(state, job, state.slices[piece].node, state.slices[piece].cores, begin, state.jobs[job].planned)
        piece = state.slices[piece].next


# ---------------------------------------------------------------- what is left beside it


@verb
def length(state: Any, job: int) -> float:
    """Return for how long a waiting job is promised its processors: where nodes sleep, with time for any to wake."""
    return float(state.jobs[job].left + state.sleep_control.max_boot_time)


@verb
def holds(state: Any, job: int, time: float) -> bool:
    """Return whether a job with bookings holds them at that virtual time, by its estimate."""
    record = state.jobs[job]
    if record.status == RUNNING:
        return later(record.planned, time)
    return later(record.reserved + length(state, job), time) and not later(record.reserved, time)


@verb
def ends(state: Any, job: int) -> float:
    """Return when a job with bookings gives them back, by its estimate, in virtual time."""
    record = state.jobs[job]
    return record.planned if record.status == RUNNING else record.reserved + length(state, job)


@verb
def room_at(state: Any, job: int, node: int, time: float) -> int:
    """Return how many processors of the node the job could have at that virtual time beside the bookings."""
    cores = state.nodes[node].cores
    copy_available(state, node, EMPTY, SCRATCH)
    place = state.booked[node]
    while place >= 0:
        booking = state.bookings[place]
        if booking.job != job and holds(state, booking.job, time):
            cores -= booking.cores
            set_aside(state, booking.job, node, booking.cores, SCRATCH, 1)
        place = booking.after
    return capacity(state, job, node, cores, SCRATCH)


# ---------------------------------------------------------------- licences


@verb
def licensed_at(state: Any, job: int, time: float) -> bool:
    """Return whether the job's licences are free at that virtual time, beside those of the jobs with bookings."""
    copy_available(state, len(state.nodes), EMPTY, SCRATCH)
    at = first_running(state)
    while at >= 0:
        other = who_runs(state, at)
        if holds(state, other, time):
            set_licences_aside(state, other, SCRATCH, 1)
        at = next_running(state, at)
    for k in range(state.waitlist.head, state.waitlist.tail):
        other = state.queue[k]
        promised = state.near[other].booked >= 0 and state.jobs[other].status != RUNNING
        if promised and other != job and holds(state, other, time):
            set_licences_aside(state, other, SCRATCH, 1)
    return licensed(state, job, SCRATCH)


@verb(family=DEMANDS)
def licensed_between(state: Any, job: int, begin: float, end: float) -> bool:
    """Return whether the job's licences are left all the time from `begin` until `end`."""
    if not licensed_at(state, job, begin):
        return False
    for k in range(state.waitlist.head, state.waitlist.tail):  # fewer are free only where a reservation begins
        other = state.queue[k]
        begins = state.jobs[other].reserved
        if state.near[other].booked < 0 or state.jobs[other].status == RUNNING or other == job:
            continue
        if later(begins, begin) and later(end, begins) and not licensed_at(state, job, begins):
            return False
    return True


@verb
def licensed_from(state: Any, job: int, begin: float) -> bool:
    """Return whether the job's licences, if it asks for any, are left all the time that it runs from `begin` on."""
    return state.allocation.licence_kinds == 0 or licensed_between(state, job, begin, begin + length(state, job))
