"""The event loop: one source, compiled for the features that a run uses.

At an instant the loop applies all events that fall on it, in the order of `SOURCES`. Then it decides once: rate, order,
starts, sleep (`decisions`). It does not decide if only nodes have fallen asleep. A loop is compiled once for all
policies and releases the GIL. `make_loop` makes it of the sources that its features need; a run without these features
neither compiles nor executes them.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from numba import types

from harness.engine import policy_kernels  # noqa: F401 - all verbs must be in the table before any code reads it
from harness.engine.decisions import (
    SLEEP_CHANGES,
    ask_start,
    carry_out,
    decide_in_passes,
    learn_from_events,
    set_rate_and_order,
)
from harness.engine.decisions_with_holds import decide_with_holds, forget_departed
from harness.engine.decorators import entrance, inner, once
from harness.engine.events import (
    cancellations,
    clocks_and_signals,
    completions,
    estimate_expiries,
    external_events,
    hold_releases,
    job_arrivals,
    node_transitions,
    timers,
)
from harness.engine.events.event_source import (
    ALWAYS,
    ESTIMATE,
    HOLDS,
    INPUT,
    STEPS,
    SUM,
    TIMED,
    WITH_JOBS,
    WITH_OTHERS,
    EventSource,
)
from harness.engine.faults import STARTING, STUCK, PolicyFault, note
from harness.engine.power.draw import draw, settle
from harness.engine.power.sleep import catch_up, let_idle_sleep
from harness.engine.run_state import INDICES
from harness.engine.runtime_estimates import PREDICTIONS
from harness.engine.samples import full, record_sample
from harness.engine.time_comparison import later

#: All kinds of events, in the order in which they are applied at an instant.
SOURCES = (
    clocks_and_signals.SOURCE,
    timers.WORK_LEVEL,
    timers.START,
    timers.OTHERS,
    hold_releases.DEPARTURES,
    estimate_expiries.SOURCE,
    completions.PLAIN,
    completions.TOGETHER,
    node_transitions.WAKING,  # before external events: a running job is in service, or waits for a later instant
    node_transitions.ANY,
    external_events.SOURCE,
    cancellations.SOURCE,
    completions.ONE_BY_ONE,
    PREDICTIONS,
    EventSource(apply=learn_from_events),
    job_arrivals.SOURCE,
    hold_releases.SUBMISSIONS,
    hold_releases.RELEASES,
)

#: What a call of a loop returns: the run is over, it has used its budget, or a decision from outside is due.
OVER, AGAIN, DUE = range(3)

#: After so many instants at which only timers are left and no job runs, starts or comes, the waiting jobs never start.
#: Each node adds some. A week has fewer seconds.
MOST_IDLE = 700_000


@inner
def only_timers_left(state: Any) -> bool:
    """Return whether policies have called themselves for long enough while nothing else is to come. Changes loop."""
    loop = state.loop
    if state.clock.running == 0 and loop.next_event == len(state.events):
        loop.idle_decisions += 1
    return bool(loop.idle_decisions > MOST_IDLE + 4 * len(state.nodes))


@once
def advance(state: Any, now: float) -> None:
    """Move both clocks to `now`, and add the time that has passed to the sums over the run. Changes clock, sums."""
    clock = state.clock
    sums = state.sums
    elapsed = now - clock.now
    virtual = clock.origin + (now - clock.since) * clock.rate
    if state.loop.next_completion <= now:
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


@once
def count_anew(state: Any) -> None:
    """Count from zero what happens from now on, if the last decision has seen what happened. Changes clock, loop."""
    clock = state.clock
    clock.decision_due = job_arrivals.submission_due(state)
    if state.loop.policy_was_asked:
        clock.completed = 0
        clock.departed = 0
        clock.upset = 0
        clock.arrived = 0
        clock.corrected = 0
        state.loop.policy_was_asked = 0


@once
def finish_instant(state: Any, decided: bool) -> None:
    """Carry the decision out if there was one, put idle nodes to sleep, and record the instant."""
    if decided:
        carry_out(state)
    if state.loop.changes & SLEEP_CHANGES:
        let_idle_sleep(state)
    record_sample(state)


@once
def close(state: Any) -> None:
    """Settle the energy at the end of a run. Refuse a schedule that leaves jobs behind, unless nodes stayed down."""
    clock = state.clock
    for node in range(len(state.nodes)):
        catch_up(state, node)
        settle(state, node)
    if clock.queued > 0 and clock.down == 0:
        clock.hook = STARTING
        note(clock, STUCK, state.queue[state.waitlist.head], -1, clock.queued)
        raise PolicyFault


# ---------------------------------------------------------------- the loop of a set of features


def _generated(name: str, body: str, functions: list[Callable[[Any], Any]]) -> Any:
    """Return a function of the state that calls these functions: `f0`, `f1` and so on in its body."""
    known: dict[str, Any] = {"inf": np.inf} | {f"f{k}": function for k, function in enumerate(functions)}
    exec(f"def {name}(state):\n    {body}\n", known)
    return once(known[name])


def _earliest(name: str, sources: Iterable[EventSource], role: int, *roundings: int) -> Any:
    """Return a function that returns the earliest time of these sources that have this role and this rounding."""
    times = [one.next_time for one in sources if one.next_time and one.role == role and one.rounding in roundings]
    calls = "".join(f", f{k}(state)" for k in range(len(times)))
    return _generated(f"earliest_{role}_{roundings[0]}_{name}", f"return min(inf, inf{calls})", times)


def _in_turn(name: str, sources: Iterable[EventSource]) -> Any:
    """Return a function that applies the events of each source that are due."""
    functions = [one.apply for one in sources if one.apply]
    return _generated(f"apply_events_{name}", "; ".join(f"f{k}(state)" for k in range(len(functions))), functions)


def _make_next_instant(name: str, sources: tuple[EventSource, ...]) -> Any:
    """Return a function that returns the time of the next instant [s], infinity if there is none."""
    inputs = _earliest(name, sources, ALWAYS, INPUT)
    sums = _earliest(name, sources, ALWAYS, SUM)
    inputs_with_jobs = _earliest(name, sources, WITH_JOBS, INPUT)
    sums_with_jobs = _earliest(name, sources, WITH_JOBS, SUM)
    with_others = _earliest(name, sources, WITH_OTHERS, INPUT, SUM)
    estimates = _earliest(name, sources, WITH_OTHERS, ESTIMATE)
    estimated = any(one.rounding == ESTIMATE for one in sources)

    def next_instant(state: Any) -> float:
        clock = state.clock
        exact = inputs(state)
        time = min(exact, sums(state))
        # Nothing else matters once the last job has left.
        if clock.queued + clock.running + clock.held > 0 or time < np.inf:
            if time == np.inf and only_timers_left(state):
                return np.inf
            exact = min(exact, inputs_with_jobs(state))
            time = min(time, exact, sums_with_jobs(state))
            if time < np.inf:
                time = min(time, with_others(state))
        # Events that fall on one instant but for rounding have the time of the input among them.
        if not later(exact, time):
            time = exact
        if not later(state.loop.next_completion, time):
            state.loop.next_completion = time
        if estimated:
            expiry = estimates(state)
            if later(time, expiry) and time < np.inf:
                time = expiry
        return time

    next_instant.__qualname__ = f"next_instant_{name}"
    return once(next_instant)


def _identity(source: EventSource) -> tuple[Any, ...]:
    """Return the names of the functions of a source, and the roles of its events."""
    functions = [one and f"{one.__module__}.{one.__qualname__}" for one in (source.next_time, source.apply)]
    return (*functions, source.role, source.rounding)


@cache
def make_loop(features: int = 0, sources: tuple[EventSource, ...] = SOURCES) -> Callable[[Any, int], int]:
    """Return the loop with these features, flags of `event_source`: a function of the state and a number of instants.

    It simulates so many instants at most, and can be called again. It returns OVER, AGAIN or DUE.
    """
    sources = tuple(one for one in sources if one.needs & ~features == 0 and one.unless & features == 0)
    name = f"{features}_{crc32(repr(list(map(_identity, sources))).encode()):08x}"  # compiled code is found by its name
    next_instant = _make_next_instant(name, sources)
    apply_events = _in_turn(name, sources)
    holds, steps = bool(features & HOLDS), bool(features & STEPS)
    decide = decide_with_holds if holds else decide_in_passes if features & TIMED and not steps else ask_start

    def run(state: Any, budget: int) -> int:
        clock = state.clock
        if clock.instants == 0:
            draw(state, -1)
        if steps and state.loop.awaits_decision:
            state.loop.awaits_decision = 0
            finish_instant(state, True)
        for _ in range(budget):
            if full(state):
                return AGAIN
            now = next_instant(state)
            if now == np.inf:
                close(state)
                return OVER
            advance(state, now)
            if holds:
                forget_departed(state)
            count_anew(state)
            apply_events(state)
            if clock.decision_due:
                set_rate_and_order(state)
                if steps and clock.queued > 0:
                    clock.hook = STARTING
                    state.loop.policy_was_asked = 1
                    state.loop.awaits_decision = 1
                    return DUE
                decide(state)
            finish_instant(state, clock.decision_due)
        return AGAIN

    run.__name__ = run.__qualname__ = f"loop_{name}"
    return inner(run)


@cache
def compiled_loop(features: int = 0, sources: tuple[EventSource, ...] = SOURCES) -> Callable[[Any, int], int]:
    """Return the loop with these features, compiled once for all policies."""
    return entrance(make_loop(features, sources), types.int64(INDICES, types.int64))
