"""Jobs whose width is chosen when they start: by none, greedy, EASY and conservative, and by a policy's own rule."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moldable_jobs import cases, moldable
from shared.running import choose
from shared.strategies import workload

import harness
from harness import HarnessError, Start
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform
from harness.platform.machine import plain as processors
from harness.platform.windows import Window
from harness.policy.timing import DecisionTiming


def quickly(rows, procs, start, instants="batch", plain=False):
    """(start, end, width) of each row."""
    extras = Extras(timing=DecisionTiming(instants))
    outcome = simulate(moldable(rows), processors(procs), choose(start=start), extras=extras, plain=plain)
    found = [None] * len(rows)
    for row, job in zip(outcome.place, outcome.jobs, strict=True):
        found[row] = (job.start, job.end, job.procs) if job.status != harness.UNACCEPTED else None
    return found


class Twin:
    """The same by lists, which are looked through again and again."""

    def __init__(self, rows, procs, rule, single):
        self.rows, self.procs, self.rule, self.single = rows, procs, rule, single
        self.waiting, self.running, self.found = [], [], [None] * len(rows)

    @property
    def free(self):
        return self.procs - sum(width for _, _, width, _ in self.running)

    def takes(self, row, width, field):
        return self.rows[row][field] * self.rows[row][1] // width

    def start(self, row, width, now):
        end = now + self.takes(row, width, 2)
        self.waiting.remove(row)
        self.running.append((end, now + self.takes(row, width, 3), width, row))
        self.found[row] = (now, end, width)

    def run(self):
        order = sorted(range(len(self.rows)), key=lambda row: (self.rows[row][0], row))
        order = [row for row in order if self.rows[row][4] <= self.procs]
        while order or self.waiting:
            moments = [self.rows[row][0] for row in order[:1]] + [job[0] for job in self.running]
            now = min(moments)
            for job in [job for job in self.running if job[0] == now]:
                self.running.remove(job)
                if self.single:
                    self.rule(self, now)
            while order and self.rows[order[0]][0] == now:
                self.waiting.append(order.pop(0))
                if self.single:
                    self.rule(self, now)
            self.rule(self, now)
        return self.found

    def try_wide(self, row, now):
        *_, least, most = self.rows[row]
        if self.free >= least:
            self.start(row, min(self.free, most), now)
            return True
        return False

    def none(self, now):
        for row in list(self.waiting):
            if not self.try_wide(row, now):
                return row
        return None

    def greedy(self, now):
        for row in list(self.waiting):
            self.try_wide(row, now)

    def easy(self, now):
        head = self.none(now)
        if head is None:
            return
        least = self.rows[head][4]
        ends = sorted({job[1] for job in self.running})
        at = next(t for t in ends if self.free + sum(job[2] for job in self.running if job[1] <= t) >= least)
        spare = self.free + sum(job[2] for job in self.running if job[1] <= at) - least
        for row in list(self.waiting):
            *_, narrow, wide = self.rows[row]
            if row == head or narrow > self.free:
                continue
            width = min(self.free, wide)
            if now + self.takes(row, width, 3) <= at:
                self.start(row, width, now)
            elif min(width, spare) >= narrow:
                width = min(width, spare)
                spare -= width
                self.start(row, width, now)


@settings(max_examples=80, deadline=None)
@given(cases(), st.sampled_from(("none", "greedy", "easy")), st.sampled_from(("batch", "per-event-completions-first")))
def test_agrees_with_the_obvious_simulator(case, start, instants):
    rows, procs = case
    expected = Twin(rows, procs, getattr(Twin, start), instants == "per-event-completions-first").run()
    assert quickly(rows, procs, start, instants) == expected


def test_plain_python_chooses_the_same_widths():
    rows = [
        (0, 2, 60, 120, 1, 3),
        (0, 3, 60, 60, 2, 4),
        (10, 4, 120, 180, 4, 4),
        (10, 1, 60, 60, 1, 2),
        (20, 2, 60, 60, 1, 4),
    ]
    for start in ("none", "greedy", "easy", "easy(reservations=2)", "conservative"):
        assert quickly(rows, 4, start, plain=True) == quickly(rows, 4, start), start


def keeps(policy):
    """The policy, watched: no promise may move later, or to another width."""
    promised = {}

    def watched(plan, state, replan=False):
        """As the bundled one."""
        policy.molding(plan, state, replan)
        for job in state.jobs:
            if job.reserved >= 0.0:
                at, width = promised.setdefault(job.index, (job.reserved, job.procs))
                assert job.reserved <= at
                assert job.procs == width
                promised[job.index] = (job.reserved, width)
                if job.status == harness.RUNNING:
                    assert job.start <= job.reserved

    return Start("watched", watched, compiled=False)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_conservative_keeps_what_it_promised_and_never_overcommits(case):
    rows, procs = case
    watched = keeps(choose(start="conservative")["start"].policy)
    found = quickly(rows, procs, watched)
    assert found == quickly(rows, procs, "conservative")
    edges = []
    for (submit, asked, work, _, least, most), (start, end, width) in zip(rows, found, strict=True):  # all accepted
        assert start >= submit
        assert width in {least, most, procs, asked}
        assert least <= width <= min(most, procs)
        assert end - start == work * asked / width
        edges += [(start, width), (end, -width)]
    for moment, _ in edges:
        assert sum(width for time, width in edges if time <= moment) <= procs


@pytest.mark.parametrize(("until", "expected"), [(60, (60, 90, 4)), (200, (10, 130, 1))])
def test_conservative_takes_the_width_that_ends_first_by_its_plan(until, expected):
    """Beside one that holds 3 of 4 until then: 1 now takes 120 s, 2 take 60 s, 4 take 30 s."""
    assert quickly([(0, 3, until, until, 3, 3), (10, 2, 60, 60, 1, 4)], 4, "conservative")[1] == expected


def slow_speed_up(procs, serial=-1.0, parallelism=-1.0, variance=-1.0, table=None):
    """Each law as its author writes it."""
    if table:
        return float(np.interp(procs, list(table), list(table.values())))
    if parallelism >= 1:
        a, s = parallelism, max(variance, 0.0)
        if s <= 1:
            if procs <= a:
                return a * procs / (a + s / 2 * (procs - 1))
            return a * procs / (s * (a - 1 / 2) + procs * (1 - s / 2)) if procs <= 2 * a - 1 else a
        return procs * a * (s + 1) / (s * (procs + a - 1) + a) if procs <= a + a * s - s else a
    serial = max(serial, 0.0)
    return 1 / (serial + (1 - serial) / procs)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.one_of(
        st.fixed_dictionaries({"serial": st.sampled_from((-1.0, 0.0, 0.1, 0.7, 1.0))}),
        st.fixed_dictionaries(
            {"parallelism": st.floats(1, 30), "variance": st.sampled_from((-1.0, 0.0, 0.5, 1.0, 2.0, 7.5))}
        ),
        st.builds(
            lambda gains: {"table": {1: 1.0, 8: 1 + gains[0], 20: 1 + sum(gains)}},
            st.tuples(st.floats(0, 7), st.floats(0, 12)),
        ),
    ),
)
def test_what_a_job_takes_follows_its_law(asked, width, law):
    columns = {f"speedup_{n}": s for n, s in law["table"].items()} if "table" in law else law
    row = (0, asked, 3600, 7200, {"procs_min": 1, "procs_max": 40, **columns})

    def start(state):
        """The width of the test."""
        for job in harness.waiting(state):
            harness.start(state, job, width)

    (job,) = simulate(workload([row]), processors(40), choose(start=Start("widths", start, compiled=False))).jobs
    ratio = slow_speed_up(asked, **law) / slow_speed_up(width, **law)
    assert job.procs == width
    assert job.service == pytest.approx(3600 * ratio)
    assert job.estimate == pytest.approx(7200 * ratio)


def wide(state, procs=9):
    """Everybody on so many processors."""
    for job in harness.waiting(state):
        harness.start(state, job, procs)


def molds_whoever_runs(state):
    """Width is no matter once a job has begun."""
    for job in harness.waiting(state):
        if not math.isnan(state.jobs[job].start):
            harness.mold(state, job, 1)
        harness.start(state, job)
    for job in harness.running(state).copy():
        harness.suspend(state, job)
        harness.call_again(state, state.clock.now + 1.0)


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
def test_a_width_that_cannot_be_is_refused(plain):
    said = "gave job 1 9 processors, where a number between those of harness.narrowest and harness.widest was expected"
    for given_ in ({"procs_min": 1, "procs_max": 8}, {"procs_min": 10, "procs_max": 10}, {}):
        row = (0, 10 if given_.get("procs_min") == 10 else 2, 5, 5, given_)
        with pytest.raises(HarnessError, match=said):
            simulate(workload([row]), processors(12), choose(start=Start("wide", wide)), plain=plain)
    with pytest.raises(HarnessError, match=r"gave job 1 1 processors, where .* for a job that has not begun"):
        simulate(
            workload([(0, 2, 5, 5, {"procs_min": 1, "procs_max": 8})]),
            processors(12),
            choose(start=Start("molds", molds_whoever_runs, preemptive=True)),
            plain=plain,
        )


def in_order(state):
    """A policy that has never heard of widths."""
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@settings(max_examples=30, deadline=None)
@given(cases())
def test_a_policy_that_chooses_no_width_sees_rigid_jobs(case):
    rows, procs = case
    rows = [(*row[:4], row[4], row[5]) for row in rows if row[1] <= procs]
    if rows:
        rigid = simulate(workload([row[:4] for row in rows]), processors(procs), choose(start="greedy")).jobs
        found = simulate(moldable(rows), processors(procs), choose(start=Start("in-order", in_order))).jobs
        assert [(job.start, job.end, job.procs) for job in found] == [(job.start, job.end, job.procs) for job in rigid]


def test_who_asks_for_more_than_there_is_gets_all_there_is_if_that_will_do():
    (job,) = simulate(
        workload([(0, 8, 60, 60, {"procs_min": 2, "procs_max": 16})]), processors(4), choose(start=Start("i", in_order))
    ).jobs
    assert (job.procs, job.end, job.estimate) == (4, 120, 120)
    (job,) = simulate(workload([(0, 8, 60, 60, {"procs_min": 5, "procs_max": 16})]), processors(4), choose()).jobs
    assert job.status == harness.UNACCEPTED


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"procs_min": 3, "procs_max": 2}, "job 1: procs_max 2: expected at least its procs_min"),
        ({"procs_min": 1.5}, "job 1: procs_min 1.5: expected a whole number of at least 1, or −1"),
        ({"procs_max": -4}, "job 1: procs_max -4: expected a whole number of at least 1, or −1"),
        ({"serial": 1.5}, "job 1: serial 1.5: expected a share of at least 0 and at most 1"),
        ({"serial": -0.5}, "job 1: serial -0.5: expected a share of at least 0 and at most 1"),
        ({"serial": 0.1, "parallelism": 4}, "serial 0.1: expected −1, because another column gives the job's speed-up"),
        ({"serial": 0.0, "speedup_1": 1}, "serial 0: expected −1, because another column gives the job's speed-up"),
        ({"parallelism": 4, "speedup_1": 1}, "parallelism 4: expected −1, because another column"),
        ({"variance": 1}, "variance 1: expected −1, because the job has no parallelism"),
        ({"speedup_1": 1, "speedup_4": -1}, "speedup_4 -1: expected a number above 0, and for each of a job's columns"),
        ({"speedup_1": 0}, "speedup_1 0: expected a number above 0"),
        ({"parallelism": 0.5}, "job 1: parallelism 0.5: expected at least 1"),
    ],
)
def test_widths_that_cannot_be_are_refused(columns, said):
    with pytest.raises(HarnessError, match=said):
        simulate(workload([(0, 2, 5, 5, {"procs_min": 1, "procs_max": 8} | columns)]), processors(4), choose())


def test_a_table_of_jobs_says_between_which_widths_they_run(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("submit,run,procs,procs_min,procs_max,speedup_1,speedup_4\n0,60,2,1,4,1,2.5\n0,60,2,-1,-1,-1,-1\n")
    prepared = harness.prepare(harness.read_workload(str(path)))
    found = harness.simulate(prepared, 6, harness.Scheduler(start="none")).frame
    assert found["procs"].tolist() == [4, 2]
    assert found["run"].tolist() == [60 * 1.5 / 2.5, 60]
    rigid = harness.prepare(harness.read_workload(str(path)), resources="ignored")
    assert harness.simulate(rigid, 6, harness.Scheduler(start="none")).frame["procs"].tolist() == [2, 2]


DATA = [Path(folder) for folder in os.environ.get("HARNESS_DATA", "").split(os.pathsep)]
CIRRUS = [folder / "anchors" / "elastisim-cirrus" / "cirrus-cpu-simple-moldable" for folder in DATA]


@pytest.mark.data
def test_elastisim_s_moldable_jobs_on_cirrus():
    """Equal up to where two jobs end in one instant and rounding says which of them first; then near."""
    folder = next((folder for folder in CIRRUS if folder.is_dir()), None)
    if folder is None:
        pytest.skip("the runs of ElastiSim are not in HARNESS_DATA")
    prepared = harness.prepare(harness.read_workload(str(folder / "jobs.json.gz")))
    scheduler = harness.Scheduler(start="none", energy="none")
    found = harness.simulate(prepared, 13_249, scheduler, timing=DecisionTiming("per-event-completions-first")).frame
    ran = pd.read_csv(folder / "job_statistics.csv.gz")
    same = np.isclose(found["start"], ran["Start Time"], rtol=1e-5)  # six digits are printed
    same &= np.isclose(found["run"], ran["Makespan"], rtol=1e-5)
    assert int(np.argmin(same)) == 2295
    assert int(same.sum()) == 8124
    assert found["wait"].mean() == pytest.approx(135.4724, abs=1e-4)
    assert ran["Wait Time"].mean() == pytest.approx(135.2887, abs=1e-4)


# ---------------------------------------------------------------- where jobs may be held


LIMITED = {"user_procs": lambda jobs: sum(job.procs for job in jobs), "user_jobs": len}


@settings(max_examples=150, deadline=None)
@given(
    cases(),
    st.sampled_from(("none", "greedy", "easy", "easy(reservations=2)", "conservative", "conservative(replan=true)")),
    st.sampled_from(sorted(LIMITED)),
    st.integers(1, 6),
    st.integers(1, 2),
)
def test_nobody_is_wider_than_a_limit_allows(case, start, limit, most, users):
    """Whoever could run alone under the limit does so in the end, as wide as it may be."""
    rows, procs = case
    jobs = [(*row[:4], {"procs_min": row[4], "procs_max": row[5], "user": k % users}) for k, row in enumerate(rows)]
    chosen = choose(start=start, hold=f"limits({limit}={most})")
    outcome = simulate(workload(jobs), processors(procs), chosen)
    ran = [job for job in outcome.jobs if job.status == harness.COMPLETED]
    for one in ran:
        beside = [job for job in ran if job.user == one.user and job.start <= one.start < job.end]
        assert LIMITED[limit](beside) <= most
    for job in outcome.jobs:
        least = rows[int(job.number) - 1][4]
        held = limit == "user_procs" and least > most
        expected = harness.UNACCEPTED if least > procs else harness.HELD if held else harness.COMPLETED
        assert job.status == expected


def test_a_job_is_narrower_where_a_limit_asks_for_that():
    """Four of eight processors for each user; the second waits for the first, and then has as many."""
    rows = [(0, 2, 120, 120, 1, 8), (1, 2, 120, 120, 1, 8)]
    jobs = workload([(*row[:4], {"procs_min": row[4], "procs_max": row[5], "user": 1}) for row in rows])
    for start in ("none", "greedy", "easy", "conservative"):
        outcome = simulate(jobs, processors(8), choose(start=start, hold="limits(user_procs=4)"))
        assert [(job.start, job.procs, job.end) for job in outcome.jobs] == [(0, 4, 60), (60, 4, 120)]


def test_one_bound_is_enough():
    frame = pd.DataFrame({"submit": [0], "run": [60], "procs": [2], "procs_max": [6]})
    schedule = harness.simulate(harness.prepare(harness.log_from_frame(frame)), 8, harness.Scheduler(start="greedy"))
    assert schedule.outcome.jobs[["procs", "end"]].tolist() == [(6, 20.0)]


BOUND = {
    "reservations of nodes": (Platform("kept", (NodeType(4, 1),), windows=(Window(1e6, 2e6),)), {}),
    "memory": (Platform("small", (NodeType(4, 1, memory=8.0),)), {"memory": 1.0}),
    "features": (Platform("two", (NodeType(4, 1, features=("big",)),)), {"features": 1}),
}


@pytest.mark.parametrize("start", ["none", "greedy", "easy", "conservative"])
@pytest.mark.parametrize("what", BOUND)
def test_where_something_binds_jobs_are_rigid_and_that_is_told(what, start):
    platform, further = BOUND[what]
    jobs = workload([(0, 2, 60, 60, {"procs_min": 1, "procs_max": 4} | further)])
    jobs = replace(jobs, header=("; Feature: 1 big",))
    with pytest.warns(UserWarning, match=rf"'{start}' \(start_jobs\) chooses no widths where .* reservations of nodes"):
        outcome = simulate(jobs, platform, choose(start=start))
    assert outcome.jobs.procs.tolist() == [2]


def test_of_jobs_of_one_width_nothing_is_told():
    jobs = workload([(0, 2, 60, 60, {"procs_min": 2, "procs_max": 2})])
    assert simulate(jobs, BOUND["reservations of nodes"][0], choose()).jobs.procs.tolist() == [2]
