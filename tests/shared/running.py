"""Running the engine in tests, with policies that are registered nowhere."""

from functools import cache

import numpy as np

from harness.policy.kinds import KINDS, Policy
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler
from harness.policy.spec import Choice


@cache
def bundled():
    """The bundled policies."""
    return Plugins().policies


def choose(**parts):
    """The chosen policies of a scheduler whose parts may be specifications, or policies that nobody registered."""
    named = {part: spec for part, spec in parts.items() if isinstance(spec, str)}
    chosen = dict(Scheduler(**({"energy": "none"} | named)).choose(bundled()))
    for part, policy in parts.items():
        if isinstance(policy, Policy):
            chosen[part] = Choice(policy, dict(policy.parameters))
    if "order" in parts and not isinstance(parts["order"], str) and "second" not in parts:
        chosen["second"] = chosen["order"]
    return chosen


def in_log_order(outcome, field):
    """One field of the jobs, in the order of the log."""
    values = np.empty(len(outcome.jobs), outcome.jobs[field].dtype)
    values[outcome.place] = outcome.jobs[field]
    return values


PART = {hook: kind.part for hook, kind in KINDS.items()}
