"""Every help begins with a sentence and two examples, and the command takes each of them."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from calling import Call

from harness.cli import app
from harness.cli.examples import EXAMPLES, examples
from harness.cli.study_command import load
from harness.cli.theory_command import STUDIES

#: Commands that are scripts, which read their own arguments.
SCRIPTS = {"bench": "bench", **{f"theory {name}": script for name, (script, _) in STUDIES.items()}}


def commands(command: Any, path: str = "") -> Iterator[str]:
    """The paths of a command and of all below it."""
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}".strip())


EVERY = list(commands(typer.main.get_command(app)))


def test_every_command_has_two_examples_and_no_other() -> None:
    assert set(EXAMPLES) == set(EVERY)
    assert {len(typed) for typed in EXAMPLES.values()} == {2}


@pytest.mark.quick_cases(1000)
@pytest.mark.parametrize("path", EVERY)
def test_help_begins_with_the_examples(harness_says: Call, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = harness_says(*path.split(), "--help")
    assert answer.status == 0
    lines = [line.strip() for line in answer.out.splitlines()]
    for example in examples(path).splitlines():
        assert example in lines, answer.out[:500]  # in one line of 80 columns
    assert "<bool>" not in answer.out
    assert "{" not in lines[1]


@pytest.mark.parametrize("line", [line for path in EVERY for line in examples(path).splitlines()])
def test_every_example_is_a_call_that_the_command_takes(line: str) -> None:
    words = shlex.split(line.partition(">")[0])[2:]
    command: Any = typer.main.get_command(app)
    path: list[str] = []
    while hasattr(command, "commands"):
        command = command.commands[words[0]]
        path.append(words.pop(0))
    if script := SCRIPTS.get(" ".join(path)):
        command = typer.main.get_command(load(script).app)
    command.make_context(line, words)  # parses, and runs nothing
