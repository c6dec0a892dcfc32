"""Running the engine in tests, with policies that are registered nowhere."""

from functools import cache

import numpy as np
import pytest

from harness.engine.simulate import simulate
from harness.plugins import Plugins
from harness.policy import KINDS, Choice, Policy, Scheduler


@pytest.fixture(autouse=True)
def _own_cache(request, tmp_path_factory, monkeypatch):
    """Compiled kernels are kept with pytest's own cache: the loop is compiled once, not in every run of the tests."""
    keeper = getattr(request.config, "cache", None)
    folder = keeper.mkdir("kernels") if keeper else tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))


@cache
def bundled():
    """The bundled policies."""
    return Plugins().policies


def choose(**parts):
    """The chosen policies of a scheduler whose parts may be specifications, or policies that nobody registered."""
    named = {part: spec for part, spec in parts.items() if isinstance(spec, str)}
    chosen = Scheduler(**({"energy": "none"} | named)).choose(bundled())
    for part, policy in parts.items():
        if isinstance(policy, Policy):
            chosen[part] = Choice(policy, dict(policy.parameters))
    if "order" in parts and not isinstance(parts["order"], str) and "second" not in parts:
        chosen["second"] = chosen["order"]
    return chosen


@pytest.fixture(scope="session")
def run():
    """Simulate with `choose(**parts)`."""

    def run(workload, platform, *, seed=0, plain=False, **parts):
        return simulate(workload, platform, choose(**parts), seed=seed, plain=plain)

    return run


def in_log_order(outcome, field):
    """One field of the jobs, in the order of the log."""
    values = np.empty(len(outcome.jobs), outcome.jobs[field].dtype)
    values[outcome.place] = outcome.jobs[field]
    return values


PART = {hook: part for part, hook in Scheduler.HOOKS.items()}
assert set(PART) == set(KINDS)
