"""Beginning, suspending and ending the service of a job, and what a start policy may ask for.

`start` and `suspend` are the two verbs of a start policy. In compiled code they are calls into the engine; from a
policy that runs as plain Python they cross into it once.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import overload

from harness.engine.faults import (
    BAD_TIMER,
    NO_ROOM,
    NOT_PREEMPTIVE,
    NOT_RUNNING,
    NOT_WAITING,
    RATING,
    SELECTING,
    SLEEPING,
    TOO_FEW,
    TOO_MANY,
    PolicyFault,
    note,
)
from harness.engine.nodes import fits, give_all_back, next_free, occupy, room, vacate
from harness.engine.queue import add_to_plan, pop_due, push_due, remove_from_plan, score_all, waiting
from harness.engine.state import (
    COMPLETED,
    PARTS,
    RUNNING,
    SUSPENDED,
    WAITING,
    Inside,
    View,
    bundled,
    inner,
    seen,
    verb,
    view,
)
from harness.keep import compile_and_keep

#: The handle of the queue's own order, for policies that take another one as a parameter.
QUEUE_ORDER = -1


@inner
def can_have(state: Any, job: int) -> int:
    """How many processors the job could get now, at most; for error messages."""
    found = 0
    node = next_free(state, -1)
    while node >= 0:
        found += room(state, job, node)
        node = next_free(state, node)
    return found


@inner
def place(state: Any, job: int) -> bool:
    """Let the selection hold processors for the job; False when it declines. Refuses too few and too many."""
    clock = state.clock
    asked = clock.hook
    clock.hook = SELECTING
    clock.culprit = job
    clock.held = 0
    accepted = state.select(seen(state), job, state.select_own)
    if not accepted:
        give_all_back(state, job)
        clock.declined += 1
        clock.hook = asked
        return False
    chosen = clock.held
    if chosen != state.jobs[job].procs:
        note(clock, TOO_FEW if chosen < state.jobs[job].procs else TOO_MANY, job, -1, chosen)
        raise PolicyFault
    clock.hook = asked
    return True


@inner
def begin(state: Any, job: int) -> bool:
    """Start a waiting job now; see `start`. Changes jobs, truth, nodes, slices, heap, plan, clock."""
    clock = state.clock
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != WAITING:
        note(clock, NOT_WAITING, job, -1, 0.0)
        raise PolicyFault
    if not fits(state, job):
        note(clock, NO_ROOM, job, -1, can_have(state, job))
        raise PolicyFault
    if not place(state, job):
        return False
    record = state.jobs[job]
    truth = state.truth[job]
    clock.free -= record.procs
    speed = occupy(state, job)
    record.speed = speed
    record.status = RUNNING
    if np.isnan(record.start):
        record.start = clock.now
    truth.begun = clock.now
    truth.due = clock.virtual + truth.work / speed
    record.planned = clock.virtual + record.left / speed
    push_due(state, truth.due, job)
    add_to_plan(state, job)
    clock.running += 1
    clock.started += 1
    clock.backlog -= truth.work
    clock.due_speed += truth.due * speed
    clock.speed += speed
    return True


@inner
def stop(state: Any, job: int, place: int) -> None:
    """A running job leaves its processors; `place` is its entry in the heap. Changes what `begin` changed."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    pop_due(state, place)
    remove_from_plan(state, job)
    vacate(state, job)
    clock.running -= 1
    clock.free += record.procs
    record.service += clock.now - truth.begun
    clock.due_speed -= truth.due * record.speed
    clock.speed -= record.speed
    if clock.running == 0:  # nothing in service: let no rounding error survive
        clock.due_speed = 0.0
        clock.speed = 0.0


@inner
def finish(state: Any, job: int) -> None:
    """The first job of the heap is done."""
    clock = state.clock
    stop(state, job, 0)
    record = state.jobs[job]
    record.status = COMPLETED
    record.end = clock.now
    record.left = 0.0
    state.leavers[clock.departed] = job
    clock.departed += 1
    clock.completed += 1


@inner
def interrupt(state: Any, job: int) -> None:
    """Suspend a running job; see `suspend`."""
    clock = state.clock
    if clock.preemptive == 0:
        note(clock, NOT_PREEMPTIVE, job, -1, 0.0)
        raise PolicyFault
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != RUNNING:
        note(clock, NOT_RUNNING, job, -1, 0.0)
        raise PolicyFault
    record = state.jobs[job]
    truth = state.truth[job]
    entry = 0
    while state.heap[entry].job != job:
        entry += 1
    stop(state, job, entry)
    record.status = SUSPENDED
    record.preemptions += 1
    truth.work = max(0.0, (truth.due - clock.virtual) * record.speed)
    record.left = max(0.0, (record.planned - clock.virtual) * record.speed)
    clock.backlog += truth.work
    # They wait again, in queue order, once this decision is over.
    state.paused[clock.suspended] = job
    clock.suspended += 1


# ---------------------------------------------------------------- the verbs of a start policy


def start(state: Any, job: int) -> bool:
    """Start a waiting job now, on the processors the selection chooses. False if the selection declines.

    The job must be waiting and must fit (`fits`): anything else stops the run, as a mistake of the policy.
    """
    if config.DISABLE_JIT:
        return bool(begin(state, job))
    return bool(_crossing("begin", types.boolean)(*_flat(state), job))


def suspend(state: Any, job: int) -> None:
    """Take a running job off its processors. It keeps what it has done, and waits again after this decision."""
    if config.DISABLE_JIT:
        interrupt(state, job)
    else:
        _crossing("interrupt", types.void)(*_flat(state), job)


def ranked(state: Any, order: int = QUEUE_ORDER) -> Any:
    """The waiting jobs in queue order, or in that of another order that the policy took as a parameter."""
    if order == QUEUE_ORDER:
        return waiting(state)
    if config.DISABLE_JIT:
        return state.ranking[: score_all(state, state.second, state.second_own, False)]
    return state.ranking[: _crossing("rank", types.int64)(*_flat(state), 0)]


def rank_all(state: Any) -> Any:
    """All jobs in the system, waiting and running, in queue order by what remains of them now."""
    if config.DISABLE_JIT:
        return state.ranking[: score_all(state, state.order, state.order_own, True)]
    return state.ranking[: _crossing("rank", types.int64)(*_flat(state), 1)]


@overload(start, strict=False)
def _start(state: Any, job: Any) -> Any:
    return lambda state, job: begin(state, job)


@overload(suspend, strict=False)
def _suspend(state: Any, job: Any) -> Any:
    return lambda state, job: interrupt(state, job)


@overload(ranked, strict=False, jit_options={"_nrt": True})
def _ranked(state: Any, order: Any = QUEUE_ORDER) -> Any:
    def lowered(state: Any, order: Any = QUEUE_ORDER) -> Any:
        if order == QUEUE_ORDER:
            return waiting(state)
        return state.ranking[: score_all(state, state.second, state.second_own, False)]

    return lowered


@overload(rank_all, strict=False, jit_options={"_nrt": True})
def _rank_all(state: Any) -> Any:
    return lambda state: state.ranking[: score_all(state, state.order, state.order_own, True)]


@verb
def when(state: Any, virtual: float) -> float:
    """The real time at which the virtual clock will show `virtual`, if the rate stays; now, if it already does.

    At full speed from the start, that is `virtual` itself, exactly.
    """
    clock = state.clock
    return max(clock.now, clock.since + (virtual - clock.origin) / clock.rate)


@verb
def call_again(state: Any, time: float) -> None:
    """Ask to be called again at `time` [s], even if nothing else happens then.

    Of several requests of one policy the earliest counts; ask again when you are called.
    """
    clock = state.clock
    if not time > clock.now:
        note(clock, BAD_TIMER, -1, -1, time)
        raise PolicyFault
    if clock.hook == RATING:
        clock.rate_timer = min(clock.rate_timer, time)
    elif clock.hook == SLEEPING:
        clock.sleep_timer = min(clock.sleep_timer, time)
    else:
        clock.start_timer = min(clock.start_timer, time)


@verb
def uniform(dice: Any) -> float:
    """Draw a number in [0, 1) from the policy's own generator (Marsaglia's xorshift64)."""
    x = dice[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    dice[0] = x
    return float(x >> np.uint64(11)) / 9007199254740992.0


# ---------------------------------------------------------------- crossing from plain Python

# A bundle that holds functions cannot be passed from Python, so the verbs cross with its parts laid out.


def _flat(state: Any) -> tuple[Any, ...]:
    kernels = len(View._fields) + len(Inside._fields)
    return (view(state), Inside(*state[len(View._fields) : kernels]), *state[kernels:])


_CROSSINGS = {
    "begin": "return begin(bundled(*parts), job)",
    "interrupt": "interrupt(bundled(*parts), job)",
    "rank": """
    if job:
        return score_all(bundled(*parts), parts[2], parts[3], True)
    return score_all(bundled(*parts), parts[4], parts[5], False)
""",
}


@cache
def _crossing(verb: str, returns: Any) -> Any:
    """Compiled only when the first plain Python start policy needs it."""
    parts = [f"part{k}" for k in range(len(PARTS))]
    body = _CROSSINGS[verb]
    for k, part in enumerate(parts):
        body = body.replace(f"parts[{k}]", part)
    source = f"def kernel({', '.join(parts)}, job):\n    {body.strip()}\n".replace("*parts", ", ".join(parts))
    names = {"bundled": bundled, "begin": begin, "interrupt": interrupt, "score_all": score_all}
    return compile_and_keep(f"cross_{verb}", source, names, returns(*PARTS, types.int64))
