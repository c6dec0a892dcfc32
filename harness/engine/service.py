"""Beginning, suspending and ending the service of a job, and what a start policy may ask for.

`start` and `suspend` are the verbs of a start policy, `put_to_sleep` and `wake` those of a sleep policy. In compiled
code they are calls into the engine; from a policy that runs as plain Python they cross into it.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import overload

from harness.engine.faults import (
    BAD_LEVEL,
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
from harness.engine.power import work_left
from harness.engine.queue import add_to_plan, find_prefix, pop_due, push_due, rank_anew, remove_from_plan, waiting
from harness.engine.sleep import doze, rouse, rouse_all
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
    once,
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
    clock.held_nodes = 0
    clock.held_asleep = 0
    clock.held_speed = np.inf
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
    clock.free -= record.procs
    record.status = RUNNING
    if np.isnan(record.start):
        record.start = clock.now
    record.nodes = clock.held_nodes
    record.speed = clock.held_speed
    record.ready = rouse_all(state, job) if clock.held_asleep > 0 else clock.now
    state.truth[job].begun = clock.now
    # A node takes as long to wake whatever the rate.
    record.planned = clock.virtual + (record.ready - clock.now) * clock.rate + record.left / record.speed
    add_to_plan(state, job)
    clock.running += 1
    clock.started += 1
    if record.ready > clock.now:
        clock.booting += record.procs
        state.boots[clock.boots] = job
        clock.boots += 1
    else:
        serve(state, job)
    return True


@once
def serve(state: Any, job: int) -> None:
    """All nodes of a started job are awake: its service begins. Changes jobs, truth, nodes, heap, clock, sums."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    occupy(state, job)
    truth.begun = clock.now
    truth.due = clock.virtual + truth.work / record.speed
    push_due(state, truth.due, job)
    state.sums.backlog -= truth.work
    state.sums.due_speed += truth.due * record.speed
    clock.demand -= record.left
    clock.promised += record.planned * record.speed
    clock.speed += record.speed


@inner
def leave_boots(state: Any, place: int) -> None:
    """A job no longer waits for a sleeping node. Changes boots, jobs, truth, clock."""
    clock = state.clock
    job = state.boots[place]
    for k in range(place, clock.boots - 1):
        state.boots[k] = state.boots[k + 1]
    clock.boots -= 1
    clock.booting -= state.jobs[job].procs
    state.jobs[job].boot += clock.now - state.truth[job].begun
    state.truth[job].begun = clock.now


@inner
def enter_service(state: Any) -> None:
    """Jobs whose last node woke now begin their service. Changes what `serve` changes, and the plan."""
    clock = state.clock
    place = 0
    while place < clock.boots:
        job = state.boots[place]
        record = state.jobs[job]
        if record.ready > clock.now:
            place += 1
            continue
        leave_boots(state, place)
        planned = clock.virtual + record.left / record.speed
        if planned != record.planned:  # the rate was switched meanwhile
            remove_from_plan(state, job)
            clock.running -= 1
            record.planned = planned
            add_to_plan(state, job)
            clock.running += 1
            clock.upset = 1
        serve(state, job)


@inner
def stop(state: Any, job: int, place: int) -> None:
    """A job in service leaves its processors; `place` is its entry in the heap. Changes what `begin` changed."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    pop_due(state, place)
    remove_from_plan(state, job)
    vacate(state, job, truth.begun)
    clock.running -= 1
    clock.free += record.procs
    record.service += clock.now - truth.begun
    state.sums.due_speed -= truth.due * record.speed
    clock.promised -= record.planned * record.speed
    clock.speed -= record.speed
    if clock.heaped == 0:  # nothing in service: let no rounding error survive
        state.sums.due_speed = 0.0
        clock.promised = 0.0
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
def abandon(state: Any, job: int) -> None:
    """A running job leaves its processors with work left to do. Changes what `begin` changed."""
    clock = state.clock
    record = state.jobs[job]
    truth = state.truth[job]
    place = 0
    if record.ready > clock.now:
        while state.boots[place] != job:
            place += 1
        leave_boots(state, place)
        remove_from_plan(state, job)
        give_all_back(state, job)
        clock.running -= 1
        clock.free += record.procs
        return
    while state.heap[place].job != job:
        place += 1
    stop(state, job, place)
    truth.work = max(0.0, (truth.due - clock.virtual) * record.speed)
    record.left = max(0.0, (record.planned - clock.virtual) * record.speed)
    state.sums.backlog += truth.work
    clock.demand += record.left


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
    abandon(state, job)
    state.jobs[job].status = SUSPENDED
    state.jobs[job].preemptions += 1
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
    return bool(_crossing("begin", types.boolean)(*_flat(state), job, 0))


def suspend(state: Any, job: int) -> None:
    """Take a running job off its processors. It keeps what it has done, and waits again after this decision."""
    if config.DISABLE_JIT:
        interrupt(state, job)
    else:
        _crossing("interrupt", types.void)(*_flat(state), job, 0)


def ranked(state: Any, order: int = QUEUE_ORDER) -> Any:
    """The waiting jobs in queue order, or in that of another order that the policy took as a parameter."""
    if order == QUEUE_ORDER:
        return waiting(state)
    if config.DISABLE_JIT:
        return state.ranking[: rank_anew(state)]
    return state.ranking[: _crossing("rank_anew", types.int64)(*_flat(state), 0, 0)]


def prefix(state: Any, procs: int) -> Any:
    """Who should be served if only the queue's order counted, and which running jobs should not.

    The longest prefix, in queue order over all jobs in the system by what remains of them now, whose widths fit on
    `procs` processors; and the running jobs that are not in it. Two arrays, the first in that order.
    """
    running = int(state.clock.running)
    taken, merged = (
        find_prefix(state, procs)
        if config.DISABLE_JIT
        else _crossing("find_prefix", types.UniTuple(types.int64, 2))(*_flat(state), procs, 0)
    )
    return state.ranking[running : running + merged], state.ranking[taken:running]


def put_to_sleep(state: Any, node: int, depth: int = 0) -> None:
    """Let a node fall asleep, into its sleep state number `depth`; 0 is the lightest.

    The node must be awake and hold no job (`node.free == node.cores`), and have such a state: anything else stops the
    run, as a mistake of the policy. A sleeping node can still be allocated; the job begins when it is awake.
    """
    if config.DISABLE_JIT:
        doze(state, node, depth)
    else:
        _crossing("doze", types.void)(*_flat(state), node, depth)


def wake(state: Any, node: int) -> None:
    """Wake a sleeping node, or let one that is falling asleep wake right after; nothing if it is awake."""
    if config.DISABLE_JIT:
        rouse(state, node)
    else:
        _crossing("rouse", types.void)(*_flat(state), node, 0)


@overload(put_to_sleep, strict=False)
def _put_to_sleep(state: Any, node: Any, depth: Any = 0) -> Any:
    return lambda state, node, depth=0: doze(state, node, depth)


@overload(wake, strict=False)
def _wake(state: Any, node: Any) -> Any:
    return lambda state, node: rouse(state, node)


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
        return state.ranking[: rank_anew(state)]

    return lowered


@overload(prefix, strict=False, jit_options={"_nrt": True})
def _prefix(state: Any, procs: Any) -> Any:
    def lowered(state: Any, procs: Any) -> Any:
        running = state.clock.running
        taken, merged = find_prefix(state, procs)
        return state.ranking[running : running + merged], state.ranking[taken:running]

    return lowered


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
def call_at_work(state: Any, level: float) -> None:
    """Ask, as a rate policy, to be called at the very instant at which the work left has fallen to `level` [s].

    Forgotten at the next instant, whatever it is: ask again when you are called. `clock.fell` is 1 if it has.
    """
    clock = state.clock
    if not 0.0 <= level < work_left(state):
        note(clock, BAD_LEVEL, -1, -1, level)
        raise PolicyFault
    clock.level = level


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
    "begin": "return begin(bundled(*parts), subject)",
    "interrupt": "interrupt(bundled(*parts), subject)",
    "doze": "doze(bundled(*parts), subject, detail)",
    "rouse": "rouse(bundled(*parts), subject)",
    "rank_anew": "return rank_anew(bundled(*parts))",
    "find_prefix": "return find_prefix(bundled(*parts), subject)",
}


_CROSSED = {
    "begin": begin,
    "interrupt": interrupt,
    "doze": doze,
    "rouse": rouse,
    "rank_anew": rank_anew,
    "find_prefix": find_prefix,
}


@cache
def _crossing(verb: str, returns: Any) -> Any:
    """Compiled only when the first plain Python policy needs it."""
    parts = [f"part{k}" for k in range(len(PARTS))]
    body = _CROSSINGS[verb]
    for k, part in enumerate(parts):
        body = body.replace(f"parts[{k}]", part)
    source = f"def kernel({', '.join(parts)}, subject, detail):\n    {body.strip()}\n".replace(
        "*parts", ", ".join(parts)
    )
    names = {"bundled": bundled, verb: _CROSSED[verb]}
    return compile_and_keep(f"cross_{verb}", source, names, returns(*PARTS, types.int64, types.int64))
