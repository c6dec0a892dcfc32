"""The kind of policy that holds jobs back, and how several of them are written as one: `limits(user_jobs=8) + begin`.

Import it from `kinds`, which lists it among the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.policy.declared_traits import check_alike, check_words
from harness.policy.kinds import Policy

#: What may make a hold answer otherwise than before.
AGAIN = ("time", "starts")
FREED_BY = ("ends", "starts")


@dataclass(frozen=True, eq=False)
class Hold(Policy):
    """Whether a job may be considered now: `hold(state, job, …) -> time`, with `job` an index.

    The present time or an earlier one lets the job go, a later one says when to ask again, and infinity: when a job
    has left the machine. `again` is what may make it hold a job that it had let go, and has not started: the passing
    of `time`, the `starts` of others. `freed_by` is what may make it let go a job that it holds without a time: the
    `ends` of others, their `starts`. With `constant=True` it holds nobody and is never asked.

    `alike` names fields of a job: those equal in them that wait get one answer, and so do those that are held, of whom
    nobody who joins the queue lets another go. `singly` are parameters with which each of them that waits may hold the
    others, if they are not as by default. It is faster so where many are held, and the schedule is the same.
    """

    function: "Callable[..., float]"
    again: tuple[str, ...] = field(default=AGAIN, kw_only=True)
    freed_by: tuple[str, ...] = field(default=("ends",), kw_only=True)
    constant: bool = field(default=False, kw_only=True)
    alike: tuple[str, ...] = field(default=(), kw_only=True)
    singly: tuple[str, ...] = field(default=(), kw_only=True)
    part, plural = "hold", "holds"
    hook = "hold_jobs"
    arguments = ("state", "job")
    answer = "a time"

    def __post_init__(self) -> None:
        super().__post_init__()
        for trait, known in (("again", AGAIN), ("freed_by", FREED_BY), ("singly", tuple(self.parameters))):
            check_words(self, trait, known)
        check_alike(self)
