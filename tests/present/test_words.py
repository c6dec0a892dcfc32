"""Words for people say what a value is, and never drive the terminal that shows them."""

import sys
import time
from io import StringIO
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.present.numerals import numeral, numerals
from harness.present.progress import progress
from harness.present.words import counted, lasting, readable, without_controls

#: An escape sequence that clears the screen, one that renames the window, eight-bit and direction-turning letters.
HOSTILE = "\x1b[2J\x1b]0;pwned\x07 \x9b31m back\rspace\b \u202enot\u2066 \x7f\ud800"


def drives(text: str) -> set[str]:
    """The letters of `text` that a terminal may obey: controls, turns of direction, halves of letters."""
    return {letter for letter in text if category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in "\n\t"}


def test_what_drives_a_terminal_is_taken_out_and_the_rest_stays() -> None:
    assert drives(HOSTILE)
    assert not drives(without_controls(HOSTILE))
    assert without_controls("two\nlines\t– μ 中 30\u202f%") == "two\nlines\t– μ 中 30\u202f%"


@given(st.text())
def test_nothing_drives_a_terminal(text: str) -> None:
    assert not drives(without_controls(text))
    assert without_controls(without_controls(text)) == without_controls(text)
    assert not drives(readable(text))
    assert "\n" not in readable(text)


@pytest.mark.parametrize(("seconds", "text"), [(0.5, "0.5 s"), (59, "59 s"), (720, "12 min"), (12240, "3.4 h")])
def test_times_for_people(seconds: float, text: str) -> None:
    assert lasting(seconds) == text


def test_numbers_of_things() -> None:
    assert [counted(n, "run") for n in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]


@given(st.lists(st.floats(-1e15, 1e15, allow_infinity=False) | st.just(float("nan")), min_size=1))
def test_a_column_is_spelled_as_its_numbers_are_and_reads_back(values: list[float]) -> None:
    spelled = numerals(values)
    assert [word if word != "-0" else "0" for word in spelled] == list(map(numeral, values))
    assert [float(word) for word in spelled if word] == [value for value in values if value == value]


class Terminal(StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_says_how_much_of_how_much_and_obeys_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress(f"[bold]{HOSTILE}", "jobs") as advance:
        advance(0, 1000)
        advance(100, 1000, "all [/] of it")
        time.sleep(0.01)
        advance(250, 1000)
    said = terminal.getvalue()
    assert "250 of 1,000 jobs" in said
    assert "jobs/s" in said
    assert "all [/] of it" in said
    assert "\x1b[2J" not in said
    assert "\x1b]0;" not in said
    assert "\u202e" not in said


def test_progress_is_silent_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    with progress("simulating", "jobs") as advance:
        advance(1, None)
    assert capfd.readouterr() == ("", "")
