"""A predictor from any object that learns as scikit-learn's do: `partial_fit(X, y)`, then `predict(X)`."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from harness.policy.kinds import Predict


def learner(name: str, make: Callable[[], Any]) -> Predict:
    """Return a predictor, in plain Python, that asks an object with `predict` and `partial_fit`.

    `make()` makes a new one for each run. It learns from one job at a time, when it ends: the logarithm of its runtime
    from those of the request, the number of processors, what the user's last job and all of them took on average [s],
    and from the hour of the day. Before anything has ended, the request is believed. A prediction that turns out too
    short is doubled.
    """
    return Predict(name, _predict, learn=_learn, correct=_correct, fresh=partial(_Learnt, make), compiled=False)


class _Learnt:
    """What one run has learnt."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.model = make()
        self.taught = False  # whether it has been shown a job: many cannot predict before
        self.told: dict[int, list[float]] = {}  # job → what was known of it at its submission, until it has ended
        self.users: dict[int, tuple[float, float, int]] = {}  # user → what the last job and all took [s]; their number


def _predict(job: Any, user: Any, clock: Any, memory: _Learnt) -> float:
    """Whatever the object has learnt from jobs that have ended; before there are any, the request."""
    requested = float(job.requested)
    last, total, ended = memory.users.get(job.user, (requested, requested, 1))
    features = [*map(math.log1p, (requested, job.procs, last, total / ended)), clock.now % 86400.0 / 3600.0]
    memory.told[job.index] = features
    if not memory.taught:
        return requested
    logarithm = float(memory.model.predict([features])[0])
    return max(math.expm1(min(logarithm, features[0])), 1.0)  # in this order what is no number stays none, and is told


def _learn(job: Any, memory: _Learnt) -> None:
    """Show it the job that has ended."""
    took = float(job.service * job.speed)
    memory.model.partial_fit([memory.told.pop(job.index)], [math.log1p(took)])
    memory.taught = True
    _, total, ended = memory.users.get(job.user, (0.0, 0.0, 0))
    memory.users[job.user] = (took, total + took, ended + 1)


def _correct(job: Any) -> float:
    """Twice what was believed, and a minute."""
    return 2.0 * float(job.estimate) + 60.0
