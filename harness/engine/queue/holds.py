"""Asking the holds that are in use about a job."""

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

# What may make a hold, or all that are in use, answer otherwise: flags. The first two make it hold a job again.
TIME, STARTS, FREED_BY_STARTS = 1, 2, 4

#: Held jobs are kept by kin, see `kin.py`: a flag beside them.
BY_KIN = 8

_call = calling(run_state.HOLD)


def answer_of(state: Any, k: int, view: Any, job: int, own: Any) -> Any:
    """Return what a hold answers."""
    return state.hold[k](view, job, own)


@overload(answer_of, jit_options=NO_REFERENCES, strict=False)
def _answer_of(state: Any, k: Any, view: Any, job: Any, own: Any) -> Any:
    return lambda state, k, view, job, own: _call(state.holds[k].kernel, view, job, own)


@inner
def held_until(state: Any, job: int, flags: int) -> float:
    """Ask the holds about a job, those that have one of these flags, or all for −1; return until when it is held [s].

    The first that holds it is believed; if none does, that is −∞. Who may be narrower is held only if it is then, too.
    """
    until = asked_until(state, job, flags)
    if until > -np.inf and state.notes.moldable and np.isnan(state.jobs[job].start):
        until = min(until, held_with(state, job, state.shapes[job].least, flags))
    return until


@inner
def held_with(state: Any, job: int, procs: int, flags: int) -> float:
    """Return until when a job that has not begun would be held if it were so wide: it is, while the holds are asked."""
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
    """Return what the holds answer about a job as it is; see `held_until`."""
    clock = state.clock
    asked = clock.hook
    clock.hook = HOLDING
    clock.culprit = job
    for k in range(state.notes.holds):
        hold = state.holds[k]
        if hold.because & flags == 0 and flags >= 0:
            continue
        state.notes.asked = k  # for messages
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
def held_as_its_kin(state: Any, job: int, flags: int, of_held: bool) -> float:
    """Return what `held_until` does, in rounds in which jobs alike are asked about once.

    Of those who are held each may be the last to be let go: once one of their kin is not, they are not.
    """
    kin = state.kins[state.of_kin[job].kin]
    if kin.asked == state.notes.rounds:
        return float(kin.answer)
    until = held_until(state, job, flags)
    if until > -np.inf or not of_held:
        kin.asked = state.notes.rounds
        kin.answer = until
    return until


@verb(family=ASKED)
def close_if_held(state: Any) -> None:
    """Stop further starts if a start makes a waiting job of any queue held, until the queue is without that job."""
    notes = state.notes
    waitlist = state.waitlist
    if notes.holding & STARTS == 0:
        return
    notes.rounds += 1
    for place in range(waitlist.head, waitlist.tail + waitlist.aside):
        job = state.queue[place]
        if state.jobs[job].status == WAITING and held_as_its_kin(state, job, STARTS, False) > -np.inf:
            notes.closed = 1
            return
