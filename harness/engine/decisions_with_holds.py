"""Decisions where jobs may be held: when a start makes a waiting job held, no further job starts at first.

The jobs that are held now leave the queue, and the start policy is called again, until no start holds a waiting job.
"""

from typing import Any

from harness.engine.decisions import decide_in_passes, requeue_suspended, serve_started
from harness.engine.decorators import inner, once
from harness.engine.faults import STARTING
from harness.engine.queue.held_groups import (
    add_first_to_queue,
    add_groups_to_queue,
    comes_before_group,
    first_group,
    first_of_group,
    hold_groups_again,
    score_first_of_groups,
)
from harness.engine.queue.holds import FREED_BY_STARTS, STARTS, TIME
from harness.engine.queue.jobs_on_hold import hold_waiting, release_held
from harness.engine.queue.waiting_jobs import drop_started
from harness.engine.records.public import HELD
from harness.engine.resources.nodes import fits
from harness.engine.service import enter_service, start_job


@once
def start_released(state: Any) -> bool:
    """Start the first jobs of the queue and of the released groups while they fit; the others join the queue.

    The start policy guarantees that it would start these first. So most jobs that are released, and held again at once,
    never join the queue. Return whether a job was started that has not entered service.
    """
    clock = state.clock
    waitlist = state.waitlist
    holds = state.hold_state
    early = False
    score_first_of_groups(state)
    clock.hook = STARTING
    while holds.released_groups > 0:
        place = first_group(state)
        waits = waitlist.head < waitlist.tail and comes_before_group(state, state.queue[waitlist.head], place)
        job = state.queue[waitlist.head] if waits else first_of_group(state, place)
        if not fits(state, job):
            break
        if not waits:
            add_first_to_queue(state, place)
        if not start_job(state, job):
            break
        drop_started(state)
        early = True
        if hold_groups_again(state) or holds.stop_starting:
            enter_service(state)
            early = False
            holds.stop_starting = 0
            hold_waiting(state, STARTS)
    add_groups_to_queue(state)
    return early


@inner
def forget_departed(state: Any) -> None:
    """Forget which jobs left, if the start policy has removed them from its plan. Changes clock, jobs."""
    if state.loop.policy_was_asked == 0:
        return
    for k in range(state.clock.departed):
        if state.jobs[state.leavers[k]].status == HELD:
            state.jobs[state.leavers[k]].reserved = -1.0
    state.clock.departed = 0


@once
def decide_with_holds(state: Any) -> None:
    """Decide about starts, again until no start holds a waiting job. Changes what `decide_in_passes` does."""
    clock = state.clock
    notes = state.notes
    holds = state.hold_state
    early = holds.released_groups > 0 and start_released(state)
    again = True
    while again:
        holds.stop_starting = 0
        before = notes.served + notes.boots
        decide_in_passes(state)
        started = notes.served + notes.boots != before
        serve_started(state)
        if early:
            enter_service(state)
            early = False
        again = holds.stop_starting != 0
        if again and clock.suspended > 0:
            requeue_suspended(state)
            holds.unchecked_arrivals = 1
        if again:
            forget_departed(state)
            hold_waiting(state, TIME | STARTS if holds.unchecked_arrivals else STARTS)
        freed = release_held(state, 0, True) if started and holds.causes & FREED_BY_STARTS else 0
        clock.arrived += freed
        if freed > 0 and not again:
            forget_departed(state)
        again = again or freed > 0
        if again:
            continue
        # A pass does not look at all waiting jobs.
        if clock.suspended > 0 or (started and state.timing.backfill_depth < clock.queued):
            holds.unchecked_arrivals = 1
    holds.stop_starting = 0
