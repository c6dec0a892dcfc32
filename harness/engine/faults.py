"""What can go wrong inside the compiled loop, and the words for it.

Compiled code notes what it saw in the clock and raises `PolicyFault`; `explain` turns the notes into a sentence.
"""

from typing import Any

from numba.extending import register_jitable

from harness.errors import HarnessError

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
) = range(1, 16)

# Who is being asked, as the clock names it; `PARTS` are the parts of a scheduler in the same order.
ORDERING, STARTING, SELECTING, RATING, SLEEPING, POWERING, BACKFILLING = range(7)
PARTS = ("order", "start", "select", "rate", "sleep", "energy", "second")

_SENTENCES = {
    NAN_SCORE: "gave job {job} the score {value}, where a number was expected",
    NOT_WAITING: "started job {job}, which is not waiting",
    NOT_RUNNING: "suspended job {job}, which is not running",
    NOT_PREEMPTIVE: "suspended job {job}, which only policies declared preemptive=True may do",
    NO_ROOM: "started job {job}, which needs {procs} processors where only {value:.0f} can be had: "
    "it would overcommit the nodes (ask harness.fits first)",
    OVERCOMMIT: "took {value:.0f} processors of node {node} for job {job}, which has room for {room} of its "
    "processors: it would overcommit the node (ask harness.room first)",
    TOO_FEW: "chose {value:.0f} processors for job {job}, which needs {procs}",
    TOO_MANY: "chose {value:.0f} processors for job {job}, which needs only {procs}",
    BAD_RATE: "set the rate {value}, where a number above 0 was expected",
    BAD_WATTS: "says that node {node} draws {value} W, where a number of at least 0 was expected",
    BAD_TIMER: "asked to be called again at {value} s, where a later time was expected",
    BAD_NAP: "asked node {node} to sleep at depth {value:.0f}, where a node that exists, is awake, holds no "
    "job and has such a sleep state was expected (see node.status, node.free and node.depths)",
    NO_NODE: "asked node {node} to wake, where a node out of the {value:.0f} of the platform was expected",
    BAD_LEVEL: "asked to be called when the work left has fallen to {value} s, where at least 0 and less than now "
    "was expected (ask harness.work_left first)",
    STUCK: "left {value:.0f} jobs waiting, the first of them job {job}, although the machine is idle and nothing "
    "else will happen",
}


class PolicyFault(Exception):  # noqa: N818 - a signal of the compiled loop, never seen by users
    """Raised in compiled code; the clock's fields say what happened."""


class PolicyError(HarnessError):
    """A policy broke its contract: the message names the policy, the job, the instant and what was expected."""


@register_jitable
def note(clock: Any, fault: int, job: int, node: int, value: float) -> None:
    """Write down what went wrong; the caller raises `PolicyFault` next."""
    clock.fault = fault
    clock.culprit = job
    clock.place = node
    clock.value = value


def sentence(fault: int, **facts: object) -> str:
    """What the policy did, and what was expected of it."""
    return _SENTENCES[fault].format(**facts)
