"""The loop where runtimes are predicted, where every event is followed by a decision, or where starts wait for a pass.

A loop of its own, so that runs that want nothing of this are spared it; what happens at an instant is the same.

With `together`, beliefs that have ended are corrected before anything else of the instant, and everyone decides once.
With `each`, one second goes like this: ends of beliefs, which move plans and are no reason to decide; what `loop` calls
events, transitions and cancellations; submissions, in log order; completions, in the order in which the jobs were
started. Every submission and every completion is followed by a decision. Who is believed to end now holds no
processors from the first of these decisions on. So decide pyss and its descendants (Feitelson and others 2007).

With `ends`, completions come before submissions, by the times calculated for them, and free what they held only then:
so decides ElastiSim.
"""

from functools import cache
from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.events.completions_one_by_one import ENDS_FIRST, complete_next, completion_due, release_believed
from harness.engine.events.external_events import happen
from harness.engine.events.job_arrivals import arrive, has_left
from harness.engine.faults import BAD_CORRECTION, BAD_PREDICTION, NO_GROWTH, PREDICTING, PolicyFault, note
from harness.engine.loop import (
    ORDER_LEARNS,
    SECOND_LEARNS,
    SLEEP_CHANGES,
    advance,
    ask_start,
    cancel,
    close,
    compiled_loop,
    complete,
    follow_up,
    learn,
    next_instant,
    serve_started,
    set_pace_and_order,
    wake,
)
from harness.engine.power.draw import draw
from harness.engine.power.sleep import let_idle_sleep
from harness.engine.records.public import CORRECTING, FORETELLING, LEARNING, PENDING
from harness.engine.resources.nodes import fits
from harness.engine.run_state import seen
from harness.engine.running_jobs import (
    add_to_plan,
    first_running,
    next_running,
    remove_from_plan,
    when_planned,
    who_runs,
)
from harness.engine.samples import full, record_sample
from harness.engine.service import duration_at, final_status, start_job
from harness.engine.time_comparison import later
from harness.engine.verbs import when
from harness.policy.spec import Choice
from harness.policy.timing import DecisionTiming

# How a run reads its instants, and what its predictor is: flags.
EACH, BELIEVING, LEARNS, UNCAPPED, CLAIRVOYANT = 1, 2, 4, 8, 16


@inner
def ask_predictor(state: Any, job: int, why: int) -> float:
    """Ask how long the job takes; refuse what is no time. Leaves the answer within the request, if it has to be."""
    clock = state.clock
    clock.hook = PREDICTING
    clock.culprit = job
    record = state.jobs[job]
    answer = state.predict(seen(state), job, why, state.predict_own)
    if why == LEARNING:
        return 0.0
    if not 0.0 <= answer < np.inf:
        note(clock, BAD_CORRECTION if why == CORRECTING else BAD_PREDICTION, job, -1, answer)
        raise PolicyFault
    if state.notes.reading & UNCAPPED == 0:
        answer = min(answer, record.requested)
    return answer


@once
def foretell(state: Any) -> None:
    """Ask about the jobs that are about to be submitted. Changes jobs."""
    clock = state.clock
    notes = state.notes
    first = clock.next
    while clock.next < len(state.jobs) and clock.next < first + notes.most:
        job = clock.next
        record = state.jobs[job]
        if record.submit > clock.now:
            break
        clock.next += 1  # now it may be shown
        if record.status == PENDING and not has_left(state, job):
            if notes.reading & CLAIRVOYANT:
                record.service = state.truth[job].work
            record.predicted = ask_predictor(state, job, FORETELLING)
            record.service = 0.0
            record.estimate = record.predicted
            record.left = record.predicted
    clock.next = first


@once
def belief_ends(state: Any) -> float:
    """Return when the first belief ends [s]; infinity if none does. Whoever is done by then leaves before."""
    at = first_running(state)
    while at >= 0:
        if state.jobs[who_runs(state, at)].ready <= state.clock.now:
            return when(state, when_planned(state, at))
        at = next_running(state, at)
    return np.inf


@inner
def believe(state: Any, job: int, belief: float) -> None:
    """Believe that a running job takes so long in all. Changes jobs, plan, clock."""
    clock = state.clock
    record = state.jobs[job]
    remove_from_plan(state, job)
    clock.running -= 1
    before = record.planned
    if belief > record.estimate:
        record.planned += duration_at(clock, belief - record.estimate, record.speed)
    if not later(record.planned, before):  # the second that rounding to whole seconds has cost the request
        record.planned = state.truth[job].due
    record.estimate = belief
    clock.promised += (record.planned - before) * record.speed
    add_to_plan(state, job)
    clock.running += 1
    clock.corrected += 1


@once
def correct(state: Any) -> None:
    """Believe that jobs take longer which outlive what was believed of them. Changes jobs, plan, clock."""
    clock = state.clock
    at = first_running(state)
    while at >= 0:
        job = who_runs(state, at)
        record = state.jobs[job]
        if later(record.planned, clock.virtual):
            return
        if not later(state.truth[job].due, record.planned):  # it ends now, as believed, or is not in service yet
            at = next_running(state, at)
            continue
        belief = record.requested
        if record.estimate < record.requested or state.notes.reading & UNCAPPED:
            belief = ask_predictor(state, job, CORRECTING)
            record.corrections += 1
            if not belief > record.estimate:
                note(clock, NO_GROWTH, job, -1, belief)
                raise PolicyFault
        believe(state, job, belief)
        at = first_running(state)  # it stands elsewhere now


@once
def teach(state: Any, before: int) -> None:
    """Tell the predictor of the jobs that completed at this instant, behind the first `before` to leave."""
    if state.notes.reading & LEARNS:
        for k in range(before, state.clock.departed):
            job = state.leavers[k]
            if (
                state.jobs[job].status == final_status(state, job) and state.jobs[job].left == 0.0
            ):  # not an event's doing
                ask_predictor(state, job, LEARNING)


@once
def next_event(state: Any) -> float:
    """Return when something happens next [s], the end of a belief included. Changes clock."""
    time = next_instant(state)
    if state.notes.reading & BELIEVING and time < np.inf:
        ends = belief_ends(state)
        if later(time, ends):
            time = ends
    return time


@once
def happens(state: Any, changes: int) -> bool:
    """Apply what falls on this instant but submissions, or the next event; return whether a decision follows."""
    clock = state.clock
    notes = state.notes
    before = clock.corrected
    if notes.reading & BELIEVING:
        correct(state)
    corrected = clock.corrected > before
    gone = clock.departed
    if notes.reading & EACH:
        wake(state)
        happen(state)
        cancel(state)
        if notes.reading & ENDS_FIRST == 0:
            release_believed(state)
        else:
            notes.most = 0 if completion_due(state) else 1  # submissions wait for them
        if notes.most > 0 and clock.next < len(state.jobs) and state.jobs[clock.next].submit <= clock.now:
            clock.stirred = 1
        else:
            gone = clock.departed
            complete_next(state)
            teach(state, gone)
    else:
        complete(state)
        teach(state, gone)
        wake(state)
        happen(state)
        cancel(state)
        clock.stirred = clock.stirred or corrected
    if notes.reading & BELIEVING:
        foretell(state)
    followed = clock.stirred or clock.departed > 0 or clock.upset
    if followed and changes & (ORDER_LEARNS | SECOND_LEARNS):
        learn(state, changes)
    return followed


@inner
def next_pass(state: Any, period: float) -> float:
    """Return when the next multiple of the period is [s]: now, if now is one but for rounding."""
    now = float(state.clock.now)
    if period == 0.0:
        return now
    nearest = np.floor(now / period + 0.5) * period
    if later(nearest, now) or later(now, nearest):
        return float(np.ceil(now / period) * period)
    return now


@once
def go_through_queue(state: Any) -> None:
    """Make a pass: let the start policy start whom it wants of the first jobs that wait. Changes clock."""
    clock = state.clock
    notes = state.notes
    waitlist = state.waitlist
    tail = waitlist.tail
    waitlist.tail = min(tail, waitlist.head + notes.depth)
    notes.passed = 1
    if notes.period > 0.0:
        clock.corrected += 1  # what was planned since the last pass has not been kept
    ask_start(state)
    waitlist.tail = tail
    if notes.period > 0.0 and clock.queued > clock.started and clock.running > 0:
        following = (np.floor(clock.now / notes.period + 0.5) + 1.0) * notes.period
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
def decide(state: Any) -> None:
    """Start jobs in order, ask the start policy, or both, if it is time; ask to be called when it will be."""
    clock = state.clock
    notes = state.notes
    in_order = next_pass(state, notes.main) if notes.main >= 0.0 else np.inf
    if in_order <= clock.now:
        start_in_order(state)
        in_order = np.inf
    asked = next_pass(state, notes.period)
    if asked <= clock.now:
        go_through_queue(state)
    elif clock.queued > 0:
        clock.start_timer = min(clock.start_timer, asked)
    if clock.queued > clock.started:
        clock.start_timer = min(clock.start_timer, in_order)


@once
def forget_what_was_seen(state: Any) -> None:
    """Begin to count anew what has happened, if the last decision has seen it: else the next one has to be told."""
    clock = state.clock
    if state.notes.passed:
        clock.completed = 0
        clock.departed = 0
        clock.upset = 0
        clock.arrived = 0
        clock.corrected = 0
        state.notes.passed = 0


@once
def let_arrive(state: Any) -> None:
    """Let jobs arrive beside those that no decision has seen yet. Changes what `arrive` changes."""
    arrived = state.clock.arrived
    arrive(state, state.notes.most)
    state.clock.arrived += arrived


def run_with_readings(state: Any, changes: int, budget: int) -> bool:
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
        forget_what_was_seen(state)
        followed = happens(state, changes)
        let_arrive(state)
        if followed:
            clock.instants += 1
            set_pace_and_order(state, changes)
            decide(state)
            follow_up(state, changes)
        if changes & SLEEP_CHANGES:
            let_idle_sleep(state)
        record_sample(state)
    return False


@cache
def compiled_run_with_readings() -> Any:
    """`run_with_readings`, compiled once for all policies."""
    return compiled_loop(run_with_readings)


def ask_for(view: Any, predictor: Choice, timing: DecisionTiming) -> bool:
    """Note how a run reads its instants and what its predictor is; return whether that needs this loop."""
    notes, policy = view.notes, predictor.policy
    asked = (BELIEVING, not policy.constant), (LEARNS, policy.learn is not None), (UNCAPPED, not policy.capped)
    notes.reading = sum(flag for flag, holds in asked if holds) + CLAIRVOYANT * policy.clairvoyant
    notes.reading += {"batch": 0, "per-event": EACH}.get(timing.event_semantics, EACH + ENDS_FIRST)
    notes.most = 1 if notes.reading & EACH else len(view.jobs)
    notes.period = timing.backfill_interval or 0.0
    notes.depth = timing.backfill_depth or len(view.jobs)
    notes.horizon = np.inf if timing.plan_horizon is None else timing.plan_horizon
    notes.main = -1.0 if timing.main_interval is None else timing.main_interval
    view.clock.each = timing.event_semantics == "per-event" and not timing.periods
    return not policy.constant or not timing.is_default
