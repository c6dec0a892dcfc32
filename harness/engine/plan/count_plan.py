"""The availability profile of a run in which processors are alike and nothing else binds.

With one reservation it is exact to keep the shadow time and the spare processors. The step profile is built when a
second reservation is made, or when a policy lists the jobs without a reservation: it keeps reservations then.
Where nodes sleep, a reservation lasts as long as the job and the longest boot. A job that starts holds its processors
while the nodes wake that the selection chooses for it.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb, window
from harness.engine.faults import NOT_TO_PROMISE, STARTING, PolicyFault, note
from harness.engine.plan.boot_time import boot_time
from harness.engine.plan.compression import compress
from harness.engine.plan.count_profile import change, earliest_fit, fit_from, forget_past, plan_from_running
from harness.engine.plan.head_reservation import burden, reservation
from harness.engine.plan.reserved_starts import (
    _list_unpromised,
    reserved_duration,
    write_promise,
)
from harness.engine.plan.width_limits import begin_as_wide
from harness.engine.records.public import COMPLETED, KILLED, WAITING
from harness.engine.resources.nodes import fits
from harness.engine.time_comparison import later

#: The forms of the plan: no reservation, the shadow time of one job, or the step profile.
NOTHING, HEAD, PROFILE = range(3)


@verb
def check_waiting(state: Any, job: int) -> None:
    """Refuse to reserve a start for a job that does not wait, or to cancel one."""
    if not 0 <= job < state.clock.next or state.jobs[job].status != WAITING:
        note(state.clock, NOT_TO_PROMISE, job, -1, 0.0)
        raise PolicyFault


# ---------------------------------------------------------------- the form of the plan


@verb
def build_profile(state: Any) -> None:
    """Build the step profile from the running jobs and the reservation of the first job, if it has one."""
    planning = state.planning
    head = planning.head
    plan_from_running(state)
    if planning.form == HEAD and state.jobs[head].status == WAITING:
        reserve_at(state, head, planning.shadow)
    planning.form = PROFILE


@verb
def forget_reservations(state: Any) -> None:
    """Cancel every reservation of the waiting jobs. Changes jobs."""
    waitlist = state.waitlist
    planning = state.planning
    if planning.form == HEAD:
        state.jobs[planning.head].reserved = -1.0
    elif planning.form == PROFILE:
        k = waitlist.head
        hidden = state.timing.backfill_depth < len(state.jobs)  # jobs behind a pass keep reservations
        while k < waitlist.tail and (planning.reservations > 0 or hidden):
            record = state.jobs[state.queue[k]]
            planning.reservations -= record.reserved >= 0
            record.reserved = -1.0
            k += 1
        waitlist.new_in_queue = -1
    planning.form = NOTHING
    planning.reservations = 0


@verb
def reserve_at(state: Any, job: int, time: float) -> None:
    """Set the job's processors aside from a virtual time on, for its estimate and the longest boot."""
    write_promise(state, job, time)
    if time < np.inf:
        change(state, state.jobs[job].procs, -1, time, time + reserved_duration(state, job))


@verb
def give_back_unused(state: Any) -> bool:
    """Release the processors that the departed jobs will not use; return whether there were any."""
    now = state.clock.virtual
    unused = False
    for k in range(state.clock.departed):
        job = state.leavers[k]
        record = state.jobs[job]
        served = record.status == COMPLETED or record.status == KILLED
        since = now if served else record.reserved
        until = record.planned if served else record.reserved + reserved_duration(state, job)
        if (served or record.reserved >= 0) and since < until:
            change(state, record.procs, 1, since, until)
            unused = True
    return unused


@verb(only=(STARTING, "start"), apart=True)
def count_refresh(state: Any, anew: bool = False) -> bool:
    """Remove the jobs that left; return whether resources may have become free earlier than planned.

    Every reservation is cancelled if `anew`, and if an event has invalidated the plan: see `clock.upset`.
    """
    clock = state.clock
    planning = state.planning
    planning.anew = anew
    if planning.form == NOTHING:
        return False
    if anew or clock.upset > 1 or clock.corrected > 0:
        forget_reservations(state)
        return False
    if planning.form == HEAD:
        build_profile(state)
        return True
    forget_past(state)
    return give_back_unused(state)


# ---------------------------------------------------------------- starts


@verb
def ends_by(state: Any, job: int, time: float) -> bool:
    """Return whether the job ends by a virtual time if it starts now. Nodes are chosen only where that decides it."""
    end = state.clock.virtual + state.jobs[job].left
    if later(end, time):
        return False
    if state.sleep_control.max_boot_time == 0.0 or not later(
        end + state.sleep_control.max_boot_time * state.clock.rate, time
    ):
        return True
    return not later(state.clock.virtual + duration_now(state, job), time)


@verb
def duration_now(state: Any, job: int) -> float:
    """Return how long the job would hold its processors if it started now; infinity if the selection declines it."""
    if state.sleep_control.max_boot_time == 0.0:
        return float(state.jobs[job].left)
    return float(state.jobs[job].left + boot_time(state, job) * state.clock.rate)


@verb
def start_behind_head(state: Any, job: int) -> bool:
    """Start the job if that does not delay the one reservation; return whether it started."""
    planning = state.planning
    if ends_by(state, job, planning.shadow):
        return begin_as_wide(state, job)
    needed = burden(state, job, planning.head)
    if needed > planning.spare or not begin_as_wide(state, job):
        return False
    planning.spare -= needed
    return True


@verb
def start_in_profile(state: Any, job: int) -> bool:
    """Start the job if its processors stay free in the profile; return whether it started."""
    now = state.clock.virtual
    record = state.jobs[job]
    duration = duration_now(state, job)
    if duration == np.inf:
        return False
    reserved = record.reserved
    end = reserved + reserved_duration(state, job)
    own = 0.0 <= reserved < np.inf
    if own:
        change(state, record.procs, 1, reserved, end)
    if not later(fit_from(state, record.procs, duration, now), now) and begin_as_wide(state, job):
        change(state, record.procs, -1, now, record.planned)
        return True
    if own:
        change(state, record.procs, -1, reserved, end)
    return False


@verb(only=(STARTING, "start"), crosses=True)
def count_start(state: Any, job: int) -> bool:
    """Start a waiting job now if it fits and delays no reservation; return whether it started."""
    planning = state.planning
    check_waiting(state, job)
    if not fits(state, job):
        return False
    if planning.form == PROFILE:
        return start_in_profile(state, job)
    if planning.form == HEAD and planning.head != job:
        return start_behind_head(state, job)
    if not begin_as_wide(state, job):
        return False
    planning.form = NOTHING
    return True


@verb(only=(STARTING, "start"), apart=True)
def end_if_started(state: Any, job: int) -> float:
    """Return the virtual time at which the job would end, by its estimate, if it started now and its nodes woke."""
    check_waiting(state, job)
    return float(state.clock.virtual + reserved_duration(state, job))


# ---------------------------------------------------------------- reservations


@verb(only=(STARTING, "start"), apart=True)
def count_reserve(state: Any, job: int) -> float:
    """Reserve the earliest start of the job that delays no other reservation, and return its virtual time.

    Infinity if it can never start while nodes are down, or not within the window of a pass.
    """
    planning = state.planning
    check_waiting(state, job)
    record = state.jobs[job]
    if record.reserved >= 0:
        return float(record.reserved)
    if planning.form == NOTHING:
        planning.shadow, planning.spare = reservation(state, job)
        planning.head = job
        planning.form = HEAD
        record.reserved = planning.shadow
    else:
        if planning.form == HEAD:
            build_profile(state)
        reserve_at(state, job, earliest_fit(state, record.procs, reserved_duration(state, job)))
    planning.reservations += 1
    return float(record.reserved)


@verb(only=(STARTING, "start"), apart=True)
def count_cancel(state: Any, job: int) -> None:
    """Cancel the reservation of a waiting job, if it has one."""
    planning = state.planning
    check_waiting(state, job)
    record = state.jobs[job]
    if record.reserved < 0:
        return
    if planning.form == HEAD:
        planning.form = NOTHING
    elif record.reserved < np.inf:
        change(state, record.procs, 1, record.reserved, record.reserved + reserved_duration(state, job))
    record.reserved = -1.0
    planning.reservations -= 1
    state.waitlist.new_in_queue = -1


@verb(only=(STARTING, "start"), apart=True)
def count_cancel_all(state: Any) -> None:
    """Cancel every reservation of the waiting jobs."""
    forget_reservations(state)


@verb(only=(STARTING, "start"), apart=True)
def count_compress(state: Any) -> None:
    """Move every reservation to its earliest start, in queue order; none moves later."""
    if state.planning.form == PROFILE:
        compress(state)


@verb(crosses=True)
def _list_without_reservation(state: Any) -> int:
    if state.planning.form != PROFILE:
        build_profile(state)
    return _list_unpromised(state)


@window
def count_without_reservation(state: Any) -> Any:
    """List the waiting jobs that have no reservation, in queue order. Reservations are kept from now on."""
    return state.ranking[: _list_without_reservation(state)]
