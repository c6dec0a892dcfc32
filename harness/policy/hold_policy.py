"""The kind of policy that holds jobs, and the text of several holds: `limits(user_jobs=8) + begin`.

Import it from `kinds`, which lists it among the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.policy.declared_traits import check_same_answer, check_words
from harness.policy.kinds import Policy

#: The events that may change the answer of a hold.
RECHECKED_ON = ("time", "starts")
RELEASED_ON = ("ends", "starts")


@dataclass(frozen=True, eq=False)
class Hold(Policy):
    """Whether a job may be considered now: `hold(state, job, …) -> time`, with `job` an index.

    The present time or an earlier one releases the job. A later one holds it, and the hold is called again then.
    Infinity holds it until another job has left the machine. With `constant=True` it holds no job and is never called.

    `rechecked_on` lists what may make it hold a job again that it released and that has not started: the passing of
    `time`, the `starts` of other jobs. `released_on` lists what may make it release a job that it holds without a time:
    the `ends` of other jobs, their `starts`.

    `same_answer_for` names fields of a job. Waiting jobs equal in them get one answer. So do held jobs, which no
    job that joins the queue can release. That is not so if a parameter of `unless` differs from its default: then each
    waiting job may hold the others. Runs with many held jobs become faster, and the schedule is the same.
    """

    function: "Callable[..., float]"
    rechecked_on: tuple[str, ...] = field(default=RECHECKED_ON, kw_only=True)
    released_on: tuple[str, ...] = field(default=("ends",), kw_only=True)
    constant: bool = field(default=False, kw_only=True)
    same_answer_for: tuple[str, ...] = field(default=(), kw_only=True)
    unless: tuple[str, ...] = field(default=(), kw_only=True)
    part, plural = "hold", "holds"
    hook = "hold_jobs"
    arguments = ("state", "job")
    answer = "a time"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_words(self, "rechecked_on", RECHECKED_ON)
        check_words(self, "released_on", RELEASED_ON)
        check_words(self, "unless", tuple(self.parameters))
        check_same_answer(self)
