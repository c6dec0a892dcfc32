"""The one event loop.

Everything that falls on one instant is applied before anyone decides, in the order in which `run` calls it:
completions, transitions of nodes, events, cancellations, arrivals. Then everyone decides once: rate, order, starts,
sleep; unless all that happened is that nodes have fallen asleep. The loop is compiled once for all policies and
releases the GIL.
"""

import inspect
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.core.types import FunctionType

from harness.engine.events import happen
from harness.engine.faults import (
    BAD_RATE,
    RATING,
    SLEEPING,
    STARTING,
    STUCK,
    PolicyFault,
    note,
)
from harness.engine.power import change_pace, draw, settle, work_left
from harness.engine.queue import drop_started, join_queue, leave, leave_queue, rank_queue
from harness.engine.recording import full, record_sample
from harness.engine.service import enter_service, finish
from harness.engine.sleep import finish_transitions
from harness.engine.state import (
    CANCELLED,
    FLOATS,
    PARTS,
    PENDING,
    RATE,
    SLEEP,
    START,
    WAITING,
    bundled,
    inner,
    once,
    seen,
)
from harness.engine.verbs import when
from harness.keep import compile_and_keep

# Whose answers may change from one instant to the next.
ORDER_CHANGES, RATE_CHANGES, SLEEP_CHANGES = 1, 2, 4


@inner
def may_give_up(state: Any, job: int) -> bool:
    """Whether the job gives up when its patience ends: only those that were never started do."""
    return np.isnan(state.jobs[job].start) and state.jobs[job].restarts == 0


@once
def next_instant(state: Any) -> float:
    """When something happens next [s]; infinity if nothing will. Changes clock."""
    clock = state.clock
    time = np.inf
    if clock.next < len(state.jobs):
        time = state.jobs[clock.next].submit
    clock.due = when(state, state.heap[0].time) if clock.heaped > 0 else np.inf
    time = min(time, clock.due)
    while clock.cancels < len(state.cancellations):
        job = state.cancellations[clock.cancels]
        if state.jobs[job].status <= WAITING and may_give_up(state, job):
            time = min(time, state.truth[job].cancel)
            break
        clock.cancels += 1  # it has been started, so that its patience is no event
    if clock.queued + clock.running > 0 or time < np.inf:  # nothing else matters once the last job has left
        time = min(time, clock.transition, clock.start_timer)
        clock.crossing = np.inf
        if clock.level >= 0.0 and clock.speed > 0.0:
            clock.crossing = clock.now + (work_left(state) - clock.level) / (clock.rate * clock.speed)
            time = min(time, clock.crossing)
        if clock.events < len(state.events):
            # Those before the first arrival happen with it: no time goes by before the run.
            time = min(time, max(clock.now, state.events[clock.events].time))
        if time < np.inf:  # these two alone let no job begin: they do not keep a run alive
            time = min(time, clock.rate_timer, clock.sleep_timer)
    return time


@once
def advance(state: Any, now: float) -> None:
    """Move both clocks to `now` and add what went by to the sums over the run. Changes clock."""
    clock = state.clock
    sums = state.sums
    elapsed = now - clock.now
    virtual = clock.origin + (now - clock.since) * clock.rate
    if clock.due <= now:
        virtual = state.heap[0].time  # a completion sets the virtual clock, free of rounding
    if elapsed > 0:
        up = clock.cores - clock.down
        busy = up - clock.free - clock.booting
        work = sums.backlog + sums.due_speed - clock.virtual * clock.speed
        later = sums.backlog + sums.due_speed - virtual * clock.speed
        sums.jobs += elapsed * (clock.queued + clock.running)
        sums.queued += elapsed * clock.queued
        sums.busy += elapsed * busy
        sums.work += elapsed * 0.5 * (work + later)
        sums.effective += elapsed * clock.rate * busy
        if clock.queued > 0:
            sums.potential += elapsed * clock.rate * up
            sums.wasted += elapsed * clock.rate * (up - busy)
        else:
            sums.potential += elapsed * clock.rate * busy
    clock.now = now
    clock.virtual = virtual
    # Who asked to be called is called now, as everyone is, and may ask again.
    clock.fell = clock.level >= 0.0 and clock.crossing <= now
    clock.stirred = clock.fell
    if clock.fell:  # once, even if the policy is never asked again
        clock.level = -1.0
    if clock.start_timer <= now:
        clock.start_timer = np.inf
        clock.stirred = 1
    if clock.rate_timer <= now:
        clock.rate_timer = np.inf
        clock.stirred = 1
    if clock.sleep_timer <= now:
        clock.sleep_timer = np.inf
        clock.stirred = 1


@once
def complete(state: Any) -> None:
    """Every job that is due at this instant leaves."""
    clock = state.clock
    while clock.due <= clock.now:
        finish(state, state.heap[0].job)
        clock.due = when(state, state.heap[0].time) if clock.heaped > 0 else np.inf


@once
def wake(state: Any) -> None:
    """Nodes whose transition ends at this instant move on, and jobs that waited for them enter service."""
    if state.clock.transition <= state.clock.now:
        finish_transitions(state)
        enter_service(state)


@once
def cancel(state: Any) -> None:
    """Jobs whose patience ends at this instant leave the queue, unless they have been started."""
    clock = state.clock
    while clock.cancels < len(state.cancellations):
        job = state.cancellations[clock.cancels]
        if state.truth[job].cancel > clock.now:
            return
        clock.cancels += 1
        if state.jobs[job].status == WAITING and may_give_up(state, job):
            leave_queue(state, job)


@once
def arrive(state: Any) -> None:
    """Jobs submitted at this instant join the queue. Changes jobs, queue, clock."""
    clock = state.clock
    count = 0
    while clock.next < len(state.jobs) and state.jobs[clock.next].submit <= clock.now:
        job = clock.next
        clock.next += 1
        clock.stirred = 1
        if state.jobs[job].status != PENDING:  # not accepted
            continue
        if state.truth[job].cancel <= clock.now:
            leave(state, job, CANCELLED)
            continue
        state.sums.backlog += state.truth[job].work
        clock.demand += state.jobs[job].left
        state.ranking[count] = job
        count += 1
    if count > 0:
        join_queue(state, count)
    clock.arrived = count


@inner
def set_rate(state: Any, rate: float) -> None:
    """Switch the rate of all nodes, O(1) for the jobs: their due times are virtual. Changes clock, nodes."""
    clock = state.clock
    if not (rate > 0 and rate < np.inf):
        note(clock, BAD_RATE, -1, -1, rate)
        raise PolicyFault
    clock.since = clock.now
    clock.origin = clock.virtual
    clock.rate = rate
    change_pace(state)


@once
def requeue_suspended(state: Any) -> None:
    """Jobs that the decision suspended wait again. Changes jobs, queue, clock."""
    clock = state.clock
    count = clock.suspended
    for k in range(count):
        state.ranking[k] = state.paused[k]
    join_queue(state, count)
    clock.suspended = 0


@once
def decide(
    state: Any, start: Any, start_own: Any, rate: Any, rate_own: Any, sleep: Any, sleep_own: Any, moods: int
) -> None:
    """Everyone decides once: rate, order, starts, sleep; whose answer is always the same, at the first instant only."""
    clock = state.clock
    first = clock.instants == 1
    if first or (moods & RATE_CHANGES and clock.now >= clock.rate_from):
        clock.hook = RATING
        clock.level = -1.0
        wanted = rate(seen(state), rate_own)
        if wanted != clock.rate:
            set_rate(state, wanted)
    # A single waiting job needs no order, unless it is compared with the running ones.
    if moods & ORDER_CHANGES and (clock.queued > 1 or clock.preemptive):
        rank_queue(state)
    clock.hook = STARTING
    start(state, start_own)
    if clock.started > 0:
        drop_started(state)
        enter_service(state)
    if clock.suspended > 0:
        requeue_suspended(state)
    if first or (moods & SLEEP_CHANGES and clock.now >= clock.sleep_from):
        clock.hook = SLEEPING
        sleep(state, sleep_own)


@once
def close(state: Any) -> None:
    """Nothing will happen any more: settle the energy, and refuse a schedule that leaves jobs behind.

    Where nodes stayed down that is not the policy's fault: those jobs remain waiting.
    """
    clock = state.clock
    for node in range(len(state.nodes)):
        settle(state, node)
    if clock.queued > 0 and clock.down == 0:
        clock.hook = STARTING
        note(clock, STUCK, state.queue[clock.head], -1, clock.queued)
        raise PolicyFault


def run(
    v: Any, i: Any, order: Any, order_own: Any, second: Any, second_own: Any, select: Any, select_own: Any,
    watts: Any, watts_own: Any, start: Any, start_own: Any, rate: Any, rate_own: Any, sleep: Any, sleep_own: Any,
    moods: int, budget: int,
) -> bool:  # fmt: skip
    """Simulate at most `budget` instants; True when the run is over. Call again to go on."""
    state = bundled(v, i, order, order_own, second, second_own, select, select_own, watts, watts_own)
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
        arrive(state)
        clock.instants += 1
        if clock.stirred or clock.departed > 0 or clock.upset:
            decide(state, start, start_own, rate, rate_own, sleep, sleep_own, moods)
        record_sample(state)
    return False


#: What `run` is compiled for.
RUN = types.boolean(
    *PARTS,
    FunctionType(START),
    FLOATS,
    FunctionType(RATE),
    FLOATS,
    FunctionType(SLEEP),
    FLOATS,
    types.int64,
    types.int64,
)


@cache
def compiled_run() -> Any:
    """`run`, compiled once for all policies."""
    if config.DISABLE_JIT:
        return run
    arguments = ", ".join(inspect.signature(run).parameters)
    source = f"def kernel({arguments}):\n    return run({arguments})\n"
    return compile_and_keep("run", source, {"run": inner(run)}, RUN, nogil=True, _nrt=False)
