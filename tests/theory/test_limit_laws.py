"""Limits of other laws than the exponential: integrals, a simulation of the model, the closed form where it holds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from harness.errors import HarnessError
from harness.theory import InfiniteServer
from harness.theory.limit_laws import EXPONENTIAL, limit_law, logged_limits

#: Law → draws so many limits of mean 1.
DRAWN = {
    "exponential": lambda dice, size: dice.exponential(1, size),
    "deterministic": lambda dice, size: np.ones(size),
    "uniform": lambda dice, size: dice.uniform(0, 2, size),
    "erlang(shape=3)": lambda dice, size: dice.gamma(3, 1 / 3, size),
    "lognormal(sigma=1)": lambda dice, size: dice.lognormal(-0.5, 1, size),
}
SPECS = st.sampled_from(list(DRAWN))
WIDTHS = np.array([0.5, 0.2, 0.0, 0.3])


@pytest.mark.parametrize("spec", DRAWN)
def test_a_law_is_one_law(spec: str) -> None:
    """The transform belongs to the survival function: φ(s) = 1 − s ∫ exp(−st) P{Z > t} dt, and the mean is 1."""
    law = limit_law(spec)

    def integral(s: float) -> float:
        cuts = [0.0, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0, 30.0, 1000.0]
        return sum(
            integrate.quad(lambda t: np.exp(-s * t) * float(law.survival(np.array([t]))[0]), low, high)[0]
            for low, high in pairwise(cuts)
        )

    assert integral(0) == pytest.approx(1, rel=1e-4)
    for s in (0.1, 1.0, 4.0):
        assert law.transform(s) == pytest.approx(1 - s * integral(s), rel=1e-6)


def test_the_integral_over_ages_is_the_closed_form_where_there_is_one() -> None:
    closed = InfiniteServer(3.0, 0.7, 0.3, WIDTHS, leave_rate=0.2)
    integrated = replace(closed, law=replace(EXPONENTIAL, name="another"))
    assert integrated.mean == pytest.approx(closed.mean, rel=1e-12)
    assert integrated.variance == pytest.approx(closed.variance, rel=1e-10)
    np.testing.assert_allclose(integrated.distribution(), closed.distribution(), atol=1e-14)
    assert integrated.critical_limit(0.9) == pytest.approx(closed.critical_limit(0.9), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(SPECS, st.floats(0.05, 5), st.floats(0.02, 20), st.sampled_from(["independent", "together"]))
def test_sums_to_one_with_the_mean_that_needs_no_distribution(
    spec: str, rate: float, kill: float, release: str
) -> None:
    model = InfiniteServer(3.0, rate, kill, WIDTHS, release, law=limit_law(spec))  # type: ignore[arg-type]
    p = model.distribution()
    n = np.arange(p.size)
    assert p.sum() == pytest.approx(1, rel=1e-10)
    assert p @ n == pytest.approx(model.mean, rel=1e-5)
    assert p @ (n - model.mean) ** 2 == pytest.approx(model.variance, rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(SPECS, st.floats(0.05, 0.95))
def test_the_critical_limit_gives_the_probability_asked_for(spec: str, probability: float) -> None:
    model = InfiniteServer(1.0, 0.5, 1.0, WIDTHS, law=limit_law(spec))
    limited = replace(model, kill_rate=1 / model.critical_limit(probability))
    assert limited.completion_probability == pytest.approx(probability, rel=1e-6)


@pytest.mark.parametrize("release", ["independent", "together"])
@pytest.mark.parametrize("spec", DRAWN)
def test_a_simulation_of_the_same_model_agrees(spec: str, release: str) -> None:
    """Requests of the last 40 mean times, many times over: all within 4 standard errors of the theory."""
    mean_limit, service = 2.0, 0.7
    model = InfiniteServer(3.0, service, 1 / mean_limit, WIDTHS, release, law=limit_law(spec))  # type: ignore[arg-type]
    dice = np.random.default_rng(5)
    runs, horizon = 10_000, 40.0
    run = np.repeat(np.arange(runs), dice.poisson(model.arrival_rate * horizon, runs))
    age, width = dice.uniform(0, horizon, run.size), dice.choice(4, run.size, p=model.widths) + 1
    totals, whole = np.zeros(runs), np.ones(run.size, dtype=bool)
    parts = 1 if release == "together" else width.max()
    for part in range(parts):
        there = width > part
        work, limit = dice.exponential(1 / service, run.size), mean_limit * DRAWN[spec](dice, run.size)
        busy = there & (np.minimum(work, limit) > age)
        totals += np.bincount(run, weights=busy * (width if parts == 1 else 1), minlength=runs)
        whole &= ~there | (work < limit)
    assert abs(totals.mean() - model.mean) < 4 * (model.variance / runs) ** 0.5
    spread = ((totals - model.mean) ** 2).std() / runs**0.5
    assert abs(totals.var() - model.variance) < 4 * spread
    share = model.completion_probability
    assert abs(whole.mean() - share) < 4 * (share * (1 - share) / run.size) ** 0.5
    at = int(model.mean)
    upto = model.distribution()[: at + 1].sum()
    assert abs((totals <= at).mean() - upto) < 4 * (upto * (1 - upto) / runs) ** 0.5


def test_logged_limits_are_their_own_law() -> None:
    law = logged_limits([3.0, 1.0, -1.0, 0.0, 2.0, 2.0])
    assert law.survival(np.array([0.0, 0.49, 0.51, 1.4, 1.6])).tolist() == [1, 1, 0.75, 0.25, 0]
    assert law.transform(0.7) == pytest.approx(np.mean(np.exp(-0.7 * np.array([0.5, 1.5, 1, 1]))))
    one = logged_limits([5.0])
    assert one.held(0.3, 7.0) == pytest.approx(limit_law("deterministic").held(0.3, 7.0))
    many = logged_limits(stats.expon.ppf((np.arange(20_000) + 0.5) / 20_000))
    assert many.held(0.3, 7.0) == pytest.approx(EXPONENTIAL.held(0.3, 7.0), rel=1e-4)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("normal", "no law of time limits 'normal'"),
        ("determinstic", "did you mean 'deterministic'"),
        ("erlang(shap=2)", "did you mean 'shape'"),
        ("erlang(shape=0)", "erlang.shape=0.: shape is 0; it must be a finite number above zero"),
        ("lognormal(sigma=much)", "expected sigma, a number above 0"),
    ],
)
def test_laws_that_there_are_not(spec: str, words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        limit_law(spec)
