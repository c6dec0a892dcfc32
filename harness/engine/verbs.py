"""What a policy may ask the engine to do.

`start` and `suspend` are the verbs of a start policy, `put_to_sleep` and `wake` those of a sleep policy. In compiled
code they are calls into the engine; from a policy that runs as plain Python they cross into it.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb, window
from harness.engine.faults import BAD_LEVEL, BAD_TIMER, NOT_TO_REQUEUE, RATING, SLEEPING, STARTING, PolicyFault, note
from harness.engine.plan.width import give_width
from harness.engine.plan.width_limits import begin_as_wide
from harness.engine.power.draw import work_left
from harness.engine.power.sleep import set_idle_limit, sleep_node, wake_node
from harness.engine.queue.scoring import find_prefix, rank_anew
from harness.engine.queue.waiting_jobs import reject_job, waiting
from harness.engine.resources.nodes import fits
from harness.engine.service import preempt, reset_progress, suspend_job
from harness.engine.time_comparison import later

#: The handle of the queue's own order, for policies that take another one as a parameter.
QUEUE_ORDER = -1


@verb(only=(STARTING, "start"), crosses=True)
def start(state: Any, job: int, procs: int = 0) -> bool:
    """Start a waiting job now, on the processors the selection chooses. False if the selection declines.

    Also if it is moldable and held as wide as that (`widest`).

    `procs`: how many it gets, if it is moldable (between `narrowest` and `widest`); else as many as it asks for.
    The job must be waiting and must fit (`fits`): anything else stops the run, as a mistake of the policy.
    """
    if procs != 0:
        give_width(state, job, procs)
    return begin_as_wide(state, job)


@verb
def arrival_does_not_fit(state: Any) -> bool:
    """Return whether nothing happened but the arrival of one job that does not fit, where each event has its decision.

    False where all events of an instant share one decision. pyss and its descendants take no decision then.
    """
    clock = state.clock
    alone = clock.decide_per_event != 0 and clock.arrived == 1 and clock.departed == 0 and clock.upset == 0
    return bool(alone and not fits(state, clock.newcomer))


@verb(only=(STARTING, "start"), crosses=True)
def suspend(state: Any, job: int, overhead: float = 0.0, in_place: bool = False) -> None:
    """Take a running job off its processors. It keeps what it has done, and waits again after this decision.

    `overhead` is what saving and reading it again cost: so much more work to do [s at reference speed]. It counts as
    service, and in `job.left` and `job.overhead`. `in_place`: its memory remains held on its nodes, and it resumes on
    just these, once as many of their processors are free (`fits` says when; no selection is asked); `job.slices` lists
    them meanwhile. It keeps resources of nodes too, no licences, and draws nothing. When one of them fails, it is
    interrupted as if it ran.
    """
    suspend_job(state, job, overhead, in_place)


@verb(only=(STARTING, "start"), crosses=True)
def requeue(state: Any, job: int) -> None:
    """Take a running job off its processors. What it has done is lost: it waits again, and begins anew.

    Its start is that of its last beginning; `job.lost` is the time in service that this cost, `job.restarts` how often.
    """
    preempt(state, job, NOT_TO_REQUEUE, False)
    reset_progress(state, job)


@verb(only=(STARTING, "start"), crosses=True)
def reject(state: Any, job: int) -> None:
    """Refuse a waiting job for good: it leaves the system, and counts as unaccepted. Not one that was served before.

    Averages are over accepted jobs, so that a policy must say `rejects=True`, for all to see.
    """
    reject_job(state, job)


@verb(crosses=True)
def _rank_anew(state: Any) -> int:
    return rank_anew(state)


@window
def ranked(state: Any, order: int = QUEUE_ORDER) -> Any:
    """List the waiting jobs in queue order, or in that of another order that the policy took as a parameter."""
    if order == QUEUE_ORDER:
        return waiting(state)
    return state.ranking[: _rank_anew(state)]


@verb(crosses=True)
def _find_prefix(state: Any, procs: int) -> tuple[int, int]:
    return find_prefix(state, procs)


@window
def prefix(state: Any, procs: int) -> Any:
    """Find who should be served if only the queue's order counted, and which running jobs should not.

    The longest prefix, in queue order over all jobs in the system by what remains of them now, whose widths fit on
    `procs` processors; and the running jobs that are not in it. Two arrays, the first in that order.
    """
    running = state.clock.running
    taken, merged = _find_prefix(state, procs)
    return state.ranking[running : running + merged], state.ranking[taken:running]


@verb(only=(SLEEPING, "sleep"), crosses=True)
def put_to_sleep(state: Any, node: int, depth: int = 0) -> None:
    """Let a node fall asleep, into its sleep state number `depth`; 0 is the lightest.

    The node must be awake and hold no job (`node.free == node.cores`), and have such a state: anything else stops the
    run, as a mistake of the policy. A sleeping node can still be allocated; the job begins when it is awake.
    """
    sleep_node(state, node, depth)


@verb(only=(SLEEPING, "sleep"), crosses=True)
def wake(state: Any, node: int) -> None:
    """Wake a sleeping node, or let one that is falling asleep wake right after; nothing if it is awake."""
    wake_node(state, node)


@verb(only=(SLEEPING, "sleep"), crosses=True)
def sleep_when_idle(state: Any, idle: float, depth: int = 0) -> None:
    """Let every node from now on fall asleep that has held no job for `idle` seconds; infinity for none.

    Into its sleep state number `depth`, or the deepest that it has. Nobody is asked when one does, the policy itself
    included: who does no more than that says it once, and asks to be left alone.
    """
    set_idle_limit(state, idle, depth)


@verb
def when(state: Any, virtual: float) -> float:
    """Return the real time at which the virtual clock will show `virtual`, if the rate stays; now, if it already does.

    At full speed from the start, that is `virtual` itself, exactly.
    """
    clock = state.clock
    if not later(virtual, clock.virtual):
        return float(clock.now)
    left = virtual - clock.origin
    if clock.rate != 1.0:  # it mostly is, and a division is the longest step of an instant
        left /= clock.rate
    return max(clock.now, clock.since + left)


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

    Forgotten when you are next called, whatever for: ask again then. `clock.work_level_reached` is 1 if it has.
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
