"""KTH's calendar: its table, who breaks its rule, and the page."""

import tomllib

import pandas as pd
import pytest

import harness
from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.present.tables import readable

study = load("kth_calendar")
PAGE = (folder("reports") / "kth-calendar.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("night", "weekend"), [(0, 0), (1, 12), (6, 8)])
def test_the_calendar_is_a_table_that_the_hold_takes(night: int, weekend: int) -> None:
    """Each window ends when working days begin, or so much later."""
    windows = tomllib.loads(study.calendar(night, weekend))["begin"]
    assert all(one["within"] for one in windows)
    assert {one["to"] for one in windows if one["days"] == "Mon-Thu"} == {f"{8 + night:02}:00"}
    ends = [one["to"] for one in windows if one["days"] == "Fri"]
    short, long = (f"Mon {8 + late:02}:00" for late in (min(weekend, 4), weekend))
    assert ends == [short, short, long]


def test_in_a_run_nobody_runs_into_the_next_window() -> None:
    """Time 0 of a log without a date is a Monday, 0 h."""
    jobs = harness.prepare(harness.lublin(jobs=300, procs=64, load=0.6), filter="estimate <= 54000")
    schedule = study.simulated(jobs, "fcfs", "easy", study.calendar(0, 0))
    frame = schedule.frame
    hour = frame["start"] / 3600 % 168
    begins = [*study.BEGINS, study.BEGINS[0] + 168]
    left = [min(begin for begin in begins if begin > at) - at for at in hour]
    assert (frame["estimate"] / 3600 <= pd.Series(left) + 1e-9).all()
    assert (frame["start"] != study.simulated(jobs, "fcfs", "easy").frame["start"]).any()


def test_who_breaks_the_rule_by_hand() -> None:
    """Monday, September 6, 1993; the machine's clock shows an hour more than UTC."""
    start = 747_273_600 - 3600 + 9 * 3600.0  # 9 h there
    frame = pd.DataFrame({"submit": [0.0, 0.0, 7.5 * 3600, 4 * 86400 + 9 * 3600.0], "run": 60, "procs": 1, "wait": 0})
    frame["estimate"] = [
        7 * 3600,
        9 * 3600,
        3600,
        60 * 3600,
    ]  # to 16 h, to 18 h, over 17 h, from Friday 18 h to Monday 6 h
    log = harness.log_from_frame(frame, procs=4, header=(f"; UnixStartTime: {start:.0f}",))
    found = study.crossing(harness.prepare(log))
    assert found.reset_index().to_numpy().tolist() == [["1993-09", 4, 0.5]]


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
    written = folder("reports") / "kth-first-half.toml"
    assert written.read_text(encoding="utf-8") == study.calendar(night, weekend)
    assert f"mean skill of {skill:.3f} over its four parts" in " ".join(PAGE.split())
    found = list(study.rows(judged, night, weekend, start))
    told = [[half, who, readable(P), readable(round(of, 3)), readable(median), readable(round(rank, 3))]
            for half, who, P, of, median, rank in found]  # fmt: skip
    assert told == published(1)


@pytest.mark.data
def test_the_whole_log() -> None:
    jobs = harness.prepare(harness.read_workload("KTH-SP2"))
    found = study.replayed(jobs, "fcfs", "greedy", study.calendar(1, 12))
    told = f"P is {found.P:,.0f} s, the skill {found.scale.skill:.3f}, and the median error {found.median:,.0f} s"
    assert told in " ".join(PAGE.split())
