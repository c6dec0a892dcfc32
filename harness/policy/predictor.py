"""The kind of policy that predicts runtimes, and may learn from those of others and correct itself.

Import it from `kinds`, which lists it among the others.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.errors import HarnessError, did_you_mean
from harness.policy.declared_traits import refuse_undeclared
from harness.policy.kinds import EXTRAS, Policy


@dataclass(frozen=True, eq=False)
class Predict(Policy):
    """How long a job takes: `predict(job, user, clock, …) -> float`, when it is submitted.

    `user` is the policy's own record of the job's user, of what it declared with `memory=harness.per_user(…)`.
    `learn(job, user, clock, …)` is called when a job has ended and `job.service` is known; `correct(job, user, clock,
    …) -> float` when a running job outlives `job.estimate`, with what it takes in all, which has to be more. Without
    it the request is believed from then on. Both name of the arguments, memory and parameters of `predict` what they
    want.
    """

    function: Callable[..., float]
    learn: Callable[..., None] | None = field(default=None, kw_only=True)
    correct: Callable[..., float] | None = field(default=None, kw_only=True)
    capped: bool = field(default=True, kw_only=True)  # the request is the most that is believed
    clairvoyant: bool = field(default=False, kw_only=True)  # `job.service` already says how long it takes
    constant: bool = field(default=False, kw_only=True)  # the request is believed: nobody is ever asked
    part, plural = "predict", "predictors"
    hook = "predict_runtime"
    arguments = ("job", "user", "clock")
    answer = "a number of seconds"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [*self.arguments, *EXTRAS, *self.parameters]
        for what in ("learn", "correct"):
            function = getattr(self, what)
            if function is None:
                continue
            if not callable(function):
                raise HarnessError(f"policy {self.name!r}: {what}={function!r:.40}: expected a function")
            for name in inspect.signature(function).parameters:
                if name not in known:
                    raise HarnessError(
                        f"policy {self.name!r}: its {what} {function.__name__}{inspect.signature(function)} names "
                        f"{name!r}, which is no argument, memory or parameter of its function; "
                        f"{did_you_mean(name, known)}"
                    )
            asked = [name for name in inspect.signature(function).parameters if name in EXTRAS]
            refuse_undeclared(self, asked)
