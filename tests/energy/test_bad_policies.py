"""What cannot be asked of the energy side is refused in one sentence."""

import re

import pytest
from replay import NodeType, Platform, SleepState, happenings, replay
from shared.strategies import workload

import harness
from harness import HarnessError
from harness.engine.faults import PolicyError

SLEEPY = Platform("sleepy", (NodeType(2, 1, idle=50, peak=150, sleep=[SleepState("off", watts=5, down=1, up=2)]),))
PLAIN = Platform("sleepless", (NodeType(2, 1, idle=50, peak=150),))
JOBS = workload([(0, 1, 5, 5), (1, 1, 5, 5)])


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"rate": "hysteresis(low=3, high=2)"}, "low = 3 lies above high = 2; expected low ≤ high"),
        ({"rate": "workload(low=3, high=2)"}, "low = 3 lies above high = 2; expected low ≤ high"),
        ({"rate": "workload(low=-1)"}, "workload(low=-1): expected at least 0"),
        ({"rate": "coin(slow=2)"}, "slow = 2 lies above fast = 1.0; expected slow ≤ fast"),
        ({"rate": "hysteresis(slow=0.9, fast=0.8)"}, "slow = 0.9 lies above fast = 0.8; expected slow ≤ fast"),
        ({"rate": "fixed(rate=0)"}, "set the rate 0.0, where a number above 0 was expected"),
        ({"rate": "coin(slow=0, up=0)"}, "set the rate 0.0, where a number above 0 was expected"),
        ({"rate": "fixed(rate=fast)"}, "expected a number"),
        ({"rate": "ondemand(period=0)"}, "ondemand(period=0): expected at least 1"),
        ({"rate": "bsld(slow=0)"}, "bsld(slow=0): expected at least 0.001"),
        ({"rate": "coin(up=1.5)"}, "coin(up=1.5): expected at most 1"),
        ({"rate": "coin(down=2)"}, "coin(down=2): expected at most 1"),
        ({"rate": "ondemand(up=2)"}, "ondemand(up=2): expected at most 1"),
        ({"rate": "bsld(threshold=0.5)"}, "bsld(threshold=0.5): expected at least 1"),
        ({"sleep": "timeout(idle=-1)"}, "timeout(idle=-1): expected at least 0"),
        ({"sleep": "timeout(depth=-1)"}, "timeout(depth=-1): expected at least 0"),
        ({"sleep": "reserve(spare=-1)"}, "reserve(spare=-1): expected at least 0"),
    ],
)
def test_parameters_that_make_no_sense(parts, sentence):
    with pytest.raises(HarnessError, match=re.escape(sentence)) as error:
        replay(JOBS, SLEEPY, **parts)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("parts", "figure"),
    [
        ({"sleep": "timeout"}, "the sleep states of a node"),
        ({"sleep": "reserve"}, "the sleep states of a node"),
        ({"rate": "powercap"}, "the performance states of a node"),
        ({"energy": "spec"}, "the load curve of every node"),
        ({"select": "coolest"}, "the idle power of every node"),
    ],
)
def test_figures_that_the_platform_does_not_give(parts, figure):
    platform = 4 if "select" in parts else PLAIN
    with pytest.raises(HarnessError, match=rf"needs {figure}, which the platform .* lacks"):
        harness.simulate(JOBS, platform, harness.Scheduler(**parts))


# ---------------------------------------------------------------- policies that ask for what cannot be


def sleep_at_work(state):
    harness.put_to_sleep(state, 0)


def sleep_twice(state):
    harness.put_to_sleep(state, 1)
    harness.put_to_sleep(state, 1)


def sleep_too_deep(state):
    harness.put_to_sleep(state, 1, 1)


def sleep_nowhere(state):
    harness.put_to_sleep(state, 2)


def wake_nobody(state):
    harness.wake(state, 7)


def wake_before_the_first(state):
    harness.wake(state, -1)


EXPECTED = "where a node that exists, is awake, holds no job and has such a sleep state was expected"


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (sleep_at_work, f"asked node 0 to sleep at depth 0, {EXPECTED}"),
        (sleep_twice, f"asked node 1 to sleep at depth 0, {EXPECTED}"),
        (sleep_too_deep, f"asked node 1 to sleep at depth 1, {EXPECTED}"),
        (sleep_nowhere, f"asked node 2 to sleep at depth 0, {EXPECTED}"),
        (wake_nobody, "named node 7, where a node out of the 2 of the platform was expected"),
        (wake_before_the_first, "named node -1, where a node out of the 2"),
    ],
)
def test_nodes_that_cannot_sleep_or_wake(policy, sentence, plain):
    name = policy.__name__.replace("_", "-")
    with pytest.raises(PolicyError, match=re.escape(sentence)) as error:
        replay(JOBS, SLEEPY, sleep=harness.Sleep(name, policy), plain=plain)
    assert f"the policy {name!r} (set_sleep), at 0 s" in str(error.value)


def test_a_node_that_is_down_does_not_sleep():
    with pytest.raises(PolicyError, match="asked node 0 to sleep"):
        replay(JOBS, SLEEPY, sleep=harness.Sleep("at-work", sleep_at_work), events=happenings((0, "node-down", 0)))


def at_more_work(state):
    harness.call_at_work(state, harness.work_left(state) + 1.0)
    return 1.0


def at_less_than_none(state):
    harness.call_at_work(state, -1.0)
    return 1.0


def in_the_past(state):
    harness.call_again(state, state.clock.now)
    return 1.0


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (at_more_work, "asked to be called when the work left has fallen to 6.0 s, where at least 0 and less than now"),
        (at_less_than_none, "asked to be called when the work left has fallen to -1.0 s"),
        (in_the_past, "asked to be called again at 0.0 s, where a later time was expected"),
    ],
)
def test_times_that_never_come(policy, sentence, plain):
    with pytest.raises(PolicyError, match=re.escape(sentence)):
        replay(JOBS, SLEEPY, rate=harness.Rate(policy.__name__.replace("_", "-"), policy), plain=plain)


def just_once(state):
    harness.call_at_work(state, 3.0)
    return 1.0


def test_who_is_asked_only_once_is_called_only_once():
    """A policy that is asked at the first instant only wants to hear of a level: time goes on once it is reached."""
    schedule = replay(JOBS, SLEEPY, rate=harness.Rate("just-once", just_once, constant=True))
    assert schedule.timeline["time"].tolist() == [0.0, 1.0, 4.0, 5.0, 6.0]


def shuttle(state):
    """At first start everyone, one after the other, and suspend each at once; then serve them."""
    for job in harness.waiting(state):
        if state.clock.free > 0:
            harness.start(state, job)
        if state.clock.now == 0:
            harness.suspend(state, job)
    if state.clock.now == 0:
        harness.call_again(state, 1.0)


def test_stays_of_no_length_do_not_fill_the_buffers():
    """Twenty thousand are started and suspended in one decision, more than the buffer of placements holds."""
    jobs = workload([(0, 1, 1, 1)] * 20_000)
    schedule = replay(jobs, harness.plain(1), start=harness.Start("shuttle", shuttle, preemptive=True), energy="none")
    assert schedule.frame["preemptions"].sum() == 20_000
    assert schedule.placements["begin"].tolist() == list(range(1, 20_001))
