"""Queues with an order and a start policy of their own share nodes and clock, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from held_jobs import furnished, twin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import bundled, choose, in_log_order
from shared.strategies import rows, seeded_rows, workload
from slow import simulate as slowly
from slow_holds import simulate as slowly_held
from slow_queues import together

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform, plain
from harness.policy.timing import DecisionTiming

both_ways = pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "plain"])

#: Of queues that are compared with the slow ones.
ORDERS = ("fcfs", "spf", "lcfs", "wfp3", "fairshare(half_life=0)")
STARTS = ("none", "greedy", "easy", "easy(backfill_order=spf)", "easy(reservations=2)", "conservative(replan=true)")
#: Who belongs to the first queue, and to the second.
NUMBERS = ((0,), (1,), (-1, 1))

QUEUES = st.tuples(st.sampled_from(NUMBERS), st.sampled_from(ORDERS), st.sampled_from(STARTS))


def spec(queues):
    """The same in the words of the harness."""
    *own, (_, _, last) = queues
    named = [
        f"q{k}(queue=[{', '.join(map(str, numbers))}], order={order}, start={start})"
        for k, (numbers, order, start) in enumerate(own)
    ]
    return " + ".join([last, *named])


def quickly(made, procs, queues, hold="none", *, by_python=False):
    chosen = choose(order=queues[-1][1], start=spec(queues), hold=hold)
    outcome = simulate(workload(made), plain(procs), chosen, plain=by_python)
    result = [None] * len(made)
    for row, job in zip(outcome.place, outcome.jobs, strict=True):
        result[row] = tuple(None if np.isnan(value) else value for value in (job.start, job.end, job.service))
    return result


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 5), st.lists(QUEUES, min_size=2, max_size=3))
def test_agrees_with_the_obvious_simulator(data, procs, queues):
    made = data.draw(rows(procs + 1, most=10, cancellations=True, whose=True))
    made[0][4]["queue"], made[-1][4]["queue"] = 0, 1  # one queue alone may keep its plans
    queues[0] = ((0,), *queues[0][1:])
    if min(job[1] for job in (made[0], made[-1])) > procs or len(made) == 1:
        made = [(0, 1, 1, 1, {"queue": 0}), (0, 1, 1, 1, {"queue": 1}), *made]
    made = [(submit, min(width, procs), *more) for submit, width, *more in made]
    assert quickly(made, procs, queues) == slowly(made, procs, queues[-1][1], together(queues))


@pytest.mark.parametrize("hold", ["limits(user_jobs=1)", "limits(group_jobs=1)", "begin"])
def test_holds_are_asked_about_all_queues(hold):
    """Also about those that are not asked now, when a start of another queue makes their jobs held."""
    dice = np.random.default_rng(1)
    for seed in range(150):
        made, procs = seeded_rows(seed)
        made = furnished(made, seed)
        made[0][4]["queue"] = 0
        made = [(0, 1, 1, 1, {**made[0][4], "queue": 1, "user": 5, "cancel": np.inf}), *made]
        starts = dice.choice(("none", "easy", "conservative(replan=true)"), 2)
        queues = [((0,), str(dice.choice(ORDERS)), str(starts[0])), ((), "spf", str(starts[1]))]
        expected = slowly_held(made, procs, queues[-1][1], together(queues), **twin([hold]))
        assert quickly(made, procs, queues, hold) == expected, seed


@both_ways
@pytest.mark.parametrize("starts", [("none", "none"), ("none", "easy"), ("none", "conservative")])
def test_a_start_that_makes_a_job_of_another_queue_held_stops_all_starts(starts, by_python):
    """One of three processors is in use until 10 s. In the first queue a job that needs all three stops the next one.
    The first start of the other queue makes that wide job held, so that the next job starts before any other."""
    more = [{"user": -1, "cancel": np.inf, "queue": queue, "group": group} for queue, group in enumerate((5, 1))]
    made = [(0, 1, 10, 10, more[0]), (1, 3, 5, 5, more[0] | {"group": 1}), (1, 1, 5, 5, more[0] | {"group": 2})]
    made += [(1, 1, 5, 5, more[1]), (1, 1, 5, 5, more[1] | {"group": 3})]
    queues = [((0,), "fcfs", starts[0]), ((), "fcfs", starts[1])]
    expected = slowly_held(made, 3, "fcfs", together(queues), **twin(["limits(group_jobs=1)"]))
    assert [start for start, *_ in expected] == [0, 11, 1, 1, 6]
    assert quickly(made, 3, queues, "limits(group_jobs=1)", by_python=by_python) == expected


@both_ways
def test_in_plain_python_too(by_python):
    for seed in range(8):
        made, procs = seeded_rows(seed, whose=True)
        queues = [((0,), "spf", "easy"), ((1,), "lcfs", "none"), ((), "wfp3", "easy(backfill_order=spf)")]
        made += [(99, 1, 1, 1, {"queue": queue}) for queue in (0, 1)]
        found = quickly(made, procs, queues, by_python=by_python)
        assert found == slowly(made, procs, "wfp3", together(queues)), seed


# ---------------------------------------------------------------- one, and two that have nothing in common

LASTING = ("fcfs", "spf", "lcfs", "saf")
ANY_START = (*STARTS, "conservative")


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 4), st.sampled_from(LASTING), st.sampled_from(ANY_START), st.booleans())
def test_one_queue_alone_is_the_plain_scheduler(data, procs, order, start, own):
    made = data.draw(rows(procs, most=10, cancellations=True, whose=True))
    jobs = [(*row[:4], row[4] | {"queue": 3 if own else 4}) for row in made]
    beside = (
        f"{'none' if own else start} + own(queue=3, order={order if own else 'laf'}, start={start if own else 'none'})"
    )
    together = simulate(workload(jobs), plain(procs), choose(order="laf" if own else order, start=beside))
    alone = simulate(workload(jobs), plain(procs), choose(order=order, start=start))
    assert np.array_equal(together.jobs.start, alone.jobs.start, equal_nan=True)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 4), st.sampled_from(LASTING), st.sampled_from(LASTING), st.sampled_from(ANY_START))
def test_conservative_plans_anew_beside_other_queues(data, procs, order, other, start):
    """The slow twin forgets what it has promised whenever it is asked."""
    made = data.draw(rows(procs, most=8, cancellations=True, whose=True))
    made += [(0, 1, 1, 1, {"queue": queue}) for queue in (0, 1)]
    queues = [((0,), order, "conservative"), ((), other, start)]
    assert quickly(made, procs, queues) == slowly(made, procs, other, together(queues))


NODES = st.lists(st.tuples(st.integers(1, 3), st.sampled_from((np.inf, 3.0, 5.0))), min_size=1, max_size=2)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.data(),
    st.tuples(NODES, NODES),
    st.tuples(st.sampled_from(LASTING), st.sampled_from(LASTING)),
    st.tuples(st.sampled_from(ANY_START), st.sampled_from(ANY_START)),
)
def test_queues_of_partitions_apart_are_two_simulations(data, nodes, orders, begins):
    """Each on the same platform with the other's nodes idle; conservative, which plans anew beside others, likewise."""
    types = [NodeType(1, c, float(c), memory, partition=p) for p in (0, 1) for c, memory in nodes[p]]
    platform = Platform("two", tuple(types))
    made = []
    for partition in (0, 1):
        procs = sum(cores for cores, _ in nodes[partition])
        some = data.draw(rows(procs, most=7, memory=True, cancellations=True))
        made += [(*row[:4], row[4] | {"partition": partition}) for row in some]
    start = f"{begins[0]} + own(partition=1, order={orders[1]}, start={begins[1]})"
    both = in_log_order(simulate(workload(made), platform, choose(order=orders[0], start=start)), "start")
    for partition in (0, 1):
        mine = [k for k, row in enumerate(made) if row[4]["partition"] == partition]
        anew = begins[partition].replace("conservative(replan=true)", "conservative") + "(replan=true)"
        begin = anew if "conservative" in anew else begins[partition]
        alone = simulate(workload([made[k] for k in mine]), platform, choose(order=orders[partition], start=begin))
        assert np.array_equal(both[mine], in_log_order(alone, "start"), equal_nan=True)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), NODES, st.tuples(st.sampled_from(ANY_START), st.sampled_from(ANY_START)))
def test_nobody_gets_what_is_not_there(data, nodes, begins):
    """Second by second, on nodes whose memory is shared by the jobs of two queues."""
    platform = Platform("small", tuple(NodeType(1, c, float(c), memory) for c, memory in nodes))
    made = data.draw(rows(sum(c for c, _ in nodes), most=10, memory=True, whose=True))
    loaded, stays = workload(made), []
    extras = Extras(on_placements=lambda stay: stays.extend(map(tuple, stay.copy())))
    chosen = choose(start=f"{begins[0]} + own(queue=[0, 1], order=spf, start={begins[1]})")
    outcome = simulate(loaded, platform, chosen, extras=extras)
    memory = loaded.jobs["memory"].to_numpy()[outcome.place]
    for second in {begin for *_, begin, _ in stays}:
        for node, (cores, most) in enumerate(nodes):
            there = [(job, held) for job, where, held, begin, end in stays if where == node and begin <= second < end]
            assert sum(held for _, held in there) <= cores
            assert sum(held * max(memory[job], 0) for job, held in there) <= most
    assert not np.isnan(outcome.jobs.start[outcome.jobs.status != 6]).any()


# ---------------------------------------------------------------- by hand

JOBS = [(0, 2, 9, 9, {"queue": 1}), (1, 3, 9, 9, {"queue": 1}), (1, 1, 5, 5, {"queue": 2}), (1, 1, 4, 4, {"queue": 2})]


@both_ways
def test_each_queue_goes_by_its_order_and_protects_its_own_head(by_python):
    """The second job is promised 9 by its queue's EASY; the other queue, asked first, has its shorter job first, and
    delays it. Asked by one EASY it would begin at 9."""
    outcome = simulate(workload(JOBS), plain(3), choose(start="easy + short(queue=2, order=spf)"), plain=by_python)
    assert list(outcome.jobs.start) == [0, 10, 5, 1]
    assert list(simulate(workload(JOBS), plain(3), choose(start="easy")).jobs.start) == [0, 9, 1, 18]


def test_queues_are_asked_in_the_order_in_which_they_are_written():
    jobs = [(0, 1, 1, 1, {"queue": queue}) for queue in (3, 2, 1)]
    for names, starts in (("21", [2, 0, 1]), ("12", [2, 1, 0]), ("32", [0, 1, 2])):
        beside = " + ".join(["easy", *(f"q{name}(queue={name})" for name in names)])
        outcome = simulate(workload(jobs), plain(1), choose(start=beside))
        assert list(in_log_order(outcome, "start")) == starts


def test_names_of_the_log_are_known():
    jobs = replace(workload(JOBS), header=("; Queue: 1 long", "; Queue: 2 short"))
    named = simulate(jobs, plain(3), choose(start="easy + s(queue=short, order=spf)"))
    assert list(named.jobs.start) == [0, 10, 5, 1]
    with pytest.raises(HarnessError, match="no queue 'shorts'; did you mean 'short'"):
        simulate(jobs, plain(3), choose(start="easy + s(queue=shorts)"))


def learning(job, clock, memory):
    """Who came last is first, by how often it was told that something happened."""
    return -memory[0]


def learn(state, memory):
    memory[0] += 1.0


def test_an_order_of_a_queue_learns():
    order = harness.Order("learning", learning, memory=1, learn=learn)
    policies = {**bundled(), "order_queue": {**bundled()["order_queue"], "learning": order}}
    jobs = [(0, 1, 3, 3, {"queue": 1}), (0, 1, 9, 9, {"queue": 2}), *((k, 1, 3, 3, {"queue": 1}) for k in (1, 2))]
    chosen = harness.Scheduler(start="none + own(queue=1, order=learning, start=none)").choose(policies)
    assert list(simulate(workload(jobs), plain(2), chosen).jobs.start) == [0, 0, 6, 3]


def both_wrong(state):
    harness.start(state, 99)


def test_a_fault_is_said_of_the_policy_of_its_queue():
    wrong = harness.Start("wrong", both_wrong)
    policies = {**bundled(), "start_jobs": {**bundled()["start_jobs"], "wrong": wrong}}
    chosen = harness.Scheduler(start="easy + own(queue=2, start=wrong)").choose(policies)
    with pytest.raises(HarnessError, match=r"the policy 'wrong' \(start_jobs\)"):
        simulate(workload(JOBS), plain(3), chosen)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("easy + night", "the queue has no condition"),
        ("easy + conservative", "the queue has no condition"),
        ("easy + night(queue=1, oder=spf)", "a queue has no 'oder'; did you mean 'order'"),
        ("easy + night(queue=1, order=spv)", "no order policy 'spv'"),
        ("easy + night(queue=1, start=esay)", "no start policy 'esay'"),
        ("easy + night(queue=1, start=preempt)", "preempts running jobs"),
        ("preempt + night(queue=1)", "preempts running jobs"),
        ("easy + night(queue=1.5)", "expected numbers or names of the log"),
        ("easy + night(queue=1) + night(queue=2)", "two queues are called 'night'"),
        ("easy + night(queue=1, start='easy + day(queue=2)')", "has queues itself"),
    ],
)
def test_bad_queues_are_refused(start, said):
    with pytest.raises(HarnessError, match=said):
        choose(start=start)


def test_a_pass_of_so_many_jobs_is_refused():
    jobs, extras = workload(JOBS), Extras(timing=DecisionTiming(backfill_interval=60, backfill_depth=9))
    with pytest.raises(HarnessError, match="backfill_depth=9 with queues"):
        simulate(jobs, plain(3), choose(start="easy + night(queue=2)"), extras=extras)


def test_who_decides_in_a_programs_place_has_one_queue():
    beside = harness.Scheduler(start="easy + night(queue=2)")
    with pytest.raises(HarnessError, match="without queues of their own"):
        harness.steps(workload(JOBS), 3, beside)


def test_a_start_policy_sees_the_jobs_of_its_queue_alone():
    seen = []

    def seeing(state):
        lists = [[int(state.jobs[job].queue) for job in jobs(state)] for jobs in (harness.waiting, harness.unpromised)]
        assert len(lists[0]) == state.clock.queued
        assert lists[0] == lists[1]  # nobody is promised anything
        seen.extend(set(queues) for queues in lists if queues)
        for job in harness.waiting(state):
            if harness.fits(state, job):
                harness.start(state, job)

    policy = harness.Start("seeing", seeing, compiled=False)
    policies = {**bundled(), "start_jobs": {**bundled()["start_jobs"], "seeing": policy}}
    simulate(workload(JOBS), plain(3), harness.Scheduler(start="seeing + own(queue=2, start=seeing)").choose(policies))
    assert {1} in seen
    assert {2} in seen
    assert {1, 2} not in seen
