"""Questions to the holds in use: whether they hold a job, and until when."""

from dataclasses import replace
from typing import Any

import numpy as np
from numba.extending import overload

from harness.engine import run_state
from harness.engine.decorators import inner, verb
from harness.engine.faults import BAD_HOLD, HOLDING, PolicyFault, note
from harness.engine.plan.width import speed_up
from harness.engine.records.public import WAITING
from harness.engine.run_state import HOLDING as ASKED
from harness.engine.run_state import seen
from harness.engine.time_comparison import later
from harness.numba_support.compile_options import NO_REFERENCES
from harness.numba_support.pointer_tables import calling
from harness.policy.spec import Choice

# Causes that may change the answer of a hold, flags: with the first two it may hold a released job again.
TIME, STARTS, FREED_BY_STARTS = 1, 2, 4

#: Held jobs are kept in groups, see `held_groups.py`: a further flag.
BY_GROUP = 8

_call = calling(run_state.HOLD)


def answer_of(state: Any, k: int, view: Any, job: int, own: Any) -> Any:
    """Return the answer of hold number `k`: until when it holds the job [s]."""
    return state.hold[k](view, job, own)


@overload(answer_of, jit_options=NO_REFERENCES, strict=False)
def _answer_of(state: Any, k: Any, view: Any, job: Any, own: Any) -> Any:
    return lambda state, k, view, job, own: _call(state.holds[k].kernel, view, job, own)


@inner
def held_until(state: Any, job: int, flags: int) -> float:
    """Return until when the holds with one of these flags hold a job, or all holds for −1 [s].

    The answer of the first that holds it counts; −∞ if none does. A moldable job is held only if its narrowest is, too.
    """
    until = asked_until(state, job, flags)
    if until > -np.inf and state.notes.moldable and np.isnan(state.jobs[job].start):
        until = min(until, held_with(state, job, state.shapes[job].least, flags))
    return until


@inner
def held_with(state: Any, job: int, procs: int, flags: int) -> float:
    """Return until when a job that was never started would be held with `procs` processors [s]."""
    record = state.jobs[job]
    width = record.procs
    left = record.left
    estimate = record.estimate
    requested = record.requested
    share = speed_up(state, job, width) / speed_up(state, job, procs)
    record.procs = procs
    record.left = left * share
    record.estimate = estimate * share
    record.requested = requested * share
    until = asked_until(state, job, flags)
    record.procs = width
    record.left = left
    record.estimate = estimate
    record.requested = requested
    return until


@inner
def asked_until(state: Any, job: int, flags: int) -> float:
    """Return until when the holds hold a job with its present width; see `held_until`."""
    clock = state.clock
    asked = clock.hook
    clock.hook = HOLDING
    clock.culprit = job
    for k in range(state.hold_state.count):
        hold = state.holds[k]
        if hold.because & flags == 0 and flags >= 0:
            continue
        state.hold_state.asked_hold = k  # for messages
        until = answer_of(state, k, seen(state), job, state.holds_own[hold.begin : hold.end])
        if np.isnan(until):
            note(clock, BAD_HOLD, job, -1, until)
            raise PolicyFault
        if later(until, clock.now):
            clock.hook = asked
            return until
    clock.hook = asked
    return -np.inf


@inner
def held_like_group(state: Any, job: int, flags: int, of_held: bool) -> float:
    """Return the answer of `held_until`, asked once per round for all jobs of a group.

    A released job may be the last of its group: once one job of a group is released, the holds are asked again.
    """
    group = state.held_groups[state.group_of[job].group]
    if group.asked == state.hold_state.rounds:
        return float(group.answer)
    until = held_until(state, job, flags)
    if until > -np.inf or not of_held:
        group.asked = state.hold_state.rounds
        group.answer = until
    return until


def holds_in_use(chosen: Choice) -> list[Choice]:
    """Return the holds that are asked, each by itself."""
    return [replace(one, inner=None) for one in chosen.chain if not one.policy.constant]


@verb(family=ASKED)
def stop_if_start_causes_hold(state: Any) -> None:
    """Stop further starts if a start makes a waiting job of any queue held, until that job has left the queue."""
    waitlist = state.waitlist
    if state.hold_state.causes & STARTS == 0:
        return
    state.hold_state.rounds += 1
    for place in range(waitlist.head, waitlist.tail + waitlist.aside):
        job = state.queue[place]
        if state.jobs[job].status == WAITING and held_like_group(state, job, STARTS, False) > -np.inf:
            state.hold_state.stop_starting = 1
            return
