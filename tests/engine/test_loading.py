"""What loading refuses: hooks, names, files, functions and specifications that make no sense."""

import re
from types import SimpleNamespace

import pytest
from broken_cases import PAIR
from shared.running import bundled, in_log_order
from shared.strategies import workload

import harness
from harness.errors import HarnessError
from harness.policy.kinds import KINDS
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler


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
    assert "already taken by" in message
    assert re.search(r"plugins/\w+\.py: expected another name", message)


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
    wanted = "state" if hook == "start_jobs" else ", ".join(kind.arguments)
    assert f"{wanted}, …=default)" in str(caught.value)


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
