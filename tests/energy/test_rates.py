"""The rates against their rules, applied once more to the finished schedule by slow and obvious means."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from replay import happenings, machines, replay, step_integral, virtual
from shared.strategies import homogeneous, rows, workload

import harness
from harness import NodeType, Platform

some = settings(max_examples=60, suppress_health_check=list(HealthCheck))
starts = st.sampled_from(("none", "easy", "conservative", "greedy"))
SLOW, FAST = 0.75, 1.0


def actual(made):
    """The same rows, with estimates that are right."""
    return [(submit, procs, work, work, *more) for submit, procs, work, _, *more in made]


def remaining(schedule, now):
    """W(now): the work left of everyone in the system, after the arrivals of the instant."""
    inside = (schedule.frame["submit"] <= now) & (schedule.frame["end"] > now)
    work = schedule.workload.jobs["work"][inside].to_numpy()
    begun = schedule.frame["start"][inside].to_numpy()
    return sum(size - virtual(schedule.timeline, start, now) for size, start in zip(work, begun, strict=True))


@some
@given(data=st.data(), platform=homogeneous(), low=st.integers(0, 12), span=st.sampled_from((0, 1, 5)), start=starts)
def test_the_work_crosses_the_threshold_where_the_rate_falls_and_nowhere_else(data, platform, low, span, start):
    jobs = workload(actual(data.draw(rows(platform.cores))))
    schedule = replay(jobs, platform, rate=f"workload(low={low}, high={low + span})", start=start)
    timeline = schedule.timeline
    arrivals = set(schedule.frame["submit"])
    rate = SLOW
    for now, following in zip(timeline["time"], timeline["rate"], strict=True):
        work = remaining(schedule, now)
        if (rate, following) == (FAST, SLOW):
            assert work == pytest.approx(low, abs=1e-9)
        elif (rate, following) == (SLOW, FAST):
            assert now in arrivals
            assert work > low + span
        elif following == FAST:
            assert work > low - 1e-9
        else:
            assert work <= low + span + 1e-9
        rate = following
    assert rate == SLOW, "at the end there is no work"


def test_the_work_is_not_looked_at_where_nothing_happens():
    """10 s of work on each of two nodes: above 8 until W = 20 − 2t falls to it at 6."""
    schedule = replay(
        workload([(0, 1, 10, 10), (0, 1, 10, 10)]), harness.plain(2), rate="workload(low=8, high=8)", energy="none"
    )
    assert schedule.timeline["time"].tolist() == [0, 6, pytest.approx(6 + 4 / 0.75)]
    assert schedule.timeline["rate"].tolist() == [1.0, 0.75, 0.75]


@some
@given(data=st.data(), platform=homogeneous(), low=st.integers(0, 4), span=st.integers(0, 3), start=starts)
def test_the_number_of_jobs_switches_the_rate_where_it_passes_a_threshold(data, platform, low, span, start):
    jobs = workload(data.draw(rows(platform.cores, cancellations=True)))
    schedule = replay(jobs, platform, rate=f"hysteresis(low={low}, high={low + span})", start=start)
    frame, timeline = schedule.frame, schedule.timeline
    rate, last = SLOW, -np.inf
    for now, following in zip(timeline["time"], timeline["rate"], strict=True):
        here = frame["submit"] < frame["end"]  # but those who left as they came
        if now == last:
            continue
        jobs = (here & (frame["submit"] <= now) & (frame["end"] > now)).sum()
        if jobs <= low:
            rate = SLOW
        if jobs > low + span:
            rate = FAST
        assert following == rate, now
        last = now


@pytest.mark.parametrize("start", ["none", "easy", "conservative"])
def test_a_completion_and_a_submission_at_one_instant_leave_the_number_of_jobs_as_it_was(start):
    """At 5 s and 10 s a job ends and another one is submitted: there are two jobs all the time, never one or three."""
    jobs = workload([(0, 1, 5, 5), (0, 1, 20, 20), (0, 1, 1, 1), (5, 1, 5, 5), (10, 1, 5, 5)])
    platform = Platform("three", (NodeType(3, 1, idle=50.0, peak=150.0),))
    rate = f"hysteresis(low=1, high=2, slow={SLOW}, fast=1)"
    timeline = replay(jobs, platform, rate=rate, start=start).timeline
    assert set(timeline["rate"][timeline["time"] < 15]) == {1.0}


@some
@given(data=st.data(), watts=st.integers(1, 60).map(lambda k: 50.0 * k))
def test_the_cap_is_never_exceeded_where_it_can_be_kept(data, watts):
    platform = data.draw(machines(curves=True, performance=True))
    jobs = workload(data.draw(rows(platform.cores, cancellations=True)))
    paces = {state.rate for t in platform.types for state in t.performance} | {1.0}
    full = {pace: power_when_full(platform, pace) for pace in paces}
    assume(min(full.values()) <= watts)
    for events in (None, happenings((3, "node-down", 0), (6, "node-up", 0))):
        schedule = replay(jobs, platform, rate=f"powercap(watts={watts})", energy="spec", events=events)
        assert schedule.timeline["power"].max() <= watts + 1e-6
        assert set(schedule.timeline["rate"]) <= paces
    if full[max(paces)] <= watts:
        assert set(schedule.timeline["rate"]) == {max(paces)}, "no need to be slow"


def power_when_full(platform, rate):
    """Every core busy at `rate`: interpolated between the states of each node type."""
    total = 0.0
    for t in platform.types:
        states = sorted({state.rate: state.peak for state in t.performance}.items() | {(1.0, t.peak)})
        total += t.count * np.interp(rate, *zip(*states, strict=True))
    return total


@some
@given(data=st.data(), platform=homogeneous(), up=st.sampled_from((0.4, 0.8, 1.0)), period=st.sampled_from((1, 3, 7)))
def test_ondemand_looks_at_the_load_every_period(data, platform, up, period):
    jobs = workload(data.draw(rows(platform.cores, most=6)))
    schedule = replay(jobs, platform, rate=f"ondemand(up={up}, slow=0.5, period={period})", start="none")
    frame, timeline = schedule.frame, schedule.timeline
    asked, rate = -np.inf, 1.0
    for now, following in zip(timeline["time"], timeline["rate"], strict=True):
        if now >= asked - 1e-9:  # sums of times: what is one instant but for rounding is one
            asked = now + period
            busy = frame["procs"][(frame["start"] < now - 1e-9) & (frame["end"] > now + 1e-9)].sum() / platform.cores
            rate = 1.0 if busy >= up else max(0.5, busy / up)
        assert following == rate


@some
@given(data=st.data(), platform=homogeneous(), threshold=st.sampled_from((1.0, 1.5, 3.0)), start=starts)
def test_bsld_is_slow_as_long_as_nobody_suffers(data, platform, threshold, start):
    made = [(submit, procs, 4 * work, 4 * guess) for submit, procs, work, guess in made_of(data, platform)]
    schedule = replay(workload(made), platform, rate=f"bsld(threshold={threshold}, slow=0.5)", start=start)
    frame, timeline = schedule.frame, schedule.timeline
    for now, rate in zip(timeline["time"], timeline["rate"], strict=True):
        worst = 1.0
        for job in frame[(frame["submit"] <= now) & (frame["end"] > now)].itertuples():
            rest = max(0.0, job.estimate - virtual(timeline, job.start, now))
            worst = max(worst, (now - job.submit + rest / 0.5) / max(job.estimate, 10.0))
        if abs(worst - threshold) > 1e-9:
            assert rate == (1.0 if worst > threshold else 0.5), now


def made_of(data, platform):
    return [row[:4] for row in data.draw(rows(platform.cores, most=6))]


# ---------------------------------------------------------------- being called again


def saw(state, memory, period=2.0):
    """Up and down every so many seconds, by its own timer."""
    if state.clock.now >= memory[0]:
        memory[0] = state.clock.now + period
        memory[1] = 1.0 - memory[1]
    harness.call_again(state, memory[0])
    return 0.5 + memory[1]


@some
@given(data=st.data(), platform=homogeneous())
def test_a_rate_that_asks_is_called_at_its_times(data, platform):
    jobs = workload(data.draw(rows(platform.cores)))
    schedule = replay(jobs, platform, rate=harness.Rate("saw", saw, memory=2), start="none")
    timeline = schedule.timeline
    began = timeline["time"].iloc[0]
    for now, rate in zip(timeline["time"], timeline["rate"], strict=True):
        assert rate == (1.5 if (now - began) // 2 % 2 == 0 else 0.5)
    served = step_integral(timeline, "effective")
    assert served == pytest.approx((jobs.jobs["procs"] * jobs.jobs["work"]).sum())


def never_done(state):
    """Asks to be called for ever."""
    harness.call_again(state, state.clock.now + 1.0)
    return 1.0


@pytest.mark.parametrize("rate", ["ondemand(period=1)", harness.Rate("restless", never_done)])
def test_a_rate_that_asks_for_ever_does_not_keep_stranded_jobs_company(rate):
    """The only node fails for good at 5: the run is over then."""
    events = happenings((5, "node-down", 0))
    schedule = replay(workload([(0, 1, 10, 10)]), harness.plain(1), rate=rate, events=events, energy="none")
    assert schedule.frame["status"].tolist() == ["stranded"]
    assert schedule.outcome.clock.now == 5


def test_failed_nodes_are_not_busy():
    """Of four nodes three fail before the first arrival: the last one is idle, then half busy, then busy."""
    machine = Platform("four", (NodeType(4, 2),))
    events = happenings(*((0, "node-down", k) for k in range(3)))
    schedule = replay(
        workload([(1, 1, 9, 9), (2, 1, 9, 9)]), machine, rate="ondemand(period=1)", events=events, energy="none"
    )
    assert schedule.timeline.set_index("time")["rate"].loc[[1, 2, 3]].tolist() == [0.5, 0.5 / 0.8, 1.0]
