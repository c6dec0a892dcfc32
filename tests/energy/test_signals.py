"""∫ P·I dt is exact for steps, policies see the signal at its very instants, and unused it changes nothing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness import HarnessError, Scheduler, Signal, log_from_frame, prepare, simulate
from harness.experiment.simulation import choose_policies
from harness.platform.machine import NodeType, PerformanceState, Platform
from harness.policy.spec import Choice
from harness.workload.log import Workload

#: Two nodes of four cores; each draws 40 W idle and 100 W busy.
PLATFORM = Platform("two", (NodeType(2, 4, idle=40.0, peak=100.0, performance=(PerformanceState(0.5, 30.0, 60.0),)),))


def workload(rows: list[tuple[int, int, int]]) -> Workload:
    submit, run, procs = (np.array(column) for column in zip(*rows, strict=True))
    frame = pd.DataFrame({"submit": submit, "run": run, "estimate": run, "procs": procs})
    return prepare(log_from_frame(frame, "made"))


def steps(values: list[float], length: float, kind: str = "carbon") -> Signal:
    return Signal("made", kind, np.arange(len(values)) * length, np.array(values))


def test_one_job_in_closed_form() -> None:
    """Four cores busy from 10 to 40 s on one of two nodes; the signal is 100 g/kWh until 20 s, then 300."""
    jobs = workload([(0, 10, 8), (0, 30, 4)])
    found = simulate(jobs, PLATFORM, Scheduler(start="none"), signal=steps([100.0, 300.0], 20.0))
    watts = [(0, 10, 200.0, 100.0), (10, 20, 140.0, 100.0), (20, 40, 140.0, 300.0)]
    grams = sum((end - begin) * power * value for begin, end, power, value in watts) / 3.6e6
    assert found.measures()["carbon"] == pytest.approx(grams, rel=1e-12)
    assert np.isnan(found.measures()["cost"])
    euros = simulate(jobs, PLATFORM, Scheduler(start="none"), signal=steps([100.0, 300.0], 20.0, "price"))
    assert euros.measures()["cost"] == pytest.approx(grams * 1e-3, rel=1e-12)


JOBS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30), st.integers(1, 8)), min_size=1, max_size=20)
VALUES = st.lists(st.integers(0, 400).map(float), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(JOBS, VALUES, st.integers(1, 40), st.sampled_from(["full", "follow(slow=0.5)"]))
def test_the_integral_against_a_timeline(
    rows: list[tuple[int, int, int]], values: list[float], length: int, rate: str
) -> None:
    signal = steps(values, float(length))
    found = simulate(workload(rows), PLATFORM, Scheduler(rate=rate), signal=signal, timeline=True)
    line = found.timeline
    times = np.unique(np.concatenate([line["time"], signal.times[signal.times > line["time"].iloc[0]]]))
    times = times[times <= line["time"].iloc[-1]]
    power = line["power"].to_numpy()[np.searchsorted(line["time"], times[:-1], "right") - 1]
    heard = signal.values[np.maximum(np.searchsorted(signal.times, times[:-1], "right") - 1, 0)]
    grams = float(np.sum(power * heard * np.diff(times))) / 3.6e6
    assert found.measures()["carbon"] == pytest.approx(grams, rel=1e-9, abs=1e-15)
    if len(set(values)) == 1:
        assert found.measures()["carbon"] == pytest.approx(values[0] * found.measures()["energy"], rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(JOBS, VALUES)
def test_who_does_not_look_is_not_changed(rows: list[tuple[int, int, int]], values: list[float]) -> None:
    jobs = workload(rows)
    for start in ("easy", "conservative"):
        without = simulate(jobs, PLATFORM, Scheduler(start=start))
        assert simulate(jobs, PLATFORM, Scheduler(start=start), signal=steps(values, 7.0)).digest == without.digest


@pytest.mark.parametrize("scheduler", [Scheduler(start="lull"), Scheduler(rate="follow(slow=0.5)")])
def test_who_goes_by_a_signal_is_refused_without_one(scheduler: Scheduler) -> None:
    with pytest.raises(
        HarnessError, match=r"'(lull|follow)' .*needs a signal.*expected one \(--signal FILE, signal=\)"
    ):
        simulate(workload([(0, 1, 5)]), PLATFORM, scheduler)
    assert simulate(workload([(0, 1, 5)]), PLATFORM, scheduler, signal=steps([100.0], 7.0)).frame["start"][0] == 0


def test_a_field_without_a_signal_is_refused_before_anything_runs(tmp_path: Path) -> None:
    field = tmp_path / "field.toml"
    text = 'workloads = ["lublin(jobs=20, procs=8)"]\n[[scheduler]]\nstart = ["easy", "lull"]\n'
    field.write_text(text)
    with pytest.raises(HarnessError, match=r"'lull' .*needs a signal"):
        harness.tournament(field, tmp_path / "without")
    field.write_text('signal = "daily(low=50, high=300)"\n' + text)
    assert harness.tournament(field, tmp_path / "with") is not None


@settings(max_examples=40, deadline=None)
@given(JOBS, VALUES, st.integers(0, 60))
def test_lull_waits_for_the_signal_within_its_bound(
    rows: list[tuple[int, int, int]], values: list[float], delay: int
) -> None:
    signal = steps(values, 20.0)
    found = simulate(workload(rows), PLATFORM, Scheduler(start=f"lull(level=200, delay={delay})"), signal=signal)

    def heard(second: float) -> float:
        return values[min(int(second // 20), len(values) - 1)]

    for start, submit in zip(found.frame["start"], found.frame["submit"], strict=True):
        assert heard(start) <= 200.0 or start - submit >= delay
    # Alone on a machine for all, everybody starts at the first lull, or after the delay.
    wide = simulate(workload(rows), 1000, Scheduler(start=f"lull(level=200, delay={delay})"), signal=signal).frame
    for start, submit in zip(wide["start"], wide["submit"], strict=True):
        seconds = range(int(submit), int(submit) + delay + 1)
        lulls = [second for second in seconds if heard(second) <= 200]
        assert start == (lulls[0] if lulls else submit + delay)


@settings(max_examples=30, deadline=None)
@given(JOBS, st.integers(0, 400), st.integers(0, 60))
def test_lull_is_easy_where_there_is_nothing_to_wait_for(
    rows: list[tuple[int, int, int]], value: int, delay: int
) -> None:
    """Below its level, or without a delay; all others of its runs have the same rule among those that may start."""
    jobs = workload(rows)
    easy = simulate(jobs, PLATFORM, Scheduler(start="easy")).digest
    for level, bound in ((value, delay), (0, 0)):
        start = f"lull(level={level}, delay={bound})"
        assert simulate(jobs, PLATFORM, Scheduler(start=start), signal=steps([float(value)], 10.0)).digest == easy


def test_follow_changes_the_rate_at_the_very_instant() -> None:
    jobs = workload([(0, 100, 8)])
    signal = steps([100.0, 300.0, 200.0, 0.0], 20.0)
    found = simulate(
        jobs, PLATFORM, Scheduler(rate="follow(low=100, high=300, slow=0.5)"), signal=signal, timeline=True
    )
    line = found.timeline.set_index("time")["rate"]
    assert [line.loc[time] for time in (0.0, 20.0, 40.0, 60.0)] == [1.0, 0.5, 0.75, 1.0]
    assert found.frame["end"].iloc[0] == pytest.approx(60 + (100 - 20 - 10 - 15))


def test_orders_see_it_too() -> None:
    def by_signal(job, clock):  # type: ignore[no-untyped-def]
        return -job.submit if clock.signal > 100.0 else job.submit

    jobs = workload([(0, 30, 8), (1, 10, 8), (2, 10, 8)])
    chosen = choose_policies(Scheduler(), PLATFORM)
    order = Choice.plain(harness.Order("by-signal", by_signal, varies=True, compiled=False))
    found = {}
    for value in (50.0, 150.0):
        with_it = replace(chosen, choices={**chosen.choices, "order": order})
        found[value] = simulate(jobs, PLATFORM, with_it, signal=steps([value], 10.0)).frame["start"].tolist()
    assert found == {50.0: [0, 30, 40], 150.0: [0, 40, 30]}
