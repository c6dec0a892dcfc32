"""Whatever a name, a log or a plugin holds, what is printed does not drive the terminal."""

import json
from pathlib import Path
from unicodedata import category

import pytest
from calling import Call

from harness.cli.console import echo

#: Clears the screen, renames the window, goes back over the line, turns the direction, ends in an eight-bit escape.
HOSTILE = "a\x1b[2J\x1b]0;pwned\x07\rok\b\u202etxt\x9b31m"

PLUGIN = f"""
import harness

@harness.order("loud", summary="is loud {HOSTILE!r}")
def loud(job, clock):
    raise ValueError({HOSTILE!r})
"""


def drives(text: str) -> set[str]:
    """The letters of `text` that a terminal may obey, beyond the ends of lines and tabs."""
    return {letter for letter in text if category(letter) in ("Cc", "Cf", "Cs") and letter not in "\n\t"}


@pytest.mark.parametrize(
    "arguments",
    [
        [HOSTILE],
        [f"--{HOSTILE}"],
        ["run", HOSTILE],
        ["run", f"{HOSTILE}(jobs=3)"],
        ["run", "LOG", "--order", HOSTILE],
        ["run", "LOG", "--start", f"easy({HOSTILE}=1)"],
        ["run", "LOG", "--platform", HOSTILE],
        ["run", "LOG", "--events", HOSTILE],
        ["run", "LOG", "--filter", HOSTILE],
        ["run", "LOG", "--plugins", HOSTILE],
        ["run", "LOG", "--format", HOSTILE],
        ["run", "LOG", "--schedule", f"{HOSTILE}/x.csv"],
        ["run", "LOG", "--procs", HOSTILE],
        ["adequacy", "LOG", "--against", HOSTILE],
        ["tournament", HOSTILE],
        ["report", HOSTILE],
        ["check", HOSTILE],
        ["list", HOSTILE],
        ["data", "show", HOSTILE],
        ["data", "fetch", HOSTILE],
        ["plugin", "check", HOSTILE],
    ],
    ids=lambda arguments: ascii(" ".join(arguments)).replace(ascii(HOSTILE)[1:-1], "HOSTILE"),
)
def test_no_mistake_drives_the_terminal(harness_says: Call, log: Path, arguments: list[str]) -> None:
    answer = harness_says(*(log if argument == "LOG" else argument for argument in arguments))
    assert answer.status == 2
    assert answer.err
    assert not drives(answer.out + answer.err)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex", "html"])
def test_no_name_of_a_log_drives_the_terminal(harness_says: Call, log: Path, tmp_path: Path, form: str) -> None:
    hostile = tmp_path / f"{HOSTILE}.swf"
    line = HOSTILE.replace("\r", "")  # which would be two lines
    hostile.write_text(f"; Computer: {line}\n; Note: {line}\n{log.read_text()}")
    for command in (["run", hostile], ["adequacy", hostile, "--repetitions", 1], ["data", "show", hostile]):
        if command[0] == "data" and form not in ("table", "json"):
            continue
        answer = harness_says(*map(str, command), "--format", form)
        assert not drives(answer.out + answer.err)
        if form == "json" and answer.status == 0:  # nothing is lost there
            assert json.dumps(HOSTILE)[1:-1] in json.dumps(json.loads(answer.out))


def test_no_word_of_a_plugin_drives_the_terminal(harness_says: Call, log: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "loud.py"
    plugin.write_text(PLUGIN)
    for arguments in (
        ["run", log, "--order", "loud", "--plugins", plugin],
        ["list", "orders", "--plugins", plugin],
        ["plugin", "check", plugin],
    ):
        answer = harness_says(*arguments)
        assert answer.out + answer.err
        assert not drives(answer.out + answer.err)


def test_sentences_break_between_words_in_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence, table, indented = "word " * 30, "left" + " " * 90 + "right", "    " + "command " * 30
    echo(f"{sentence}\n{table}\n{indented}")
    whole = capsys.readouterr().out
    assert whole == f"{sentence}\n{table}\n{indented}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    echo(f"{sentence}\n{table}\n{indented}")
    *broken, kept, last = capsys.readouterr().out.splitlines()
    assert (kept, last) == (table, indented)
    assert len(broken) == 2
    assert all(len(line) <= 80 for line in broken)
    assert " ".join(broken).split() == sentence.split()
    echo("  step: " + sentence)
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("  step: word")
    assert second.startswith("    word")
