"""A run that begins in the middle goes on as the run would have that came there."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import homogeneous, workload, workloads

import harness
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform, plain
from harness.workload.log import STARTED

#: Policies that decide by who waits and who runs, whatever was before.
FORGETFUL = ({}, {"order": "spf"}, {"start": "none"}, {"order": "wfp3", "start": "greedy"}, {"start": "conservative"})


def table(jobs, platform, plainly=False, **parts):
    """The starts and ends of a run, in log order."""
    outcome = simulate(jobs, platform, choose(**parts), plain=plainly)
    rows = np.argsort(outcome.place)
    return np.asarray(outcome.jobs["start"])[rows], np.asarray(outcome.jobs["end"])[rows]


def middle(jobs, start, end, now):
    """What there is of a run at `now`, before anything is decided then, and what is still to come; and which rows."""
    submit = jobs.jobs["submit"].to_numpy()
    there = (submit <= now) & ((end > now) | (start >= now)) | (submit > now)
    since = np.where((submit <= now) & (start < now), start, -1.0)
    frame = jobs.jobs.assign(**{STARTED: since})[there].reset_index(drop=True)
    return replace(jobs, jobs=frame, now=float(now)), np.flatnonzero(there)


@pytest.mark.parametrize("parts", FORGETFUL[:4])
@given(data=st.data(), platform=homogeneous())
def test_a_run_that_begins_in_the_middle_goes_on_as_the_whole_run_does(parts, data, platform):
    jobs = data.draw(workloads(platform.cores))
    start, end = table(jobs, platform, **parts)
    now = data.draw(st.integers(int(jobs.jobs["submit"].min()), int(end.max())))
    rest, rows = middle(jobs, start, end, now)
    assume(len(rest))
    begun, ended = table(rest, platform, **parts)
    assert begun.tolist() == start[rows].tolist()
    assert ended.tolist() == end[rows].tolist()


@given(data=st.data(), platform=homogeneous())
def test_conservative_backfilling_plans_who_waits_from_there_on(data, platform):
    """It has promised nothing yet: who waits is planned anew, in queue order; nobody is left behind."""
    jobs = data.draw(workloads(platform.cores))
    start, end = table(jobs, platform, start="conservative")
    now = data.draw(st.integers(int(jobs.jobs["submit"].min()), int(end.max())))
    rest, _ = middle(jobs, start, end, now)
    assume(len(rest))
    begun, _ = table(rest, platform, start="conservative")
    since = rest.jobs[STARTED].to_numpy()
    assert (begun[since >= 0] == since[since >= 0]).all()
    assert (begun[since < 0] >= np.maximum(now, rest.jobs["submit"].to_numpy()[since < 0])).all()


def test_who_has_waited_keeps_the_time_of_submission_and_who_runs_the_processors():
    jobs = workload([(0, 4, 10, 10, {STARTED: 3.0}), (1, 4, 5, 5, {STARTED: -1.0}), (12, 1, 1, 1, {STARTED: -1.0})])
    start, end = table(replace(jobs, now=7.0), plain(4))
    assert start.tolist() == [3, 13, 18]
    assert end.tolist() == [13, 18, 19]


def test_a_predictor_is_asked_about_those_who_run_too():
    """Its belief has ended for the first job, and is corrected at once: nobody overtakes by mistake."""
    first = (0, 3, 20, 40, {STARTED: 0.0, "user": 1})
    jobs = workload([first, (1, 4, 5, 9, {STARTED: -1.0, "user": 1}), (2, 1, 9, 9, {STARTED: -1.0, "user": 2})])
    start, _ = table(replace(jobs, now=7.0), plain(4), predict="recent(n=2)")
    assert start.tolist() == [0, 20, 7]


@pytest.mark.slow
def test_steps_begin_in_the_middle_too():
    jobs = [(0, 4, 10, 10, {STARTED: 3.0}), (1, 4, 5, 5, {STARTED: -1.0}), (12, 1, 1, 1, {STARTED: -1.0})]
    steps = harness.steps(replace(workload(jobs), now=7.0), 4)
    seen = []
    for moment in steps:
        seen.append((moment.now, [job.number for job in moment.running], [job.number for job in moment.waiting]))
        for job in moment.waiting:
            if moment.fits(job):
                moment.start(job)
    assert seen == [(7, [1], [2]), (12, [1], [2, 3]), (13, [], [2, 3]), (18, [], [3])]
    assert steps.schedule.frame["start"].tolist() == [3, 13, 18]


def test_what_runs_must_fit():
    jobs = workload([(0, 3, 9, 9, {STARTED: 0.0}), (1, 2, 9, 9, {STARTED: 1.0})])
    with pytest.raises(HarnessError, match=r"hold 5 processors in all; job 2 has no room on the platform's 4"):
        table(replace(jobs, now=3.0), plain(4))
    with pytest.raises(HarnessError, match="job 1 has no room on the platform's 2"):
        table(replace(jobs, now=3.0), plain(2))


def test_nobody_may_be_held_from_the_middle_on():
    jobs = replace(workload([(0, 1, 9, 9, {STARTED: 0.0})]), now=3.0)
    with pytest.raises(HarnessError, match="expected no hold"):
        table(jobs, plain(2), hold="limits(user_jobs=1)")


def test_nodes_that_serve_from_the_beginning_draw_from_the_beginning():
    powered = Platform("powered", (NodeType(2, 2, idle=50.0, peak=150.0),))
    jobs = replace(workload([(0, 2, 10, 10, {STARTED: 0.0}), (1, 4, 5, 5, {STARTED: -1.0})]), now=4.0)
    outcome = simulate(jobs, powered, choose(energy="cores"))
    assert np.asarray(outcome.nodes["energy"]).sum() == 6 * (150 + 50) + 5 * (150 + 150)
    assert np.asarray(outcome.nodes["idle_energy"]).sum() == 6 * 50
