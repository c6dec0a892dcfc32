"""The hold by windows of the week beside a slow twin, what it does to a run, and the page of KTH's calendar."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.present.tables import readable

study = load("kth_calendar")
windows = load("windows_hold").windows
PLUGIN = str(folder("reports") / "windows_hold.py")
PAGE = (folder("reports") / "kth-calendar.md").read_text(encoding="utf-8")

HOUR = 3600.0


@st.composite
def weeks(draw: Any) -> dict[str, list[float]]:
    begins = sorted(draw(st.sets(st.integers(0, 167), min_size=1, max_size=6)))
    hours = st.lists(st.integers(0, 80).map(float), min_size=len(begins), max_size=len(begins))
    return {"begins": [*map(float, begins)], "longest": draw(hours), "late": draw(hours)}


def twin(now: float, request: float, begins: list[float], longest: list[float], late: list[float]) -> float:
    """The first of now and the next beginnings at which the job may begin [h from Monday on]; now if it never may."""

    def may(time: float) -> bool:
        hour = time % 168
        inside = [k for k, begin in enumerate(begins) if begin <= hour]
        window = inside[-1] if inside else len(begins) - 1
        end = min(begin + 168 * week for week in range(3) for begin in begins if begin + 168 * week > hour)
        return request <= longest[window] and request <= end - hour + late[window]

    week = 168 * (now // 168)
    later = sorted(week + begin + 168 * k for k in range(2) for begin in begins if week + begin + 168 * k > now)
    return next((time for time in [now, *later] if may(time)), now)


@given(weeks(), st.integers(0, 1000), st.integers(1, 100), st.sampled_from([0.0, 3600.0, -7200.0]))
def test_a_job_is_held_until_the_first_window_that_takes_it(
    week: dict[str, list[float]], now: int, request: int, ahead: float
) -> None:
    """Time 0 is a Monday, 0 h, where the log does not say; else so much later that the clock ahead shows it."""
    jobs = [SimpleNamespace(requested=request * HOUR)]
    expected = twin(float(now), float(request), **week) * HOUR
    undated = SimpleNamespace(clock=SimpleNamespace(now=now * HOUR, epoch=np.nan), jobs=jobs)
    assert windows(undated, 0, **week, ahead=ahead) == pytest.approx(expected)
    monday = 4 * 24 * HOUR - ahead  # 1970 began with a Thursday
    dated = SimpleNamespace(clock=SimpleNamespace(now=now * HOUR, epoch=monday), jobs=jobs)
    assert windows(dated, 0, **week, ahead=ahead) == pytest.approx(expected)


def test_in_a_run_nobody_begins_outside() -> None:
    jobs = harness.prepare(harness.lublin(jobs=300, procs=64, load=0.6), filter="estimate <= 54000")
    hold = study.calendar(0.0, 0.0)
    scheduler = harness.Scheduler(start="easy", energy="none", hold=hold)
    frame = harness.simulate(jobs, None, scheduler, plugins=[PLUGIN]).frame
    hours, request = frame["start"] / HOUR, frame["estimate"] / HOUR
    late = [0.0] * len(study.BEGINS)
    for start, hour, asked in zip(frame["start"], hours, request, strict=True):
        assert twin(hour, asked, [*study.BEGINS], [*study.LONGEST], late) * HOUR == pytest.approx(start), (hour, asked)
    free = harness.simulate(jobs, None, harness.Scheduler(start="easy", energy="none")).frame
    assert (frame["start"] != free["start"]).any()


def published(number: int) -> list[list[str]]:
    tables: list[list[list[str]]] = [[]]
    for line in PAGE.splitlines():
        if line.startswith("|"):
            tables[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif tables[-1]:
            tables.append([])
    return [rows[2:] for rows in tables if rows][number]


@pytest.mark.data
def test_when_the_rule_was_kept_is_what_we_publish() -> None:
    found = study.crossing(harness.prepare(harness.read_workload("KTH-SP2")))
    told = [[month, readable(jobs), readable(round(100 * over, 1))] for month, jobs, over in found.itertuples()]
    assert told == published(0)
    assert (found["over"][: study.KEPT[:7]].iloc[:-1] < 0.02).all()
    assert (found["over"][study.KEPT[:7] :] > 0.1).all()


@pytest.mark.data
@pytest.mark.slow
def test_what_was_fitted_on_one_half_is_judged_on_the_other() -> None:
    parts, judged = study.halves(harness.read_workload("KTH-SP2"))
    night, weekend, start, skill = study.fitted(parts)
    assert study.calendar(night, weekend) in " ".join(PAGE.split())
    assert f"mean skill of {skill:.3f} over its four parts" in " ".join(PAGE.split())
    found = list(study.rows(judged, night, weekend, start))
    told = [[half, who, readable(P), readable(round(of, 3)), readable(median), readable(round(rank, 3))]
            for half, who, P, of, median, rank in found]  # fmt: skip
    assert told == published(1)


@pytest.mark.data
def test_the_whole_log() -> None:
    jobs = harness.prepare(harness.read_workload("KTH-SP2"))
    found = study.replayed(jobs, "fcfs", "greedy", study.calendar(2.0, 12.0))
    told = f"P is {found.P:,.0f} s, the skill {found.scale.skill:.3f}, and the median error {found.median:,.0f} s"
    assert told in " ".join(PAGE.split())
