"""The kind of policy that predicts runtimes, and may learn from ended jobs and correct itself.

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
    """How long a job takes: `predict(job, user, clock, …) -> float`, called when it is submitted.

    `user` is the policy's own record of the job's user, declared with `memory=harness.per_user(…)`. `learn(job, user,
    clock, …)` is called when a job has ended and `job.service` is known. `correct(job, user, clock, …) -> float` is
    called when a running job exceeds `job.estimate`, and returns a longer estimate of its whole runtime. Without it the
    estimate becomes the requested time. Both may name any of the arguments, memory and parameters of `predict`.
    """

    function: Callable[..., float]
    learn: Callable[..., None] | None = field(default=None, kw_only=True)
    correct: Callable[..., float] | None = field(default=None, kw_only=True)
    capped: bool = field(default=True, kw_only=True)  # the requested time is an upper limit
    clairvoyant: bool = field(default=False, kw_only=True)  # `job.service` is the true runtime
    constant: bool = field(default=False, kw_only=True)  # the estimate is the requested time; it is never called
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
