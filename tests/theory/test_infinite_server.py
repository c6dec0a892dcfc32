"""Busy processors without a queue: balance equations, known laws, closed forms, a simulation of the model."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.cli.infinite_server_command import draw_completion
from harness.errors import HarnessError
from harness.theory import (
    InfiniteServer,
    completion_curve,
    completion_curves,
    negative_binomial_case,
    poisson_case,
)

RATES = st.floats(0.05, 20)
RELEASES = st.sampled_from(["independent", "together"])


@st.composite
def models(draw):
    weights = np.array(draw(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)))
    return InfiniteServer(draw(RATES), draw(RATES), draw(st.just(0.0) | RATES), weights / weights.sum(), draw(RELEASES))


@given(models())
def test_sums_to_one_with_the_mean_and_variance_of_the_closed_forms(model):
    p = model.distribution()
    n = np.arange(p.size)
    assert p.sum() == pytest.approx(1, rel=1e-11)
    assert p @ n == pytest.approx(model.mean, rel=1e-10)
    assert p @ (n - model.mean) ** 2 == pytest.approx(model.variance, rel=1e-9)


@given(models())
def test_solves_the_balance_equations_of_the_paper(model):
    """(12), for processors that end independently: what flows into n busy processors flows out of them."""
    model = InfiniteServer(model.arrival_rate, model.service_rate, model.kill_rate, model.widths)
    lam, end = model.arrival_rate, model.service_rate + model.kill_rate
    p = model.distribution()
    for n in range(min(p.size - 1, 40)):
        arriving = sum(lam * alpha * p[n - k] for k, alpha in enumerate(model.widths, start=1) if k <= n)
        flow_in = arriving + end * (n + 1) * p[n + 1]
        assert flow_in == pytest.approx((lam + end * n) * p[n], rel=1e-10)


@given(models())
def test_requests_that_end_together_are_a_sum_of_poisson_numbers(model):
    model = InfiniteServer(model.arrival_rate, model.service_rate, model.kill_rate, model.widths, "together")
    p = model.distribution()
    obvious = np.ones(1)
    for k, alpha in enumerate(model.widths, start=1):
        requests = stats.poisson(model.offered * alpha).pmf(np.arange(p.size // k + 1))
        spread = np.zeros(p.size + k)
        spread[: requests.size * k : k] = requests
        obvious = np.convolve(obvious, spread)[: p.size]
    np.testing.assert_allclose(p, obvious, rtol=1e-9, atol=1e-14)


@given(RATES, RATES, RATES, RELEASES)
def test_one_processor_a_request_is_poisson(arrival_rate, service_rate, kill_rate, release):
    p = InfiniteServer(arrival_rate, service_rate, kill_rate, [1.0], release).distribution()
    known = poisson_case(arrival_rate, service_rate, kill_rate).pmf(np.arange(p.size))
    np.testing.assert_allclose(p, known, rtol=1e-9, atol=1e-15)


@given(RATES, RATES, RATES, st.floats(0.05, 0.9))
def test_geometric_widths_are_negative_binomial(arrival_rate, service_rate, kill_rate, alpha):
    k = np.arange(1, int(np.log(1e-18) / np.log(alpha)) + 2)
    widths = (1 - alpha) * alpha ** (k - 1)
    p = InfiniteServer(arrival_rate, service_rate, kill_rate, widths / widths.sum()).distribution()
    known = negative_binomial_case(arrival_rate, service_rate, kill_rate, alpha).pmf(np.arange(p.size))
    np.testing.assert_allclose(p, known, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("release", ["independent", "together"])
def test_probability_of_nobody_may_be_too_small_to_write(release):
    """exp(−20 000) is no floating-point number, but the law around its mean is unharmed."""
    model = InfiniteServer(20_000.0, 1.0, 0.0, np.full(50, 0.02), release)
    p = model.distribution()
    assert p[0] == 0
    assert p.sum() == pytest.approx(1, rel=1e-10)
    assert p @ np.arange(p.size) == pytest.approx(model.mean, rel=1e-10)


@pytest.mark.parametrize("release", ["independent", "together"])
def test_simulation_of_the_same_model_agrees(release):
    """Requests of the last 30 mean times, many times over: all within 4 standard errors of the theory."""
    model = InfiniteServer(3.0, 0.7, 0.3, [0.5, 0.2, 0.0, 0.3], release)
    random = np.random.default_rng(11)
    runs, horizon = 20_000, 30.0
    run = np.repeat(np.arange(runs), random.poisson(model.arrival_rate * horizon, runs))
    age = random.uniform(0, horizon, run.size)
    width = random.choice(4, run.size, p=model.widths) + 1
    still_busy = np.exp(-age)  # μ + ν = 1
    if release == "together":
        busy = width * (random.random(run.size) < still_busy)
    else:
        busy = random.binomial(width, still_busy)
    totals = np.bincount(run, weights=busy, minlength=runs)
    standard_error = (model.variance / runs) ** 0.5
    assert abs(totals.mean() - model.mean) < 4 * standard_error
    spread = ((totals - model.mean) ** 2).std() / runs**0.5
    assert abs(totals.var() - model.variance) < 4 * spread
    parts = np.where(release == "together", 1, width)
    completed = random.binomial(parts, 0.7) == parts
    share = model.completion_probability
    assert abs(completed.mean() - share) < 4 * (share * (1 - share) / run.size) ** 0.5


@given(models(), st.floats(0.01, 0.99))
def test_critical_limit_gives_the_probability_asked_for(model, probability):
    limit = model.critical_limit(probability)
    limited = InfiniteServer(model.arrival_rate, model.service_rate, 1 / limit, model.widths, model.release)
    assert limited.completion_probability == pytest.approx(probability, rel=1e-9)


def test_critical_limit_of_one_processor_is_the_formula_of_the_paper():
    assert InfiniteServer(1, 0.25, 1, [1.0]).critical_limit(0.9) == pytest.approx(4 * 0.9 / 0.1)


def test_procs_needed_is_the_least_that_are_enough():
    model = InfiniteServer(3.0, 1.0, 0.0, [1.0])
    known = poisson_case(3.0, 1.0, 0.0)
    for probability in (0.1, 0.5, 0.95, 0.999):
        assert model.procs_needed(probability) == known.ppf(probability)


def test_curves_are_those_of_the_figures():
    curves = completion_curves()
    assert list(curves) == ["k = 1", "k = 3", "k = 5"]
    assert curves.loc[1.0].tolist() == pytest.approx([1 / 2, 1 / 8, 1 / 32])
    assert curves.loc[0.0].tolist() == [0, 0, 0]
    assert (curves.diff().iloc[1:] > 0).all(axis=None)
    np.testing.assert_allclose(completion_curve([3.0], width=2, mean_service=3.0), [0.25])
    few = completion_curves([2], mean_service=4.0, longest=3.0, points=4)
    assert few.index.tolist() == [0, 4, 8, 12]
    assert few["k = 2"].tolist() == pytest.approx([0, 1 / 4, 4 / 9, 9 / 16])
    assert (curves.index[-1], len(curves)) == (10, 201)


def test_picture_is_one_page_that_needs_nothing_else(tmp_path):
    pytest.importorskip("plotly")
    draw_completion(completion_curves(), tmp_path / "figure4.html")
    page = (tmp_path / "figure4.html").read_text(encoding="utf-8")
    assert "k = 5" in page
    assert "<script src=" not in page


def test_picture_that_cannot_be_written_says_where(tmp_path):
    pytest.importorskip("plotly")
    with pytest.raises(HarnessError, match=r"nowhere.*cannot be written"):
        draw_completion(completion_curves(), tmp_path / "nowhere" / "figure4.html")


def test_picture_without_plotly_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.subplots", None)
    with pytest.raises(HarnessError, match=r"pip install 'sched-harness\[report\]'"):
        draw_completion(completion_curves(), tmp_path / "figure4.html")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: InfiniteServer(-1, 1, 1, [1.0]), "arrival rate is -1"),
        (lambda: InfiniteServer(1, 0, 1, [1.0]), "service rate is 0"),
        (lambda: InfiniteServer(1, 1, -1, [1.0]), "kill rate is -1"),
        (lambda: InfiniteServer(1, np.inf, 1, [1.0]), "service rate is inf"),
        (lambda: InfiniteServer(1, 1, 1, [0.4, 0.4]), "sums to 0.8"),
        (lambda: InfiniteServer(1, 1, 1, [1.0], "togehter"), "did you mean 'together'"),
        (lambda: InfiniteServer(1, 1, 1, [1.0]).critical_limit(1.0), "strictly between 0 and 1"),
        (lambda: InfiniteServer(1, 1, 1, [1.0]).procs_needed(1.5), "strictly between 0 and 1"),
        (lambda: negative_binomial_case(1, 1, 1, 1.0), "alpha is 1"),
        (lambda: poisson_case(1, -1, 1), "service rate is -1"),
        (lambda: completion_curve([-1.0], 1), "below zero"),
        (lambda: completion_curve([1.0], 0), "width is 0"),
    ],
)
def test_bad_input_is_one_clear_sentence(call, words):
    with pytest.raises(HarnessError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)
