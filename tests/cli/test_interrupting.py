"""Ctrl-C at any instant is one line and status 130."""

import pytest
from calling import Call

import harness.cli


def test_before_the_command_begins(harness_says: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(harness.cli, "app", interrupted)
    answer = harness_says("run")
    assert (answer.status, answer.out, answer.err) == (130, "", "harness: interrupted\n")


def test_while_it_works(harness_says: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.run.read_workload", interrupted)
    answer = harness_says("run")
    assert (answer.status, answer.out, answer.err) == (130, "", "harness: interrupted\n")
