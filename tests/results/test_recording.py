"""Timelines keep their extremes however often they are thinned, in bounded memory."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine.records.recording_records import SAMPLE
from harness.errors import HarnessError
from harness.results.timeline import Placements, Timeline, thin_samples

COLUMNS = [name for name in SAMPLE.names or () if name != "time"]


def samples(seed: int, count: int) -> np.ndarray:
    """Records with rare peaks in every column."""
    dice = np.random.default_rng(seed)
    made = np.zeros(count, SAMPLE)
    made["time"] = np.cumsum(dice.integers(0, 3, count))
    for name in COLUMNS:
        made[name] = dice.integers(0, 5, count) * dice.choice([1, 1, 1, 1000], count)
    return made


@settings(max_examples=60)
@given(st.integers(0, 1000), st.integers(1, 3000), st.integers(60, 500))
def test_thinning_keeps_first_last_and_the_extremes_of_every_bin(seed: int, count: int, most: int) -> None:
    made = samples(seed, count)
    made["up"] = range(count)  # so that each is known again
    kept = thin_samples(made, most)
    assert len(kept) <= most
    assert kept[0] == made[0]
    assert kept[-1] == made[-1]
    assert (np.diff(kept["time"]) >= 0).all()
    assert (kept == made[kept["up"]]).all(), "nothing is invented"
    if count <= most:
        assert len(kept) == count
        return
    bins = max(1, most // (2 * len(COLUMNS)) - 1)
    edges = np.searchsorted(made["time"], np.linspace(made["time"][0], made["time"][-1], bins + 1))
    edges[-1] = count
    for begin, end in pairwise(edges):
        if begin == end:
            continue
        here = kept[(kept["up"] >= begin) & (kept["up"] < end)]
        for name in COLUMNS:
            part = made[name][begin:end]
            assert (here[name].min(), here[name].max()) == (part.min(), part.max())


@settings(max_examples=30)
@given(st.integers(0, 100), st.lists(st.integers(1, 700), min_size=1, max_size=12), st.integers(60, 300))
def test_a_timeline_that_grows_is_bounded_and_keeps_its_extremes(seed: int, sizes: list[int], most: int) -> None:
    whole = samples(seed, sum(sizes))
    timeline = Timeline(most)
    first = 0
    for size in sizes:
        timeline.add(whole[first : first + size])
        first += size
        assert timeline._length <= 2 * most + size
        assert sum(map(len, timeline._chunks)) == timeline._length
    frame = timeline.frame
    assert len(frame) <= most or len(whole) <= most
    assert frame["time"].iloc[[0, -1]].tolist() == [whole["time"][0], whole["time"][-1]]
    for name in COLUMNS:
        assert (frame[name].min(), frame[name].max()) == (whole[name].min(), whole[name].max())
    assert timeline.frame.equals(frame), "looking does not change it"
    assert timeline.whole == (len(frame) == len(whole))


def test_the_beginning_of_a_long_run_is_kept_as_finely_as_its_end() -> None:
    timeline = Timeline(1000)
    for part in np.split(samples(1, 100_000), 500):
        timeline.add(part)
    counts, _ = np.histogram(timeline.frame["time"], bins=10)
    assert counts[0] > 0.5 * np.median(counts)


def test_placements_of_a_window() -> None:
    record = np.dtype([("job", int), ("begin", float), ("end", float)])
    placements = Placements(10, 20)
    placements.add(np.array([(0, 0, 10), (1, 0, 11), (2, 12, 13), (3, 19, 99), (4, 20, 21)], record))
    assert list(placements.records["job"]) == [1, 2, 3]


def test_a_timeline_does_not_hold_on_to_the_buffers_of_the_engine() -> None:
    made = samples(1, 5)
    timeline = Timeline()
    timeline.add(made)
    made["queued"] = -1
    assert (timeline.frame["queued"] >= 0).all()


def test_what_was_not_kept_cannot_be_looked_at(some) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HarnessError, match="expected simulate\\(…, timeline=True\\)"):
        _ = some.timeline
    with pytest.raises(HarnessError, match="expected simulate\\(…, placements=True\\)"):
        _ = some.placements
