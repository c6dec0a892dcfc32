"""The engine agrees with the slow and obvious simulator, start by start and end by end."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.strategies import rows, seeded_rows, workload
from slow import STARTS
from slow import simulate as slowly
from slow_machine import ORDERS

from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import plain
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler
from harness.workload.events import Events

POLICIES = Plugins().policies
CASES = 40


def quickly(made, procs, order, start, events=(), requeue=True):
    """What `slowly` returns, by the engine."""
    chosen = Scheduler(order=order, start=start, energy="none").choose(POLICIES)
    table = pd.DataFrame(events, columns=["time", "event", "subject"])
    extras = Extras(Events(table, "requeue" if requeue else "kill"))
    outcome = simulate(workload(made), plain(procs), chosen, extras=extras)
    result = [None] * len(made)
    for row, job in zip(outcome.place, outcome.jobs, strict=True):
        result[row] = tuple(None if np.isnan(value) else value for value in (job.start, job.end, job.service))
    return result


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("order", ORDERS)
def test_agrees_with_the_obvious_simulator(order, start):
    first = 1000 * (list(ORDERS).index(order) + 100 * list(STARTS).index(start))
    for seed in range(first, first + CASES):
        made, procs = seeded_rows(seed, cancellations="preempt" not in start, whose=True)
        expected = slowly(made, procs, order, start)
        assert quickly(made, procs, order, start) == expected, f"seed {seed}: {procs} processors, jobs {made}"


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 5), st.sampled_from(list(ORDERS)), st.sampled_from(list(STARTS)))
def test_agrees_on_cases_that_shrink(data, procs, order, start):
    made = data.draw(rows(procs + 1, most=8, cancellations="preempt" not in start, whose=True))
    assert quickly(made, procs, order, start) == slowly(made, procs, order, start)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 4), st.sampled_from(list(ORDERS)), st.sampled_from(list(STARTS)), st.booleans())
def test_agrees_when_nodes_fail_and_jobs_are_interrupted(data, procs, order, start, requeue):
    made = data.draw(rows(procs, most=8, cancellations=True, whose=True))
    node = st.tuples(st.sampled_from(("node-down", "node-up")), st.integers(0, procs - 1))
    job = st.tuples(st.sampled_from(("job-deleted", "job-killed", "job-requeued")), st.integers(1, len(made)))
    drawn = data.draw(st.lists(st.tuples(st.integers(-1, 30), st.one_of(node, node, job)), max_size=8))
    events = [(time, *what) for time, what in drawn]
    expected = slowly(made, procs, order, start, events, requeue)
    assert quickly(made, procs, order, start, events, requeue) == expected


def test_a_suspended_job_has_been_started_and_no_longer_gives_up():
    made = [(0, 1, 5, 5, {"cancel": 3}), (1, 1, 4, 4)]
    assert quickly(made, 1, "lcfs", "preempt") == [(0, 9, 5), (1, 5, 4)]


def test_every_bundled_policy_has_an_obvious_twin():
    assert set(POLICIES["order_queue"]) == {order.split("(")[0] for order in ORDERS}
    assert set(POLICIES["start_jobs"]) == {start.split("(")[0] for start in STARTS}


def test_nobody_is_asked_because_a_node_that_is_up_was_to_come_up():
    """Another job would have become the first by then."""
    made = [(0, 1, 2, 2), (0, 1, 1, 1), (0, 1, 1, 1), (0, 1, 1, 1)]
    events = [(1, "node-up", 0)]
    found = quickly(made, 1, "wfp3", "preempt", events, True)
    assert found == quickly(made, 1, "wfp3", "preempt") == slowly(made, 1, "wfp3", "preempt", events, True)
