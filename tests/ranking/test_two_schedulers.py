"""Two schedulers on one log: numbers that are there, and no ratio to nothing."""

import math

import harness
from harness.ranking.two_schedulers import compare_two

SCHEDULERS = harness.Scheduler("fcfs", "none"), harness.Scheduler("fcfs", "easy")


def lines(procs):
    workload = harness.prepare(harness.lublin(jobs=120, procs=64, seed=4))
    found = compare_two(workload, procs, SCHEDULERS)
    return {line.measure.name: line for line in found.lines}


def test_a_ratio_is_that_of_the_numbers_beside_it_on_a_single_stream():
    for name, line in lines(64).items():
        if line.one > 0 and line.other > 0:
            assert math.isclose(line.ratio, line.other / line.one, rel_tol=1e-9), name


def test_nothing_has_a_ratio_to_nothing():
    """On a machine without end nobody waits."""
    found = lines(64_000)["mean_wait"]
    assert (found.one, found.other) == (0, 0)
    assert math.isnan(found.ratio)
    assert found.verdict == ""
