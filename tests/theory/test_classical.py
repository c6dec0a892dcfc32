"""Textbook queues: against their textbook sums, each other, and the workload recursion."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.theory import delays, erlang_b, erlang_c, little, mean_number, mg1_mean_wait, mmc_mean_wait


@given(st.integers(1, 40), st.fractions(Fraction(1, 100), 50, max_denominator=100))
def test_erlang_b_is_its_textbook_sum(procs, offered):
    terms = [offered**k / factorial(k) for k in range(procs + 1)]
    assert erlang_b(procs, float(offered)) == pytest.approx(float(terms[-1] / sum(terms)), rel=1e-12)


@given(st.integers(1, 40), st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100))
def test_erlang_c_is_its_textbook_sum(procs, load):
    offered = load * procs
    waiting = offered**procs / factorial(procs) / (1 - load)
    not_waiting = sum(offered**k / Fraction(factorial(k)) for k in range(procs))
    assert erlang_c(procs, float(offered)) == pytest.approx(float(waiting / (waiting + not_waiting)), rel=1e-9)


@given(st.floats(0.01, 0.99), st.floats(0.1, 100))
def test_one_exponential_server_has_one_answer(load, mean_service):
    rate = load / mean_service
    textbook = load / (1 - load) * mean_service
    assert mmc_mean_wait(rate, mean_service, 1) == pytest.approx(textbook, rel=1e-9)
    assert mg1_mean_wait(rate, mean_service, mean_service**2) == pytest.approx(textbook, rel=1e-9)
    assert mg1_mean_wait(rate, mean_service, 0) == pytest.approx(textbook / 2, rel=1e-9)


def batch_means(values, batches=50):
    """Mean of a stationary series and its standard error, the series being dependent only within a batch."""
    means = values[: values.size // batches * batches].reshape(batches, -1).mean(axis=1)
    return means.mean(), means.std(ddof=1) / batches**0.5


@pytest.mark.parametrize("procs", [1, 4])
def test_recursion_waits_as_erlang_says(procs):
    random = np.random.default_rng(21)
    n, warm = 400_000, 10_000
    rate, mean_service = 0.8 * procs / 5.0, 5.0
    wait = delays(random.exponential(1 / rate, n), random.exponential(mean_service, n), np.ones(n), procs)
    mean, error = batch_means(wait[warm:])
    assert abs(mean - mmc_mean_wait(rate, mean_service, procs)) < 4 * error


def test_recursion_waits_as_pollaczek_and_khinchine_say():
    random = np.random.default_rng(22)
    n, warm = 400_000, 10_000
    service = random.choice([1.0, 9.0], n)  # mean 5, variance 16
    wait = delays(random.exponential(1 / 0.14, n), service, np.ones(n), 1)
    mean, error = batch_means(wait[warm:])
    assert abs(mean - mg1_mean_wait(0.14, 5.0, 16.0)) < 4 * error


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 100)), min_size=1, max_size=30))
def test_little_holds_exactly_over_a_whole_run(stays):
    enter = np.array([start for start, _ in stays])
    leave = enter + [length for _, length in stays]
    length = leave.max() - enter.min()
    if length:
        counted = mean_number(enter, leave)
        assert counted == pytest.approx(little(len(stays) / length, float((leave - enter).mean())), rel=1e-12)


def test_mean_number_by_hand():
    assert mean_number([0, 1, 10], [4, 3, 10]) == pytest.approx((4 + 2) / 10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mmc_mean_wait(2, 1, 2), "unstable at 100 % of capacity; it has no mean delay"),
        (lambda: mg1_mean_wait(3, 1, 1), "unstable at 300 % of capacity"),
        (lambda: erlang_c(4, 5), "unstable at 125 % of capacity"),
        (lambda: mmc_mean_wait(-1, 1, 2), "arrival rate is -1"),
        (lambda: mmc_mean_wait(1, 1, 0), "procs is 0"),
        (lambda: mg1_mean_wait(0.5, 1, -1), "variance of the service time is -1"),
        (lambda: erlang_b(3, 0), "offered load is 0"),
        (lambda: little(-1, 1), "arrival rate is -1"),
        (lambda: mean_number([1, 5], [2, 4]), "job 1 leaves before it enters"),
        (lambda: mean_number([1], [1]), "length of the run is 0"),
    ],
)
def test_bad_input_is_one_clear_sentence(call, words):
    with pytest.raises(HarnessError, match=words):
        call()
