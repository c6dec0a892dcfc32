"""A description counts what is there, by the clock on the wall."""

import gzip
import math
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.workload.describe import STATUSES, describe
from harness.workload.frame import log_from_frame
from harness.workload.log import Log
from harness.workload.swf import read_swf

HEADER = ("; MaxProcs: 10", "; UnixStartTime: 1000000000", "; TimeZoneString: Europe/Stockholm")


def log(header: tuple[str, ...] = HEADER, **columns: list[float]) -> Log:
    rows = len(next(iter(columns.values()), range(5)))
    given = {"submit": list(range(rows)), "run": [5] * rows, "procs": [2] * rows, "estimate": [9] * rows,
             "wait": [0] * rows, "status": [1] * rows, "user": list(range(rows))}  # fmt: skip
    return log_from_frame(pd.DataFrame(given | columns), header=header)


def hazards(log: Log) -> dict[str, int]:
    return {hazard.name: hazard.jobs for hazard in describe(log).hazards}


def test_a_plain_log_has_no_hazards() -> None:
    about = describe(log(submit=[0, 10, 20, 30, 40]))
    assert about.hazards == ()
    assert (about.jobs, about.procs, about.users, about.span) == (5, 10, 5, 40)
    assert about.load == 5 * 2 * 5 / (10 * 40)
    assert about.statuses == {"completed": 5}
    assert (about.begin, about.zone) == ("2001-09-09 03:46+02:00", "Europe/Stockholm")
    assert {s.name: s.median for s in about.spreads} == {
        "width": 2, "runtime": 5, "requested time": 9, "runtime / requested": 5 / 9, "wait": 0,
    }  # fmt: skip
    assert describe(log(submit=[0, 10, 20, 30, 40]), procs=20).load == about.load / 2


@settings(max_examples=50)
@given(
    submits=st.lists(st.integers(0, 10**8), min_size=1, max_size=50),
    zone=st.sampled_from(["Europe/Stockholm", "US/Pacific", "Asia/Tokyo", "Mars/Olympus"]),
)
def test_arrivals_are_counted_by_the_clock_on_the_wall(submits: list[int], zone: str) -> None:
    about = describe(log((*HEADER[:2], f"; TimeZoneString: {zone}"), submit=submits))
    where = UTC if zone.startswith("Mars") else ZoneInfo(zone)
    start = datetime.fromtimestamp(1_000_000_000, UTC)
    when = [(start + timedelta(seconds=submit)).astimezone(where) for submit in submits]
    hours, days = Counter(w.hour for w in when), Counter(w.weekday() for w in when)
    assert about.arrivals_by_hour == tuple(hours[hour] for hour in range(24))
    assert about.arrivals_by_weekday == tuple(days[day] for day in range(7))


def test_a_job_is_as_wide_as_it_used_where_nothing_was_requested() -> None:
    about = describe(log(submit=[0, 10, 20, 30, 40], procs=[0, -1, 4, 4, 4], used_procs=[3, 2, 9, 0, -1]))
    width = about.spreads[0]
    assert (width.known, width.least, width.median, width.most, width.mean) == (5, 2, 4, 4, 17 / 5)
    assert about.load == 5 * 17 / (10 * 40)


@given(st.lists(st.integers(-1, 50), min_size=5, max_size=5))
def test_spreads_are_quantiles_of_what_is_known(runs: list[int]) -> None:
    spread = describe(log(run=runs)).spreads[1]
    known = sorted(run for run in runs if run > 0)
    assert spread.known == len(known)
    if known:
        quartiles = [*np.quantile(known, [0.25, 0.5, 0.75])]
        assert [spread.quarter, spread.median, spread.three_quarters] == pytest.approx(quartiles)
        assert (spread.least, spread.most, spread.mean) == (known[0], known[-1], pytest.approx(np.mean(known)))


def test_without_a_date_hours_and_days_count_from_zero() -> None:
    about = describe(log(("; MaxProcs: 4",), submit=[0, 3600, 90_000]))
    assert about.begin == ""
    assert about.arrivals_by_hour[:3] == (1, 2, 0)
    assert about.arrivals_by_weekday[:3] == (2, 1, 0)


@pytest.mark.parametrize(
    ("name", "columns", "jobs"),
    [
        ("unsorted submits", {"submit": [5, 3, 9, 8, 10]}, 2),
        ("no submit time", {"submit": [1, -1, 9, 10, 11]}, 1),
        ("unknown runtime", {"run": [-1, 5, -1, 5, 5]}, 2),
        ("zero runtime", {"run": [0, 5, 5, 5, 5]}, 1),
        ("no width", {"procs": [0, -1, 1, 1, 1]}, 2),
        ("no requested width", {"procs": [-1, 1, 1, 1, 1], "used_procs": [3, 1, 1, 1, 1]}, 1),
        ("no requested time", {"estimate": [-1, 0, 9, 9, 9]}, 2),
        ("run > requested", {"run": [10, 9, 9, 9, 9]}, 1),
        ("too wide", {"procs": [10, 11, 12, 1, 1]}, 2),
        ("unknown wait", {"wait": [-1, 0, 0, 0, 0]}, 1),
        ("partial records", {"status": [1, 2, 3, 4, 5]}, 3),
        ("odd statuses", {"status": [-2, -1, 0, 6, 5]}, 2),
        ("repeated numbers", {"job": [1, 2, 2, 2, 3]}, 2),
        ("one user", {"user": [1, 1, 2, 3, 4]}, 2),
        ("long silence", {"submit": [0, 1, 1 + 604_800, 2 + 2 * 604_800, 3 + 2 * 604_800]}, 1),
    ],
)
def test_hazards_are_found_and_counted(name: str, columns: dict[str, list[float]], jobs: int) -> None:
    assert hazards(log(**columns))[name] == jobs
    assert name not in hazards(log(submit=[0, 1, 2, 3, 4]))


def test_a_log_that_says_nothing_of_its_machine() -> None:
    assert hazards(log(())).keys() == {"no header"} | hazards(log()).keys()
    assert "no size" in hazards(log(HEADER[1:]))
    assert describe(log(())).load is None


def test_odd_statuses_and_what_nobody_knows(tmp_path: Path) -> None:
    about = describe(log(status=[7, -3, 1], wait=[-1, -1, -1]))
    assert about.statuses == {"completed": 1, "odd": 2}
    wait = about.spreads[-1]
    assert (wait.name, wait.known) == ("wait", 0)
    assert math.isnan(wait.mean)


def test_what_reading_had_to_do_is_among_the_hazards(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("1 0 0 5 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\nnonsense\n")
    assert describe(read_swf(path, lenient=True)).hazards[0].name == "skipped malformed lines"


@pytest.mark.data
def test_a_real_log_against_plain_python(data: Path) -> None:
    path = next(data.rglob("KTH-SP2-1996-2.1-cln.swf.gz"))
    about = describe(read_swf(path))
    lines = gzip.decompress(path.read_bytes()).decode("latin-1").splitlines()
    rows = [[float(cell) for cell in line.split()] for line in lines if not line.startswith(";")]
    submits = [row[1] for row in rows]
    work = sum(row[3] * (row[7] if row[7] > 0 else row[4]) for row in rows if row[3] > 0 and max(row[7], row[4]) > 0)
    assert about.load == pytest.approx(work / (100 * (max(submits) - min(submits))), rel=1e-12)
    assert about.users == len({row[11] for row in rows})
    assert sum(about.statuses.values()) == about.jobs == sum(about.arrivals_by_hour) == sum(about.arrivals_by_weekday)
    assert set(about.statuses) <= set(STATUSES.values())
