"""Tests and intervals are what the slow way gives; the front is the obvious one."""

import itertools

import fields
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_1samp

from harness.ranking import inference
from harness.ranking.ranking import rank
from harness.results.charts import pareto

#: Ties are the rule; all are sums of powers of two, so that flipped sums are equal or clearly not.
RATIOS = st.integers(2, 7).flatmap(
    lambda units: st.integers(1, 4).flatmap(
        lambda pairs: arrays(float, (units, pairs), elements=st.sampled_from((-2.0, -0.5, 0.0, 0.25, 1.0)))
    )
)


def t_of(columns):
    """Student's t of each column, without sign; nothing of one that is zero throughout."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return [0.0 if not own.any() else abs(own.mean()) / (own.std(ddof=1) or 1e-300) for own in columns.T]


@settings(max_examples=60)
@given(RATIOS)
def test_p_values_against_a_slow_twin(differences):
    """Every way to flip the signs of rows, and the largest t of all columns in each."""
    ways = [np.array(signs)[:, None] for signs in itertools.product((1, -1), repeat=len(differences))]
    largest = [max(t_of(signs * differences)) for signs in ways]
    expected = [np.mean([chance >= t * (1 - 1e-7) for chance in largest]) for t in t_of(differences)]
    assert inference.infer(differences, 0).p_values == pytest.approx(expected)


@settings(max_examples=60)
@given(RATIOS)
def test_intervals_leave_out_exactly_what_is_significant(differences):
    found = inference.infer(differences, 0)
    assert ((found.half < np.abs(found.means)) <= (found.p_values <= 0.05)).all()
    assert ((found.p_values <= 0.05) <= (found.half < np.abs(found.means))).all()
    assert len(differences) >= 6 or np.isinf(found.half).all()


def test_many_units_are_judged_as_by_student():
    """For one pair and many units, whose ways to flip are drawn, both are Student's."""
    sample = np.random.default_rng(2).normal(0.2, 1.0, (200, 1))
    student = ttest_1samp(sample[:, 0], 0.0)
    low, high = student.confidence_interval(0.95)
    found = inference.infer(sample, 0)
    assert found.p_values[0] == pytest.approx(student.pvalue, abs=0.01)
    assert found.half[0] == pytest.approx((high - low) / 2, rel=0.03)
    assert (inference.infer(sample, 0).p_values == found.p_values).all()


@pytest.mark.parametrize(("variations", "p_value"), [(2, 0.5), (5, 1 / 16), (6, 1 / 32), (10, 1 / 512)])
def test_always_better(variations, p_value):
    ranking = rank(fields.results({"log": fields.steps(variations, 2.0, 1.0)}), "mean_wait")
    assert ranking.standings[1].p_value == pytest.approx(p_value)
    assert ranking.standings[1].ratio == pytest.approx(2.0)
    assert ranking.groups == ((("policy1",), ("policy0",)) if p_value < 0.05 else ())


def test_equal_schedulers():
    for count in (2, 3):
        ranking = rank(fields.results({"log": [[4.0] * count] * 7}), "mean_wait")
        assert {s.p_value for s in ranking.standings} == {1.0}
        assert len(ranking.groups) == 1
        assert {s.rank for s in ranking.standings} == {1}


def test_who_else_is_in_the_field_hardly_matters():
    """Where Nemenyi's test compares ranks, which others take away, here a clear difference stays clear."""
    dice = np.random.default_rng(4)
    two = np.exp(dice.normal(size=(12, 1)) + dice.normal([0.0, 0.4], 0.1, (12, 2)))
    crowd = np.exp(dice.normal(size=(12, 1)) + dice.normal(0, 0.1, (12, 28)))
    for waits in (two, np.concatenate([two, crowd], axis=1)):
        ranking = rank(fields.results({f"log{n:02}": [row] for n, row in enumerate(waits.tolist())}), "mean_wait")
        names = [standing.scheduler for standing in ranking.standings]
        assert ranking.p_values[names.index("policy0")][names.index("policy1")] < 0.05


def test_the_number_of_units_that_is_recommended_suffices():
    """With as many units as a pilot of twelve asks for, a difference of 10 % is seen in about four of five cases."""
    dice = np.random.default_rng(5)
    pilot = dice.normal(0.0, 0.1, (12, 1))
    pilot *= 0.1 / pilot.std(ddof=1)
    needed = inference.infer(pilot, 0).needed(0, np.log(1.1))
    assert needed is not None
    seen = [inference.infer(dice.normal(np.log(1.1), 0.1, (needed, 1)), 0).p_values[0] <= 0.05 for _ in range(200)]
    assert 0.7 <= np.mean(seen) <= 0.9
    assert inference.infer(pilot * 10, 0).needed(0, np.log(1.1)) > 50 * needed
    assert inference.infer(pilot, 0).needed(0, 0.0) is None


@settings(max_examples=60)
@given(st.integers(1, 6).flatmap(lambda size: arrays(bool, (size, size))))
def test_groups_cover_who_is_alike_and_nobody_else(likes):
    alike = likes | likes.T | np.eye(len(likes), dtype=bool)
    found = inference.groups(alike)
    for one, other in itertools.product(range(len(alike)), repeat=2):
        assert any(one in group and other in group for group in found) == alike[one, other]


POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9)


@settings(max_examples=60)
@given(POINTS)
def test_the_front_against_a_slow_twin(points):
    found = pareto.front(np.array(points, dtype=float))
    for mine, on_front in zip(points, found, strict=True):
        beaten = any(
            other[0] <= mine[0] and other[1] <= mine[1] and (other[0] < mine[0] or other[1] < mine[1])
            for other in points
        )
        assert on_front == (not beaten)
    assert found.any()
