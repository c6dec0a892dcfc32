"""Every mistake of a plugin stops the run at once, and says who did what, to which job, when, and what was expected."""

import math
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import config
from running import bundled, in_log_order
from strategies import POWER, workload

import harness
from harness.engine.faults import PolicyError
from harness.errors import HarnessError
from harness.kernels import PlainPython
from harness.platform.platform import NodeType, Platform
from harness.plugins import Plugins
from harness.policy import KINDS, Scheduler

PAIR = Platform("pair", (NodeType(2, 2, **POWER),))  # four processors on two nodes
JOBS = [(10, 2, 5, 5), (12, 3, 5, 5), (12, 1, 5, 5), (30, 4, 5, 5)]  # job 2 has to wait for job 1

needs_numba = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


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
    harness.start(state, len(state.jobs) - 1)


def start_nobody(state):
    pass


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
    ("start", start_the_future, ["10 s", "job 4", "not waiting"]),
    ("start", start_nobody, ["30 s", "4 jobs waiting", "job 1", "idle"]),
    ("start", suspend_who_waits, ["10 s", "job 1", "preemptive=True"]),
    ("start", suspend_undeclared, ["10 s", "preemptive=True"]),
    ("start", start_nonsense, ["10 s", "10000000", "not waiting"]),
    ("select", no_such_node, ["10 s", "node 2", "job 1", "room for 0"]),
    ("select", node_before_the_first, ["10 s", "node -1", "job 1", "room for 0"]),
    ("select", for_somebody_else, ["10 s", "job 2"]),
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


def policy_of(part, function, name="", **traits):
    kind = KINDS[Scheduler.HOOKS[part]]
    return kind(name or "broken-" + function.__name__.replace("_", "-"), function, **traits)


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


# ---------------------------------------------------------------- plain Python


def late_score(job, clock):
    table = {name: [object()] for name in ("a", "b")}
    return -job.submit + len(table)


def told(caught):
    return [str(warning.message) for warning in caught if issubclass(warning.category, PlainPython)]


@needs_numba
def test_a_policy_that_numba_refuses_runs_as_plain_python_and_says_so_once(run):
    policy = policy_of("order", late_score, name="object-minded")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcomes = [run(workload(JOBS), PAIR, order=policy) for _ in range(2)]
    (message,) = told(caught)
    assert "'object-minded'" in message
    assert "order_queue" in message
    reason = message.split("because numba refuses it: ")[1]
    assert re.search("[a-z]{4}", reason)
    for outcome in outcomes:
        assert outcome.plain == {"order_queue": "object-minded"}
        expected = run(workload(JOBS), PAIR, order="lcfs")
        assert in_log_order(outcome, "start").tolist() == in_log_order(expected, "start").tolist()


@needs_numba
def test_a_policy_that_says_it_needs_python_is_believed_silently(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = run(workload(JOBS), PAIR, order=policy_of("order", late_score, name="needs-python", compiled=False))
    assert told(caught) == []
    assert outcome.plain == {"order_queue": "needs-python"}


def test_compiled_policies_do_not_count_as_plain(run):
    assert run(workload(JOBS), PAIR).plain == {}


def parameters_seen(state, whole=2, number=0.5, yes=True, word="b"):
    if whole == 3 and number == 0.25 and not yes and word == 1:
        for job in harness.waiting(state):
            if harness.fits(state, job):
                harness.start(state, job)


@both_ways
def test_parameters_arrive_as_the_kinds_of_their_defaults(plain):
    policy = harness.Start("kinds", parameters_seen, choices={"word": ("a", "b")})
    policies = Plugins(extra=[policy]).policies
    chosen = Scheduler(start="kinds(whole=3, number=0.25, yes=false, word=b)", energy="none").choose(policies)
    from harness.engine.simulate import simulate

    assert np.isfinite(simulate(workload(JOBS), PAIR, chosen, plain=plain).jobs.end).all()


# ---------------------------------------------------------------- what loading refuses


def with_hook(name, function):
    return SimpleNamespace(__name__="stranger", **{name: harness.hookimpl(function)})


def test_an_unknown_hook_is_refused_with_the_nearest_one():
    with pytest.raises(HarnessError, match=r"'stranger'.*no hook 'order_que'; did you mean 'order_queue'"):
        Plugins(extra=[with_hook("order_que", lambda: [PAIR])])


@pytest.mark.parametrize("hook", KINDS)
def test_a_name_that_is_taken_is_refused_naming_both_origins(hook):
    name, policy = next(iter(bundled()[hook].items()))
    with pytest.raises(HarnessError) as caught:
        _ = Plugins(extra=[with_hook(hook, lambda: [policy])]).policies
    message = str(caught.value)
    assert repr(name) in message
    assert "'stranger'" in message
    assert f"{hook}.py" in message
    assert "already taken" in message


def test_a_hook_that_returns_something_else_is_refused():
    with pytest.raises(HarnessError, match=r"'stranger'.*order_queue returned 5, expected harness\.Order"):
        _ = Plugins(extra=[with_hook("order_queue", lambda: [5])]).policies


@pytest.mark.parametrize("answer", [None, 5])
def test_a_hook_that_returns_no_list_is_refused(answer):
    with pytest.raises(HarnessError, match=r"'stranger'.*order_queue"):
        _ = Plugins(extra=[with_hook("order_queue", lambda: answer)]).policies


def test_a_hook_implementation_may_have_another_name():
    score = harness.Order("by-number", lambda job, clock: float(job.number))
    plugin = SimpleNamespace(__name__="stranger", mine=harness.hookimpl(lambda: [score], specname="order_queue"))
    assert Plugins(extra=[plugin]).policies["order_queue"]["by-number"] is score


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nonsense_that_is_nowhere\n", ["ModuleNotFoundError", "nonsense_that_is_nowhere", "line 1"]),
        ("x = 1\ny = x / 0\n", ["ZeroDivisionError", "line 2"]),
        ("def broken(:\n", ["SyntaxError"]),
        ("import harness\nharness.Ordre\n", ["AttributeError", "Ordre"]),
        ("import harness\nharness.Order('a b', lambda job, clock: 0.0)\n", ["policy name 'a b'", "letters, digits"]),
    ],
)
def test_a_file_that_cannot_be_imported_is_named_with_the_line(tmp_path, text, words):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(HarnessError) as caught:
        Plugins([path])
    for word in [str(path), *words]:
        assert word in str(caught.value)


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"nowhere\.py: no such file"):
        Plugins([tmp_path / "nowhere.py"])


def test_a_plugin_file_of_one_function_is_enough(tmp_path, run):
    path = tmp_path / "widest.py"
    path.write_text(
        '"""Widest first."""\nimport harness\n\n\ndef widest(job, clock):\n    return -float(job.procs)\n\n\n'
        "@harness.hookimpl\ndef order_queue():\n    return [harness.Order('widest', widest)]\n"
    )
    found = Plugins([tmp_path]).policies["order_queue"]["widest"]
    jobs = [(0, 4, 5, 5), (1, 1, 5, 5), (1, 4, 5, 5)]
    assert in_log_order(run(workload(jobs), PAIR, order=found), "start").tolist() == [0, 10, 5]


@pytest.mark.parametrize("hook", KINDS)
@pytest.mark.parametrize(
    "function",
    [lambda: 0.0, lambda wrong: 0.0, lambda job, clock, node, other: 0.0, lambda state, more: 0.0],
    ids=["nothing", "wrong", "four", "no-default"],
)
def test_a_function_of_the_wrong_shape_is_refused(hook, function):
    kind = KINDS[hook]
    with pytest.raises(HarnessError) as caught:
        kind("misshapen", function)
    assert "'misshapen'" in str(caught.value)
    assert f"({', '.join(kind.arguments)}, …=default)" in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("easi", "no start policy 'easi'; did you mean 'easy'"),
        ("easy(reservation=2)", "'easy' has no parameter 'reservation'; did you mean 'reservations'"),
        ("easy(reservations=1.5)", "whole number"),
        ("easy(reservations=two)", "expected a number"),
        ("easy(backfill_order=spff)", "no order policy 'spff'; did you mean 'spf'"),
        ("conservative(replan=3)", "true or false"),
        ("preempt(at=departur)", "expected one of any, departure, arrival; did you mean 'departure'"),
        ("none(depth=1)", "'none' has no parameter 'depth'"),
        ("easy(2)", "expected"),
        ("easy(", "expected"),
        ("", "expected"),
    ],
)
def test_a_specification_that_makes_no_sense_is_refused(spec, message):
    with pytest.raises(HarnessError) as caught:
        Scheduler(start=spec, energy="none").choose(bundled())
    assert message in str(caught.value)


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
