"""Make a predictor from an object with the interface of scikit-learn: `partial_fit(X, y)`, then `predict(X)`."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from harness.policy.kinds import Predict


def learner(name: str, make: Callable[[], Any]) -> Predict:
    """Return a predictor, in plain Python, that uses an object with `predict` and `partial_fit`.

    `make()` makes a new object for each run. It learns from one job at a time, when the job ends: the logarithm of its
    runtime, from the logarithms of the request, of the number of processors, of the runtime of the user's last job and
    of their mean [s], and from the hour of the day. Until a job has ended, the prediction is the requested time. A
    prediction that is too short is doubled.
    """
    return Predict(name, _predict, learn=_learn, correct=_correct, fresh=partial(_Learnt, make), compiled=False)


class _Learnt:
    def __init__(self, make: Callable[[], Any]) -> None:
        self.model = make()
        self.taught = False  # whether it has learnt from a job; many models cannot predict before
        self.told: dict[int, list[float]] = {}  # job → its features at its submission, until it has ended
        self.users: dict[
            int, tuple[float, float, int]
        ] = {}  # user → runtimes of the last job and of all [s], number of jobs


def _predict(job: Any, user: Any, clock: Any, memory: _Learnt) -> float:
    """The prediction of the model after the first ended job; before, the requested time."""
    requested = float(job.requested)
    last, total, ended = memory.users.get(job.user, (requested, requested, 1))
    features = [*map(math.log1p, (requested, job.procs, last, total / ended)), clock.now % 86400.0 / 3600.0]
    memory.told[job.index] = features
    if not memory.taught:
        return requested
    logarithm = float(memory.model.predict([features])[0])
    return max(math.expm1(min(logarithm, features[0])), 1.0)  # this order keeps not a number, which is reported


def _learn(job: Any, memory: _Learnt) -> None:
    """Learn from the job that has ended."""
    took = float(job.service * job.speed)
    memory.model.partial_fit([memory.told.pop(job.index)], [math.log1p(took)])
    memory.taught = True
    _, total, ended = memory.users.get(job.user, (0.0, 0.0, 0))
    memory.users[job.user] = (took, total + took, ended + 1)


def _correct(job: Any) -> float:
    """Twice the estimate, and a minute."""
    return 2.0 * float(job.estimate) + 60.0
