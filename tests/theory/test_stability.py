"""The stability constant: exact arithmetic, the paper's own sums, bounds, known values, and the answer."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.theory import (
    constant_by_enumeration,
    constant_by_partitions,
    constant_by_sampling,
    stability_constant,
    stability_of_log,
    stability_of_stream,
    width_distribution,
)
from harness.theory.inner_product import inner_product


@st.composite
def exact_shares(draw, most_procs):
    """A width distribution in fractions, with gaps."""
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=most_procs).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


def exact_constant(shares):
    """C by the power-series logarithm, as obviously as it can be written, in exact arithmetic."""
    s = len(shares)
    p = [Fraction(0), *shares]
    A = [Fraction(0)] * (s + 1)
    for j in range(1, s + 1):
        A[j] = (j * p[j] + sum(p[i] * (j - i) * A[j - i] for i in range(1, j))) / j
    return sum(A[j] * sum(p[s - j + 1 :]) for j in range(1, s + 1))


@given(exact_shares(5))
@settings(max_examples=30)
def test_three_exact_ways_agree(shares):
    by_enumeration = constant_by_enumeration(shares)
    assert by_enumeration == constant_by_partitions(shares) == exact_constant(shares)


@given(exact_shares(16))
@settings(max_examples=50)
def test_the_paper_partitions_agree_exactly(shares):
    assert constant_by_partitions(shares) == exact_constant(shares)


@given(exact_shares(60))
@settings(max_examples=50)
def test_floating_point_keeps_the_digits(shares):
    exact = float(exact_constant(shares))
    assert stability_constant([float(p) for p in shares]) == pytest.approx(exact, rel=1e-13)


def test_floating_point_keeps_the_digits_on_200_servers():
    weights = np.random.default_rng(3).integers(0, 1000, 200).tolist()
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    constant = stability_constant([float(p) for p in shares])
    assert constant == pytest.approx(float(exact_constant(shares)), rel=1e-12)


@given(exact_shares(60), st.integers(0, 40))
def test_lies_within_its_bounds(shares, more_procs):
    """As many fit as if all were the widest or the narrowest; and no more procs are busy than there are."""
    procs = len(shares) + more_procs
    p = [float(share) for share in shares]
    widths = [k for k, share in enumerate(p, start=1) if share]
    mean_width = sum(k * share for k, share in enumerate(p, start=1))
    jobs = 1 / stability_constant(p, procs)
    rounding = 1 + 1e-12
    assert procs // max(widths) <= jobs * rounding
    assert jobs <= procs // min(widths) * rounding
    assert jobs <= procs / mean_width * rounding


@given(exact_shares(30), st.integers(1, 30))
@settings(max_examples=10)
def test_sampling_agrees_within_its_error(shares, more_procs):
    p, procs = [float(share) for share in shares], len(shares) + more_procs
    sampled = constant_by_sampling(p, procs, samples=20_000, seed=1)
    assert abs(sampled.value - stability_constant(p, procs)) <= 5 * sampled.standard_error + 1e-12


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=50))
def test_inner_product_is_the_sum_of_products(pairs):
    left, right = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    obvious = sum(a * b for a, b in pairs)
    assert inner_product(left, right) == pytest.approx(obvious, rel=1e-12, abs=1e-2)


def test_sampling_repeats_itself_with_its_seed():
    assert constant_by_sampling([0.5, 0.5], 2, 1000, seed=4) == constant_by_sampling([0.5, 0.5], 2, 1000, seed=4)


@pytest.mark.parametrize(
    ("widths", "jobs_in_service"),
    [([0.5, 0.5], 8 / 7), ([0.1] * 10, 1.327815), ([0.01] * 100, 1.385306), ([1.0], 1), ([0, 0, 1.0], 1)],
)
def test_known_values(widths, jobs_in_service):
    assert 1 / stability_constant(widths) == pytest.approx(jobs_in_service, abs=5e-7)


@pytest.mark.data
def test_known_value_of_a_real_log(data):
    log = pd.read_csv(data / "hpcwld" / "HPC_KRC.csv")
    answer = stability_of_log(log["interarrival"], log["service"], log["cores_requested"], 80)
    assert answer.jobs_in_service == pytest.approx(5.960560, abs=5e-7)
    assert answer.stable
    assert str(answer) == "stable: 33 % of capacity"


def test_one_job_at_a_time_is_the_single_server_condition():
    answer = stability_of_stream([0, 1], procs=3, arrival_rate=0.2, mean_service=4)
    assert answer.constant == 1
    assert answer.load == pytest.approx(0.8)
    assert answer.max_arrival_rate == pytest.approx(0.25)
    assert answer.critical_factor == pytest.approx(1.25)
    assert answer.utilisation == pytest.approx(0.8 * 2 / 3)
    assert answer.critical_utilisation == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arrival_rate", "words"),
    [
        (0.71, "stable: 71 % of capacity"),
        (1.3, "unstable: 130 % of capacity, the queue grows for ever"),
        (0.99999, "stable: 99.9990 % of capacity"),
        (1.0, "unstable: 100.0000 % of capacity, the queue grows for ever"),
    ],
)
def test_answers_in_words(arrival_rate, words):
    assert str(stability_of_stream([1.0], 1, arrival_rate, 1.0)) == words


def test_jobs_wider_than_the_machine_are_left_out_and_counted():
    answer = stability_of_log([10, 10, 10], [1, 99, 3], [1, 5, 2], procs=2)
    assert answer.unaccepted == 1
    assert answer.arrival_rate == pytest.approx(2 / 30)
    assert answer.mean_service == 2
    assert answer.constant == stability_constant([0.5, 0.5])


def test_one_gap_less_than_jobs_is_as_good():
    """The rate is one by the mean gap, whether the gap after the last job is known or not."""
    services, widths = [4, 6, 8, 2], [1, 2, 1, 1]
    for gaps in ([10, 20, 30], [10, 20, 30, 20]):
        answer = stability_of_log(gaps, services, widths, procs=2)
        assert answer.arrival_rate == pytest.approx(1 / 20)
        assert (answer.mean_service, answer.mean_width, answer.unaccepted) == (5, pytest.approx(1.25), 0)
    with pytest.raises(HarnessError, match="2 interarrival times do not belong to 4 jobs"):
        stability_of_log([10, 20], services, widths, procs=2)


def test_width_distribution_counts_and_covers_the_machine():
    p, unaccepted = width_distribution([1, 1, 3, 9], procs=4)
    np.testing.assert_allclose(p, [2 / 3, 0, 1 / 3, 0])
    assert unaccepted == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stability_constant([0.5, 0.6]), "sums to 1.1; probabilities must sum to 1"),
        (lambda: stability_constant([1.5, -0.5]), "gives width 1 the probability 1.5"),
        (lambda: stability_constant([0.5, np.nan]), "gives width 2 the probability nan"),
        (lambda: stability_constant([]), "must be a list of probabilities"),
        (lambda: stability_constant([1.0], procs=0), "procs is 0"),
        (lambda: stability_constant([1.0], procs=2.5), "procs is 2.5"),
        (lambda: stability_constant([0.5, 0.5], procs=1), "wider than the 1 processors have probability 0.5"),
        (lambda: stability_of_stream([1.0], 1, -1, 1), "arrival rate is -1"),
        (lambda: stability_of_stream([1.0], 1, 1, 0), "mean service time is 0"),
        (lambda: stability_of_log([1, 1, 1], [1], [1], 1), "3 interarrival times do not belong to 1 jobs"),
        (lambda: stability_of_log([0, 0], [1, 1], [1, 1], 1), "mean interarrival time is 0"),
        (lambda: width_distribution([5, 6], 4), "none of the 2 jobs fits on 4 processors"),
        (lambda: constant_by_enumeration([0.1] * 10), "1 to 7 processors, not 10"),
        (lambda: constant_by_partitions([0.5, 0.6]), "sums to 1.1"),
        (lambda: constant_by_sampling([0.5, 0.5], 1), "wider than the 1 processors"),
        (lambda: constant_by_sampling([1.0], 1, samples=1), "samples"),
    ],
)
def test_bad_input_is_one_clear_sentence(call, words):
    with pytest.raises(HarnessError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)
