"""The speeds the theory promises; the best of a few runs, so that a busy machine does not decide."""

from time import perf_counter

import numpy as np
import pytest

from harness.theory import delays, stability_constant


def seconds(call, runs):
    best = np.inf
    for _ in range(runs):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best


@pytest.mark.parametrize(("servers", "bound", "runs"), [(5_000, 0.05, 5), (100_000, 10, 1)])
def test_stability_constant(servers, bound, runs):
    p = np.full(servers, 1 / servers)
    assert seconds(lambda: stability_constant(p), runs) < bound


@pytest.mark.parametrize(("servers", "bound", "runs"), [(80, 1, 2), (1_000, 10, 1)])
def test_delays_of_a_million_customers(servers, bound, runs):
    random = np.random.default_rng(1)
    width = random.integers(1, servers + 1, 10**6)
    interarrival, service = random.exponential(1.0, 10**6), random.exponential(1.2, 10**6)
    assert seconds(lambda: delays(interarrival, service, width, servers), runs) < bound
