"""Tables as text: for terminals, papers, pages and other programs."""

import csv
import html
import io
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from textwrap import fill
from typing import Any, Literal

from harness.errors import HarnessError, did_you_mean
from harness.present.json_text import finite, to_json
from harness.present.numerals import numeral, whole
from harness.present.words import readable, without_controls

#: Which values of a column are good.
Better = Literal["less", "more", "neither"]

#: The largest width of a table, unless its words are longer. A narrower terminal limits it further.
TERMINAL = 120

_PADDING = 2  # tabulate makes columns this much wider than their heads

Row = Sequence[Any]


def render(
    headers: Sequence[str],
    rows: Iterable[Row],
    format: str,
    *,
    units: Sequence[str] | None = None,
    better: Sequence[Better] | None = None,
    caption: str = "",
    digits: int = 6,
) -> str:
    """Return `rows` as text in one of `FORMATS`.

    For people, numbers have about `digits` significant digits, headers have `units`, the best values of columns with
    `better` are marked, and there is a `caption`. For programs (csv, json) there are only headers and exact values.
    None and NaN are missing values.
    """
    known_format(format)
    table = [[_plain(value) for value in row] for row in rows]
    if format in _PROGRAMS:
        return _PROGRAMS[format](list(headers), table)
    if units is not None:
        headers = [f"{name} [{unit}]" if unit else name for name, unit in zip(headers, units, strict=True)]
    return _tabulated(_STYLES[format], headers, table, better or ["neither"] * len(headers), caption, digits)


def prose(text: str, format: str) -> str:
    """Return a paragraph in a format for people."""
    return _STYLES[format].paragraph.format(_STYLES[format].escape(readable(text)))


def known_format(format: str) -> None:
    """Refuse an unknown format."""
    if format not in FORMATS:
        raise HarnessError(f"there is no table format {format!r}; {did_you_mean(format, FORMATS)}")


def _plain(value: Any) -> Any:
    """Return numbers of numpy as those of Python, and other values as text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)


@dataclass(frozen=True)
class _Style:
    """A format for people. Braces are replaced by escaped text."""

    tabulate: str  # a format of tabulate that does not escape
    escape: Callable[[str], str]
    best: str
    paragraph: str
    caption: Callable[[str, str], str]  # combines caption and table


def _tabulated(
    style: _Style,
    headers: Sequence[str],
    table: list[list[Any]],
    better: Sequence[Better],
    caption: str,
    digits: int,
) -> str:
    from tabulate import tabulate

    columns = list(zip(*table, strict=True)) if table else [()] * len(headers)
    best = [_best(column, wanted) for column, wanted in zip(columns, better, strict=True)]

    def cell(value: Any, best: float | None) -> str:
        text = style.escape(readable(value, digits))
        return style.best.format(text) if best is not None and value == best else text

    numeric = [all(value is None or isinstance(value, int | float) for value in column) for column in columns]
    heads = [style.escape(readable(name)) for name in headers]
    body = [[cell(*pair) for pair in zip(row, best, strict=True)] for row in table]

    def written(chosen: Sequence[int]) -> str:
        part = [heads[k] for k in chosen], [[row[k] for k in chosen] for row in body]
        numbers = [numeric[k] for k in chosen]
        names, cells = _folded(*part, numbers) if style is _STYLES["table"] else part
        sides = ["right" if right else "left" for right in numbers] if table else None
        return str(tabulate(cells, headers=names, tablefmt=style.tabulate, disable_numparse=True, colalign=sides))

    parts = _parted(heads, body, numeric) if style is _STYLES["table"] else [range(len(heads))]
    text = "\n\n".join(written(part) for part in parts)
    if style is _STYLES["latex"]:  # a cell cannot contain this word, since its backslash would be escaped
        for rule in ("toprule", "midrule", "bottomrule"):
            text = text.replace("\\hline", f"\\{rule}", 1)
    return style.caption(style.escape(readable(caption)), text) if caption else text


def _parted(heads: list[str], body: list[list[str]], numeric: Sequence[bool]) -> list[Sequence[int]]:
    """Split the columns of a table that is too wide for the terminal. Return the columns of each part.

    Each part begins with the columns up to the first one of words, or with the first if all are numbers.
    """
    least = [_least(head, [row[k] for row in body], numeric[k]) + 2 for k, head in enumerate(heads)]
    room = _room() + 2
    if not sys.stdout.isatty() or sum(least) <= room or not heads:
        return [range(len(heads))]
    keys = list(range(1 if all(numeric) else list(numeric).index(False) + 1))
    parts, left = [[*keys]], room - sum(least[k] for k in keys)
    for k in range(len(keys), len(heads)):
        if least[k] > left and len(parts[-1]) > len(keys):
            parts.append([*keys])
            left = room - sum(least[key] for key in keys)
        parts[-1].append(k)
        left -= least[k]
    return list(parts)


def _least(head: str, cells: Sequence[str], number: bool) -> int:
    """Return the least width of a column: its longest word or number."""
    words = cells if number else [word for cell in cells for word in cell.split()]
    return max(map(len, (*(word + " " * _PADDING for word in head.split()), *words)), default=0)


def _folded(heads: list[str], body: list[list[str]], numeric: Sequence[bool]) -> tuple[list[str], list[list[str]]]:
    """Break heads and cells between words until the table fits on a terminal."""
    if not body:
        return heads, body
    widths, least = [], []
    for head, cells, number in zip(heads, zip(*body, strict=True), numeric, strict=True):
        widths.append(max(len(head) + _PADDING, *map(len, cells)))
        least.append(_least(head, cells, number))
    room = _room() - 2 * (len(widths) - 1)
    while sum(widths) > room and widths != least:
        widths[max((width, k) for k, width in enumerate(widths) if width > least[k])[1]] -= 1

    def fold(cell: str, width: int) -> str:
        return fill(cell, max(1, width), break_long_words=False, break_on_hyphens=False)

    return (
        [fold(head, width - _PADDING) for head, width in zip(heads, widths, strict=True)],
        [[fold(cell, width) for cell, width in zip(row, widths, strict=True)] for row in body],
    )


def _room() -> int:
    """Return the largest width of a table."""
    return min(TERMINAL, shutil.get_terminal_size((TERMINAL, 0)).columns) if sys.stdout.isatty() else TERMINAL


def _best(column: Sequence[Any], better: Better) -> float | None:
    """Return the best number of a column, if it has better and worse ones."""
    numbers = [value for value in column if isinstance(value, int | float) and value == value]
    if better == "neither" or len(set(numbers)) < 2:
        return None
    return min(numbers) if better == "less" else max(numbers)


def _markdown_escaped(text: str) -> str:
    # An underscore within a word has no meaning, and neither has a bracket without a parenthesis behind it.
    return re.sub(r"[\\`*|<&$~]|\](?=\()|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def _latex_escaped(text: str) -> str:
    from tabulate import LATEX_ESCAPE_RULES

    rules = {**LATEX_ESCAPE_RULES, "|": r"\textbar{}"}
    return "".join(rules.get(letter, letter) for letter in text)


def _above(caption: str, table: str) -> str:
    return f"{caption}\n\n{table}"


def _in_latex(caption: str, table: str) -> str:
    return f"\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{table}\n\\end{{table}}"


def _in_html(caption: str, table: str) -> str:
    return table.replace("<table>", f"<table>\n<caption>{caption}</caption>", 1)


_STYLES = {
    "table": _Style("simple", str, "*{}", "{}", _above),
    "markdown": _Style("github", _markdown_escaped, "**{}**", "{}", _above),
    "latex": _Style("latex_raw", _latex_escaped, r"\textbf{{{}}}", "{}", _in_latex),
    "html": _Style("unsafehtml", html.escape, "<strong>{}</strong>", "<p>{}</p>", _in_html),
}


def _csv(headers: list[str], table: list[list[Any]]) -> str:
    def cell(value: Any) -> Any:
        return (
            numeral(value) if isinstance(value, float) else without_controls(value) if isinstance(value, str) else value
        )

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(without_controls, headers))
    writer.writerows(map(cell, row) for row in table)
    return text.getvalue().removesuffix("\n")


def _json(headers: list[str], table: list[list[Any]]) -> str:
    def cell(value: Any) -> Any:
        return whole(value) if isinstance(finite(value), float) else value

    return to_json([dict(zip(headers, map(cell, row), strict=True)) for row in table])


_PROGRAMS: dict[str, Callable[[list[str], list[list[Any]]], str]] = {"csv": _csv, "json": _json}

#: The names of the formats.
FORMATS = (*_STYLES, *_PROGRAMS)
