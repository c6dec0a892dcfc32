"""The timeline and places of a replay under Slurm's rules, against those that follow from each job's own times."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine.records.public import JOB
from harness.slurm.loops import Decided
from harness.slurm.recorded_run import placements_of, samples_of

#: Jobs as (submit, wait, run, processors, what became of them).
JOBS = st.lists(
    st.tuples(
        st.integers(0, 50), st.integers(0, 30), st.integers(1, 30), st.integers(1, 9),
        st.sampled_from(["ran", "ran", "left", "unaccepted"]),
    ), max_size=12,
)  # fmt: skip


def records(rows):
    jobs = np.zeros(len(rows), JOB)
    for job, (submit, wait, run, procs, fate) in zip(jobs, rows, strict=True):
        job["submit"], job["procs"] = submit, procs
        job["start"] = submit + wait if fate == "ran" else math.nan
        job["end"] = submit + wait + (run if fate == "ran" else 0) if fate != "unaccepted" else math.nan
        job["service"] = run if fate == "ran" else 0.0
    return jobs


@settings(max_examples=100)
@given(JOBS)
def test_a_sample_says_who_is_there_from_then_on(rows):
    jobs = records(rows)
    samples = samples_of(jobs, 100)
    there = jobs[~np.isnan(jobs["end"])]
    times = {time for name in ("submit", "start", "end") for time in there[name].tolist() if not math.isnan(time)}
    assert samples["time"].tolist() == sorted(times)
    for sample in samples:
        now = sample["time"]
        here = [job for job in there if job["submit"] <= now < job["end"]]
        serving = [job for job in here if job["start"] <= now]
        assert sample["running"] == len(serving)
        assert sample["queued"] == len(here) - len(serving)
        assert sample["busy"] == sum(job["procs"] for job in serving)
        assert sample["free"] + sample["busy"] == sample["up"] == 100
        left = sum(job["service"] - (now - job["start"] if job["start"] <= now else 0.0) for job in here)
        assert sample["work"] == pytest.approx(left)


def test_places_are_those_of_each_job():
    places = placements_of([Decided(1.0, 4.0, {0: 2, 3: 1}), Decided(), Decided(2.0, 3.0, {1: 4})])
    assert places.tolist() == [(0, 0, 2, 1.0, 4.0), (0, 3, 1, 1.0, 4.0), (2, 1, 4, 2.0, 3.0)]
    assert len(placements_of([])) == 0
