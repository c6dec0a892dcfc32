"""Timelines that are thinned as they grow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.results.recording import Placements, Timeline

RECORD = np.dtype([("time", float), ("queued", float), ("busy", float)])


def samples(times: np.ndarray, seed: int) -> np.ndarray:
    """Something at every one of these times."""
    records = np.zeros(len(times), RECORD)
    records["time"] = times
    for name in ("queued", "busy"):
        records[name] = np.random.default_rng(seed).integers(0, 10**6, len(times))
    return records


@settings(max_examples=30)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=20), st.integers(12, 80), st.integers(0, 9))
def test_extremes_survive_being_thinned_again_and_again(lengths: list[int], most: int, seed: int) -> None:
    whole = samples(np.arange(sum(lengths)) * 3.0, seed)
    timeline = Timeline(most)
    for part in np.split(whole, np.cumsum(lengths)[:-1]):
        timeline.add(part)
    kept = timeline.frame
    assert len(kept) <= most
    assert timeline.whole == (len(kept) == len(whole))
    for name in RECORD.names:
        assert kept[name].min() == whole[name].min()
        assert kept[name].max() == whole[name].max()


def test_the_beginning_of_a_long_run_is_kept_as_finely_as_its_end() -> None:
    timeline = Timeline(400)
    for part in np.split(samples(np.arange(100_000.0), 1), 500):
        timeline.add(part)
    counts, _ = np.histogram(timeline.frame["time"], bins=10)
    assert counts.min() > 0.5 * counts.max()


def test_placements_of_a_window() -> None:
    record = np.dtype([("job", int), ("begin", float), ("end", float)])
    placements = Placements(10, 20)
    placements.add(np.array([(0, 0, 10), (1, 0, 11), (2, 12, 13), (3, 19, 99), (4, 20, 21)], record))
    assert list(placements.records["job"]) == [1, 2, 3]


@pytest.mark.parametrize("most", [2, 12])
def test_all_at_one_instant(most: int) -> None:
    timeline = Timeline(most)
    timeline.add(samples(np.full(50, 7.0), 3))
    assert 1 <= len(timeline.frame) <= max(most, 6)
