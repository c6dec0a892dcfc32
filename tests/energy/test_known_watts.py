"""What nodes of a kind draw is asked once for each number of busy cores, where the policy looks at nothing else."""

import math
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay import cases, replay
from running import choose
from strategies import workload

import harness
from harness import NodeType, Platform
from harness.engine import policy_analysis, simulate
from harness.engine.faults import PolicyError
from harness.policy.kinds import Energy
from harness.policy.spec import Choice


def half(watts):
    return lambda node, clock: 0.5 * watts(node)


def of_free(node, clock):
    return 1.0 * node.free


def of_time(node, clock):
    return clock.now


def of_parts(node, clock):
    return sum([k * node.settled for k in (1.0, 2.0)])


def of_load(node, clock, step=2.0):
    return max(node.idle, step * node.busy / node.cores) if node.status == harness.AWAKE else node.resting


def of_logarithm(node, clock):
    return math.log1p(node.busy)


def with_memory(node, clock, memory):
    return node.idle


def by_load(function, **traits):
    policy = Energy("some", function, **traits)
    return policy_analysis.draws_by_load(Choice(policy, dict(policy.parameters)))


def test_who_looks_at_the_load_alone_is_known():
    assert by_load(of_load)
    assert by_load(half(lambda node: node.peak))
    assert not by_load(half(lambda node: node.energy))
    for function in (of_free, of_time, of_parts, of_logarithm):
        assert not by_load(function), function.__name__
    assert not by_load(with_memory, memory=1)


@pytest.mark.parametrize("name", ["none", "peas", "cores", "spec"])
def test_bundled_ones_do(name):
    assert policy_analysis.draws_by_load(choose(energy=name)["energy"])


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.booleans().flatmap(lambda happen: cases(happen=happen)))
def test_what_is_remembered_is_what_would_be_said_again(case):
    jobs, platform, rest = case
    remembered = replay(jobs, platform, **rest)
    with patch.object(simulate, "draws_by_load", return_value=False):
        asked = replay(jobs, platform, **rest)
    for field in ("watts", "share", "energy", "idle_energy", "sleep_energy", "transition_energy"):
        assert (remembered.outcome.nodes[field] == asked.outcome.nodes[field]).all(), field
    assert (remembered.outcome.jobs["energy"] == asked.outcome.jobs["energy"]).all()
    assert remembered.timeline.equals(asked.timeline)


def test_power_that_cannot_be_is_refused_when_it_is_drawn():
    def broken(node, clock):
        return node.idle - 2 * node.busy

    one = Platform("one", (NodeType(2, 3, idle=5.0, peak=9.0),))
    replay(workload([(0, 2, 5, 5), (6, 2, 5, 5)]), one, energy=harness.Energy("broken", broken))
    with pytest.raises(PolicyError, match=r"'broken' \(account_energy\), at 7 s, says that node 0 draws -1\.0 W"):
        replay(workload([(0, 2, 5, 5), (7, 4, 5, 5)]), one, energy=harness.Energy("broken", broken))
