"""Held jobs: the engine agrees with the slow and obvious simulator, and broken holds stop the run in a sentence."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from held_jobs import HOLDS, KNOWN, ONE, TIMINGS, free, furnished, schedule, twin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import bundled
from shared.strategies import rows, seeded_rows, workload
from slow import STARTS
from slow_holds import simulate as slowly
from slow_machine import ORDERS

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform, plain
from harness.policy.scheduler import Scheduler, choose_all
from harness.policy.spec import Choice
from harness.workload.events import Events

SETS = st.lists(st.sampled_from(list(HOLDS)), min_size=1, max_size=3, unique=True)


def quickly(made, procs, order, start, holds, events=(), requeue=True, **options):
    policies = {**bundled(), "hold_jobs": {**bundled()["hold_jobs"], **KNOWN}}
    chosen = Scheduler(order=order, start=start, energy="none", hold=" + ".join(holds)).choose(policies)
    table = pd.DataFrame(events, columns=["time", "event", "subject"])
    extras = Extras(Events(table, "requeue" if requeue else "kill"))
    outcome = simulate(workload(made), plain(procs), chosen, extras=extras, **options)
    result = [None] * len(made)
    for row, job in zip(outcome.place, outcome.jobs, strict=True):
        result[row] = tuple(None if np.isnan(value) else value for value in (job.start, job.end, job.service))
    return result


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("hold", HOLDS)
def test_agrees_with_the_obvious_simulator(hold, start):
    for seed in range(30):
        order = list(ORDERS)[seed % len(ORDERS)]
        made, procs = seeded_rows(seed, cancellations="preempt" not in start)
        made = furnished(made, seed)
        expected = slowly(made, procs, order, start, **twin([hold]))
        assert quickly(made, procs, order, start, [hold]) == expected, f"seed {seed}: {order}, {procs}, {made}"


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 5), st.sampled_from(list(ORDERS)), st.sampled_from(list(STARTS)), SETS)
def test_several_holds_agree_on_cases_that_shrink(data, procs, order, start, holds):
    made = data.draw(rows(procs + 1, most=8, cancellations="preempt" not in start))
    made = furnished(made, data.draw(st.integers(0, 99)))
    assert quickly(made, procs, order, start, holds) == slowly(made, procs, order, start, **twin(holds))


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.data(),
    st.integers(1, 4),
    st.sampled_from(list(ORDERS)),
    st.sampled_from([start for start in STARTS if "preempt" not in start]),
    SETS,
    st.booleans(),
)
def test_agrees_when_nodes_fail_and_jobs_are_interrupted(data, procs, order, start, holds, requeue):
    made = furnished(data.draw(rows(procs, most=8, cancellations=True)), data.draw(st.integers(0, 99)))
    node = st.tuples(st.sampled_from(("node-down", "node-up")), st.integers(0, procs - 1))
    job = st.tuples(st.sampled_from(("job-deleted", "job-killed", "job-requeued")), st.integers(1, len(made)))
    drawn = data.draw(st.lists(st.tuples(st.integers(-1, 30), st.one_of(node, node, job)), max_size=6))
    events = [(time, *what) for time, what in drawn]
    expected = slowly(made, procs, order, start, events=events, requeue=requeue, **twin(holds))
    assert quickly(made, procs, order, start, holds, events, requeue) == expected


@pytest.mark.parametrize("after", ["success", "end"])
@pytest.mark.parametrize("patience", [3.0, 10.0, math.inf])
def test_a_job_that_the_log_cancels_is_no_success_even_if_it_is_started(after, patience):
    """The second job may wait from 1 s until its patience ends, and is started at 5 s unless that is earlier."""
    rows = [(0, 1, 5, 5, {"x_preceding": -1}), (1, 1, 4, 4, {"x_preceding": -1, "cancel": patience})]
    rows.append((2, 1, 1, 1, {"x_preceding": 2}))
    third = {3.0: 5, 10.0: 9, math.inf: 9}[patience] if after == "end" or patience == math.inf else None
    found = quickly(rows, 1, "fcfs", "none", [f"dependencies(after={after})"])
    assert [start for start, *_ in found] == [0, None if patience == 3.0 else 5, third]


@pytest.mark.parametrize("start", ["none", "easy", "conservative", "greedy"])
@pytest.mark.parametrize(
    ("hold", "users", "groups"),
    [
        ("limits(group_jobs=1, user_submitted=1)", (1, 2, 2), (1, 1, 1)),
        ("limits(group_jobs=1, queue_submitted=1)", (1, 2, 3), (1, 1, 1)),
        ("limits(user_jobs=1, group_submitted=1)", (1, 1, 1), (2, 1, 1)),
    ],
)
def test_held_jobs_are_considered_in_order_of_submission_and_then_of_the_log(hold, users, groups, start):
    """The second job waits for the first one's processors or is held when the first starts; the third comes later."""
    for width in (1, 2):
        rows = [
            (submit, width, 5, 5, {"user": user, "group": group, "queue": int(k > 0), "cancel": math.inf})
            for k, (submit, user, group) in enumerate(zip((0, 0, 1), users, groups, strict=True))
        ]
        assert [begin for begin, *_ in quickly(rows, 2, "fcfs", start, [hold])] == [0, 5, 10]
        rows[2] = (0, *rows[2][1:])  # in order of the log
        assert [begin for begin, *_ in quickly(rows, 2, "lcfs", start, [hold])] == [0, 5, 10]


@pytest.mark.parametrize("other", [0, 1], ids=["in one piece", "in two"])
def test_partitions_are_limited_too(other):
    node = NodeType(4, 1)
    made = [(0, 1, 10, 10, {"partition": k % 2}) for k in range(6)]
    platform = Platform("two", (node, dataclasses.replace(node, partition=other)))
    for hold, starts in (
        ("limits(partition_jobs=2)", [0, 0, 0, 0, 10, 10]),
        ("limits(partition_procs=1)", [0, 0, 10, 10, 20, 20]),
        ("limits(partition_nodes=1)", [0, 0, 10, 10, 20, 20]),
        ("limits(partition_submitted=1)", [0, 0, 10, 10, 20, 20]),
    ):
        chosen = Scheduler(hold=hold, energy="none").choose(bundled())
        assert list(simulate(workload(made), platform, chosen).jobs.start) == starts


@pytest.mark.data
@pytest.mark.parametrize("hold", ["limits(user_jobs=40)", "limits(user_procs=120) + limits(group_jobs=60)"])
def test_nobody_is_ever_over_a_limit(hold):
    """On a log, with queues long enough for the engine to look after them otherwise than in short ones."""
    jobs = harness.prepare(harness.read_workload("HPC2N"), jobs=20_000)
    frame = harness.simulate(jobs, None, harness.Scheduler(energy="none", hold=hold)).frame
    frame = frame[frame.status == "completed"]
    least = {"user_jobs=40": ("user", None, 40), "user_procs=120": ("user", "procs", 120)}
    least["group_jobs=60"] = ("group", None, 60)
    for words, (whose, what, most) in least.items():
        if words not in hold:
            continue
        known = frame.assign(**{whose: jobs.jobs[whose].to_numpy()[frame.index]}).query(f"{whose} >= 0")
        much = known[what] if what else 1
        changes = pd.concat(
            [
                pd.DataFrame({"key": known[whose], "time": known.start, "by": much}),
                pd.DataFrame({"key": known[whose], "time": known.end, "by": -much}),
            ]
        ).sort_values(["time", "by"])
        assert (reached := changes.groupby("key")["by"].cumsum().max()) <= most
        assert reached > most / 2  # it is reached, or nearly


# ---------------------------------------------------------------- beside everything else


PARTS = {
    "order": ("fcfs", "spf", "wfp3"),
    "start": ("none", "easy", "conservative", "preempt"),
    "rate": ("full", "fixed(rate=0.5)", "hysteresis(low=1, high=3, slow=0.5, fast=1)"),
    "sleep": ("never", "timeout(idle=2)"),
    "predict": ("requested", "recent(n=1)", "actual"),
}


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 10**6),
    st.fixed_dictionaries({part: st.sampled_from(names) for part, names in PARTS.items()}),
    st.sampled_from(TIMINGS),
)
def test_a_hold_that_holds_nobody_changes_nothing(seed, parts, timing):
    """Beside every other policy and reading of the instant: it is another loop that runs then."""
    made, procs = seeded_rows(seed)
    made = furnished(made, seed)
    with_it, without = (schedule(made, procs, parts, hold, timing) for hold in ("free", "none"))
    for field in ("start", "end", "status", "energy", "preemptions", "corrections"):
        np.testing.assert_array_equal(with_it[field], without[field])


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 10**6),
    st.fixed_dictionaries({part: st.sampled_from(names) for part, names in PARTS.items()}),
    st.sampled_from(TIMINGS),
    SETS,
)
def test_whatever_else_is_in_use_nobody_starts_while_held_and_nobody_is_left(seed, parts, timing, holds):
    made, procs = seeded_rows(seed, cancellations=False)
    made = furnished(made, seed)
    jobs = schedule(made, procs, parts, " + ".join(holds), timing)
    held = {"windows": lambda job: job.requested >= 2 and job.start % 8 >= 4}
    held["later"] = lambda job: job.number % 3 == 0 and job.start < job.submit + 3
    held["begin"] = lambda job: job.start < made[job.number - 1][4]["x_begin"]
    for name in set(holds) & set(held):
        assert not any(held[name](job) for job in jobs if job.status == harness.COMPLETED and job.preemptions == 0)
    if "few" in holds and parts["start"] != "preempt":
        for job in jobs[jobs.status == harness.COMPLETED]:
            beside = (jobs.user == job.user) & (jobs.start <= job.start) & (job.start < jobs.end)
            assert beside.sum() == 1
    if not any("dependencies" in name or "procs" in name for name in holds):  # else some wait for ever
        assert (jobs.status == harness.COMPLETED).all()


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.booleans())
def test_the_queue_is_without_those_who_are_held_and_the_waits_are_not(seed, room):
    """Who waits for its hour alone is held, not queued; otherwise the queue has the rest of the waits."""
    made, procs = seeded_rows(seed, cancellations=False)
    made = furnished(made, seed)
    chosen = Scheduler(energy="none", start="greedy", hold="begin").choose(bundled())
    outcome = simulate(workload(made), plain(sum(row[1] for row in made) if room else procs), chosen)
    jobs = outcome.jobs[outcome.jobs.status == harness.COMPLETED]
    held = sum(max(0, made[job.number - 1][4]["x_begin"] - job.submit) for job in jobs)
    assert outcome.sums.queued + held == (jobs.start - jobs.submit).sum()
    assert not room or outcome.sums.queued == 0


# ---------------------------------------------------------------- holds that are broken


def hold_of(function, **traits):
    known = {**bundled(), "hold_jobs": {**bundled()["hold_jobs"], "broken": harness.Hold("broken", function, **traits)}}
    return Scheduler(energy="none", hold="broken").choose(known)


@pytest.mark.parametrize("plain_python", [False, True])
@pytest.mark.parametrize("time", [math.inf - math.inf, float("nan")])
def test_a_time_that_is_no_number_stops_the_run(time, plain_python):
    chosen = hold_of(lambda state, job: time, compiled=not plain_python)
    with pytest.raises(
        HarnessError, match=r"'broken' \(hold_jobs\), at 0 s, holds job 1 until nan s, where a time was"
    ):
        simulate(workload(ONE), plain(2), chosen)


@pytest.mark.parametrize(("compiled", "said"), [(True, "returns True or False"), (False, "returned True")])
def test_true_and_false_are_no_times(compiled, said):
    """Whoever answers whether the job is held, or whether it may go, would let it go either way."""

    def waits(state, job):
        return state.clock.now < 5.0

    with pytest.raises(HarnessError, match=rf"'broken' \(hold_jobs\).* {said}, where a time was expected"):
        simulate(workload(ONE), plain(2), hold_of(waits, compiled=compiled))


@pytest.mark.parametrize("time", [-math.inf, -1.0, 0.0])
def test_times_gone_by_let_the_job_go(time):
    jobs = simulate(workload(ONE), plain(2), hold_of(lambda state, job: time)).jobs
    assert list(jobs.start) == [0, 1]


def test_who_is_held_for_ever_is_stranded():
    def never(state, job):
        return harness.INFINITY if state.jobs[job].number == 2 else 0.0

    jobs = simulate(workload(ONE), plain(2), hold_of(never)).jobs
    assert list(jobs.status) == [harness.COMPLETED, harness.HELD]
    assert math.isnan(jobs.start[1])


def test_a_hold_that_lets_nobody_go_and_asks_for_ever_stops_the_run():
    with pytest.raises(
        HarnessError, match="about job 1 a million times in a row and let nobody go, while nothing else"
    ):
        simulate(workload(ONE[:1]), plain(2), hold_of(lambda state, job: state.clock.now + 1.0))


def test_the_hold_that_is_at_fault_is_named():
    known = {**bundled(), "hold_jobs": {**bundled()["hold_jobs"], **KNOWN}}
    known["hold_jobs"]["broken"] = harness.Hold("broken", lambda state, job: math.nan)
    chosen = Scheduler(energy="none", hold="later(by=1) + broken + few").choose(known)
    with pytest.raises(HarnessError, match=r"the policy 'broken' \(hold_jobs\)"):
        simulate(workload(furnished(ONE and [(*row, {}) for row in ONE])), plain(2), chosen)


# ---------------------------------------------------------------- how they are written


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("none", "none"),
        ("begin+dependencies( after = start )", "begin + dependencies(after=start)"),
        ("none + begin", "begin"),
        ("begin + none + none", "begin"),
    ],
)
def test_several_are_written_with_a_plus_between(written, read):
    chosen = Scheduler(hold=written, energy="none").choose(bundled())
    assert str(chosen["hold"]) == read
    assert chosen.names["hold"] == read


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("begin +", "''"),
        ("begin + dependecies", "did you mean 'dependencies'"),
        ("begin dependencies", "expected a name"),
        ("dependencies(after=never) + begin", "expected one of end, success, start"),
    ],
)
def test_what_is_no_sum_of_holds_is_refused(written, sentence):
    with pytest.raises(HarnessError, match=sentence):
        Scheduler(hold=written).choose(bundled())


@pytest.mark.parametrize("hold", ["begin", "dependencies", "dependencies(after=start)"])
def test_a_log_that_says_it_of_no_job_holds_nobody_and_that_is_told(hold):
    chosen = Scheduler(hold=f"{hold} + limits(user_jobs=1)", energy="none").choose(bundled())
    made = [(0, 1, 5, 5, {"user": k % 2}) for k in range(4)]
    with pytest.warns(UserWarning, match=r"holds nobody of small, .* it has no column 'x_\w+'") as told:
        jobs = simulate(workload(made), plain(4), chosen).jobs
    assert len(told) == 1
    assert list(jobs.start) == [0, 0, 5, 5]


def test_a_log_of_which_one_job_waits_for_another_is_told_nothing_of():
    chosen = Scheduler(hold="dependencies", energy="none").choose(bundled())
    made = [(0, 1, 5, 5, {"x_preceding": -1}), (1, 1, 5, 5, {"x_preceding": 1})]  # and no think time
    assert list(simulate(workload(made), plain(2), chosen).jobs.start) == [0, 5]


def test_a_column_that_only_a_policy_knows_is_missed():
    odd = Choice.plain(harness.Hold("odd", lambda state, job, columns: 0.0, columns=("x_odd",)))
    with pytest.raises(HarnessError, match="'x_odd', which the workload 'small' does not have"):
        simulate(workload(ONE), plain(2), choose_all({"hold": odd}, bundled()))


def test_a_trait_that_there_is_not_is_refused():
    with pytest.raises(HarnessError, match="did you mean 'starts'"):
        harness.Hold("odd", free, rechecked_on=("start",))
    with pytest.raises(HarnessError, match="expected several out of"):
        harness.Hold("odd", free, released_on="ends")
