"""What nodes of a kind draw is asked once for each number of busy cores, where the policy looks at nothing else."""

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay import cases, replay
from shared.running import choose
from shared.strategies import workload

import harness
from harness import NodeType, Platform
from harness.engine import policy_analysis, prepare_run
from harness.engine.faults import PolicyError
from harness.policy.kinds import Energy
from harness.policy.spec import Choice


def of_load(node, clock, step=2.0):
    return max(node.idle, step * node.busy / node.cores) if node.status == harness.AWAKE else node.resting


LOAD = ("node.idle", "node.busy", "node.cores", "node.status", "node.resting")


@pytest.mark.parametrize(
    ("reads", "known"),
    [
        (LOAD, True),
        ((*LOAD, "clock.rate"), True),
        ((), True),
        (None, False),
        (("node",), False),
        ((*LOAD, "node.free"), False),
        ((*LOAD, "node.energy"), False),
        ((*LOAD, "clock.now"), False),
    ],
)
def test_a_draw_is_kept_if_the_policy_declares_to_read_the_load_alone(reads, known):
    policy = Energy("some", of_load, reads=reads)
    assert policy_analysis.draws_by_load(Choice(policy, dict(policy.parameters))) is known


def test_a_draw_that_memory_may_change_is_not_kept():
    policy = Energy("some", lambda node, clock, memory: node.idle, memory=1, reads=("node.idle",))
    assert not policy_analysis.draws_by_load(Choice(policy, dict(policy.parameters)))


@pytest.mark.parametrize("name", ["none", "peas", "cores", "spec"])
def test_bundled_ones_do(name):
    assert policy_analysis.draws_by_load(choose(energy=name)["energy"])


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.booleans().flatmap(lambda happen: cases(happen=happen)))
def test_what_is_remembered_is_what_would_be_said_again(case):
    jobs, platform, rest = case
    remembered = replay(jobs, platform, **rest)
    with patch.object(prepare_run, "draws_by_load", return_value=False):
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
