"""Preparation beside a slow twin that does the jobs one by one, and every job accounted for."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preparing import touched

from harness.errors import HarnessError
from harness.workload.frame import log_from_frame
from harness.workload.prepare import prepare

INF = float("inf")


job = st.fixed_dictionaries(
    {
        "submit": st.integers(-1, 1000),
        "wait": st.integers(-1, 50),
        "run": st.integers(-1, 100),
        "used_procs": st.integers(-1, 8),
        "procs": st.integers(-1, 8),
        "estimate": st.integers(-1, 100),
        "status": st.sampled_from([-1, 0, 1, 5, 265]),
        "x_gap": st.integers(0, 90),
    }
)
choices = st.fixed_dictionaries(
    {
        "procs_from": st.sampled_from(["requested", "used"]),
        "estimates": st.sampled_from(["requested", "actual", "factor(1.5)"]),
        "overrun": st.sampled_from(["raise", "clip"]),
        "unknown": st.sampled_from(["drop", "cancel"]),
        "zeros": st.sampled_from(["drop", "keep"]),
        "seconds_at": st.none() | st.sampled_from([0.25, 0.75, 2.0]),
        "gap": st.sampled_from(["after", "before"]),
        "jobs": st.none() | st.integers(1, 20),
        "load": st.none() | st.floats(0.1, 10),
        "start": st.none() | st.integers(0, 500),
        "stop": st.none() | st.integers(501, 1000),
        "filter": st.none() | st.sampled_from(["procs <= 4", "not 20 < run < 60 or estimate > 70", "status != 5"]),
        "width": st.none() | st.floats(0.05, 4),
    }
)
DROPPING = ("submit", "interval", "jobs", "no width", "runtime", "filter")


@settings(max_examples=150)
@given(st.lists(job, min_size=1, max_size=25), choices)
def test_every_job_is_accounted_for(rows: list[dict[str, int]], options: dict[str, Any]) -> None:
    log = log_from_frame(pd.DataFrame(rows))
    before = log.jobs.copy()
    try:
        workload = prepare(log, **options)
    except HarnessError:
        return  # no jobs were left: see above
    finally:
        pd.testing.assert_frame_equal(log.jobs, before)
    jobs = workload.jobs
    counts = touched(workload)
    assert len(workload) + sum(counts.get(name, 0) for name in DROPPING) == len(rows)
    assert jobs["job"].is_monotonic_increasing
    assert (jobs["procs"] > 0).all()
    assert (jobs["estimate"] > 0).all()
    assert (jobs["work"] <= jobs["estimate"]).all()
    runs = np.isinf(jobs["cancel"])
    assert (jobs["work"][~runs] == 0).all()
    assert (jobs["work"][runs] > 0).all() or options["zeros"] == "keep"
    filtered = counts.get("filter", 0)  # some of them may have been counted by earlier steps
    clipped = counts["overrun"] if options["overrun"] == "clip" else 0
    assert clipped - filtered <= jobs["killed"].sum() <= clipped
    cancelled = counts.get("cancelled", 0)
    assert cancelled - filtered <= np.isfinite(jobs["cancel"]).sum() <= cancelled


def by_hand(rows: list[dict[str, Any]], told: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Jobs prepared one by one, in plain Python, and how many every step touched."""
    counts: dict[str, int] = {}

    def keep(step: str, asked: bool, wanted: list[dict[str, Any]]) -> None:
        if asked or len(wanted) < len(kept):
            counts[step] = len(kept) - len(wanted)
        kept[:] = wanted

    kept = [row | {"job": number} for number, row in enumerate(rows, 1)]
    keep("submit", False, [row for row in kept if row["submit"] >= 0])
    if told["gap"] == "before":
        counts["gap"] = len(kept)
        kept = [row | {"submit": row["submit"] + row["x_gap"]} for row in kept]
    first = min((row["submit"] for row in kept), default=0)
    begin, end = (0 if told["start"] is None else told["start"]), (INF if told["stop"] is None else told["stop"])
    asked = told["start"] is not None or told["stop"] is not None
    keep("interval", asked, [row for row in kept if begin <= row["submit"] - first < end])
    early = sorted(kept, key=lambda row: (row["submit"], row["job"]))[: told["jobs"]]
    keep("jobs", told["jobs"] is not None, [row for row in kept if row in early])
    one, other = ("procs", "used_procs") if told["procs_from"] == "requested" else ("used_procs", "procs")
    counts["width"] = sum(row[one] <= 0 < row[other] for row in kept)
    kept = [row | {"width": row[one] if row[one] > 0 else row[other]} for row in kept]
    keep("no width", False, [row for row in kept if row["width"] > 0])
    left = [
        r["job"] for r in kept if r["run"] <= 0 and r["status"] == 5 and r["wait"] >= 0 and told["unknown"] != "drop"
    ]
    if told["unknown"] == "cancel":
        counts["cancelled"] = len(left)
    least = 0 if told["zeros"] == "keep" else 1
    keep("runtime", False, [row for row in kept if row["run"] >= least or row["job"] in left])
    counts["estimates"] = sum(row["estimate"] <= 0 for row in kept) if told["estimates"] == "requested" else len(kept)
    counts["overrun"] = 0
    for row in kept:
        run, asked_for = max(row["run"], 0), row["estimate"]
        planned = {"requested": asked_for if asked_for > 0 else run, "actual": run}.get(told["estimates"], 1.5 * run)
        planned = (asked_for if asked_for > 0 else 1) if row["job"] in left or run == 0 else planned
        counts["overrun"] += run > planned
        clipped = told["overrun"] == "clip" and run > planned
        row |= {"work": planned if clipped else run, "planned": max(planned, run) if not clipped else planned}
        row |= {"killed": clipped, "patience": row["wait"] if row["job"] in left else INF}
    if told["seconds_at"] is not None:
        counts["seconds"] = len(kept)
        rate = told["seconds_at"]
        kept = [row | {"work": row["work"] * rate, "planned": row["planned"] * rate} for row in kept]
    names = {"run": "work", "procs": "width", "estimate": "planned", "status": "status"}
    told_filter = told["filter"] or "True"
    keep(
        "filter",
        told["filter"] is not None,
        [row for row in kept if eval(told_filter, {name: row[column] for name, column in names.items()})],
    )
    if told["width"] is not None:
        scaled = [max(1, int(row["width"] * told["width"] + 0.5)) for row in kept]
        counts["width scaled"] = sum(width != row["width"] for width, row in zip(scaled, kept, strict=True))
        kept = [row | {"width": width, "wait": -1} for width, row in zip(scaled, kept, strict=True)]
    first = min((row["submit"] for row in kept), default=0)
    if told["load"] is not None:
        counts["load"] = len(kept)
        kept = [row | {"submit": first + (row["submit"] - first) / told["load"], "wait": -1} for row in kept]
    if unsorted := sum(later["submit"] < row["submit"] for row, later in itertools.pairwise(kept)):
        counts["order"] = unsorted
    return kept, counts


@settings(max_examples=150)
@given(st.lists(job, min_size=1, max_size=25), choices)
def test_jobs_and_counts_against_a_slow_twin(rows: list[dict[str, int]], options: dict[str, Any]) -> None:
    kept, counts = by_hand(rows, options)
    if not kept:
        with pytest.raises(HarnessError, match="no jobs are left"):
            prepare(log_from_frame(pd.DataFrame(rows)), **options)
        return
    workload = prepare(log_from_frame(pd.DataFrame(rows)), **options)
    names = {
        "procs": "width",
        "estimate": "planned",
        "logged_wait": "wait",
        "logged_run": "run",
        "logged_status": "status",
    }
    for column in (
        "job",
        "submit",
        "procs",
        "work",
        "estimate",
        "killed",
        "logged_wait",
        "logged_run",
        "logged_status",
    ):
        assert workload.jobs[column].tolist() == [row[names.get(column, column)] for row in kept], column
    assert workload.jobs["cancel"].tolist() == [row["submit"] + row["patience"] for row in kept]
    assert touched(workload) == counts
