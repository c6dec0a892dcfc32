"""Tables of text, one line per row, with the names of the columns on the first line."""

import csv
import io
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.stored import plain_lines, text_of
from harness.errors import HarnessError, shortened
from harness.workload.log import Step

#: Called with the cells of a line that has more than there are columns; gives the right number of them, or None.
Mend = Callable[[list[str]], list[str] | None]


#: Between cells of which some hold commas: ASCII's own separator of units, which no name has.
_UNIT = "\x1f"


def read_delimited(
    content: bytes,
    path: Path,
    separator: str = "",
    *,
    lenient: bool = False,
    only: Container[str] | None = None,
    mend: Callable[[list[str]], Mend] | None = None,
) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """Return the cells of a table as text, each row under the number of its line, and what had to be done.

    Without a `separator` it is the comma, semicolon or tab, whichever the first line has most of. `only` names
    the columns that are wanted. Lines with a wrong number of cells are refused, or skipped if `lenient`; before
    that, `mend(names)` may put those with too many right.
    """
    lines = dict(enumerate(text_of(plain_lines(content)).split("\n"), start=1))
    filled = {number: line for number, line in lines.items() if line and not line.isspace()}
    if not filled:
        raise HarnessError(f"{path}: is empty; expected a line with the names of the columns")
    head = filled.pop(next(iter(filled)))
    separator = separator or _separator(head)
    names = names_of(head, separator)
    wanted = [place for place, name in enumerate(names) if only is None or name in only]
    for place in wanted:
        if names.index(names[place]) < place:
            raise HarnessError(f"{path}: the column {names[place]!r} is there twice; expected it once")
    filled, separator = _unquoted(filled, separator, len(names))
    rows, faults, steps = _whole_rows(filled, separator, len(names), mend(names) if mend else None)
    if faults and not lenient:
        raise HarnessError(f"{path}: {faults[0]}")
    if not rows:
        raise HarnessError(f"{path}: holds no jobs; expected one line per job below the names of the columns")
    table = pd.read_csv(
        io.StringIO("\n".join(rows.values())),
        sep=separator,
        header=None,
        usecols=wanted,
        dtype=str,
        na_filter=False,
        skip_blank_lines=False,
        quoting=csv.QUOTE_NONE,
    )
    table.columns = pd.Index([names[place] for place in wanted])
    table.index = pd.Index(rows, name="line")
    return table, steps


def _unquoted(lines: dict[int, str], separator: str, width: int) -> tuple[dict[int, str], str]:
    """Return the lines without the quotes around cells, and what separates cells then: in them commas may stand.

    Bars have no such quotes.
    """
    if separator == "|" or not any('"' in line and line.count(separator) >= width for line in lines.values()):
        return lines, separator
    found = {number: line.replace(separator, _UNIT) for number, line in lines.items()}
    for number, line in lines.items():
        cells = next(csv.reader([line], delimiter=separator)) if '"' in line else []
        if cells and (len(cells) == width or line.count(separator) >= width):
            found[number] = _UNIT.join(cells)
    return found, _UNIT


def _whole_rows(
    lines: dict[int, str], separator: str, width: int, mend: Mend | None
) -> tuple[dict[int, str], list[str], tuple[Step, ...]]:
    """Return the lines with `width` cells, mended if need be, what is wrong with the others, and how many of both."""
    rows: dict[int, str] = {}
    faults, mended = [], []
    for number, line in lines.items():
        if line.count(separator) == width - 1:
            rows[number] = line
            continue
        cells = line.split(separator)
        right = mend(cells) if mend and len(cells) > width else None
        if right is None:
            shown = shortened(line.replace(_UNIT, ","))
            faults.append(f"line {number}: expected {width} cells, found {len(cells)}: {shown}")
        else:
            mended.append(number)
            rows[number] = separator.join(right)
    steps = []
    if faults:
        steps.append(Step("skipped malformed lines", len(faults), f"first: {faults[0]}"))
    if mended:
        steps.append(Step("mended lines", len(mended), f"{separator!r} within a cell, the first in line {mended[0]}"))
    return rows, faults, tuple(steps)


def numbered(texts: "pd.Series[str]") -> npt.NDArray[Any]:
    """Return names as numbers from 1, in the order in which they appear; −1 where there is none."""
    codes, _ = pd.factorize(texts.mask(texts == ""))
    return np.where(codes < 0, -1, codes + 1)


def _separator(line: str) -> str:
    return max(",;\t", key=line.count)


def names_of(line: str, separator: str = "") -> list[str]:
    """Return the names of the columns on the first line of a table; quotes around them do not count."""
    return [name.strip().strip('"') for name in line.split(separator or _separator(line))]
