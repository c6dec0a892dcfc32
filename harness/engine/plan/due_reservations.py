"""Starting the jobs whose reservation is due, where the plan counts processors."""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import STARTING
from harness.engine.plan.compression import compress
from harness.engine.plan.count_plan import build_profile, count_reserve, duration_now, forget_reservations
from harness.engine.plan.count_profile import change, fit_from
from harness.engine.plan.reserved_starts import _list_due, next_promise, reserved_duration
from harness.engine.plan.width_limits import begin_as_wide
from harness.engine.records.public import WAITING
from harness.engine.resources.nodes import fits
from harness.engine.time_comparison import later
from harness.engine.verbs import call_again, when


@verb
def plan_all_anew(state: Any) -> None:
    """Cancel every reservation and make them again, in queue order."""
    forget_reservations(state)
    build_profile(state)
    for k in range(state.waitlist.head, state.waitlist.tail):
        if state.jobs[state.queue[k]].status == WAITING:
            count_reserve(state, state.queue[k])


@verb
def start_due_jobs(state: Any) -> bool:
    """Start the jobs whose reservation is due; return whether one will end at another time than planned."""
    upset = False
    for k in range(_list_due(state)):
        job = state.ranking[k]
        record = state.jobs[job]
        # If it does not fit, the job that holds its processors leaves before this instant is over.
        if fits(state, job) and begin_as_wide(state, job):
            end = record.reserved + record.left
            upset = upset or later(record.planned, end) or later(end, record.planned)
    return upset


@verb
def start_due_or_awake(state: Any) -> bool:
    """Start the jobs whose reservation is due, and those that delay no other on the nodes that they get now.

    Return whether one will hold its processors longer than planned.
    """
    now = state.clock.virtual
    upset = False
    for k in range(state.waitlist.head, state.waitlist.tail):
        job = state.queue[k]
        record = state.jobs[job]
        if record.status != WAITING or not fits(state, job):
            continue
        procs, since = record.procs, record.reserved
        end = since + reserved_duration(state, job)
        due = not when(state, since) > state.clock.now
        needed = reserved_duration(state, job) if due else duration_now(state, job)
        if needed == np.inf:
            continue
        if since < np.inf:
            change(state, procs, 1, since, end)
        if (due or not later(fit_from(state, procs, needed, now), now)) and begin_as_wide(state, job):
            change(state, procs, -1, now, record.planned)
            upset = upset or later(record.planned, now + needed)
        elif since < np.inf:
            change(state, procs, -1, since, end)
    return upset


@verb(only=(STARTING, "start"), crosses=True)
def count_start_due(state: Any) -> None:
    """Start the jobs whose reservation is due; plan the others anew where one of them ends later than planned.

    The policy is called again at the next reservation, if it keeps its reservations between decisions.
    """
    going_on = True
    while going_on:
        before = state.clock.started
        asleep = state.sleep_control.max_boot_time > 0.0
        upset = start_due_or_awake(state) if asleep else start_due_jobs(state)
        going_on = upset or (asleep and state.clock.started > before)
        if upset:
            plan_all_anew(state)
        elif going_on:
            compress(state)
    call_at_next_start(state)


@verb
def call_at_next_start(state: Any) -> None:
    """Call the policy again at the next reservation, if it keeps its reservations between decisions."""
    soonest = next_promise(state) if state.planning.anew == 0 else np.inf
    if soonest < np.inf:
        call_again(state, when(state, soonest))
