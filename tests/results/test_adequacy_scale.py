"""What P is to be seen beside: models without a scheduler, the skill, companions that few jobs do not move."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.results.adequacy import Stream, compare
from harness.results.adequacy_scale import null_models

waits = st.integers(0, 10**6).map(float)
rows = st.lists(st.tuples(waits, waits, st.integers(1, 64), st.integers(1, 10**6)), min_size=3, max_size=60)


def stream(wait, procs, estimate, run=7.0):
    wait = np.asarray(wait, float)
    numbers = np.arange(len(wait))
    return Stream("made", numbers, numbers.astype(float), np.asarray(procs), np.asarray(estimate), wait, wait + run)


@given(rows)
def test_each_null_model_is_the_p_of_a_machine_that_waits_so(rows) -> None:
    _, wait, procs, estimate = map(np.array, zip(*rows, strict=True))
    real = stream(wait, procs, estimate)
    classes = list(zip(np.ceil(np.log2(procs)), np.ceil(np.log2(estimate)), strict=True))
    by_class = [np.mean([w for w, other in zip(wait, classes, strict=True) if other == own]) for own in classes]
    guesses = [np.zeros(len(wait)), np.full(len(wait), wait.mean()), by_class]
    expected = [compare(stream(guess, procs, estimate), real).P for guess in guesses]
    assert null_models(real) == pytest.approx(expected, abs=1e-6)
    assert expected[2] <= expected[1] * (1 + 1e-9) + 1e-6  # a mean by class is never worse than one for all


@given(rows)
def test_the_skill_is_one_for_the_log_and_relative_to_each_null(rows) -> None:
    model, wait, procs, estimate = map(np.array, zip(*rows, strict=True))
    real, ours = stream(wait, procs, estimate), stream(model, procs, estimate)
    found = compare(ours, real)
    skills = (found.scale.skill_nobody_waits, found.scale.skill, found.scale.skill_by_class)
    for null, skill in zip(null_models(real), skills, strict=True):
        assert math.isnan(skill) if null == 0 else skill == pytest.approx(1 - found.P / null)
    if null_models(real)[1] > 0:
        assert compare(real, real).scale.skill == 1


@given(rows)
def test_companions(rows) -> None:
    model, wait, procs, estimate = map(np.array, zip(*rows, strict=True))
    found = compare(stream(model, procs, estimate), stream(wait, procs, estimate)).scale
    off = model - wait
    assert found.bias == pytest.approx(off.mean())
    rest = np.sort(np.abs(off))[:-1]  # one per cent of so few jobs is one job
    assert found.P_without_worst == pytest.approx(math.sqrt((rest**2).mean()))
    if (off != 0).any():
        assert found.worst_share == pytest.approx((off**2).max() / (off**2).sum())
    if len(set(model)) > 1 and len(set(wait)) > 1:
        assert found.rank_correlation == pytest.approx(stats.spearmanr(model, wait).statistic)
    else:
        assert math.isnan(found.rank_correlation)


def test_a_single_outlier_moves_p_but_not_its_companion() -> None:
    ones = np.ones(200)
    found = compare(stream(np.r_[1e6, ones[1:]], ones, ones), stream(0 * ones, ones, ones))
    assert found.P > 70_000
    assert found.scale.P_without_worst == pytest.approx(1)
    assert found.scale.worst_share > 0.999
