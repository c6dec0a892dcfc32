"""The one path from rows to a table: for a terminal, a paper, a page, or another program."""

import csv
import html
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from harness.errors import HarnessError, did_you_mean
from harness.results.export import numeral
from harness.results.metrics import MEASURES, Measure

#: What is printed for people where there is no number.
MISSING = "–"

Row = Sequence[Any]


def render(
    headers: Sequence[str],
    rows: Iterable[Row],
    format: str,
    *,
    units: Sequence[str] | None = None,
    caption: str = "",
) -> str:
    """`rows` as text in one of `FORMATS`.

    People get about six significant digits, the `units` of the columns beside their headers, and the `caption`;
    programs (csv, json) get the headers alone and every digit. Missing are None and what is not a number.
    """
    if format not in _WRITERS:
        raise HarnessError(f"there is no table format {format!r}; {did_you_mean(format, FORMATS)}")
    table = [[_plain(value) for value in row] for row in rows]
    if units is not None and format not in ("csv", "json"):
        headers = [f"{name} [{unit}]" if unit else name for name, unit in zip(headers, units, strict=True)]
    return _WRITERS[format](list(headers), table, caption)


def measures_table(measures: Mapping[str, float], extra: Iterable[Measure] = ()) -> list[tuple[str, float, str]]:
    """Rows of name, value, unit; the units of measures that are not built in come from `extra`."""
    known = MEASURES | {measure.name: measure for measure in extra}
    return [(name, value, known[name].unit if name in known else "") for name, value in measures.items()]


def readable(value: Any) -> str:
    """A value for people: numbers to about six significant digits, thousands set apart."""
    if value is None or value != value:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return " ".join(str(value).split())
    size = abs(value)
    if size < 1e15 and (size >= 1e5 or value == int(value)):
        return f"{value:,.0f}"
    return f"{value:,.6g}"


def _plain(value: Any) -> Any:
    """numpy's numbers as Python's own; everything that is not a number as text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)


# ---------------------------------------------------------------- for people


def _tabulated(headers: list[str], table: list[list[Any]], style: str, escape: Callable[[str], str] = str) -> str:
    from tabulate import tabulate

    columns = list(zip(*table, strict=True)) if table else [()] * len(headers)
    numeric = [all(value is None or isinstance(value, int | float) for value in column) for column in columns]
    text = tabulate(
        [[escape(readable(value)) for value in row] for row in table],
        headers=[escape(readable(name)) for name in headers],
        tablefmt=style,
        disable_numparse=True,
        colalign=["right" if right else "left" for right in numeric] if table else None,
    )
    return str(text)


def _terminal(headers: list[str], table: list[list[Any]], caption: str) -> str:
    text = _tabulated(headers, table, "simple")
    return f"{caption}\n\n{text}" if caption else text


def _markdown(headers: list[str], table: list[list[Any]], caption: str) -> str:
    text = _tabulated(headers, table, "github", _markdown_escaped)
    return f"{_markdown_escaped(caption)}\n\n{text}" if caption else text


def _markdown_escaped(text: str) -> str:
    return re.sub(r"[\\`*|<]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)  # an underscore within a word means nothing


def _latex(headers: list[str], table: list[list[Any]], caption: str) -> str:
    text = _tabulated(headers, table, "latex_booktabs")  # escapes by itself
    if not caption:
        return text
    return f"\\begin{{table}}\n\\centering\n\\caption{{{_latex_escaped(caption)}}}\n{text}\n\\end{{table}}"


def _latex_escaped(text: str) -> str:
    from tabulate import LATEX_ESCAPE_RULES

    return "".join(LATEX_ESCAPE_RULES.get(letter, letter) for letter in text)


def _html(headers: list[str], table: list[list[Any]], caption: str) -> str:
    text = _tabulated(headers, table, "html")  # escapes by itself
    if not caption:
        return text
    return text.replace("<table>", f"<table>\n<caption>{html.escape(caption)}</caption>", 1)


# ---------------------------------------------------------------- for programs


def _csv(headers: list[str], table: list[list[Any]], caption: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headers)
    writer.writerows([numeral(value) if isinstance(value, float) else value for value in row] for row in table)
    return text.getvalue().removesuffix("\n")


def _json(headers: list[str], table: list[list[Any]], caption: str) -> str:
    def value(cell: Any) -> Any:
        if not isinstance(cell, float):
            return cell
        if not math.isfinite(cell):
            return None  # JSON knows no other word
        return int(cell) if cell.is_integer() else cell

    objects = [dict(zip(headers, map(value, row), strict=True)) for row in table]
    return json.dumps(objects, indent=2, ensure_ascii=False)


_WRITERS: dict[str, Callable[[list[str], list[list[Any]], str], str]] = {
    "table": _terminal,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "csv": _csv,
    "json": _json,
}

#: The names of the formats.
FORMATS = tuple(_WRITERS)
