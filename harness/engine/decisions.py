"""One decision: the rate, the order of the queue, starts, and sleep, in this order.

The start policy is asked at each decision. Where starts wait for a scheduling pass (`--pass`), it is asked at multiples
of the interval, and jobs may start in queue order between passes.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once, seldom
from harness.engine.faults import BACKFILLING, BAD_RATE, ORDERING, RATING, SLEEPING, STARTING, PolicyFault, note
from harness.engine.power.draw import change_pace
from harness.engine.power.sleep import catch_up
from harness.engine.queue.lazy_priorities import rank_if_due
from harness.engine.queue.scoring import rank_queue
from harness.engine.queue.waiting_jobs import drop_started, join_queue
from harness.engine.resources.nodes import fits
from harness.engine.run_state import seen
from harness.engine.service import enter_service, start_job
from harness.engine.time_comparison import later

# Policies whose answers may change from one instant to the next, and orders that learn: flags of `loop.changes`.
ORDER_CHANGES, RATE_CHANGES, SLEEP_CHANGES, ORDER_LEARNS, SECOND_LEARNS = 1, 2, 4, 8, 16


@once
def learn_from_events(state: Any) -> None:
    """Count the decision if one is due, and show the events so far to orders that learn. Changes clock."""
    clock = state.clock
    clock.decision_due = clock.decision_due or clock.departed > 0 or clock.upset != 0
    if clock.decision_due:
        clock.instants += 1
        if state.loop.changes & (ORDER_LEARNS | SECOND_LEARNS):
            learn(state)


@seldom
def learn(state: Any) -> None:
    """Call the orders that learn, before they score jobs: they are called for job −1."""
    clock = state.clock
    state.ranking[0] = -1
    clock.culprit = -1
    if state.loop.changes & ORDER_LEARNS:
        clock.hook = ORDERING
        state.order(seen(state), state.ranking[:1], state.scores[:1], state.order_own)
    if state.loop.changes & SECOND_LEARNS:
        clock.hook = BACKFILLING
        state.second(seen(state), state.ranking[:1], state.scores[:1], state.second_own)


@seldom
def set_rate(state: Any, rate: float) -> None:
    """Switch the rate of all nodes, O(1) for the jobs: their due times are virtual. Changes clock, nodes, loop."""
    clock = state.clock
    if not (rate > 0 and rate < np.inf):
        note(clock, BAD_RATE, -1, -1, rate)
        raise PolicyFault
    clock.since = clock.now
    clock.origin = clock.virtual
    clock.rate = rate
    state.sums.least_rate = min(state.sums.least_rate, rate)
    state.sums.most_rate = max(state.sums.most_rate, rate)
    for node in range(len(state.nodes)):
        catch_up(state, node)
    change_pace(state)
    if state.sleep_control.max_boot_time > 0.0:  # a reservation includes the boot time, whose virtual length changes
        clock.upset = 2


@once
def set_rate_and_order(state: Any) -> None:
    """Set the rate, and order the queue anew if its order changes."""
    clock = state.clock
    loop = state.loop
    if clock.instants == 1 or (loop.changes & RATE_CHANGES and not later(clock.rate_from, clock.now)):
        clock.hook = RATING
        clock.level = -1.0
        wanted = state.rate(seen(state), state.rate_own)
        if wanted != clock.rate:
            set_rate(state, wanted)
    # A single waiting job needs no order, unless it is compared with running jobs or with released groups of jobs.
    if loop.changes & ORDER_CHANGES and (clock.queued > 1 or clock.preemptive or state.hold_state.released_groups > 0):
        if state.notes.falling:
            rank_if_due(state)
        else:
            rank_queue(state)


@once
def ask_start(state: Any) -> None:
    """Call the start policy."""
    state.loop.policy_was_asked = 1
    state.clock.hook = STARTING
    state.start(state, state.start_own)


@inner
def serve_started(state: Any) -> None:
    """Take started jobs out of the queue and into service. Changes what `enter_service` does, queue and loop."""
    if state.clock.started > 0:
        state.loop.idle_decisions = 0
        drop_started(state)
        enter_service(state)


@seldom
def requeue_suspended(state: Any) -> None:
    """Put the jobs that the decision suspended back into the queue. Changes jobs, queue, clock."""
    clock = state.clock
    count = clock.suspended
    for k in range(count):
        state.ranking[k] = state.paused[k]
    join_queue(state, count)
    clock.suspended = 0


@once
def carry_out(state: Any) -> None:
    """Carry the decision out: started jobs leave the queue, suspended ones join it; then the sleep policy is called."""
    clock = state.clock
    serve_started(state)
    if clock.suspended > 0:
        requeue_suspended(state)
    if clock.instants == 1 or (state.loop.changes & SLEEP_CHANGES and not later(clock.sleep_from, clock.now)):
        clock.hook = SLEEPING
        state.sleep(state, state.sleep_own)


# ---------------------------------------------------------------- scheduling passes


@inner
def next_pass(state: Any, interval: float) -> float:
    """Return the next multiple of the interval [s]: now, if now is one but for rounding."""
    now = float(state.clock.now)
    if interval == 0.0:
        return now
    nearest = np.floor(now / interval + 0.5) * interval
    if later(nearest, now) or later(now, nearest):
        return float(np.ceil(now / interval) * interval)
    return now


@once
def make_pass(state: Any) -> None:
    """Call the start policy with the first waiting jobs, as many as a pass considers. Changes clock, loop."""
    clock = state.clock
    waitlist = state.waitlist
    timing = state.timing
    tail = waitlist.tail
    waitlist.tail = min(tail, waitlist.head + timing.backfill_depth)
    if timing.interval > 0.0:
        clock.corrected += 1  # the plan of the last pass is out of date
    ask_start(state)
    waitlist.tail = tail
    if timing.interval > 0.0 and clock.queued > clock.started and clock.running > 0:
        following = (np.floor(clock.now / timing.interval + 0.5) + 1.0) * timing.interval
        clock.start_timer = min(clock.start_timer, following)


@once
def start_in_order(state: Any) -> None:
    """Start waiting jobs in order, up to the first that does not fit. Changes what `begin` does, and the queue."""
    waitlist = state.waitlist
    for k in range(waitlist.head, waitlist.tail):
        if not fits(state, state.queue[k]) or not start_job(state, state.queue[k]):
            break
    serve_started(state)


@once
def decide_in_passes(state: Any) -> None:
    """Start jobs in order, make a pass, or both, if it is time for them. Otherwise set a timer."""
    clock = state.clock
    timing = state.timing
    in_order = next_pass(state, timing.main_interval) if timing.main_interval >= 0.0 else np.inf
    if in_order <= clock.now:
        start_in_order(state)
        in_order = np.inf
    following = next_pass(state, timing.interval)
    if following <= clock.now:
        make_pass(state)
    elif clock.queued > 0:
        clock.start_timer = min(clock.start_timer, following)
    if clock.queued > clock.started:
        clock.start_timer = min(clock.start_timer, in_order)
