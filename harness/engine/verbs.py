"""What a policy may ask the engine to do.

`start` and `suspend` are the verbs of a start policy, `put_to_sleep` and `wake` those of a sleep policy. In compiled
code they are calls into the engine; from a policy that runs as plain Python they cross into it.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import overload

from harness.engine.faults import BAD_LEVEL, BAD_TIMER, RATING, SLEEPING, PolicyFault, note
from harness.engine.power import work_left
from harness.engine.queue import find_prefix, rank_anew, waiting
from harness.engine.service import begin, interrupt
from harness.engine.sleep import doze, rouse
from harness.engine.state import PARTS, Inside, View, bundled, verb, view
from harness.keep import compile_and_keep

#: The handle of the queue's own order, for policies that take another one as a parameter.
QUEUE_ORDER = -1


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
def call_not_before(state: Any, time: float) -> None:
    """Ask, as a rate or sleep policy, to be called again at `time` [s], and to be left alone until then."""
    clock = state.clock
    call_again(state, time)
    if clock.hook == RATING:
        clock.rate_from = time
    elif clock.hook == SLEEPING:
        clock.sleep_from = time


@verb
def call_at_work(state: Any, level: float) -> None:
    """Ask, as a rate policy, to be called at the very instant at which the work left has fallen to `level` [s].

    Forgotten when you are next called, whatever for: ask again then. `clock.fell` is 1 if it has.
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


# ---------------------------------------------------------------- in compiled code: calls into the engine


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
