"""The one event loop.

Everything that falls on one instant is applied before anyone decides, in the order in which `run` calls it:
completions, transitions of nodes, events, cancellations, arrivals. Then everyone decides once: rate, order, starts,
sleep; unless all that happened is that nodes have fallen asleep. The loop is compiled once for all policies and
releases the GIL.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from harness.engine import policy_kernels  # noqa: F401 - every verb has its place in the table before any code reads it
from harness.engine.decorators import entrance, inner, once, seldom
from harness.engine.events.clocks_and_signals import hear
from harness.engine.events.external_events import happen
from harness.engine.events.job_arrivals import arrive
from harness.engine.faults import (
    BACKFILLING,
    BAD_RATE,
    ORDERING,
    RATING,
    SLEEPING,
    STARTING,
    STUCK,
    PolicyFault,
    note,
)
from harness.engine.power.draw import change_pace, draw, settle, work_left
from harness.engine.power.sleep import catch_up, finish_transitions, let_idle_sleep
from harness.engine.queue.lazy_priorities import rank_if_due
from harness.engine.queue.scoring import rank_queue
from harness.engine.queue.waiting_jobs import cancel_waiting, drop_started, join_queue
from harness.engine.records.private import ZONES
from harness.engine.records.public import WAITING
from harness.engine.run_state import INDICES, seen
from harness.engine.samples import full, record_sample
from harness.engine.service import complete_job, enter_service
from harness.engine.time_comparison import later
from harness.engine.verbs import when

# Whose answers may change from one instant to the next: flags.
ORDER_CHANGES, RATE_CHANGES, SLEEP_CHANGES = 1, 2, 4

#: At so many instants policies call themselves, or let nodes sleep and wake, while nobody runs and nobody comes any
#: more, nor starts; then jobs that wait have waited in vain. A week in seconds is less, and each node may move besides.
MOST_IN_VAIN = 700_000

# Which orders learn: flags.
ORDER_LEARNS, SECOND_LEARNS = 8, 16


@inner
def may_give_up(state: Any, job: int) -> bool:
    """Return whether the job gives up when its patience ends: only those that were never started do."""
    return np.isnan(state.jobs[job].start) and state.jobs[job].restarts == 0


@once
def next_patience(state: Any) -> float:
    """Return when the patience of a job that waits ends next [s]; infinity if none does. Changes notes."""
    notes = state.notes
    while notes.cancels < len(state.cancellations):
        job = state.cancellations[notes.cancels]
        if state.jobs[job].status <= WAITING and may_give_up(state, job):
            return float(state.patience[job])
        notes.cancels += 1  # it has been started, so that its patience is no event
    return np.inf


@inner
def in_vain(state: Any) -> bool:
    """Return whether policies have called themselves for long enough while nothing else is to come. Changes notes."""
    if state.clock.running == 0 and state.notes.events == len(state.events):
        state.notes.vain += 1
    return bool(state.notes.vain > MOST_IN_VAIN + 4 * len(state.nodes))


@once
def next_instant(state: Any) -> float:
    """Return when something happens next [s]; infinity if nothing will. Changes clock.

    What falls on one instant but for rounding is one: that of the submission, cancellation or event, if it is one.
    """
    clock = state.clock
    notes = state.notes
    sleep_control = state.sleep_control
    given = np.inf  # by the inputs, not by a sum
    if clock.next < len(state.jobs):
        given = state.jobs[clock.next].submit
    notes.due = when(state, state.heap[0].time) if notes.heaped > 0 else np.inf
    given = min(given, next_patience(state))
    time = min(given, notes.due, notes.release)
    # Nothing else matters once the last job has left.
    if clock.queued + clock.running + clock.held > 0 or time < np.inf:
        if time == np.inf and in_vain(state):
            return np.inf
        time = min(time, clock.start_timer)
        if time == np.inf and sleep_control.waking > 0:
            time = clock.transition
        notes.crossing = np.inf
        if clock.level >= 0.0 and clock.speed > 0.0:
            notes.crossing = clock.now + (work_left(state) - clock.level) / (clock.rate * clock.speed)
            time = min(time, notes.crossing)
        if notes.events < len(state.events):
            # Those before the first arrival happen with it: no time goes by before the run.
            given = min(given, max(clock.now, state.events[notes.events].time))
            time = min(time, given)
        if time < np.inf:  # these alone let no job begin: they do not keep a run alive
            time = min(time, clock.transition, clock.rate_timer, clock.sleep_timer, sleep_control.next_sleep_time)
    if not later(given, time):
        time = given
    if not later(notes.due, time):
        notes.due = time
    return time


@once
def advance(state: Any, now: float) -> None:
    """Move both clocks to `now` and add what went by to the sums over the run. Changes clock."""
    clock = state.clock
    notes = state.notes
    sums = state.sums
    elapsed = now - clock.now
    virtual = clock.origin + (now - clock.since) * clock.rate
    if notes.due <= now:
        virtual = state.heap[0].time  # a completion sets the virtual clock, free of rounding
    if elapsed > 0:
        up = clock.cores - clock.down
        busy = up - clock.free - clock.booting
        work = sums.backlog + sums.due_speed - clock.virtual * clock.speed
        following = sums.backlog + sums.due_speed - virtual * clock.speed
        sums.jobs += elapsed * (clock.queued + clock.running + clock.held)
        sums.queued += elapsed * clock.queued
        sums.busy += elapsed * busy
        sums.work += elapsed * 0.5 * (work + following)
        sums.effective += elapsed * clock.rate * busy
        if clock.queued > 0:
            sums.potential += elapsed * clock.rate * up
            sums.wasted += elapsed * clock.rate * (up - busy)
        else:
            sums.potential += elapsed * clock.rate * busy
    clock.now = now
    clock.virtual = virtual
    # Who asked to be called is called now, as everyone is, and may ask again.
    clock.fell = clock.level >= 0.0 and not later(notes.crossing, now)
    clock.stirred = clock.fell or (clock.next < len(state.jobs) and state.jobs[clock.next].submit <= now)
    if clock.fell:  # once, even if the policy is never asked again
        clock.level = -1.0
    if not later(clock.start_timer, now):
        clock.start_timer = np.inf
        clock.stirred = 1
    if not later(clock.rate_timer, now):
        clock.rate_timer = np.inf
        clock.stirred = 1
    if not later(clock.sleep_timer, now):
        clock.sleep_timer = np.inf
        clock.stirred = 1
    if clock.signal_until <= now:
        hear(state)
    while notes.zones < ZONES and notes.zone_time[notes.zones] <= now:
        clock.zone = notes.zone[notes.zones]
        notes.zones += 1


@once
def complete(state: Any) -> None:
    """Let every job that is due at this instant leave."""
    clock = state.clock
    notes = state.notes
    while notes.due <= clock.now:
        complete_job(state, 0)
        notes.due = when(state, state.heap[0].time) if notes.heaped > 0 else np.inf


@once
def wake(state: Any) -> None:
    """Nodes whose transition ends at this instant move on, and jobs that waited for them enter service."""
    if not later(state.clock.transition, state.clock.now):
        finish_transitions(state)
        enter_service(state)


@once
def cancel(state: Any) -> None:
    """Jobs whose patience ends at this instant leave the queue, unless they have been started."""
    clock = state.clock
    notes = state.notes
    while notes.cancels < len(state.cancellations):
        job = state.cancellations[notes.cancels]
        if state.patience[job] > clock.now:
            return
        notes.cancels += 1
        if state.jobs[job].status == WAITING and may_give_up(state, job):
            cancel_waiting(state, job)


@seldom
def learn(state: Any, changes: int) -> None:
    """Orders that learn look at what has happened, before they are asked for scores: they are asked about job −1."""
    clock = state.clock
    state.ranking[0] = -1
    clock.culprit = -1
    if changes & ORDER_LEARNS:
        clock.hook = ORDERING
        state.order(seen(state), state.ranking[:1], state.scores[:1], state.order_own)
    if changes & SECOND_LEARNS:
        clock.hook = BACKFILLING
        state.second(seen(state), state.ranking[:1], state.scores[:1], state.second_own)


@seldom
def set_rate(state: Any, rate: float) -> None:
    """Switch the rate of all nodes, O(1) for the jobs: their due times are virtual. Changes clock, nodes."""
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


@seldom
def requeue_suspended(state: Any) -> None:
    """Jobs that the decision suspended wait again. Changes jobs, queue, clock."""
    clock = state.clock
    count = clock.suspended
    for k in range(count):
        state.ranking[k] = state.paused[k]
    join_queue(state, count)
    clock.suspended = 0


@once
def set_pace_and_order(state: Any, changes: int) -> None:
    """Before starts are decided: the rate, and the order of the queue if it changes."""
    clock = state.clock
    if clock.instants == 1 or (changes & RATE_CHANGES and not later(clock.rate_from, clock.now)):
        clock.hook = RATING
        clock.level = -1.0
        wanted = state.rate(seen(state), state.rate_own)
        if wanted != clock.rate:
            set_rate(state, wanted)
    # A single waiting job needs no order, unless it is compared with the running ones, or those that are let go.
    if changes & ORDER_CHANGES and (clock.queued > 1 or clock.preemptive or state.notes.opened > 0):
        if state.notes.falling:
            rank_if_due(state)
        else:
            rank_queue(state)


@once
def ask_start(state: Any) -> None:
    """Let the start policy start whom it wants."""
    state.clock.hook = STARTING
    state.start(state, state.start_own)


@inner
def serve_started(state: Any) -> None:
    """Let those who were started leave the queue and enter service. Changes what `enter_service` does, and queue."""
    if state.clock.started > 0:
        state.notes.vain = 0
        drop_started(state)
        enter_service(state)


@once
def follow_up(state: Any, changes: int) -> None:
    """After starts are decided: who was started leaves the queue, who was suspended joins it, and nodes sleep."""
    clock = state.clock
    serve_started(state)
    if clock.suspended > 0:
        requeue_suspended(state)
    if clock.instants == 1 or (changes & SLEEP_CHANGES and not later(clock.sleep_from, clock.now)):
        clock.hook = SLEEPING
        state.sleep(state, state.sleep_own)


@once
def close(state: Any) -> None:
    """Nothing will happen any more: settle the energy, and refuse a schedule that leaves jobs behind.

    Where nodes stayed down that is not the policy's fault: those jobs remain waiting.
    """
    clock = state.clock
    for node in range(len(state.nodes)):
        catch_up(state, node)
        settle(state, node)
    if clock.queued > 0 and clock.down == 0:
        clock.hook = STARTING
        note(clock, STUCK, state.queue[state.waitlist.head], -1, clock.queued)
        raise PolicyFault


def run(state: Any, changes: int, budget: int) -> bool:
    """Simulate at most `budget` instants; True when the run is over. Call again to go on."""
    clock = state.clock
    if clock.instants == 0:
        draw(state, -1)
    for _ in range(budget):
        if full(state):
            return False
        now = next_instant(state)
        if now == np.inf:
            close(state)
            return True
        advance(state, now)
        clock.completed = 0
        clock.departed = 0
        clock.upset = 0
        complete(state)
        wake(state)  # before the events, for which a running job is in service, or waits for a later instant
        happen(state)
        cancel(state)
        asked = clock.stirred or clock.departed > 0 or clock.upset
        if asked:
            clock.instants += 1
        if asked and changes & (ORDER_LEARNS | SECOND_LEARNS):
            learn(state, changes)
        arrive(state, len(state.jobs))
        if asked:
            set_pace_and_order(state, changes)
            ask_start(state)
            follow_up(state, changes)
        if changes & SLEEP_CHANGES:
            let_idle_sleep(state)
        record_sample(state)
    return False


@cache
def compiled_run() -> Any:
    """`run`, compiled once for all policies."""
    return compiled_loop(run)


def compiled_loop(loop: Any) -> Any:
    """Return the loop, compiled: called with the state, what changes, and how many instants there may be."""
    return entrance(inner(loop), types.boolean(INDICES, types.int64, types.int64))
