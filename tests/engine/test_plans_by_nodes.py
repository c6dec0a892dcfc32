"""Plans name processors where memory and partitions bind: promises are kept, and nobody waits beside what is no use."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import choose, in_log_order
from shared.strategies import rows, workload
from slow_nodes import STARTS
from slow_nodes import simulate as slowly

import harness
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform

NEVER = float("inf")
both_ways = pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "plain"])


def machine(nodes):
    """The platform of (cores, memory, partition), all processors equally fast."""
    return Platform("bound", tuple(NodeType(1, c, float(c), memory, partition=p) for c, memory, p in nodes))


def starts(jobs, nodes, *, by_python=False, **parts):
    """When each job started; None where it never did."""
    outcome = simulate(workload(jobs), machine(nodes), choose(**parts), plain=by_python)
    return [None if np.isnan(start) else start for start in in_log_order(outcome, "start")]


NODES = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from((NEVER, 3.0, 5.0, 8.0)), st.integers(0, 1)), min_size=1, max_size=4
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), NODES, st.sampled_from(("fcfs", "spf", "lcfs")), st.sampled_from(list(STARTS)))
def test_agrees_with_the_obvious_simulator(data, nodes, order, start):
    nodes = [(cores, memory, p if k else 0) for k, (cores, memory, p) in enumerate(nodes)]
    procs = sum(cores for cores, _, _ in nodes)
    partitions = len({p for _, _, p in nodes})
    made = data.draw(rows(procs, most=12, memory=True, partitions=partitions, cancellations=True))
    # Where nothing binds the promises name no processors, and the processors are all there is.
    made[0][4]["memory"] = 1.0
    nodes[0] = (nodes[0][0], 8.0, 0)
    assert starts(made, nodes, order=order, start=start) == slowly(made, nodes, order, start)


@both_ways
@pytest.mark.parametrize("memory", [NEVER, 3.0, 8.0], ids=["nothing binds", "memory binds", "memory may bind"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(made=rows(6, memory=True, cancellations=True), start=st.sampled_from(list(STARTS)))
def test_partitions_of_jobs_bind_nobody_on_a_machine_in_one_piece(made, start, memory, by_python):
    nodes = [(3, memory, 1), (3, memory, 1)]
    elsewhere = [(*row, more | {"partition": k % 3}) for k, (*row, more) in enumerate(made)]
    assert starts(elsewhere, nodes, start=start, by_python=by_python) == starts(made, nodes, start=start)


TWO = [(3, NEVER, 0), (3, NEVER, 1)]


@both_ways
@pytest.mark.parametrize("start", ["easy", "easy(reservations=2)", "conservative"])
def test_nobody_waits_beside_processors_that_the_head_cannot_use(start, by_python):
    """The second job waits for all of partition 1; the third, of no partition, has three processors of partition 0."""
    jobs = [(0, 1, 9, 9, {"partition": 1}), (1, 3, 9, 9, {"partition": 1}), (1, 3, 50, 50)]
    assert starts(jobs, TWO, start=start, by_python=by_python) == [0, 9, 1]


@both_ways
@pytest.mark.parametrize("select", ["first-fit", "best-fit", "worst-fit", "random", "fastest"])
@pytest.mark.parametrize("start", ["easy", "conservative"])
def test_who_is_let_in_leaves_the_memory_that_is_promised(start, select, by_python):
    """From 9 on the second job needs all the memory of the first node: the third runs past that on the second node
    only, wherever the selection would rather put it, and the fourth, which ends by then, where it wants."""
    nodes = [(4, 8.0, 0), (2, 2.0, 0)]
    jobs = [(0, 3, 9, 9, {"memory": 2.0}), (1, 4, 9, 9, {"memory": 2.0}), (1, 1, 50, 50), (1, 1, 8, 8)]
    jobs[2] = (*jobs[2], {"memory": 1.0})
    found = starts(jobs, nodes, start=start, select=select, by_python=by_python)
    assert found[1] == 9
    if start == "easy":
        assert found == [0, 9, 1, 1]


def test_a_function_for_moldable_jobs_takes_the_same_parameters():
    with pytest.raises(harness.HarnessError, match="should have the arguments of its function"):
        harness.Start("odd", lambda state, most=1: None, molding=lambda state, least=1: None)


@pytest.mark.data
def test_where_memory_binds_conservative_is_about_as_good_as_easy_on_a_real_log():
    """It once was ten times as bad: it planned by numbers of processors."""
    jobs = harness.prepare(harness.read_workload("RICC"), jobs=100, estimates="actual")
    platform = harness.read_platform("peas-table2")
    waits = {
        start: harness.simulate(jobs, platform, harness.Scheduler(start=start)).measures()["mean_wait"]
        for start in ("none", "easy", "conservative")
    }
    assert waits["conservative"] < 1.1 * waits["easy"] < 0.3 * waits["none"]


@both_ways
def test_nobody_waits_on_an_empty_machine(by_python):
    """The second begins before its time, because the first ended early; when it ends in time the third is not promised
    anything yet, and begins."""
    jobs = [(1, 3, 6, 9, {"memory": 1.0}), (1, 3, 5, 5), (2, 3, 8, 8)]
    assert starts(jobs, [(1, 8.0, 0)] * 4, start="conservative", by_python=by_python) == [1, 7, 12]
