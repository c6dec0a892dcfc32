"""Every format says the same, readably for people and exactly for programs."""

import csv
import io
import json
import math
from unicodedata import category

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.present.tables import FORMATS, TERMINAL, prose, render
from harness.present.words import readable
from harness.results.measures import MEASURES, Measure, measures_table

HEADERS = ["policy", "wait", "jobs"]
ROWS = [
    ["easy(reservations=2)", 1 / 3, 1234567],
    ["a|b<c>&_%$#{}\\^~", math.nan, None],
    ["two\nlines", 16702.461, np.int64(12)],
]


@pytest.mark.parametrize("form", FORMATS)
def test_everything_is_in_every_format(form: str) -> None:
    text = render(HEADERS, ROWS, form, units=["", "s", ""], caption="One & all")
    for word in ("policy", "wait", "easy(reservations=2)"):
        assert word in text
    assert not text.endswith("\n")
    programs = form in ("csv", "json")
    assert ("1234567" in text) == programs
    assert ("1,234,567" in text) == (not programs)
    assert ("wait [s]" in text) == (not programs)
    assert ("One" in text) == (not programs)
    assert ("–" in text) == (not programs)
    assert "nan" not in text.lower()


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_without_rows(form: str) -> None:
    text = render(HEADERS, [], form)
    assert text == "[]" if form == "json" else "policy" in text


def test_csv_reads_back_exactly() -> None:
    text = render(HEADERS, ROWS, "csv")
    assert list(csv.reader(io.StringIO(text))) == [
        HEADERS,
        [ROWS[0][0], repr(1 / 3), "1234567"],
        [ROWS[1][0], "", ""],
        [ROWS[2][0], "16702.461", "12"],
    ]
    read = pd.read_csv(io.StringIO(text))
    assert read["policy"].tolist() == [row[0] for row in ROWS]
    assert read["wait"].isna().tolist() == [False, True, False]


def test_json_reads_back_exactly() -> None:
    read = json.loads(render(HEADERS, ROWS, "json"))
    assert read[0] == {"policy": "easy(reservations=2)", "wait": 1 / 3, "jobs": 1234567}
    assert read[1] == {"policy": ROWS[1][0], "wait": None, "jobs": None}
    assert json.loads(render(["x"], [[np.float64(2)], [np.bool_(True)], [math.inf]], "json")) == [
        {"x": 2},
        {"x": True},
        {"x": None},
    ]


def test_markdown_reads_back() -> None:
    lines = render(HEADERS, ROWS, "markdown").splitlines()
    assert len(lines) == 2 + len(ROWS)
    for line in lines:
        assert line.replace("\\|", "").count("|") == 4
    assert r"a\|b\<c" in lines[3]


def test_html_reads_back() -> None:
    text = render(HEADERS, ROWS, "html", caption="<One & all>")
    assert "<caption>&lt;One &amp; all&gt;</caption>" in text
    assert "a|b&lt;c&gt;&amp;_%" in text
    assert text.count("<tr>") == 1 + len(ROWS)


def test_latex_is_escaped() -> None:
    text = render(["a_b", "50%"], [["x&y_z", 1]], "latex", caption="5 % & more_")
    assert r"\caption{5 \% \& more\_}" in text
    assert r"x\&y\_z" in text
    assert r"a\_b" in text
    assert text.startswith(r"\begin{table}")
    assert text.endswith(r"\end{table}")
    assert render(["x"], [[1]], "latex").startswith(r"\begin{tabular}")


MARKED = {"table": "*{}", "markdown": "**{}**", "latex": "\\textbf{{{}}}", "html": "<strong>{}</strong>"}

OPENING = {"table": "*", "markdown": "**", "latex": "textbf", "html": "<strong>"}


@pytest.mark.parametrize("form", FORMATS)
def test_the_best_of_a_column_is_marked(form: str) -> None:
    rows = [["a", 11.5, 7, 3], ["b", 12.5, 9, 3], ["c", 11.5, math.nan, 3]]
    text = render(["x", "less", "more", "same"], rows, form, better=["neither", "less", "more", "less"])
    mark = MARKED.get(form, "{}")
    assert text.count(mark.format("11.5")) == 2
    assert text.count(mark.format("9")) == 1
    if form in MARKED:  # and nothing else is: not the worse, not what all share, not what is missing
        assert text.count(OPENING[form]) == (6 if form == "markdown" else 3)


def test_fewer_digits() -> None:
    assert render(["x"], [[1 / 3], [12345.6]], "table", digits=3).split() == ["x", "------", "0.333", "12,346"]


#: A name as it may stand in a file, and what must become of it.
HOSTILE = r"|<script>&amp; $x_$ [a](b) `c` **d** ~e~ \hline _f_ %#{}^" + "\x1b[31m"
HARMLESS = {
    "table": HOSTILE.replace("\x1b", "�"),
    "markdown": r"\|\<script>\&amp; \$x\_\$ [a\](b) \`c\` \*\*d\*\* \~e\~ \\hline \_f\_ %#{}^�[31m",
    "latex": r"\textbar{}\ensuremath{<}script\ensuremath{>}\&amp; \$x\_\$ [a](b) `c` **d** "
    r"\textasciitilde{}e\textasciitilde{} \textbackslash{}hline \_f\_ \%\#\{\}\^{}�[31m",
    "html": r"|&lt;script&gt;&amp;amp; $x_$ [a](b) `c` **d** ~e~ \hline _f_ %#{}^�[31m",
}


@pytest.mark.parametrize("form", FORMATS)
@given(name=st.text())
def test_no_format_drives_a_terminal(form: str, name: str) -> None:
    text = render([f"head {name}"], [[name], [1.0]], form, units=[name], caption=name)
    assert not {letter for letter in text if category(letter) in ("Cc", "Cf", "Cs") and letter not in "\n\t"}


@pytest.mark.parametrize("form", HARMLESS)
def test_nothing_in_a_name_is_alive(form: str) -> None:
    assert HARMLESS[form] in prose(HOSTILE, form)
    text = render([HOSTILE], [[HOSTILE], [1.0]], form, caption=HOSTILE)
    assert text.count(HARMLESS[form]) == 3


def test_numbers_stand_to_the_right() -> None:
    lines = render(["name", "value"], [["a", 1], ["b", 22.5], ["c", None]], "table").splitlines()
    assert [line[-4:] for line in lines[2:]] == ["   1", "22.5", "   –"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (5.0, "5"),
        (1234567.891, "1,234,568"),
        (16702.461, "16,702.5"),
        (99999.99, "100,000"),
        (1 / 3, "0.333333"),
        (-1234.5, "-1,234.5"),
        (1.25e-9, "1.25e-09"),
        (4.5e20, "4.5e+20"),
        (math.nan, "–"),
        (None, "–"),
        (math.inf, "inf"),
        (True, "yes"),
        ("12345", "12345"),
    ],
)
def test_numbers_for_people(value: object, text: str) -> None:
    assert readable(value) == text


def test_unknown_formats() -> None:
    with pytest.raises(HarnessError, match="no table format 'latx'; did you mean 'latex'"):
        render(HEADERS, ROWS, "latx")


def test_measures_with_their_units() -> None:
    extra = Measure("widest", "procs", "neither", "max N", lambda schedule: 0.0)
    rows = measures_table({"mean_wait": 2.5, "widest": 8.0, "unheard": 1.0}, [extra])
    assert rows == [("mean_wait", 2.5, "s"), ("widest", 8.0, "procs"), ("unheard", 1.0, "")]
    assert len(measures_table(dict.fromkeys(MEASURES, 1.0))) == len(MEASURES)


CELLS = st.lists(st.text("abc-", min_size=1, max_size=12), max_size=30).map(" ".join) | st.integers(-(10**9), 10**9)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5))
def test_a_table_for_a_terminal_is_folded_between_words(rows: list[tuple[str | int, ...]]) -> None:
    text = render(["a head of several words", "two heads", "third"], rows, "table")
    assert max(map(len, text.splitlines())) <= TERMINAL
    words = {word for row in rows for cell in row for word in readable(cell).split()}
    assert words <= set(text.split())


def test_a_table_that_fits_is_left_as_it_is() -> None:
    lines = render(["name", "about"], [["a", "as long as this " * 6]], "table").splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize(("letters", "lines"), [(TERMINAL - 8, 3), (TERMINAL - 7, 4)])
def test_a_table_is_folded_where_it_would_be_wider_than_the_terminal(letters: int, lines: int) -> None:
    """A column of six, with its padding, two between, and the words."""
    words = f"{'x' * (letters - 2)} y"
    text = render(["name", "about"], [["a", words]], "table")
    assert len(text.splitlines()) == lines
    assert max(map(len, text.splitlines())) <= TERMINAL


def test_what_cannot_be_folded_is_wide() -> None:
    assert "x" * 200 in render(["name"], [["x" * 200]], "table")


@pytest.mark.parametrize("width", [35, 50, 80])
def test_a_table_too_wide_for_its_terminal_goes_on_below(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Every number is there once, in a line that fits, below its head, in the row of its name."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    heads = ["rank", "scheduler", *(f"measure{k}" for k in range(9))]
    rows = [(row, f"policy{row}", *(1000 * row + k for k in range(9))) for row in (1, 2)]
    text = render(heads, rows, "table")
    assert max(map(len, text.splitlines())) <= width
    shown = {}
    for part in text.split("\n\n"):
        names, _, *lines = (line.split() for line in part.splitlines())
        assert names[:2] == heads[:2]
        for line in lines:
            shown |= {(line[1], name): cell for name, cell in zip(names[2:], line[2:], strict=True)}
    assert shown == {
        (row[1], head): f"{value:,}" for row in rows for head, value in zip(heads[2:], row[2:], strict=True)
    }
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert "\n\n" not in render(heads, rows, "table")
