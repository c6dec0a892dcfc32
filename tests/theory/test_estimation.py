"""Parameters from a log: by hand, with censored jobs, and how often the intervals hold the truth."""

from math import comb, exp, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.theory import estimate_parameters, outcomes
from harness.theory.estimation import rate


def simulated(random, jobs=300, lam=0.5, mu=0.02, nu=0.01, cancelled=0.02):
    """A log of the model, whose users besides cancel at a rate of their own."""
    works, limits, patience = (random.exponential(1 / rate, jobs) for rate in (mu, nu, cancelled))
    runtime = np.minimum(np.minimum(works, limits), patience)
    width = random.choice([1, 4], jobs, p=[0.75, 0.25])
    return random.exponential(1 / lam, jobs), runtime, width, limits == runtime, works == runtime


def test_rates_are_counts_over_exposure():
    found = estimate_parameters(
        [10, 30], [5, 15, 20], [1, 2, 2], killed=[False, True, False], completed=[True, False, False]
    )
    assert found.arrival_rate.value == 2 / 40
    assert found.service_rate.value == found.kill_rate.value == 1 / 40
    assert (found.completed, found.killed, found.censored) == (1, 1, 1)
    assert found.widths["share"].tolist() == pytest.approx([1 / 3, 2 / 3])
    np.testing.assert_allclose(found.model().widths, [1 / 3, 2 / 3])


def test_intervals_hold_the_truth_as_often_as_they_say():
    random = np.random.default_rng(5)
    logs, held = 2000, np.zeros(4)
    for _ in range(logs):
        found = estimate_parameters(*simulated(random))
        rates = (found.arrival_rate, found.service_rate, found.kill_rate)
        held[:3] += [e.low <= truth <= e.high for e, truth in zip(rates, (0.5, 0.02, 0.01), strict=True)]
        wide = found.widths.iloc[-1]
        held[3] += wide["low"] <= 0.25 <= wide["high"]
    # At least 95 % are promised; 93 % is four standard errors of so many logs below that.
    assert (held / logs > 0.93).all()


@pytest.mark.parametrize(
    ("events", "low", "high"),
    [(0, 0, 3.689), (1, 0.0253, 5.572), (2, 0.242, 7.225), (5, 1.623, 11.668), (10, 4.795, 18.390)],
)
def test_intervals_of_rates_are_garwoods(events, low, high):
    """Garwood (1936): the 95 % limits of a Poisson count, as tables print them; here of 40 seconds."""
    found = rate(events, 40.0)
    assert found.value == events / 40
    assert (40 * found.low, 40 * found.high) == pytest.approx((low, high), abs=6e-4)


@given(st.integers(0, 30), st.floats(0.5, 0.99))
def test_beyond_the_ends_of_an_interval_of_a_rate_the_count_is_improbable(events, confidence):
    def at_most(count, mean):
        return sum(exp(-mean) * mean**k / factorial(k) for k in range(count + 1))

    found, tail = rate(events, 1.0, confidence), (1 - confidence) / 2
    assert at_most(events, found.high) == pytest.approx(tail)
    assert found.low == 0 if events == 0 else 1 - at_most(events - 1, found.low) == pytest.approx(tail)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=25), st.floats(0.5, 0.99))
def test_beyond_the_ends_of_an_interval_of_a_share_the_count_is_improbable(widths, confidence):
    n, tail = len(widths), (1 - confidence) / 2
    found = estimate_parameters([1.0], [1.0] * n, widths, [False] * n, confidence=confidence).widths

    def at_most(count, share):
        return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(count + 1))

    assert found["width"].tolist() == sorted(set(widths))
    for row in found.itertuples():
        assert row.jobs == widths.count(row.width) == pytest.approx(row.share * n)
        assert row.high == 1 if row.jobs == n else at_most(row.jobs, row.high) == pytest.approx(tail)
        assert 1 - at_most(row.jobs - 1, row.low) == pytest.approx(tail)


def test_taking_censored_jobs_for_completed_ones_would_be_wrong():
    interarrival, runtime, width, killed, completed = simulated(np.random.default_rng(6), jobs=20_000)
    honest = estimate_parameters(interarrival, runtime, width, killed, completed)
    assert honest.service_rate.value == pytest.approx(0.02, rel=0.05)
    assert 1 / runtime[completed].mean() > 2 * 0.02  # the mean of completed runtimes is of short jobs


def test_without_a_killed_job_the_kill_rate_may_still_be_above_zero():
    found = estimate_parameters([1, 1], [10, 10], [1, 1], killed=[False, False])
    assert found.kill_rate.value == found.kill_rate.low == 0
    assert found.kill_rate.high == pytest.approx(-np.log(0.025) / 20)
    assert found.widths[["share", "high"]].to_numpy().tolist() == [[1.0, 1.0]]
    assert found.model("together").completion_probability == 1


def test_outcomes_of_a_log():
    killed, completed = outcomes([5, 10, 10, 3, 3, 7], [10, 10, -1, 10, 10, 10], [1, 0, 1, 5, 0, -1])
    assert killed.tolist() == [False, True, False, False, False, False]
    assert completed.tolist() == [True, False, True, False, False, True]
    killed, completed = outcomes([5, 10], [10, 10])
    assert completed.tolist() == [True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1], [1], [1], [True]), "none of the 1 jobs completed"),
        (([1], [1], [1], [True], [True]), "job 0 is marked both"),
        (([1], [0], [1], [False]), "total runtime is 0"),
        (([0], [1], [1], [False]), "total time between arrivals is 0"),
        (([1], [1, 2], [1], [False]), "different numbers of jobs"),
        (([1], [1], [1], [False], None, 95), "confidence is 95"),
        (([1], [-1], [1], [False]), "runtime of job 0 is -1"),
    ],
)
def test_bad_input_is_one_clear_sentence(arguments, words):
    with pytest.raises(HarnessError, match=words):
        estimate_parameters(*arguments)
