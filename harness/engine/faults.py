"""What can go wrong inside the compiled loop, and the words for it.

Compiled code notes what it saw in the clock and raises `PolicyFault`; `explain` turns the notes into a sentence.
"""

from typing import Any

from numba.extending import register_jitable

from harness.errors import HarnessError
from harness.policy.kinds import KINDS

(
    NAN_SCORE,
    NOT_WAITING,
    NOT_RUNNING,
    NO_ROOM,
    OVERCOMMIT,
    TOO_FEW,
    TOO_MANY,
    BAD_RATE,
    BAD_WATTS,
    BAD_TIMER,
    STUCK,
    NOT_PREEMPTIVE,
    BAD_NAP,
    BAD_LEVEL,
    NO_NODE,
    NO_JOB,
    NO_PLAN,
    FULL_PLAN,
    BAD_PROCS,
    BAD_TIME,
    DECLINED,
    COUNTED,
    UNTRUE_FITS,
    BAD_OVERHEAD,
    NOT_TO_REJECT,
    NOT_TO_REQUEUE,
    BAD_PREDICTION,
    NO_GROWTH,
    BAD_CORRECTION,
    UNEVEN,
    PLACE_KEPT,
    NO_PLACE,
    BAD_HOLD,
    SLEEPLESS,
    BAD_WIDTH,
    NO_NODE_PLAN,
    NOT_TO_PROMISE,
    CAUGHT,
    BAD_MERIT,
    BAD_ORDER,
    RISING,
) = range(1, 42)

_HOOKS = 64  # the clock keeps a fault and the hook that was asked as one number

# Who is being asked, as the clock names it; `ASKED` are the parts of a scheduler in the same order.
ORDERING, STARTING, SELECTING, RATING, SLEEPING, POWERING, PREDICTING, HOLDING, BACKFILLING = range(9)
ASKED = (*(kind.part for kind in KINDS.values()), "second")

_SENTENCES = {
    NAN_SCORE: "gave job {job} the score {value}, where a number was expected",
    NOT_WAITING: "started job {job}, which is not waiting",
    NOT_RUNNING: "suspended job {job}, which is not running",
    NOT_PREEMPTIVE: "took job {job} off its processors, which only policies declared preemptive=True may do",
    NO_ROOM: "started job {job}, which needs {procs} processors where only {value:.0f} can be had: "
    "it would overcommit the nodes (ask harness.fits first)",
    OVERCOMMIT: "took {value:.0f} processors of node {node} for job {job}, which has room for {room} of its "
    "processors: it would overcommit the node (ask harness.room first)",
    UNEVEN: "chose {value:.0f} nodes for job {job}, which asks for fewer, with more of its processors on each "
    "(harness.procs_per_node returns how many)",
    TOO_FEW: "chose {value:.0f} processors for job {job}, which needs {procs}",
    TOO_MANY: "chose {value:.0f} processors for job {job}, which needs only {procs}",
    BAD_RATE: "set the rate {value}, where a number above 0 was expected",
    BAD_WATTS: "says that node {node} draws {value} W, where a number of at least 0 was expected",
    BAD_TIMER: "asked to be called again at {value} s, where a later time was expected",
    BAD_NAP: "asked node {node} to sleep at depth {value:.0f}, where a node that exists, is awake, holds no "
    "job and has such a sleep state was expected (see node.status, node.free and node.depths)",
    NO_NODE: "named node {node}, where a node out of the {value:.0f} of the platform was expected",
    NO_JOB: "named the job {job}, which is not waiting, running or gone: expected an index below {value:.0f}, the "
    "number of jobs submitted so far",
    BAD_LEVEL: "asked to be called when the work left has fallen to {value} s, where at least 0 and less than now "
    "was expected (ask harness.work_left first)",
    NO_PLAN: "asked for a place in a plan that was not made (call harness.plan_from_running or "
    "harness.forget_past before)",
    FULL_PLAN: "reserved and released so much that the plan changes {value:.0f} times, more often than all jobs could "
    "make it (harness.release what is promised no longer)",
    BAD_PROCS: "planned for {value:.0f} processors, where at least 1 and no more than the machine has were expected",
    BAD_TIME: "planned with the time {value}, where a duration of at least 0, or a begin and an end in this order, "
    "were expected",
    DECLINED: "plans, although the selection declines jobs for which there are processors and does not say when it "
    "would place them (write harness.Select(…, fits=…))",
    COUNTED: "plans by the number of processors alone, which does not tell when a selection that declines would place "
    "a job (harness.reservation asks it, as easy does)",
    UNTRUE_FITS: "declined job {job}, of which its own fits says that it can be placed now",
    BAD_OVERHEAD: "suspended job {job} with an overhead of {value} s, where a number of at least 0 was expected",
    NOT_TO_REQUEUE: "requeued job {job}, which is not running",
    NOT_TO_REJECT: "rejected job {job}, which is not waiting, or was served before",
    BAD_PREDICTION: "says that job {job} takes {value} s, where a number of at least 0 was expected",
    NO_GROWTH: "corrects what job {job} takes to {value} s, which it has run for already: expected more",
    BAD_CORRECTION: "corrects what job {job} takes to {value} s, where a number of at least 0 was expected",
    PLACE_KEPT: "planned for job {job}, which was suspended in place: only the nodes that keep its place can have it "
    "(start it when harness.fits says so)",
    NO_PLACE: "suspended job {job} in place, where jobs suspended before keep as many places as there can be",
    BAD_HOLD: "holds job {job} until {value} s, where a time was expected, or infinity",
    SLEEPLESS: "was asked about job {job} a million times in a row and let nobody go, while nothing else happened; it "
    "is held until {value} s now: expected later times, or infinity",
    BAD_WIDTH: "gave job {job} {value:.0f} processors, where a number between those of harness.narrowest and "
    "harness.widest was expected, for a job that has not begun",
    NO_NODE_PLAN: "planned node by node, where neither memory nor partitions nor anything else that nodes differ by "
    "binds: expected a function that takes the plan of the run, def start(plan, queue, …)",
    NOT_TO_PROMISE: "promised job {job} a start or took a promise back, which is not waiting",
    CAUGHT: "caught what somebody whom it had asked raised: what that had begun is half done",
    BAD_ORDER: "let idle nodes sleep with the number {value}, where a time and a depth of at least 0 were expected",
    BAD_MERIT: "gave node {node} the merit {value} for job {job}, where a number was expected",
    RISING: "gave job {job} the score {value}, and a higher one for a later time, although it says falls=True",
    STUCK: "left {value:.0f} jobs waiting, the first of them job {job}, although the machine is idle and nothing "
    "else will happen",
}

#: What numba, numpy and Python say of it, and what we do.
WORDS_OF_OTHERS = {
    (IndexError, "out of bounds"): "used an index that one of its arrays does not have",
    (IndexError, "out of range"): "used an index that one of its lists does not have",
    (ValueError, "read-only"): "changed an array of the engine: expected it to be only read",
}


class PolicyFault(Exception):  # noqa: N818 - a signal of the compiled loop, never seen by users
    """Raised in compiled code; the clock's fields say what happened."""

    def __str__(self) -> str:
        return "a policy's call was refused; the run says which and why as it goes on"


class PolicyError(HarnessError):
    """A policy broke its contract: the message names the policy, the job, the instant and what was expected."""


@register_jitable
def note(clock: Any, fault: int, job: int, node: int, value: float) -> None:
    """Write down what went wrong and who was asked, unless something had before; the caller raises `PolicyFault`."""
    if clock.fault == 0:
        clock.fault = fault + _HOOKS * clock.hook
        clock.culprit = job
        clock.node = node
        clock.value = value


def noted(clock: Any) -> tuple[int, int]:
    """Return what went wrong, and the hook that was asked then: a policy that caught it may have asked others since."""
    hook, fault = divmod(int(clock.fault), _HOOKS)
    return fault, hook


def sentence(fault: int, **facts: object) -> str:
    """Say what the policy did, and what was expected of it."""
    return _SENTENCES[fault].format(**facts)
