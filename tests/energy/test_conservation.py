"""No joule is lost, none is counted twice: whatever the machine, the policies and the accidents."""

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from replay import ENERGIES, RATES, SLEEPS, STARTS, cases, happenings, machines, replay, step_integral, virtual
from shared.strategies import rows, workload

from harness import NodeType, Platform

some = settings(max_examples=25, suppress_health_check=list(HealthCheck))
PARTS = [("rate", r) for r in RATES] + [("sleep", s) for s in SLEEPS] + [("start", s) for s in STARTS]
AVERAGES = {
    "mean_queued": "queued",
    "mean_busy": "busy",
    "potential_load": "potential",
    "effective_load": "effective",
    "job_wasting": "wasted",
    "mean_power": "power",
}


def is_conserved(schedule):
    """Σ jobs + idle + sleep + transitions = what the nodes drew = the integral of the timeline's power."""
    nodes = schedule.outcome.nodes
    parts = [nodes[name].sum() for name in ("idle_energy", "sleep_energy", "transition_energy")]
    drawn = nodes["energy"].sum()
    assert schedule.outcome.jobs["energy"].sum() + sum(parts) == pytest.approx(drawn, rel=1e-9, abs=1e-9)
    assert step_integral(schedule.timeline, "power") == pytest.approx(drawn, rel=1e-9, abs=1e-9)


def averages_agree(schedule):
    """The sums over the run are those of the timeline."""
    timeline, sums = schedule.timeline, schedule.outcome.sums
    elapsed = schedule.outcome.clock.now - schedule.outcome.clock.began
    assert timeline["time"].iloc[-1] - timeline["time"].iloc[0] == elapsed
    timeline["jobs"] = timeline["queued"] + timeline["running"]
    for column in ("jobs", "queued", "busy", "potential", "effective", "wasted"):
        assert sums[column] == pytest.approx(step_integral(timeline, column), rel=1e-9, abs=1e-9), column
    if elapsed > 0:
        measures = schedule.measures()
        for measure, column in AVERAGES.items():
            assert measures[measure] * elapsed == pytest.approx(step_integral(timeline, column), abs=1e-6), measure


def work_is_done(schedule):
    """Of a job that was never restarted, the rate integrated over its stays, times the speed, is its work."""
    jobs, timeline, platform = schedule.workload.jobs.set_index("job"), schedule.timeline, schedule.platform
    speeds = [platform.speed(t) for t in platform.types for _ in range(t.count)]
    done = schedule.frame[(schedule.frame["status"] == "completed") & (schedule.frame["restarts"] == 0)]
    for job, stays in schedule.placements.groupby("job"):
        if job in done["job"].to_numpy():
            served = sum(
                virtual(timeline, begin, end) * min(speeds[node] for node in stay["node"])
                for (begin, end), stay in stays.groupby(["begin", "end"])
            )
            assert served == pytest.approx(jobs.loc[job, "work"], rel=1e-9)


def nobody_shares(schedule):
    """No node serves more cores, and no more memory, than it has."""
    nodes = [t for t in schedule.platform.types for _ in range(t.count)]
    stays = schedule.placements.merge(schedule.workload.jobs[["job", "memory", "partition"]], on="job")
    for stay in stays.itertuples():
        here = stays[(stays["node"] == stay.node) & (stays["begin"] <= stay.begin) & (stay.begin < stays["end"])]
        assert here["cores"].sum() <= nodes[stay.node].cores
        assert (here["cores"] * here["memory"].clip(lower=0)).sum() <= nodes[stay.node].memory
        if len({t.partition for t in nodes}) > 1:
            assert stay.partition in (-1, nodes[stay.node].partition)


CHECKS = (is_conserved, averages_agree, work_is_done, nobody_shares)


@settings(some, max_examples=150)
@given(cases())
def test_every_joule_has_an_owner(case):
    jobs, platform, rest = case
    schedule = replay(jobs, platform, **rest)
    for check in CHECKS:
        check(schedule)


@pytest.mark.parametrize(("part", "spec"), PARTS)
@settings(some, max_examples=10)
@given(data=st.data(), energy=st.sampled_from(ENERGIES))
def test_every_joule_has_an_owner_under_every_policy(part, spec, data, energy):
    platform = data.draw(machines(curves=True, performance=True, sleep=True))
    jobs = workload(data.draw(rows(platform.cores, cancellations=True)))
    schedule = replay(jobs, platform, **({"sleep": "timeout(idle=1)", "energy": energy} | {part: spec}))
    for check in CHECKS:
        check(schedule)


#: Jobs that wait for a node that stays down, jobs that are served: where scores only fall, the engine scores ahead.
STRANDED = ((0, "node-down", 0),)
SERVED = ((99, "node-down", 0),)
PLAIN = {"order": "wfp3", "start": "none", "seed": 0}


def waiting_case(rows, *events, **parts):
    """A case of `cases` on one node with one core."""
    platform = Platform("single", (NodeType(1, 1, idle=50.0, peak=150.0),))
    return workload(rows), platform, PLAIN | {"events": happenings(*events)} | parts


@settings(some, max_examples=15)
@given(cases(happen=True))
@example(waiting_case([(0, 1, 1, 1), (0, 1, 1, 1)], *STRANDED))
@example(waiting_case([(0, 1, 5, 5), (0, 1, 5, 9), (1, 1, 5, 5), (3, 1, 5, 5)], *SERVED))
@example(waiting_case([(0, 1, 5, 5), (0, 1, 5, 9), (1, 1, 5, 5)], *SERVED, order="unicef", start="easy"))
@example(waiting_case([(0, 1, 5, 5), (0, 1, 5, 9), (1, 1, 5, 5)], *SERVED, order="expansion", start="greedy"))
def test_plain_python_says_the_same(case):
    jobs, platform, rest = case
    compiled, plain = (replay(jobs, platform, plain=plain, **rest) for plain in (False, True))
    assert repr(plain.outcome.jobs.tolist()) == repr(compiled.outcome.jobs.tolist())
    assert repr(plain.outcome.nodes.tolist()) == repr(compiled.outcome.nodes.tolist())
    assert plain.timeline.equals(compiled.timeline)
    is_conserved(plain)


# ---------------------------------------------------------------- when nodes fail and jobs are interrupted


def down_times(schedule):
    """(node, from, until) of every failure, as the events tell it."""
    began = schedule.outcome.clock.began
    since, times = {}, []
    for event in schedule.events.frame.sort_values("time", kind="stable").itertuples():
        at = max(event.time, began)
        if event.event == "node-down":
            since.setdefault(event.subject, at)
        elif event.event == "node-up" and event.subject in since:
            times.append((event.subject, since.pop(event.subject), at))
    return times + [(node, at, float("inf")) for node, at in since.items()]


@settings(some, max_examples=200)
@given(cases(happen=True))
def test_the_invariants_survive_accidents(case):
    jobs, platform, rest = case
    schedule = replay(jobs, platform, **rest)
    for check in CHECKS:
        check(schedule)
    frame, stays = schedule.frame, schedule.placements
    failures = down_times(schedule)
    for node, begin, end in failures:
        there = stays[(stays["node"] == node) & (stays["begin"] < end) & (stays["end"] > begin)]
        assert there.empty, "a node that is down holds nobody"
    statuses = set(frame["status"])
    assert statuses <= {"completed", "killed", "cancelled", "stranded", "unaccepted"}
    if not any(end > schedule.outcome.clock.now for _, _, end in failures):
        assert "stranded" not in statuses
    orders = {name: set(group["subject"]) for name, group in rest["events"].frame.groupby("event")}
    for job in frame.itertuples():
        if job.status == "killed":
            assert job.job in orders.get("job-killed", ()) or rest["events"].interrupted == "kill"
            assert stays[stays["job"] == job.job]["end"].max() <= job.end or job.run == 0
        if job.restarts:
            assert job.job in orders.get("job-requeued", ()) or rest["events"].interrupted == "requeue"
    served = ((stays["end"] - stays["begin"]) * stays["cores"]).sum()
    assert served == pytest.approx((frame["procs"] * (frame["run"].fillna(0) + frame["lost"])).sum())
    again = replay(jobs, platform, **rest)
    assert repr(again.outcome.jobs.tolist()) == repr(schedule.outcome.jobs.tolist())


@settings(some, max_examples=60)
@given(cases(happen=True))
def test_events_in_vain_are_counted_and_change_nothing(case):
    """A node that is up goes up; a job that is not there yet is killed."""
    jobs, platform, rest = case
    assume(not rest["rate"].startswith("bsld"))  # it looks at the time whenever it is asked
    rest |= {"order": "fcfs", "events": None}
    calm = replay(jobs, platform, **rest)
    vain = [(time, "node-up", 0) for time in (-1, 0, 1)] + [(-1, "job-killed", 1)]
    noisy = replay(jobs, platform, **(rest | {"events": happenings(*vain)}))
    assert noisy.outcome.sums.ignored_events == sum(time <= calm.outcome.clock.now for time, *_ in vain)
    assert noisy.frame["end"].to_numpy() == pytest.approx(calm.frame["end"].to_numpy(), nan_ok=True)
    assert noisy.frame["energy"].to_numpy() == pytest.approx(calm.frame["energy"].to_numpy())
