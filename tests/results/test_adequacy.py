"""The difference of two streams of jobs: its formula, its properties, and when there is none."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import HarnessError, UndefinedError, prepare
from harness.platform.machine import NodeType, Platform, plain
from harness.results.adequacy import Stream, adequacy, compare, logged_stream, prefixes, simulated_stream, stream_of_log
from harness.results.export import simulated_log
from harness.results.schedule import Schedule
from harness.workload.frame import log_from_frame
from harness.workload.log import Log, Workload

Run = Callable[..., Schedule]
Make = Callable[..., Workload]

times = st.integers(0, 10**6).map(float)
pairs = st.lists(st.tuples(times, times, times, times), min_size=1, max_size=120)


def stream(wait: Any, run: Any, **facts: Any) -> Stream:
    n = len(wait)
    standard = {"job": np.arange(1, n + 1), "submit": np.arange(n), "procs": np.ones(n), "estimate": np.ones(n)}
    columns = {name: np.asarray(values) for name, values in (standard | facts).items()}
    return Stream("made", **columns, wait=np.asarray(wait), residence=np.asarray(wait) + np.asarray(run))


def two(rows: list[tuple[float, float, float, float]]) -> tuple[Stream, Stream]:
    wait, run, other_wait, other_run = zip(*rows, strict=True)
    return stream(wait, run), stream(other_wait, other_run)


@given(pairs)
def test_the_formulas_as_they_are_printed(rows: list[tuple[float, float, float, float]]) -> None:
    found = compare(*two(rows))
    for row in found.growth:
        first = rows[: row.jobs]
        squares = sum(((V_wait + V_run) - (v_wait + v_run)) ** 2 for V_wait, V_run, v_wait, v_run in first)
        assert math.sqrt(squares / len(first)) == pytest.approx(row.P)
        assert math.sqrt(squares) == pytest.approx(row.E)
        assert sum(V_wait != v_wait for V_wait, _, v_wait, _ in first) == row.different
    off = [abs(V_wait + V_run - v_wait - v_run) for V_wait, V_run, v_wait, v_run in rows]
    assert (found.median, found.p95) == (pytest.approx(np.median(off)), pytest.approx(np.quantile(off, 0.95)))


@given(pairs)
def test_it_is_symmetric_and_nothing_only_for_equals(rows: list[tuple[float, float, float, float]]) -> None:
    ours, theirs = two(rows)
    there, back = compare(ours, theirs), compare(theirs, ours)
    assert (there.P, there.E, there.median, there.growth) == (back.P, back.E, back.median, back.growth)
    assert (there.P == 0) == all(a + b == c + d for a, b, c, d in rows)
    assert compare(ours, ours).P == compare(ours, ours).growth[-1].different == 0


@given(pairs)
def test_a_prefix_is_what_the_shorter_streams_differ_by(rows: list[tuple[float, float, float, float]]) -> None:
    whole = compare(*two(rows)).growth
    assert [row.jobs for row in whole] == prefixes(len(rows))
    for row in whole:
        assert compare(*two(rows[: row.jobs])).growth[-1] == row


def test_the_lengths_of_the_papers_table() -> None:
    assert prefixes(1000) == [50, 100, 250, 500, 750, 1000]
    assert prefixes(50) == [50]
    assert prefixes(7) == [7]
    assert prefixes(28_467)[6:] == [2_500, 5_000, 7_500, 10_000, 25_000, 28_467]


def test_between_alike_streams_only_the_sum_grows() -> None:
    draw = np.random.default_rng(1)
    n = 100_000
    found = compare(*(stream(np.zeros(n), draw.gamma(3, 10, n)) for _ in range(2)))
    for row in found.growth[2:]:  # from 250 jobs on
        assert pytest.approx(found.P, rel=0.12) == row.P
        assert pytest.approx(found.P * math.sqrt(row.jobs), rel=0.12) == row.E


# Undefined


@pytest.mark.parametrize(
    ("theirs", "complaint"),
    [
        ({"submit": [0, 1, 5, 3]}, "job 3 has 2 against 5 s;"),
        ({"procs": [1, 2, 1, 9]}, "job 2 has 1 against 2 processors"),
        ({"estimate": [1, 1, 1, 7]}, "job 4 has 1 against 7 s requested"),
        ({"submit": [0, 1, 2, 9], "procs": [1, 1, 4, 1]}, "job 3 has 1 against 4 processors"),
    ],
)
def test_other_jobs_cannot_be_compared(theirs: dict[str, list[float]], complaint: str) -> None:
    with pytest.raises(UndefinedError, match=f"is undefined: {complaint}"):
        compare(stream([0] * 4, [1] * 4), stream([0] * 4, [1] * 4, **theirs))


def test_more_jobs_cannot_be_compared() -> None:
    long, short = stream([0] * 5, [1] * 5), stream([0] * 4, [1] * 4)
    for ours, theirs, counts in ((long, short, "5 jobs against 4"), (short, long, "4 jobs against 5")):
        with pytest.raises(UndefinedError, match=f"{counts}, job 5 has no counterpart"):
            compare(ours, theirs)
    with pytest.raises(UndefinedError, match="5 jobs against 4, job 2 has 1 against 7 s"):
        compare(long, stream([0] * 4, [1] * 4, submit=[0, 7, 8, 9]))


def test_nothing_can_be_said_of_a_log_without_waits() -> None:
    log = log_from_frame(pd.DataFrame({"submit": [0, 1, 2], "run": [5, 5, 5], "procs": 1, "wait": [3, -1, -1]}), "dumb")
    with pytest.raises(UndefinedError, match=r"against dumb is undefined: the wait of job 2 .* 2 of 3.*'wait >= 0'"):
        logged_stream(prepare(log))
    assert logged_stream(prepare(log, filter="wait >= 0")).wait.tolist() == [3]
    log.jobs["run"] = [5, 5, -1]
    log.jobs["wait"] = 0
    with pytest.raises(UndefinedError, match="the runtime of job 3 is unknown"):
        adequacy(log, log)
    with pytest.raises(HarnessError, match="dumb is a log: expected a second log"):
        adequacy(log)


def test_a_job_that_is_too_wide_has_no_residence_time(run: Run, make: Make) -> None:
    workload = make(3, width=13)
    wide = workload.jobs.sort_values("submit", kind="stable").query("procs == 13")["job"].iloc[0]
    with pytest.raises(UndefinedError, match=f"is undefined: job {wide} never ran"):
        adequacy(run(workload))


# Streams


def as_log(workload: Workload, run: Run, **parts: str) -> Log:
    """What the machine would have written."""
    return replace(simulated_log(run(workload, **parts)), name="written")


@pytest.mark.parametrize("start", ["none", "easy", "conservative"])
def test_who_replays_with_the_machines_own_policy_is_not_off(run: Run, make: Make, start: str) -> None:
    machine = Platform("twelve", (NodeType(12, 1, idle=1, peak=2),))
    workload = make(5)
    stays = workload.jobs[np.isinf(workload.jobs["cancel"])].reset_index(drop=True)
    log = as_log(replace(workload, jobs=stays), run, platform=machine, start=start)
    again = run(prepare(log), machine, start=start)
    assert adequacy(again).P == adequacy(again, again).P == 0
    assert compare(simulated_stream(again), stream_of_log(log)).P == 0
    other = run(prepare(log), machine, order="lcfs", start="none")
    assert adequacy(other).P > 0


def test_who_left_the_queue_was_in_the_system_until_then(run: Run) -> None:
    frame = {"submit": [0, 1, 2], "run": [50, -1, 5], "procs": [12, 1, 12], "wait": [0, 20, 48], "status": [1, 5, 1]}
    log = log_from_frame(pd.DataFrame(frame))
    schedule = run(prepare(log, unknown="cancel"), plain(12), start="none", energy="none")
    for found in (simulated_stream(schedule), logged_stream(schedule.workload), stream_of_log(log)):
        assert found.wait.tolist() == [0, 20, 48]
        assert found.residence.tolist() == [50, 20, 53]


def test_the_order_of_lines_does_not_matter(run: Run, make: Make) -> None:
    log = as_log(make(4), run)
    shuffled = replace(log, jobs=log.jobs.sample(frac=1, random_state=1).reset_index(drop=True))
    assert adequacy(log, shuffled).P == 0
    assert adequacy(log, shuffled).jobs == len(log.jobs)


def test_residence_is_the_whole_time_in_the_system(run: Run, make: Make) -> None:
    schedule = run(make(2), order="spf", start="preempt")
    frame = schedule.frame.sort_values("submit", kind="stable")
    found = simulated_stream(schedule)
    np.testing.assert_array_equal(found.job, frame["job"])
    np.testing.assert_array_equal(found.residence, frame["end"] - frame["submit"])
    assert schedule.frame["preemptions"].sum() > 0
