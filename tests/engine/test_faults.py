"""Every mistake of a plugin stops the run at once, and says who did what, to which job, when, and what was expected."""

import math

import numpy as np
import pytest
from broken_cases import JOBS, PAIR, both_ways, policy_of
from shared.running import in_log_order
from shared.strategies import workload

import harness
from harness.engine.faults import PolicyError
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform

# ---------------------------------------------------------------- what the loop refuses


def nan_score(job, clock):
    return math.nan if job.number == 2 else job.submit


def overcommit(state):
    for job in harness.waiting(state):
        harness.start(state, job)


def start_twice(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
            harness.start(state, job)


def start_the_future(state):
    harness.start(state, len(state.jobs))


def start_nobody(state):
    pass


def wait_for_ever(state):
    harness.call_again(state, state.clock.now + 60.0)


def suspend_who_waits(state):
    for job in harness.waiting(state):
        harness.suspend(state, job)


def start_nonsense(state):
    harness.start(state, 10**7)


def suspend_undeclared(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    for job in harness.running(state):
        harness.suspend(state, job)


def no_such_node(state, job):
    harness.take(state, job, len(state.nodes), 1)
    return True


def node_before_the_first(state, job):
    harness.take(state, job, -1, 1)
    return True


def for_somebody_else(state, job):
    harness.take(state, job + 1, 0, 1)
    return True


def too_few(state, job):
    harness.take(state, job, 0, 1)
    return True


def too_many(state, job):
    harness.take(state, job, 0, 2)
    harness.take(state, job, 1, 1)
    return True


def too_much_of_a_node(state, job):
    harness.take(state, job, 1, 3)
    return True


def nothing_taken(state, job):
    harness.take(state, job, 0, 0)
    return True


def rate_zero(state):
    return 0.0 if state.clock.now >= 12 else 1.0


def rate_negative(state):
    return -1.0


def rate_nan(state):
    return math.nan


def rate_infinite(state):
    return math.inf


def watts_negative(node, clock):
    return -1.0 if node.busy > 0 else 1.0


def watts_nan(node, clock):
    return math.nan if node.busy > 0 else 1.0


def watts_infinite(node, clock):
    return math.inf if node.busy > 0 else 1.0


def called_in_the_past(state):
    harness.call_again(state, state.clock.now - 1.0)


def called_now(state):
    harness.call_again(state, state.clock.now)


def called_at_no_time(state):
    harness.call_again(state, math.nan)


def rate_called_now(state):
    harness.call_again(state, state.clock.now)
    return 1.0


BROKEN = [
    ("order", nan_score, ["12 s", "job 2", "score nan", "a number was expected"]),
    ("start", overcommit, ["12 s", "job 2", "needs 3 processors", "only 2", "overcommit", "harness.fits"]),
    ("start", start_twice, ["10 s", "job 1", "not waiting"]),
    ("start", start_the_future, ["10 s", "index 1", "not waiting"]),
    ("start", start_nobody, ["30 s", "4 jobs waiting", "job 1", "idle"]),
    ("start", suspend_who_waits, ["10 s", "job 1", "preemptive=True"]),
    ("start", suspend_undeclared, ["10 s", "preemptive=True"]),
    ("start", start_nonsense, ["10 s", "10000000", "not waiting"]),
    ("select", no_such_node, ["10 s", "node 2", "job 1", "room for 0"]),
    ("select", node_before_the_first, ["10 s", "node -1", "job 1", "room for 0"]),
    ("select", for_somebody_else, ["10 s", "index 1"]),
    ("select", too_few, ["10 s", "chose 1 processors", "job 1", "needs 2"]),
    ("select", too_many, ["10 s", "chose 3 processors", "job 1", "only 2"]),
    ("select", too_much_of_a_node, ["10 s", "3 processors of node 1", "job 1", "room for 2", "harness.room"]),
    ("select", nothing_taken, ["10 s", "0 processors of node 0", "job 1"]),
    ("rate", rate_zero, ["12 s", "rate 0", "above 0"]),
    ("rate", rate_negative, ["10 s", "rate -1", "above 0"]),
    ("rate", rate_nan, ["10 s", "rate nan", "above 0"]),
    ("rate", rate_infinite, ["10 s", "rate inf", "above 0"]),
    ("energy", watts_negative, ["10 s", "node 0", "-1", "at least 0"]),
    ("energy", watts_nan, ["10 s", "node 0", "nan W", "at least 0"]),
    ("energy", watts_infinite, ["10 s", "node 0", "inf W", "at least 0"]),
    ("sleep", called_in_the_past, ["10 s", "called again at 9", "later"]),
    ("sleep", called_now, ["10 s", "called again at 10", "later"]),
    ("sleep", called_at_no_time, ["10 s", "called again at nan", "later"]),
    ("rate", rate_called_now, ["10 s", "called again at 10", "later"]),
]


@both_ways
def test_suspending_who_does_not_run_is_refused(run, plain):
    policy = policy_of("start", suspend_who_waits, preemptive=True)
    with pytest.raises(PolicyError, match="suspended job 1, which is not running"):
        run(workload(JOBS), PAIR, plain=plain, start=policy)


@both_ways
@pytest.mark.parametrize(("part", "function", "words"), BROKEN, ids=[function.__name__ for _, function, _ in BROKEN])
def test_a_broken_policy_is_refused_with_everything_said(run, part, function, words, plain):
    policy = policy_of(part, function)
    with pytest.raises(PolicyError) as caught:
        run(workload(JOBS), PAIR, plain=plain, **({"energy": "cores"} | {part: policy}))
    message = str(caught.value)
    for word in [repr(policy.name), policy.hook, *words]:
        assert word in message


@pytest.mark.slow
@both_ways
def test_who_waits_for_ever_is_told_in_the_end(run, plain):
    with pytest.raises(PolicyError, match=r"'broken-wait-for-ever'.*4 jobs waiting, the first of them job 1"):
        run(workload(JOBS), PAIR, plain=plain, start=policy_of("start", wait_for_ever))


@both_ways
def test_a_broken_order_for_backfilling_is_the_one_that_is_blamed(run, plain):
    jobs = [(10, 3, 5, 5), (11, 2, 5, 5), (11, 1, 5, 5)]
    second = policy_of("order", lambda job, clock: math.nan, name="broken-second")
    with pytest.raises(PolicyError, match="'broken-second'"):
        run(workload(jobs), PAIR, plain=plain, start="easy(backfill_order=spf)", second=second)


# ---------------------------------------------------------------- what a policy raises itself


def divides_by_zero(job, clock):
    if job.number == 2:
        raise ZeroDivisionError("mine")
    return job.submit


def start_raises(state):
    if state.clock.now >= 12:
        raise KeyError("mine")


def select_raises(state, job):
    raise IndexError("mine")


def rate_raises(state):
    if state.clock.now >= 12:
        raise OSError("mine")
    return 1.0


def sleep_raises(state):
    raise RuntimeError("mine")


def watts_raise(node, clock):
    if clock.now >= 12:
        raise ArithmeticError("mine")
    return 1.0


RAISING = [
    ("order", divides_by_zero, ZeroDivisionError, "12 s"),
    ("start", start_raises, KeyError, "12 s"),
    ("select", select_raises, IndexError, "10 s"),
    ("rate", rate_raises, OSError, "12 s"),
    ("sleep", sleep_raises, RuntimeError, "10 s"),
    ("energy", watts_raise, ArithmeticError, "12 s"),
]


@both_ways
@pytest.mark.parametrize(("part", "function", "kind", "instant"), RAISING, ids=[row[0] for row in RAISING])
def test_what_a_policy_raises_arrives_as_it_is_with_a_note(run, part, function, kind, instant, plain):
    policy = policy_of(part, function, name=f"raising-{part}")
    with pytest.raises(kind) as caught:
        run(workload(JOBS), PAIR, plain=plain, **{part: policy})
    assert type(caught.value) is kind
    (note,) = caught.value.__notes__
    assert f"'raising-{part}'" in note
    assert policy.hook in note
    assert f"at {instant}" in note
    if plain:
        assert function.__name__ in {entry.name for entry in caught.traceback}


@both_ways
def test_the_note_names_the_job_whose_score_raised(run, plain):
    with pytest.raises(ZeroDivisionError) as caught:
        run(workload(JOBS), PAIR, plain=plain, order=policy_of("order", divides_by_zero, name="raising-order"))
    assert "job 2" in caught.value.__notes__[0]


@both_ways
def test_a_run_that_failed_leaves_nothing_behind(run, plain):
    before = run(workload(JOBS), PAIR, plain=plain)
    with pytest.raises(PolicyError):
        run(workload(JOBS), PAIR, plain=plain, start=policy_of("start", overcommit))
    assert run(workload(JOBS), PAIR, plain=plain).jobs.tolist() == before.jobs.tolist()


# ---------------------------------------------------------------- edges of the input


def test_an_empty_workload_is_refused_or_gives_an_empty_schedule(run):
    try:
        outcome = run(workload(JOBS).__class__("empty", workload(JOBS).jobs[:0], None, "empty"), PAIR)
    except HarnessError:
        return
    assert len(outcome.jobs) == 0


def test_jobs_wider_than_the_machine_are_set_aside(run):
    outcome = run(workload([(0, 5, 1, 1), (1, 4, 1, 1)]), PAIR)
    assert np.isnan(outcome.jobs.start).tolist() == [True, False]


def test_memory_is_no_obstacle_where_the_platform_says_nothing_of_it(run):
    """One partition says how much memory it has, the other does not."""
    platform = Platform("half known", (NodeType(1, 2, memory=8.0), NodeType(1, 2, partition=1)))
    outcome = run(workload([(0, 4, 1, 1, {"memory": 2.0}), (0, 1, 1, 1, {"memory": 9.0, "partition": 1})]), platform)
    assert in_log_order(outcome, "start").tolist() == [0, 1]


def narrows_jobs(job, clock):
    job.procs = 1
    return job.submit


def counts_more(state):
    state.clock.free = 1000
    for job in harness.waiting(state):
        harness.start(state, job)


@both_ways
@pytest.mark.parametrize(("part", "function", "field"), [("order", narrows_jobs, "procs"), ("start", counts_more, "")])
def test_records_are_only_read(run, part, function, field, plain):
    """A policy that writes into the records would win by mistake, or by fraud."""
    with pytest.raises(PolicyError, match=f"changed .*{field}|overcommit"):
        run(workload(JOBS), PAIR, plain=plain, **{part: policy_of(part, function)})


def declines(state, job):
    return False


@pytest.mark.parametrize("start", ["easy", "conservative"])
@both_ways
def test_a_selection_that_always_declines_is_named(run, plain, start):
    with pytest.raises(PolicyError, match="the selection 'broken-declines' declined"):
        run(workload(JOBS), PAIR, plain=plain, start=start, select=policy_of("select", declines))
