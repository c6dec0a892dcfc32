"""Conservative backfilling and EASY where nodes sleep: promises are kept, and nobody waits in vain."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import choose, in_log_order
from shared.strategies import rows, workload
from sleeping_platforms import machine, sleepers
from slow_waking import STARTS
from slow_waking import simulate as slowly

import harness
from harness.engine.simulate import simulate
from harness.testing.subject import add_recorders

both_ways = pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "plain"])


def quickly(jobs, nodes, order, idle, down, up, *, start="conservative", by_python=False):
    """(start, service begins) of each job."""
    chosen = choose(order=order, start=start, sleep=f"timeout(idle={idle})", energy="cores")
    outcome = simulate(workload(jobs), machine(nodes, down, up), chosen, plain=by_python)
    starts, boots = in_log_order(outcome, "start"), in_log_order(outcome, "boot")
    return [(None, None) if np.isnan(s) else (s, s + b) for s, b in zip(starts, boots, strict=True)]


CASES = (
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from((0, 1, 4)),
    st.sampled_from((0, 2)),
    st.sampled_from((1, 3, 10)),
)


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), *CASES)
def test_agrees_with_the_obvious_simulator(data, nodes, order, idle, down, up):
    made = data.draw(rows(sum(nodes), most=10, cancellations=True))
    found, first = slowly(made, nodes, order, idle, down, up)
    assert quickly(made, nodes, order, idle, down, up) == found
    assert all(start is None or start <= promised for (start, _), promised in zip(found, first, strict=True))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(sleepers(), st.sampled_from(("fcfs", "spf", "lcfs")), st.sampled_from(list(STARTS)))
def test_agrees_where_waking_matters_often(case, order, start):
    made, nodes, *times = case
    assert quickly(made, nodes, order, *times, start=start) == slowly(made, nodes, order, *times, start)[0]


EASY = [start for start in STARTS if start.startswith("easy")]


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), *CASES, st.sampled_from(EASY))
def test_easy_agrees_with_the_obvious_simulator(data, nodes, order, idle, down, up, start):
    made = data.draw(rows(sum(nodes), most=10, cancellations=True))
    found, _ = slowly(made, nodes, order, idle, down, up, start)
    assert quickly(made, nodes, order, idle, down, up, start=start) == found


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(sleepers(), st.sampled_from(EASY))
def test_easy_never_delays_the_first_reservation(case, start):
    """In order of submission, where nobody comes before who is first: the promise only moves forward, and is kept.

    Service begins later by what any node takes to wake at most.
    """
    made, nodes, idle, down, up = case
    chosen = choose(start=start, sleep=f"timeout(idle={idle})", energy="cores")
    promised = {}

    def after(answer, state, *own):
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                at, _ = harness.reservation(state, index)
                assert at <= promised.get(int(job.number), np.inf)
                promised[int(job.number)] = at
                return

    add_recorders(chosen, "start", after=after)
    outcome = simulate(workload(made), machine(nodes, down, up), chosen, plain=True)
    starts, boots = in_log_order(outcome, "start"), in_log_order(outcome, "boot")
    for number, at in promised.items():
        assert np.isnan(starts[number - 1]) or starts[number - 1] <= at
        assert np.isnan(starts[number - 1]) or starts[number - 1] + boots[number - 1] <= at + down + up


AWAKE, ASLEEP = 100, 0  # after how many seconds without a job a node falls asleep

#: The second job waits for both nodes; the third would be done by then if it began at once.
THREE = [(0, 1, 20, 20), (1, 2, 5, 5), (2, 1, 18, 18)]


@both_ways
def test_who_would_wake_a_node_delays_nobody(by_python):
    """The other node takes 10 s to wake, with which the third job would run into what the second was promised."""
    found = quickly(THREE, [1, 1], "fcfs", ASLEEP, 0, 10, by_python=by_python)
    assert found == [(0, 0), (20, 30), (35, 35)]


@pytest.mark.parametrize("start", EASY)
@both_ways
def test_nor_under_easy(by_python, start):
    found = quickly(THREE, [1, 1], "fcfs", ASLEEP, 0, 10, start=start, by_python=by_python)
    assert found == [(0, 0), (20, 30), (35, 35)]
    found = quickly(THREE, [1, 1], "fcfs", AWAKE, 0, 10, start=start, by_python=by_python)
    assert found == [(0, 0), (20, 20), (2, 2)]


@both_ways
def test_nobody_waits_beside_an_awake_node_that_would_do(by_python):
    assert quickly(THREE, [1, 1], "fcfs", AWAKE, 0, 10, by_python=by_python) == [(0, 0), (20, 20), (2, 2)]


@both_ways
def test_what_no_node_needed_to_wake_is_given_back(by_python):
    """The second job is promised 10 and gets nodes that are awake: the third, promised 25, begins when it ends."""
    jobs = [(0, 2, 10, 10), (1, 2, 5, 5), (1, 2, 5, 5)]
    assert quickly(jobs, [1, 1], "fcfs", AWAKE, 0, 10, by_python=by_python) == [(0, 0), (10, 10), (15, 15)]


def test_where_no_node_sleeps_it_is_the_usual_policy():
    chosen = choose(start="conservative", sleep="never", energy="cores")
    found = simulate(workload(THREE), machine([1, 1], 0, 10), chosen)
    assert list(found.jobs.start) == [0, 20, 2]


def test_planned_anew_every_time_it_leaves_time_to_wake_too():
    found = quickly(THREE, [1, 1], "fcfs", ASLEEP, 0, 10, start="conservative(replan=true)")
    assert found == [(0, 0), (20, 30), (35, 35)]
