"""Jobs that a start policy suspends at a cost, requeues or rejects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.running import choose, in_log_order
from shared.strategies import rows, workload

import harness
from harness import HarnessError, Start
from harness.engine.simulate import simulate
from harness.platform.machine import plain as processors
from harness.policy.scheduler import Chosen
from harness.results.schedule import Schedule
from harness.testing import PolicyFailure, check_policy

AGAIN, OFF = 0, 1


@harness.jit
def serve(state):
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            harness.start(state, job)


def urgent(state, how=AGAIN, overhead=2.0, most=2):
    """User 1 first: whoever runs makes room, at a cost, unless that has happened to it so often.

    `how`: `again` from the beginning, or taken `off` with an `overhead` [s].
    """
    for job in harness.waiting(state):
        if state.jobs[job].user != 1 or harness.fits(state, job):
            continue
        for other in harness.running(state).copy():
            record = state.jobs[other]
            if record.user != 1 and record.restarts + record.preemptions < most:
                if how == AGAIN:
                    harness.requeue(state, other)
                else:
                    harness.suspend(state, other, overhead)
        if harness.fits(state, job):
            harness.start(state, job)
    serve(state)


URGENT = Start("urgent", urgent, preemptive=True, choices={"how": ("again", "off")})


def choosy(state, widest=2):
    """Nobody is served who is wider than `widest` and has to wait."""
    serve(state)
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.status == harness.WAITING and record.procs > widest:
            harness.reject(state, job)


CHOOSY = Start("choosy", choosy, rejects=True)


def run(jobs, policy, procs=4, values=(), **more):
    chosen = choose(start=policy)
    chosen["start"] = harness.Choice(policy, {**policy.parameters, **dict(values)})
    outcome = simulate(jobs, processors(procs), chosen, **more)
    return Schedule(jobs, processors(procs), Chosen(chosen), 0, outcome)


def with_users(*given):
    return workload([(*row, {"user": user}) for *row, user in given])


both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
JOBS = with_users((0, 4, 10, 12, 0), (4, 2, 5, 5, 1), (5, 1, 1, 1, 0))


@both_ways
def test_a_requeued_job_begins_anew(plain):
    """It ran from 0 to 4 for nothing, and begins again when there is room, at 9."""
    schedule = run(JOBS, URGENT, plain=plain)
    frame = schedule.frame
    assert frame["start"].tolist() == [9, 4, 5]
    assert frame["end"].tolist() == [19, 9, 6]
    assert frame["restarts"].tolist() == [1, 0, 0]
    assert frame["lost"].tolist() == [4, 0, 0]
    assert frame["run"].tolist() == [10, 5, 1]
    assert frame["preemptions"].tolist() == [0, 0, 0]


@both_ways
def test_a_suspension_may_cost_work(plain):
    """Of 10 s it has done 4; the other 6 and 2 more begin at 9, and its slowdown counts both turns."""
    schedule = run(JOBS, URGENT, values={"how": "off"}, plain=plain)
    frame, jobs = schedule.frame, schedule.outcome.jobs
    assert frame["start"].tolist() == [0, 4, 5]
    assert frame["end"].tolist() == [17, 9, 6]
    assert frame["run"].tolist() == [12, 5, 1]
    assert jobs.overhead.tolist() == [2, 0, 0]
    assert frame["slowdown"].tolist() == [17 / 12, 1, 1]
    free = run(JOBS, URGENT, values={"how": "off", "overhead": 0.0}, plain=plain)
    assert free.frame["end"].tolist() == [15, 9, 6]


@both_ways
def test_a_rejected_job_leaves_at_once_and_counts_as_unaccepted(plain):
    jobs = workload([(0, 3, 10, 10), (1, 3, 5, 5), (2, 2, 5, 5), (3, 1, 5, 5)])
    schedule = run(jobs, CHOOSY, plain=plain)
    frame = schedule.frame
    assert frame["status"].tolist() == ["completed", "unaccepted", "completed", "completed"]
    assert np.isnan(frame["start"][1])
    assert frame["end"].tolist() == [10, 1, 15, 8]
    measures = schedule.measures()
    assert (measures["unaccepted"], measures["accepted"]) == (1, 3)
    assert measures["mean_wait"] == (0 + 8 + 0) / 3
    assert schedule.outcome.clock.queued == schedule.outcome.clock.running == 0
    assert schedule.outcome.clock.demand == 0


def turned_away_and_served(state):
    serve(state)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            harness.reject(state, job)
    serve(state)


@settings(max_examples=60)
@given(st.data())
def test_the_engine_keeps_its_sums_whoever_leaves(data):
    """When everybody has gone, no work, no processor and nobody waiting is left; work done is work asked for."""
    made = data.draw(rows(5, most=9, cancellations=True))
    users = data.draw(st.lists(st.integers(0, 1), min_size=len(made), max_size=len(made)))
    jobs = workload([(*row[:4], {**row[4], "user": user}) for row, user in zip(made, users, strict=True)])
    how = data.draw(st.sampled_from(("again", "off")))
    policy = data.draw(st.sampled_from((URGENT, CHOOSY, EVERYBODY)))
    schedule = run(jobs, policy, values={"how": how} if policy is URGENT else {})
    clock, sums, records = schedule.outcome.clock, schedule.outcome.sums, schedule.outcome.jobs
    assert (clock.queued, clock.running, clock.free) == (0, 0, clock.cores)
    assert (clock.demand, clock.promised, sums.backlog) == (0, 0, 0)
    done = np.isin(records.status, (harness.COMPLETED,))
    work = jobs.jobs["work"].to_numpy()[schedule.outcome.place]
    assert records.service[done].tolist() == (work + records.overhead)[done].tolist()
    assert in_log_order(schedule.outcome, "restarts").max(initial=0) <= 2


EVERYBODY = Start("everybody", turned_away_and_served, rejects=True)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [URGENT, CHOOSY], ids=lambda policy: policy.name)
def test_such_policies_pass_the_checks(policy):
    for check in ("runs", "capacity", "completeness", "switching", "foresight", "rejects=True"):
        if check != "rejects=True" or policy.rejects:
            check_policy(policy, checks=[check], examples=5)


def test_who_says_that_it_rejects_has_to():
    with pytest.raises(PolicyFailure, match="declares rejects=True, and rejects no job"):
        check_policy(Start("kind", serve, rejects=True), checks=["rejects=True"], examples=3)


def never_said(state):
    for job in harness.waiting(state):
        harness.reject(state, job)


def rejects_the_running(state):
    serve(state)
    for job in harness.running(state):
        harness.reject(state, job)


def requeues_who_waits(state):
    for job in harness.waiting(state):
        harness.requeue(state, job)


def pays_less_than_nothing(state):
    serve(state)
    for job in harness.running(state).copy():
        harness.suspend(state, job, -1.0)


@pytest.mark.parametrize(
    ("function", "traits", "words"),
    [
        (never_said, {}, "calls harness.reject and does not say rejects=True (test_taken_off.py, line"),
        (rejects_the_running, {"rejects": True}, "rejected job 1, which is not waiting"),
        (requeues_who_waits, {"preemptive": True}, "requeued job 1, which is not running"),
        (requeues_who_waits, {}, "which only policies declared preemptive=True may do"),
        (pays_less_than_nothing, {"preemptive": True}, "with an overhead of -1.0 s, where a number of at least 0"),
    ],
)
def test_what_cannot_be_is_refused(function, traits, words):
    with pytest.raises(HarnessError) as caught:
        run(JOBS, Start("wrong", function, compiled=False, **traits))
    assert words in str(caught.value)
