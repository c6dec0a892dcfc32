"""Thinned curves lie on the whole ones, and no extreme is lost."""

import itertools

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from harness.results.charts.run_details import averages
from harness.results.charts.thinning import distribution, instants

values = st.lists(st.floats(0, 1e7, allow_nan=False), min_size=1, max_size=300)


@given(values, st.integers(4, 60))
def test_a_thinned_distribution_lies_on_the_whole_one(sample: list[float], most: int) -> None:
    points, shares = distribution(sample, most)
    assert len(points) <= max(most, len(set(sample)) if len(set(sample)) <= most else most)
    assert points[0] == min(sample)
    assert points[-1] == max(sample)
    for point, share in zip(points, shares, strict=True):
        assert np.isclose(share, np.mean([value <= point for value in sample]))


@given(values)
def test_no_step_of_a_thinned_distribution_is_wider_than_its_share(sample: list[float]) -> None:
    most = 40
    points, _ = distribution(sample, most)
    whole, exact = distribution(sample, len(sample))
    for left, right in itertools.pairwise(points):
        between = (whole > left) & (whole < right)
        # What was left out between two neighbours rises by no more than one of the steps that were asked for.
        if between.any():
            assert exact[between].max() - exact[whole <= left].max() <= 1 / (most // 2 - 1) + 1e-9


def test_a_distribution_of_nothing_is_empty() -> None:
    points, shares = distribution([np.nan])
    assert len(points) == len(shares) == 0


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 80)), min_size=1, max_size=400),
    st.integers(12, 60),
)
def test_extremes_survive_thinning(rows: list[tuple[int, int]], most: int) -> None:
    timeline = pd.DataFrame({"time": np.arange(len(rows)) * 2.0, "queued": [q for q, _ in rows],
                             "busy": [b for _, b in rows]})  # fmt: skip
    thinned = instants(timeline, most)
    assert len(thinned) <= most
    for name in timeline:
        assert thinned[name].max() == timeline[name].max()
        assert thinned[name].min() == timeline[name].min()
    assert thinned.merge(timeline).shape == thinned.shape  # every row is one of the whole


@given(st.lists(st.tuples(st.floats(0.5, 100), st.integers(0, 80)), min_size=2, max_size=60), st.integers(1, 50))
def test_averages_over_time_keep_the_integral(steps: list[tuple[float, int]], parts: int) -> None:
    time = np.cumsum([length for length, _ in steps])
    timeline = pd.DataFrame({"time": time, "busy": [busy for _, busy in steps], "power": np.nan})
    means = averages(timeline, parts)
    whole = sum(busy * length for (_, busy), length in zip(steps[:-1], np.diff(time), strict=True))
    assert np.isclose(means["busy"].sum() * (time[-1] - time[0]) / parts, whole)
    assert "power" not in means
