"""The small case to which broken policies are put, and how a function becomes a policy."""

import pytest
from numba.core import config
from shared.strategies import POWER

from harness.platform.machine import NodeType, Platform
from harness.policy.kinds import KINDS
from harness.policy.scheduler import Scheduler

PAIR = Platform("pair", (NodeType(2, 2, **POWER),))  # four processors on two nodes
JOBS = [(10, 2, 5, 5), (12, 3, 5, 5), (12, 1, 5, 5), (30, 4, 5, 5)]  # job 2 has to wait for job 1

needs_numba = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


def policy_of(part, function, name="", **traits):
    kind = KINDS[Scheduler.HOOKS[part]]
    return kind(name or "broken-" + function.__name__.replace("_", "-"), function, **traits)
