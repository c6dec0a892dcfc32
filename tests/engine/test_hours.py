"""What clocks on the wall show where a log is from, and what nodes a job holds."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import workload

import harness
from harness.engine.records.loop_records import ZONES
from harness.engine.setup import Extras, arrays
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, plain
from harness.workload.wall_clock import WallClock

both_ways = pytest.mark.parametrize("how", ["compiled", "plain"])


def hours(job, clock):
    return harness.hour(clock) + 100.0 * harness.weekday(clock)


HOURS = harness.Order("hours", hours)


def shown(submits, header, how="compiled"):
    """The hour and the weekday at which each job was submitted, as an order has it."""
    columns = {"submit": submits, "run": [1] * len(submits), "procs": [1] * len(submits)}
    made = harness.prepare(harness.log_from_frame(pd.DataFrame(columns), header=header))
    outcome = simulate(made, plain(4), choose(order=HOURS), plain=how == "plain")
    scores = np.empty(len(submits))
    scores[outcome.place] = outcome.jobs.score
    return [(score % 100.0, int(score // 100)) for score in scores], outcome.clock


STOCKHOLM = ("; UnixStartTime: 843480031", "; TimeZoneString: Europe/Stockholm")


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 20 * 365 * 86400), min_size=1, max_size=5),
    st.sampled_from(("Europe/Stockholm", "US/Pacific", "UTC", "Asia/Kolkata", "Australia/Lord_Howe")),
    st.integers(10**6, 2 * 10**9),
)
def test_hours_and_days_are_those_of_the_calendar(submits, zone, epoch):
    """Summer time that begins within the log included."""
    found, clock = shown(submits, (f"; UnixStartTime: {epoch}", f"; TimeZoneString: {zone}"))
    for submit, (hour, weekday) in zip(submits, found, strict=True):
        there = datetime.fromtimestamp(epoch + submit, ZoneInfo(zone))
        expected = there.hour + there.minute / 60 + there.second / 3600
        assert hour == pytest.approx(expected, abs=1e-6)
        assert weekday == there.weekday()
    assert clock.epoch == epoch


@both_ways
def test_a_log_that_does_not_say_begins_on_a_monday_at_midnight(how):
    found, clock = shown([0, 3600 * 25.5, 86400 * 8], (), how)
    assert found == [(0, 0), (1.5, 1), (0, 1)]
    assert np.isnan(clock.epoch)


@both_ways
def test_in_stockholm(how):
    """The log of KTH begins on Monday 23 September 1996, at 14:00:31 summer time."""
    found, clock = shown([0, 90 * 86400], STOCKHOLM, how)
    assert found == [(pytest.approx(14 + 31 / 3600), 0), (pytest.approx(13 + 31 / 3600), 6)]
    assert clock.zone == 3600


@pytest.mark.parametrize(
    ("header", "epoch", "zone"),
    [
        ((), None, "UTC"),
        (("; UnixStartTime: 100",), 100, "UTC"),
        (("; UnixStartTime: 100", "; TimeZone: 3600"), 100, "Etc/GMT-1"),
        (("; TimeZone: -18000",), None, "Etc/GMT+5"),
        (("; TimeZone: 3600", "; TimeZoneString: Europe/Paris"), None, "Europe/Paris"),
        (("; TimeZone: 19800",), None, "UTC"),  # half hours have no zone that never changes
        (("; TimeZone: east",), None, "UTC"),
    ],
)
def test_what_a_header_says(header, epoch, zone):
    found = WallClock.of(header)
    assert found.zone.key == zone
    assert found.start == epoch
    if zone != "UTC":
        assert ZoneInfo(zone).utcoffset(datetime(2000, 1, 15, tzinfo=UTC)) is not None


@pytest.mark.parametrize(
    "header", [("; UnixStartTime: 999999999999999999",), ("; UnixStartTime: 1", "; TimeZoneString: ?")]
)
def test_times_and_zones_beyond_the_calendar_are_no_traceback(header):
    found, _ = shown([0, 10], header)
    assert all(0 <= hour < 24 for hour, _ in found)


def test_clocks_are_set_no_oftener_than_there_is_room():
    jobs = workload([(0, 1, 1, 1)])
    jobs = replace(jobs, header=("; UnixStartTime: 1", "; TimeZoneString: Europe/Stockholm"))
    view, _, _ = arrays(jobs, plain(1), Extras())
    times = np.asarray(view.loop.zone_time)
    assert len(times) == ZONES
    assert (np.diff(times[np.isfinite(times)]) > 0).all()


# ---------------------------------------------------------------- nodes of a job


def noting(state, memory):
    """Start what fits, and write down the nodes of the running jobs as digits."""
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    for job in harness.running(state):
        number = 0.0
        for node in harness.nodes_of(state, job):
            number = 10.0 * number + node + 1.0
        memory[job] = number
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and len(harness.nodes_of(state, job)) > 0:
            memory[job] = -1.0
    state.jobs[0].reserved = memory[0]
    for job in range(len(state.jobs)):
        state.jobs[job].reserved = memory[job]


@both_ways
def test_nodes_of_a_job(how):
    """Two nodes of two cores: the first job holds one, the second both, the third the other."""
    machine = Platform("pair", (NodeType(2, 2),))
    jobs = workload([(0, 1, 5, 5), (0, 3, 5, 5), (6, 2, 5, 5), (6, 2, 5, 5), (7, 4, 1, 1)])
    policy = harness.Start("noting", noting, memory=5)
    outcome = simulate(jobs, machine, choose(start=policy), plain=how == "plain")
    assert [sorted(str(int(number))) for number in outcome.jobs.reserved] == [
        ["1"],
        ["1", "2"],
        ["1"],
        ["2"],
        ["1", "2"],
    ]


# ---------------------------------------------------------------- infinite scores


def extremes(job, clock):
    """Wide jobs first of all, narrow ones last of all, the others by submission."""
    if job.procs == 4:
        return -harness.INFINITY
    return harness.INFINITY if job.procs == 1 else job.submit


@both_ways
@pytest.mark.parametrize("varies", [False, True])
def test_infinite_scores_are_before_and_behind_all_others(how, varies):
    jobs = workload([(0, 4, 9, 9), (1, 1, 1, 1), (2, 1, 1, 1), (3, 2, 1, 1), (4, 4, 1, 1), (5, 4, 1, 1), (5, 3, 1, 1)])
    order = harness.Order("extremes", extremes, varies=varies)
    outcome = simulate(jobs, plain(4), choose(order=order, start="none"), plain=how == "plain")
    assert outcome.jobs.start.tolist() == [0, 12, 13, 11, 9, 10, 12]
