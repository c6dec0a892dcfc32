"""Held jobs: the engine agrees with the slow and obvious simulator, and broken holds stop the run in a sentence."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import bundled
from slow import STARTS
from slow_holds import simulate as slowly
from slow_machine import ORDERS
from slow_rules import follows, limited
from strategies import rows, seeded_rows, workload

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform, SleepState, plain
from harness.policy.scheduler import Scheduler, choose_all
from harness.policy.spec import Choice
from harness.policy.timing import Timing
from harness.workload.events import Events


def windows(state, job, every=8, least=2):
    """Jobs of some length begin in the first half of each period only."""
    within = state.clock.now % every
    if state.jobs[job].requested < least or within < every / 2:
        return state.clock.now
    return state.clock.now + every - within


def few(state, job, most=1):
    """So many jobs of a user at a time."""
    count = 0
    for other in harness.running(state):
        if state.jobs[other].user == state.jobs[job].user:
            count += 1
    return harness.INFINITY if count >= most else -harness.INFINITY


def later(state, job, by=3):
    """Every third job is not considered at once."""
    return state.jobs[job].submit + (by if state.jobs[job].number % 3 == 0 else -by)


def after(state, job):
    """Not before the job before it in the log has left, if that was submitted."""
    if job == 0 or state.jobs[job].number % 2:
        return state.clock.now
    status = state.jobs[job - 1].status
    if status in (harness.COMPLETED, harness.CANCELLED, harness.KILLED, harness.UNACCEPTED):
        return 0.0
    return harness.INFINITY


def both(*rules):
    return lambda machine, job: max(rule(machine, job) for rule in rules)


#: The hold, and its twin.
HOLDS = {
    "limits(user_jobs=1)": (None, limited("user", jobs=1)),
    "limits(group_jobs=1)": (None, limited("group", jobs=1)),
    "limits(user_procs=3, group_jobs=2)": (None, both(limited("user", procs=3), limited("group", jobs=2))),
    "limits(queue_procs=4, queue_jobs=2)": (None, limited("queue", procs=4, jobs=2)),
    "limits(group_nodes=2)": (None, limited("group", nodes=2)),
    "limits(user_submitted=2)": (None, limited("user", submitted=2)),
    "begin": (None, lambda m, j: j.x_begin),
    "dependencies": (None, follows("end")),
    "dependencies(after=success)": (None, follows("success")),
    "dependencies(after=start)": (None, follows("start")),
    "windows": (
        harness.Hold("windows", windows, again=("time",)),
        lambda m, j: m.now if j.estimate < 2 or m.now % 8 < 4 else m.now + 8 - m.now % 8,
    ),
    "few": (
        harness.Hold("few", few, again=("starts",)),
        lambda m, j: math.inf if any(other.user == j.user for other in m.running) else -math.inf,
    ),
    "few(most=2)": (None, lambda m, j: math.inf if sum(o.user == j.user for o in m.running) >= 2 else -math.inf),
    "later": (
        harness.Hold("later", later, again=()),
        lambda m, j: j.submit + (3 if j.place % 3 == 2 else -3),
    ),
    "after": (
        harness.Hold("after", after, again=()),
        lambda m, j: -math.inf if (p := before(m, j)) is None or p.end is not None or p.procs > m.procs else math.inf,
    ),
}


def before(machine, job):
    """The job submitted before one with an even number."""
    queue = sorted(machine.jobs, key=lambda other: (other.submit, other.place))
    place = queue.index(job)
    return queue[place - 1] if place and job.place % 2 else None


KNOWN = {one.name: one for one, _ in HOLDS.values() if one}
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


def furnished(made, seed=0):
    """The rows with what holds look at: users, other jobs, times."""
    dice = np.random.default_rng(seed)
    count = len(made)
    further = {
        "user": [k % 3 for k in range(count)],
        "group": dice.integers(-1, 2, count).tolist(),
        "queue": dice.integers(-1, 2, count).tolist(),
        "x_preceding": dice.integers(-count, count + 2, count).tolist(),
        "x_preceding_8": dice.integers(-3 * count, count + 2, count).tolist(),
        "x_after_8": [-1, 0, 1, 2][seed % 4 :] * count,
        "x_think": dice.choice((-1, 0, 2), count).tolist(),
        "x_begin": (dice.choice((-20, 0, 3, 9), count) + [row[0] for row in made]).tolist(),
    }
    return [
        (*row[:4], {**row[4], **{name: column[k] for name, column in further.items()}}) for k, row in enumerate(made)
    ]


def twin(holds):
    """The rules of holds, and whether starts of others release somebody."""
    return {
        "rules": [HOLDS[name][1] for name in holds],
        "freed_by_starts": any("dependencies" in name for name in holds),
    }


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


def free(state, job):
    """Ask about everybody all the time, and let everybody go."""
    return -harness.INFINITY


FREE = harness.Hold("free", free)
PARTS = {
    "order": ("fcfs", "spf", "wfp3"),
    "start": ("none", "easy", "conservative", "preempt"),
    "rate": ("full", "fixed(rate=0.5)", "hysteresis(low=1, high=3, slow=0.5, fast=1)"),
    "sleep": ("never", "timeout(idle=2)"),
    "predict": ("requested", "recent(n=1)", "actual"),
}


def schedule(made, procs, parts, hold, timing, holds=None):
    known = {**bundled(), "hold_jobs": holds or {**bundled()["hold_jobs"], **KNOWN, "free": FREE}}
    chosen = Scheduler(**parts, energy="cores", hold=hold).choose(known)
    node = NodeType(procs, 1, idle=50.0, peak=150.0, sleep=(SleepState("nap", 5.0, down=1.0, up=2.0),))
    outcome = simulate(workload(made), Platform("naps", (node,)), chosen, extras=Extras(timing=timing))
    return outcome.jobs


TIMINGS = (Timing(), Timing("each"), Timing(passing="5"), Timing(passing="backfill=7, main=0, depth=2"))


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


ONE = [(0, 1, 5, 5), (1, 1, 5, 5)]


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
        harness.Hold("odd", free, again=("start",))
    with pytest.raises(HarnessError, match="expected several out of"):
        harness.Hold("odd", free, freed_by="ends")
