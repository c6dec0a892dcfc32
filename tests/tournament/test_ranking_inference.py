"""Tests and critical differences are the textbook's; the front is the obvious one."""

import fields
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from harness.tournament import inference, pareto
from harness.tournament.ranking import rank

#: Demšar (2006), Table 5(a): critical values of the two-tailed Nemenyi test at 0.05, by number of classifiers.
NEMENYI = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}


@pytest.mark.parametrize(("schedulers", "critical"), NEMENYI.items())
def test_critical_differences(schedulers, critical):
    for units in (3, 14, 200):
        expected = critical * (schedulers * (schedulers + 1) / (6 * units)) ** 0.5
        assert inference.critical_difference(schedulers, units) == pytest.approx(expected, rel=5e-4)


def test_the_example_of_the_paper():
    """Four classifiers on 14 data sets: their mean ranks are less than the critical difference of 1.25 apart."""
    difference = inference.critical_difference(4, 14)
    assert difference == pytest.approx(1.25, abs=0.005)
    assert inference.groups([1.964, 2.0, 2.893, 3.143], difference) == [range(4)]
    assert inference.groups([1.964, 2.0, 2.893, 3.143], 1.12) == [range(3), range(2, 4)]  # at 0.10, as printed


def test_three_workloads_and_twenty_policies():
    assert inference.critical_difference(20, 3) == pytest.approx(17.1, abs=0.05)


@settings(max_examples=40, deadline=None)
@given(fields.tournaments(schedulers=(3, 6), workloads=(1, 1), variations=(2, 8)))
def test_friedman_against_a_slow_twin(costs):
    """The statistic of Conover (1999), from ranks; it allows for ties."""
    ranking = rank(fields.results(costs), "mean_wait")
    blocks = costs["log0"]
    units, count = len(blocks), len(blocks[0])
    assume(any(len(set(block)) > 1 for block in blocks))
    squares = sum(
        (sum(other < mine for other in block) + (sum(other == mine for other in block) + 1) / 2) ** 2
        for block in blocks
        for mine in block
    )
    sums = [standing.mean_rank * units for standing in ranking.standings]
    centre = units * count * (count + 1) ** 2 / 4
    between = sum(total**2 for total in sums) / units - centre
    statistic = (count - 1) * between * units / (squares - centre)
    assert ranking.test.name == "Friedman"
    assert ranking.test.statistic == pytest.approx(statistic, abs=1e-9)
    assert ranking.test.p_value == pytest.approx(chi2.sf(statistic, count - 1))


@pytest.mark.parametrize(("variations", "p_value"), [(2, 0.5), (5, 1 / 16), (6, 1 / 32), (10, 1 / 512)])
def test_wilcoxon_of_two(variations, p_value):
    ranking = rank(fields.results({"log": fields.steps(variations, 2.0, 1.0)}), "mean_wait")
    assert ranking.test.name == "Wilcoxon"
    assert ranking.test.p_value == pytest.approx(p_value)
    assert ranking.critical_difference is None
    assert ranking.groups == ((("policy1",), ("policy0",)) if p_value < 0.05 else (("policy1", "policy0"),))


def test_equal_schedulers():
    for count in (2, 3):
        ranking = rank(fields.results({"log": [[4.0] * count] * 5}), "mean_wait")
        assert (ranking.test.statistic, ranking.test.p_value) == (0.0, 1.0)
        assert len(ranking.groups) == 1
        assert {s.rank for s in ranking.standings} == {1}


def test_wilcoxon_does_not_reject_in_favour_of_the_second():
    assert inference.wilcoxon(-np.arange(1.0, 11)).p_value == pytest.approx(2 / 2**10)
    assert inference.wilcoxon(np.arange(1.0, 11)).p_value == 1.0


def test_intervals_are_reproducible_and_narrow_with_units():
    coins = np.random.default_rng(3).integers(0, 2, 400)
    ranks = np.stack([1.0 + coins, 2.0 - coins], axis=1)
    few, many = (inference.mean_rank_intervals([ranks[:units]], 0) for units in (25, 400))
    assert (inference.mean_rank_intervals([ranks], 0) == many).all()
    assert (many[1] - many[0] < (few[1] - few[0]) / 2).all()
    # 400 coins: the normal approximation is good.
    error = 1.96 * ranks[:, 0].std() / 20
    assert many[:, 0] == pytest.approx([ranks[:, 0].mean() - error, ranks[:, 0].mean() + error], abs=0.01)


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
