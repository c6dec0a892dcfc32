"""Tables of text, one line per row, with the names of the columns on the first line."""

import csv
import io
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.stored import pieces_of, text_lines
from harness.errors import HarnessError, shown_name
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
    content = text_lines(content, path)
    pieces = list(pieces_of(content))
    encoding = _encoding(content, pieces)
    names: list[str] = []
    found = _Rows()
    begin = 1
    for piece in pieces:
        lines = content[piece].decode(encoding).split("\n")
        filled = {number: line for number, line in enumerate(lines, begin) if line and not line.isspace()}
        begin += len(lines) - 1  # a piece ends with the end of a line
        if filled and not names:
            head = filled.pop(next(iter(filled)))
            separator = separator or _separator(head)
            names = names_of(head, separator)
            wanted = _wanted(names, only, path)
            mended = mend(names) if mend else None
        if filled:
            filled, between = _unquoted(filled, separator, len(names))
            found.add(filled, between, len(names), wanted, mended)
        if found.fault and not lenient:
            raise HarnessError(f"{path}: {found.fault}")
    if not names:
        raise HarnessError(f"{path}: is empty; expected a line with the names of the columns")
    if not found.tables:
        raise HarnessError(f"{path}: holds no jobs; expected one line per job below the names of the columns")
    table = pd.concat(found.tables)
    table.columns = pd.Index([names[place] for place in wanted])
    return table, found.steps(separator)


def _encoding(content: bytes, pieces: list[slice]) -> str:
    """Return UTF-8, or Latin-1 if some line is not UTF-8."""
    try:
        for piece in pieces:
            content[piece].decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _wanted(names: list[str], only: Container[str] | None, path: Path) -> list[int]:
    """Return the places of the columns to read; refuse two of one name."""
    wanted = [place for place, name in enumerate(names) if only is None or name in only]
    for place in wanted:
        if names.index(names[place]) < place:
            raise HarnessError(f"{path}: the column {shown_name(names[place])} is there twice; expected it once")
    return wanted


class _Rows:
    """The rows of a table, piece by piece, and the lines that have a wrong number of cells."""

    def __init__(self) -> None:
        self.tables: list[pd.DataFrame] = []
        self.faults, self.fault = 0, ""  # the number of malformed lines, and the first one
        self.mended, self.first_mended = 0, 0

    def add(self, lines: dict[int, str], separator: str, width: int, wanted: list[int], mend: Mend | None) -> None:
        """Add the lines with `width` cells, some of them after `mend`."""
        rows: dict[int, str] = {}
        for number, line in lines.items():
            if line.count(separator) == width - 1:
                rows[number] = line
                continue
            cells = line.split(separator)
            right = mend(cells) if mend and len(cells) > width else None
            if right is None:
                self.faults += 1
                self.fault = self.fault or f"line {number}: expected {width} cells, found {len(cells)}"
            else:
                self.mended += 1
                self.first_mended = self.first_mended or number
                rows[number] = separator.join(right)
        if rows and not wanted:
            self.tables.append(pd.DataFrame(index=pd.Index(rows, name="line")))
        elif rows:
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
            self.tables.append(table.set_index(pd.Index(rows, name="line")))

    def steps(self, separator: str) -> tuple[Step, ...]:
        """Return the steps of reading."""
        steps = []
        if self.faults:
            steps.append(Step("skipped malformed lines", self.faults, f"first: {self.fault}"))
        if self.mended:
            detail = f"{separator!r} within a cell, the first in line {self.first_mended}"
            steps.append(Step("mended lines", self.mended, detail))
        return tuple(steps)


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


def numbered(texts: "pd.Series[str]") -> npt.NDArray[Any]:
    """Return names as numbers from 1, in the order in which they appear; −1 where there is none."""
    codes, _ = pd.factorize(texts.mask(texts == ""))
    return np.where(codes < 0, -1, codes + 1)


def _separator(line: str) -> str:
    return max(",;\t", key=line.count)


def names_of(line: str, separator: str = "") -> list[str]:
    """Return the names of the columns on the first line of a table; quotes around them do not count."""
    return [name.strip().strip('"') for name in line.split(separator or _separator(line))]
