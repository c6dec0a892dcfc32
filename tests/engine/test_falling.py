"""Where scores only fall, who is next is the same as if everybody were scored at every instant."""

from dataclasses import replace

import numpy as np
import pytest
from crowds import crowd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import rows, workload

import harness
from harness.engine.faults import PolicyError
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform, SleepState, plain

STARTS = (
    "none", "greedy", "easy", "easy(reservations=2)", "easy(spare=false)", "easy(backfill_order=spf)",
    "easy(backfill_order=expansion)",
)  # fmt: skip


def both(jobs, platform, order="wfp3", start="easy", second=None, **parts):
    """What is simulated with an order that says falls=True, and without that."""
    found = []
    for falls in (True, False):
        chosen = choose(order=order, start=start, **parts)
        policy = replace(chosen["order"].policy, falls=falls)
        chosen["order"] = replace(chosen["order"], policy=policy)
        outcome = simulate(jobs, platform, chosen)
        assert outcome.notes.falling == falls
        found.append(outcome)
    return found


def assert_same(found):
    for name in ("start", "end", "status"):
        np.testing.assert_array_equal(found[0].jobs[name], found[1].jobs[name])


@pytest.mark.parametrize("order", ["wfp3", "wfp3(power=0.5)", "wfp3(power=0)", "unicef", "expansion"])
@pytest.mark.parametrize("start", STARTS)
def test_long_queues_are_served_as_if_everybody_were_scored(order, start):
    for seed in range(2):
        assert_same(both(crowd(seed, 1200, 9), plain(9), order, start))


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(rows(6, most=14, cancellations=True), st.sampled_from(("wfp3", "unicef", "expansion")), st.sampled_from(STARTS))
def test_short_ones_too(made, order, start):
    assert_same(both(workload(made), plain(6), order, start))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("start", ["none", "easy", "easy(reservations=3)"])
def test_nodes_may_sleep_meanwhile(start):
    nap = SleepState("off", 1.0, down=5.0, up=60.0)
    platform = Platform("sleepy", (NodeType(9, 1, idle=50.0, peak=100.0, sleep=(nap,)),))
    assert_same(both(crowd(1, 600, 9), platform, "wfp3", start, sleep="timeout(idle=30)", energy="cores"))


def walking(state):
    """Who may overtake is asked for anew within the walk through the queue, with more to spare each time."""
    spare = 0
    job = harness.next_waiting(state, -1)
    while job >= 0:
        if harness.fits(state, job):
            harness.start(state, job)
        other = harness.next_overtaker(state, -1, -1, state.clock.virtual + 20.0, spare)
        while other >= 0 and spare < 9:
            spare += 2
            other = harness.next_overtaker(state, -1, other, state.clock.virtual + 20.0, spare)
            if other >= 0 and state.jobs[other].number % 3 == 0:
                harness.start(state, other)
        job = harness.next_waiting(state, job)


def test_walks_within_walks_and_with_more_to_spare_are_the_same():
    for seed in range(3):
        assert_same(
            both(
                crowd(seed, 500, 9),
                plain(9),
                "wfp3",
                harness.Start("walking", walking, reads=("clock.virtual", "job.number")),
            )
        )


def rising(job, clock):
    return float(clock.now - job.submit)


def test_who_says_that_it_falls_and_rises_is_told():
    order = harness.Order("rising", rising, varies=True, falls=True, reads=("clock.now", "job.submit"))
    with pytest.raises(PolicyError, match=r"'rising'.*gave job \d+ the score .* although it says falls=True"):
        simulate(crowd(1, 300, 9), plain(9), choose(order=order, start="easy"))


def test_what_falls_varies():
    with pytest.raises(HarnessError, match="expected varies=True with it"):
        harness.Order("odd", rising, falls=True)


def by_load(job, clock):
    return -(clock.now - job.submit) * clock.free


def told(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "parts",
    [
        {"start": "conservative"},
        {"start": harness.Start("told", told)},
        {"order": harness.Order("by-load", by_load, varies=True, falls=True, reads=("job", "clock"))},
        {"hold": "limits(user_jobs=1)"},
    ],
    ids=["conservative", "sees the queue", "more than the time", "holds"],
)
def test_everybody_is_scored_where_the_order_of_all_is_seen(parts):
    outcome = simulate(crowd(1, 100, 9), plain(9), choose(**({"order": "wfp3", "start": "easy"} | parts)))
    assert outcome.notes.falling == 0


def never_for_some(job, clock):
    return np.inf if job.number % 5 == 0 else -(clock.now - job.submit) / job.estimate


def by_virtual_time(job, clock):
    return -(clock.virtual - job.submit) / job.estimate


def test_who_never_comes_first_is_no_mistake():
    reads = ("clock.now", "job.submit", "job.estimate", "job.number")
    order = harness.Order("late", never_for_some, varies=True, reads=reads)
    assert_same(both(crowd(1, 400, 9), plain(9), order))


@pytest.mark.parametrize(
    "parts",
    [
        {"start": harness.Start("told", told, reads=("queue",))},
        {"order": harness.Order("virtual", by_virtual_time, varies=True, falls=True, reads=("job", "clock.virtual"))},
    ],
    ids=["the same where something binds", "another clock"],
)
def test_nor_is_it_believed_that_nobody_looks(parts):
    outcome = simulate(crowd(1, 100, 9), plain(9), choose(**({"order": "wfp3", "start": "easy"} | parts)))
    assert outcome.notes.falling == 0


def only_when_something_happens(job, clock):
    if clock.now % 300.0 > 0.0:
        raise ValueError("nothing happens then")
    return -(clock.now - job.submit)


def test_an_order_that_fails_at_a_time_ahead_is_told_with_the_time_it_is():
    jobs = workload([(0, 1, 300, 300)] * 30)
    order = harness.Order(
        "strict", only_when_something_happens, varies=True, falls=True, reads=("clock.now", "job.submit")
    )
    with pytest.raises(ValueError, match="nothing happens then") as caught:
        simulate(jobs, plain(1), choose(order=order, start="none"))
    assert caught.value.__notes__[0].endswith(", at 0 s")
