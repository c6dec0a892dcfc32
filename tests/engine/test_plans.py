"""Plans: what their verbs refuse, what they ask of a selection that declines, and whom EASY lets in."""

import dataclasses

import numpy as np
import pytest
from shared.running import choose
from shared.strategies import seeded_rows, workload

import harness
from harness.engine.faults import PolicyError
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, plain
from harness.testing import check_policy

JOBS = [(0, 2, 5, 5), (1, 4, 5, 5), (2, 1, 5, 5)]
both_ways = pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "plain"])


def run(jobs, platform, *, by_python=False, **parts):
    return simulate(workload(jobs), platform, choose(**parts), plain=by_python)


@harness.jit
def in_order(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


# ---------------------------------------------------------------- what is refused


def reserves_for_ever(state):
    harness.forget_past(state)
    for k in range(100000):
        harness.reserve(state, 1, 1000.0 + 10.0 * k, 1005.0 + 10.0 * k)


def releases_for_ever(state):
    harness.plan_from_running(state)
    for k in range(100000):
        harness.release(state, 1, 1000.0 + 10.0 * k, 1005.0 + 10.0 * k)


def reserves_until_nan(state):
    harness.forget_past(state)
    harness.reserve(state, 1, 5.0, np.nan)


def reserves_from_nan(state):
    harness.forget_past(state)
    harness.reserve(state, 1, np.nan, 5.0)


def releases_backwards(state):
    harness.forget_past(state)
    harness.release(state, 1, 9.0, 5.0)


def reserves_nothing(state):
    harness.forget_past(state)
    harness.reserve(state, 0, 5.0, 9.0)


def reserves_less_than_nothing(state):
    harness.forget_past(state)
    harness.reserve(state, -1, 5.0, 9.0)


def releases_more_than_there_is(state):
    harness.forget_past(state)
    harness.release(state, 5, 5.0, 9.0)


def fits_nothing(state):
    harness.forget_past(state)
    harness.earliest_fit(state, 0, 5.0)


def fits_for_nan(state):
    harness.forget_past(state)
    harness.earliest_fit(state, 1, np.nan)


def fits_before_any_plan(state):
    harness.earliest_fit(state, 1, 5.0)


def reserves_before_any_plan(state):
    harness.reserve(state, 1, 5.0, 9.0)


def releases_before_any_plan(state):
    harness.release(state, 1, 5.0, 9.0)


def fits_nobody(state):
    harness.fits(state, -1)


def fits_one_too_many(state):
    harness.fits(state, len(state.jobs))


def reserves_for_nobody(state):
    harness.reservation(state, 2000)


REFUSED = [
    (reserves_for_ever, "the plan changes 20 times"),
    (releases_for_ever, "the plan changes 20 times"),
    (reserves_until_nan, "the time nan"),
    (reserves_from_nan, "a begin and an end"),
    (releases_backwards, "the time 5.0"),
    (reserves_nothing, "for 0 processors"),
    (reserves_less_than_nothing, "for -1 processors"),
    (releases_more_than_there_is, "for 5 processors"),
    (fits_nothing, "for 0 processors"),
    (fits_for_nan, "the time nan"),
    (fits_before_any_plan, "not made .call harness.plan_from_running"),
    (reserves_before_any_plan, "not made"),
    (releases_before_any_plan, "not made"),
    (fits_nobody, "job with index -1, which is not waiting"),
    (fits_one_too_many, "job with index 1, which is not waiting"),
    (reserves_for_nobody, "job with index 2000, which"),
]


@both_ways
@pytest.mark.parametrize(("function", "said"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_no_plan_can_hold_is_refused(function, said, by_python):
    with pytest.raises(PolicyError, match=rf"the policy 'broken' \(start_jobs\), at 0 s, .*{said}"):
        run(JOBS, plain(4), start=harness.Start("broken", function), by_python=by_python)


def asks_of_the_past(state):
    """What is asked, reserved and released before now changes nothing from now on."""
    in_order(state)
    now = state.clock.virtual
    harness.plan_from_running(state)
    before = harness.earliest_fit(state, 4, 1.0)
    harness.reserve(state, 4, now - 100.0, now)
    harness.release(state, 4, -np.inf, now - 1.0)
    if harness.earliest_fit(state, 4, 1.0) != before or before < now:
        harness.start(state, -1)


@both_ways
def test_the_past_is_left_alone(by_python):
    run(JOBS, plain(4), start=harness.Start("historian", asks_of_the_past), by_python=by_python)


# ---------------------------------------------------------------- selections that decline


def on_one_node(state, job):
    """On one node, or not at all."""
    need = state.jobs[job].procs
    for node in range(len(state.nodes)):
        if harness.room(state, job, node) >= need:
            harness.take(state, job, node, need)
            return True
    return False


def on_one_node_fits(state, job, then):
    most = 0
    for node in range(len(then)):
        most = max(most, then[node].room)
    return most >= state.jobs[job].procs


def always_fits(state, job, then):
    return True


def takes_while_it_is_asked(state, job, then):
    harness.take(state, job, 0, 1)
    return True


FOURS = Platform("fours", (NodeType(2, 4),))
SPLIT = [(0, 3, 5, 5), (0, 3, 9, 9), (1, 2, 5, 5), (2, 1, 9, 9), (2, 1, 2, 2)]
SINGLE = harness.Select("on-one-node", on_one_node, fits=on_one_node_fits)


@both_ways
def test_easy_plans_by_what_the_selection_would_place(by_python):
    """One core is free on each node: the third job waits for 5, when the first leaves. The fourth runs past that on
    the node that the third does not need, after the first one in the list is refused it: the last ends before."""
    outcome = run(SPLIT, FOURS, start="easy", select=SINGLE, by_python=by_python)
    assert outcome.jobs.start.tolist() == [0, 0, 5, 2, 2]
    assert outcome.jobs.start.tolist() == run(SPLIT, FOURS, start="easy", select=SINGLE).jobs.start.tolist()


@both_ways
@pytest.mark.parametrize("start", ["none", "greedy", "easy", "easy(spare=false)"])
def test_whole_nodes_are_processors_as_wide(start, by_python):
    """A job that takes all of as many nodes as it needs is scheduled as one of so many processors."""
    for seed in range(4 if by_python else 30):
        made, nodes = seeded_rows(seed)
        wide = [(submit, 3 * procs - seed % 3, *rest) for submit, procs, *rest in made]
        platform = Platform("threes", (NodeType(nodes, 3),))
        found = run(wide, platform, start=start, select="whole-nodes", by_python=by_python)
        expected = run(made, plain(nodes), start=start)
        np.testing.assert_array_equal(found.jobs.start, expected.jobs.start, err_msg=f"seed {seed}")


@both_ways
def test_processors_in_a_row(by_python):
    """At 4 two are free, apart; at 6 three of them are in a row."""
    jobs = [(0, 1, 4, 4), (0, 1, 6, 6), (0, 1, 4, 4), (0, 1, 9, 9), (1, 2, 5, 5), (1, 1, 30, 30)]
    outcome = run(jobs, plain(4), start="easy", select="contiguous", by_python=by_python)
    assert outcome.jobs.start.tolist() == [0, 0, 0, 0, 6, 4]


@both_ways
@pytest.mark.parametrize("start", ["conservative", "conservative(replan=true)"])
def test_plans_that_count_are_refused_beside_a_selection_that_declines(start, by_python):
    with pytest.raises(PolicyError, match=r"start_jobs.*by the number of processors alone.*'on-one-node'"):
        run(SPLIT, FOURS, start=start, select=SINGLE, by_python=by_python)


@both_ways
@pytest.mark.parametrize("start", ["easy", "easy(reservations=2)", "conservative"])
def test_plans_are_refused_beside_a_selection_that_does_not_say_what_it_declines(start, by_python):
    silent = harness.Select("silent", on_one_node)
    with pytest.raises(PolicyError, match=r"start_jobs.*harness.Select\(…, fits=…\).*'silent' declined 1 time"):
        run(SPLIT, FOURS, start=start, select=silent, by_python=by_python)
    run(SPLIT, FOURS, start="greedy", select=silent, by_python=by_python)


@both_ways
def test_a_selection_that_declines_what_it_said_would_fit_is_refused(by_python):
    liar = harness.Select("liar", on_one_node, fits=always_fits)
    with pytest.raises(PolicyError, match=r"'liar' \(select_resources\).* declined job 3, of which its own fits says"):
        run(SPLIT, FOURS, start="easy", select=liar, by_python=by_python)


@both_ways
def test_nothing_is_taken_by_a_selection_that_is_only_asked(by_python):
    taker = harness.Select("taker", on_one_node, fits=takes_while_it_is_asked)
    with pytest.raises(PolicyError, match=r"'taker' \(select_resources\).*took 1 processors"):
        run(SPLIT, FOURS, start="easy", select=taker, by_python=by_python)


def with_slack(state, job, slack=1):
    return on_one_node(state, job)


def without_slack(state, job, then):
    return True


def with_coins(state, job, dice):
    return on_one_node(state, job)


def test_a_selection_that_is_asked_in_vain_keeps_nothing():
    with pytest.raises(harness.HarnessError, match="names dice"):
        harness.Select("coins", with_coins, fits=on_one_node_fits)


def test_fits_takes_what_the_selection_takes():
    with pytest.raises(harness.HarnessError, match=r"without_slack\(state, job, then, slack=1\)"):
        harness.Select("slack", with_slack, fits=without_slack)


@pytest.mark.slow
@pytest.mark.parametrize("select", ["whole-nodes", "contiguous"])
def test_selections_that_decline_conform(select):
    check_policy(select, examples=25)


@pytest.mark.data
def test_whole_nodes_of_kth_are_processors_as_wide():
    log = harness.prepare(harness.read_workload("KTH-SP2"), jobs=5000)
    wide = dataclasses.replace(log, jobs=log.jobs.assign(procs=-(-log.jobs["procs"] // 4)))
    easy, whole = harness.Scheduler(energy="none"), harness.Scheduler(select="whole-nodes", energy="none")
    expected = harness.simulate(wide, 25, easy).frame["start"]
    found = harness.simulate(log, Platform("fours", (NodeType(25, 4),)), whole).frame["start"]
    np.testing.assert_array_equal(found, expected)


# ---------------------------------------------------------------- spare processors


def test_easy_without_spare_processors_lets_in_who_ends_by_then():
    """The last but one could run past 10 on the processor that the third job leaves free."""
    jobs = [(0, 2, 10, 10), (0, 1, 10, 10), (1, 3, 5, 5), (1, 1, 20, 20), (1, 1, 9, 9)]
    for start, expected in (("easy", [0, 0, 10, 1, 15]), ("easy(spare=false)", [0, 0, 10, 10, 1])):
        assert run(jobs, plain(4), start=start).jobs.start.tolist() == expected
        many = start.replace("easy(", "easy(reservations=2, ") if "(" in start else "easy(reservations=2)"
        assert run(jobs, plain(4), start=many).jobs.start.tolist() == expected
