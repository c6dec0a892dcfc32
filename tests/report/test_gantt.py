"""Rectangles show every processor-second of the window once, and nothing twice."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import harness
from harness.platform.machine import NodeType, Platform
from harness.results.charts.gantt import Gantt, gantt


def drawn(jobs: int, seed: int, platform: Platform, start: str, most: int) -> tuple[harness.Schedule, Gantt]:
    """A run, and its chart."""
    log = harness.read_workload(f"lublin(jobs={jobs}, procs={platform.cores}, seed={seed})")
    workload = harness.prepare(log)

    def replay(workload, **kept):
        return harness.simulate(workload, platform, harness.Scheduler(start=start), **kept)

    schedule = replay(workload, timeline=True)
    chart = gantt(schedule, replay, most)
    assert chart is not None
    return schedule, chart


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(2, 40),
    st.integers(0, 99),
    st.sampled_from([(16, 1), (4, 4), (2, 8)]),
    st.sampled_from(["easy", "preempt"]),
)
def test_every_processor_second_is_drawn_once(jobs: int, seed: int, shape: tuple[int, int], start: str) -> None:
    schedule, chart = drawn(jobs, seed, Platform("small", (NodeType(*shape),)), start, 10_000)
    assert chart.whole
    boxes = chart.rectangles
    drawn_area = boxes.assign(area=boxes["cores"] * (boxes["end"] - boxes["begin"])).groupby("job")["area"].sum()
    ran = schedule.ran.set_index("job")
    area = (ran["procs"] * ran["run"]).reindex(drawn_area.index)
    assert np.allclose(drawn_area, area, atol=1e-3)
    assert ((boxes["core"] >= 0) & (boxes["core"] + boxes["cores"] <= schedule.platform.cores)).all()
    for a, b in itertools.combinations(boxes.itertuples(), 2):
        apart = a.end <= b.begin + 1e-6 or b.end <= a.begin + 1e-6
        assert apart or a.core + a.cores <= b.core or b.core + b.cores <= a.core


@pytest.mark.parametrize("most", [1, 10, 60])
def test_a_window_around_the_longest_queue_when_there_are_too_many(most: int) -> None:
    schedule, chart = drawn(400, 3, Platform("small", (NodeType(32, 1),)), "easy", most)
    assert len(chart.rectangles) <= most
    assert not chart.whole
    timeline = schedule.timeline
    longest = timeline["time"][timeline["queued"].idxmax()] - timeline["time"].iloc[0]
    assert chart.begin - 1 <= longest <= chart.end + 1
    assert set(chart.rectangles["job"]) <= set(chart.jobs.index)


@pytest.mark.parametrize("shape", [(16, 1), (4, 4), (1, 16)])
def test_neighbours_of_one_job_are_one_rectangle(shape: tuple[int, int]) -> None:
    """A job on eight processors side by side is drawn once, on however many nodes they are."""
    schedule, chart = drawn(1, 0, Platform("small", (NodeType(*shape),)), "easy", 10)
    assert chart.rectangles[["core", "cores"]].to_numpy().tolist() == [[0, int(schedule.ran["procs"].iloc[0])]]
