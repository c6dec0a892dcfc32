"""Where no policy could tell when a node falls asleep, that is worked out when it is needed; nothing else differs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay import cases
from shared.running import choose
from shared.strategies import workload

import harness
from harness import NodeType, Platform, SleepState
from harness.engine import prepare_run
from harness.engine import simulate as engine
from harness.engine.policy_analysis import falls_unseen
from harness.engine.setup import Extras
from harness.errors import HarnessError

#: Of what differs by rounding: sums over instants are made of fewer pieces.
SUMS = ("jobs", "queued", "busy", "work", "potential", "effective", "wasted")
ENERGIES = ("energy", "idle_energy", "sleep_energy", "transition_energy", "asleep", "share")


def run(jobs, platform, monkeypatch, unseen, *, seed=0, events=None, **parts):
    """What the engine leaves behind."""
    if not unseen:
        monkeypatch.setattr(prepare_run, "falls_unseen", lambda chosen: False)
    outcome = engine.simulate(jobs, platform, choose(**parts), seed=seed, extras=Extras(events))
    monkeypatch.undo()
    return outcome


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(case=cases(happen=True, sleep=True))
def test_nothing_but_the_instants_differs(case, monkeypatch):
    jobs, platform, rest = case
    unseen, seen = (run(jobs, platform, monkeypatch, one, **rest) for one in (True, False))
    # In the last instant nodes may still be put to sleep: of that nobody draws anything.
    for field in ("start", "end", "status", "boot", "nodes", "energy", "restarts"):
        np.testing.assert_allclose(unseen.jobs[field], seen.jobs[field], rtol=1e-9, atol=1e-9)
    for field in ENERGIES:
        np.testing.assert_allclose(unseen.nodes[field], seen.nodes[field], rtol=1e-9, atol=1e-6)
    for field in SUMS:
        assert unseen.sums[field] == pytest.approx(seen.sums[field], rel=1e-9, abs=1e-9)
    assert unseen.clock.instants == seen.clock.instants  # as often as before somebody is asked


def test_a_nap_by_hand(monkeypatch):
    """The node falls asleep from 12 to 15, sleeps until 40, wakes until 47: joules of each by hand."""
    nap = SleepState("off", 10.0, down=3, up=7, down_energy=90, up_energy=350)
    platform = Platform("one", (NodeType(1, 1, idle=50.0, peak=100.0, sleep=(nap,)),))
    jobs = workload([(0, 1, 2, 2), (40, 1, 1, 1)])
    parts = {"sleep": "timeout(idle=10)", "energy": "cores"}
    unseen, seen = (run(jobs, platform, monkeypatch, one, **parts) for one in (True, False))
    for outcome in (unseen, seen):
        node = outcome.nodes[0]
        assert (node.sleep_energy, node.transition_energy, node.idle_energy) == (250.0, 440.0, 500.0)


def looks(state):
    """Look how many nodes sleep."""
    count = 0
    for node in state.nodes:
        count += node.status == harness.ASLEEP


def mixed(state):
    """Leave it to the engine, but for one node."""
    harness.sleep_when_idle(state, 5.0)
    harness.wake(state, 0)


@pytest.mark.parametrize(
    ("parts", "unseen"),
    [
        ({}, True),
        ({"sleep": "timeout"}, True),
        ({"sleep": harness.Sleep("mixed", mixed)}, False),
        ({"sleep": "reserve"}, False),
        ({"select": "best-fit"}, True),
        ({"select": "soonest"}, False),
        ({"select": "coolest"}, False),
        ({"rate": harness.Rate("looks", lambda state: 1.0 + 0.0 * state.clock.transition)}, False),
        ({"rate": harness.Rate("looks", lambda state: float(looks(state) is None))}, False),
        ({"energy": harness.Energy("by-hour", lambda node, clock: harness.hour(clock))}, False),
        ({"select": harness.Select("python", lambda state, job: True, compiled=False)}, False),
    ],
)
def test_who_could_tell(parts, unseen):
    assert falls_unseen(choose(**parts)) is unseen


# ---------------------------------------------------------------- idle nodes sleep


def by_looking(state, idle, depth):
    """Put every node to sleep that has held no job for so long, and ask to be called when the next one has."""
    soonest = harness.INFINITY
    for k, node in enumerate(state.nodes):
        if node.status == harness.AWAKE and node.free == node.cores and node.depths > 0:
            if node.vacant + idle <= state.clock.now:
                harness.put_to_sleep(state, k, min(depth, node.depths - 1))
            else:
                soonest = min(soonest, node.vacant + idle)
    if soonest < harness.INFINITY:
        harness.call_again(state, soonest)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(case=cases(happen=True, sleep=True), idle=st.sampled_from((0.0, 1.0, 4.0)), depth=st.integers(0, 2))
def test_idle_nodes_sleep_as_if_somebody_looked(case, idle, depth):
    """Who looks is asked at further instants: so with orders that do not change with time."""
    jobs, platform, rest = case
    if rest["order"] == "wfp3" or rest["rate"] != "full":
        rest |= {"order": "fcfs", "rate": "full"}
    looked = harness.Sleep("looked", lambda state: by_looking(state, idle, depth), compiled=False)
    slow, quick = (
        engine.simulate(jobs, platform, choose(**{**parts, "sleep": sleep}), seed=rest["seed"], extras=extras)
        for sleep in (looked, f"timeout(idle={idle}, depth={depth})")
        for parts in [{k: v for k, v in rest.items() if k not in ("seed", "events")}]
        for extras in [Extras(rest["events"])]
    )
    for field in ("start", "end", "boot", "energy"):
        np.testing.assert_allclose(quick.jobs[field], slow.jobs[field], rtol=1e-9, atol=1e-9)
    for field in ENERGIES:
        np.testing.assert_allclose(quick.nodes[field], slow.nodes[field], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(("idle", "depth", "number"), [(-1.0, 0, "-1.0"), (float("nan"), 0, "nan"), (1.0, -1, "-1.0")])
def test_what_cannot_be_an_order_is_refused(idle, depth, number):
    order = harness.Sleep("odd", lambda state: harness.sleep_when_idle(state, idle, depth), compiled=False)
    with pytest.raises(HarnessError, match=f"idle nodes sleep with the number {number}, where a time"):
        engine.simulate(workload([(0, 1, 1, 1)]), harness.plain(1), choose(sleep=order))


def test_an_order_can_be_changed_and_taken_back(monkeypatch):
    """Nodes sleep after 5 seconds; from 30 on after 2; from 60 on none does."""
    nap = SleepState("off", 10.0, down=0, up=0, down_energy=0, up_energy=0)
    platform = Platform("one", (NodeType(1, 1, idle=50.0, peak=100.0, sleep=(nap,)),))
    jobs = workload([(0, 1, 1, 1), (30, 1, 1, 1), (60, 1, 1, 1), (90, 1, 1, 1)])

    def in_turn(state):
        now = state.clock.now
        harness.sleep_when_idle(state, 5.0 if now < 30.0 else 2.0 if now < 60.0 else harness.INFINITY)

    sleep = harness.Sleep("in-turn", in_turn)
    for unseen in (True, False):
        outcome = run(jobs, platform, monkeypatch, unseen, sleep=sleep, energy="cores")
        assert outcome.nodes.asleep[0] == (30 - 6) + (60 - 33)
