"""The loop where jobs may be held: they come to be held first, and join the queue when no hold holds them.

A loop of its own, as that of `readings` is, whose readings of an instant it has too. What is added to an instant:

1. Held jobs leave whose patience ends, or that an event deletes.
2. Who is submitted is held, until asked about.
3. Holds that may hold jobs again with time are asked about every waiting job; those that are held leave the queue.
4. Held jobs are asked about: those that are new, those whose time has come, and if something has ended, the others.
5. Everyone decides. When a start makes a waiting job held, nobody else starts: those that are held now leave the queue,
   and the start policy is asked again, until a decision ends in which that did not happen.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.event_semantics import decide, forget_what_was_seen, happens, next_event
from harness.engine.events.job_arrivals import submit
from harness.engine.faults import HOLDING, SLEEPLESS, STARTING, PolicyFault, note
from harness.engine.loop import (
    SLEEP_CHANGES,
    advance,
    close,
    compiled_loop,
    follow_up,
    requeue_suspended,
    serve_started,
    set_pace_and_order,
)
from harness.engine.policy_analysis import kins_of, may_stay_by_kin
from harness.engine.power.draw import draw
from harness.engine.power.sleep import let_idle_sleep
from harness.engine.queue.backfill_index import ORDER_LASTS
from harness.engine.queue.held_groups import (
    comes_before_kin,
    first_kin,
    first_of_kin,
    let_first_wait,
    let_kins_wait,
    score_first_of_kins,
    shut_kins,
)
from harness.engine.queue.holds import BY_KIN, FREED_BY_STARTS, STARTS, TIME
from harness.engine.queue.jobs_on_hold import first_held, hold_back, leave_while_held, let_go, put_on_list
from harness.engine.queue.scoring import score_ranking
from harness.engine.queue.waiting_jobs import drop_started
from harness.engine.records import hold_records as hold_records
from harness.engine.records.public import HELD
from harness.engine.resources.nodes import fits
from harness.engine.samples import full, record_sample
from harness.engine.service import enter_service, start_job
from harness.engine.time_comparison import later
from harness.numba_support.addresses import address_of
from harness.policy.spec import Choice

#: Asked about so often in a row while nothing happens, somebody is held for ever.
PATIENCE = 1_000_000


@once
def attend(state: Any, changes: int) -> bool:
    """Apply what falls on this instant, ask about those who wait and are held; return whether a decision follows."""
    clock = state.clock
    notes = state.notes
    gone = clock.departed
    due = not later(notes.release, clock.now)
    leave_while_held(state)
    followed = happens(state, changes) or clock.departed > gone
    first = clock.held  # of those who are submitted now, in the list
    came = submit(state, notes.most)
    if came > 0 and notes.holding & BY_KIN and notes.lasting & ORDER_LASTS:
        score_ranking(state, came)
    ended = clock.departed > gone or clock.upset != 0 or notes.rejoined != 0
    for k in range(came):
        clock.demand -= state.jobs[state.ranking[k]].left
        put_on_list(state, state.ranking[k], -np.inf)
    back = 0
    flags = TIME | STARTS if clock.upset or notes.rejoined else TIME
    notes.rejoined = 0
    if (followed or due) and notes.holding & flags and clock.queued > 0:
        back = hold_back(state, flags)
    went = 0
    if came > 0 or due or ended:
        went = let_go(state, 0 if due or ended else first + back, ended)
    clock.arrived += went
    if due and went == 0 and not followed:
        notes.vigils += 1
        if notes.vigils >= PATIENCE:
            clock.hook = HOLDING
            note(clock, SLEEPLESS, first_held(state), -1, notes.release)
            raise PolicyFault
    else:
        notes.vigils = 0
    return followed or went > 0 or back > 0


@once
def start_let_go(state: Any) -> bool:
    """Start those first in order, of the queue and of the kins that are let go, while they fit; let the others join.

    That is what the start policy would do first, who guarantees it. So most of those who are let go and are held again
    at once never join the queue. Return whether somebody was started who has not entered service.
    """
    clock = state.clock
    notes = state.notes
    waitlist = state.waitlist
    early = False
    score_first_of_kins(state)
    clock.hook = STARTING
    while notes.opened > 0:
        place = first_kin(state)
        waits = waitlist.head < waitlist.tail and comes_before_kin(state, state.queue[waitlist.head], place)
        job = state.queue[waitlist.head] if waits else first_of_kin(state, place)
        if not fits(state, job):
            break
        if not waits:
            let_first_wait(state, place)
        if not start_job(state, job):
            break
        drop_started(state)
        early = True
        if shut_kins(state) or notes.closed:
            enter_service(state)
            early = False
            notes.closed = 0
            hold_back(state, STARTS)
    let_kins_wait(state)
    return early


@inner
def forget_departed(state: Any) -> None:
    """Forget which jobs left, if the start policy has taken them out of its plan. Changes clock, jobs."""
    if state.notes.passed == 0:
        return
    for k in range(state.clock.departed):
        if state.jobs[state.leavers[k]].status == HELD:
            state.jobs[state.leavers[k]].reserved = -1.0
    state.clock.departed = 0


@once
def decide_without_held(state: Any) -> None:
    """Decide who starts, again and again until no start makes anybody held who waits. Changes what `decide` does."""
    clock = state.clock
    notes = state.notes
    early = notes.opened > 0 and start_let_go(state)
    again = True
    while again:
        notes.closed = 0
        before = notes.served + notes.boots
        decide(state)
        started = notes.served + notes.boots != before
        serve_started(state)
        if early:
            enter_service(state)
            early = False
        again = notes.closed != 0
        if again and clock.suspended > 0:
            requeue_suspended(state)
            notes.rejoined = 1
        if again:
            forget_departed(state)
            hold_back(state, TIME | STARTS if notes.rejoined else STARTS)
        freed = let_go(state, 0, True) if started and notes.holding & FREED_BY_STARTS else 0
        clock.arrived += freed
        if freed > 0 and not again:
            forget_departed(state)
        again = again or freed > 0
        if again:
            continue
        if clock.suspended > 0 or (started and notes.depth < clock.queued):  # a pass does not look at everybody
            notes.rejoined = 1
    notes.closed = 0


def run_with_holds(state: Any, changes: int, budget: int) -> bool:
    """Simulate at most `budget` instants; True when the run is over. Call again to go on."""
    clock = state.clock
    if clock.instants == 0:
        draw(state, -1)
    for _ in range(budget):
        if full(state):
            return False
        now = next_event(state)
        if now == np.inf:
            close(state)
            return True
        advance(state, now)
        forget_departed(state)
        forget_what_was_seen(state)
        followed = attend(state, changes)
        if followed:
            clock.instants += 1
            set_pace_and_order(state, changes)
            decide_without_held(state)
            follow_up(state, changes)
        if changes & SLEEP_CHANGES:
            let_idle_sleep(state)
        record_sample(state)
    return False


@cache
def compiled_run_with_holds() -> Any:
    """`run_with_holds`, compiled once for all policies."""
    return compiled_loop(run_with_holds)


def in_use(chosen: Choice) -> list[Choice]:
    """Return the holds that are asked, each by itself."""
    return [replace(one, inner=None) for one in chosen.chain if not one.policy.constant]


def take_in(
    view: Any, chosen: Mapping[str, Choice], holds: list[Choice], kernels: list[Any], own: list[Any]
) -> dict[str, Any]:
    """Note how many holds there are, and return what the state has for them: `kernels`, and their numbers, `own`."""
    flags = [
        TIME * ("time" in one.policy.rechecked_on)
        + STARTS * ("starts" in one.policy.rechecked_on)
        + FREED_BY_STARTS * ("starts" in one.policy.released_on)
        for one in holds
    ]
    view.notes.holds = len(holds)
    by_kin = BY_KIN if holds and may_stay_by_kin(view, chosen, holds) else 0
    view.notes.holding = int(np.bitwise_or.reduce([by_kin, *flags]))
    table = np.zeros(len(holds), hold_records.HOLD)
    table["kernel"] = [address_of(kernel) if hasattr(kernel, "overloads") else 0 for kernel in kernels]
    table["end"] = np.cumsum([len(numbers) for numbers in own])
    table["begin"] = table["end"] - [len(numbers) for numbers in own]
    table["because"] = flags
    jobs = view.jobs if holds else view.jobs[:0]  # a run without holds keeps nothing of its jobs
    return {
        "held": np.zeros(len(jobs), hold_records.HELD_JOB).view(np.recarray),
        **kins_of(jobs, chosen["order"], [] if view.notes.moldable else holds),  # widths change, and differ in bounds
        "holds": table.view(np.recarray),
        "holds_own": np.concatenate(own) if own else np.zeros(0),
        "hold": tuple(kernels),
    }
