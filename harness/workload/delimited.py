"""Text tables with one row per line and the names of the columns on the first line."""

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

#: Called with the cells of a line with too many cells; returns the right number of cells, or None.
Repair = Callable[[list[str]], list[str] | None]

#: Separates cells that may contain commas: ASCII's unit separator, which occurs in no name.
_UNIT = "\x1f"


def read_delimited(
    content: bytes,
    path: Path,
    separator: str = "",
    *,
    lenient: bool = False,
    only: Container[str] | None = None,
    repair: Callable[[list[str]], Repair] | None = None,
) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """Return the cells of a table as text, indexed by line number, and the steps of reading.

    The default `separator` is the most frequent of comma, semicolon and tab on the first line. `only` limits the
    columns. Lines with a wrong number of cells are refused, or with `lenient` skipped. `repair(names)` returns a
    function that may first correct lines with too many cells.
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
        begin += len(lines) - 1  # each piece ends with a line break
        if filled and not names:
            head = filled.pop(next(iter(filled)))
            separator = separator or _separator(head)
            names = names_of(head, separator)
            wanted = _wanted(names, only, path)
            repairer = repair(names) if repair else None
        if filled:
            filled, between = _unquoted(filled, separator, len(names))
            found.add(filled, between, len(names), wanted, repairer)
        if found.fault and not lenient:
            raise HarnessError(f"{path}: {found.fault}")
    if not names:
        raise HarnessError(f"{path}: is empty; expected a line with the names of the columns")
    if not found.tables:
        raise HarnessError(f"{path}: has no jobs; expected one line per job below the names of the columns")
    table = pd.concat(found.tables)
    table.columns = pd.Index([names[place] for place in wanted])
    return table, found.steps(separator)


def _encoding(content: bytes, pieces: list[slice]) -> str:
    """Return UTF-8, or Latin-1 if a line is not UTF-8."""
    try:
        for piece in pieces:
            content[piece].decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _wanted(names: list[str], only: Container[str] | None, path: Path) -> list[int]:
    """Return the positions of the columns to read. Refuse duplicate names."""
    wanted = [place for place, name in enumerate(names) if only is None or name in only]
    for place in wanted:
        if names.index(names[place]) < place:
            raise HarnessError(f"{path}: the column {shown_name(names[place])} occurs twice; expected it once")
    return wanted


class _Rows:
    """The rows of a table, added piece by piece, and counts of malformed and repaired lines."""

    def __init__(self) -> None:
        self.tables: list[pd.DataFrame] = []
        self.faults, self.fault = 0, ""  # the number of malformed lines, and the first one
        self.repaired, self.first_repaired = 0, 0

    def add(self, lines: dict[int, str], separator: str, width: int, wanted: list[int], repair: Repair | None) -> None:
        """Add the lines with `width` cells, after repairs."""
        rows: dict[int, str] = {}
        for number, line in lines.items():
            if line.count(separator) == width - 1:
                rows[number] = line
                continue
            cells = line.split(separator)
            right = repair(cells) if repair and len(cells) > width else None
            if right is None:
                self.faults += 1
                self.fault = self.fault or f"line {number}: expected {width} cells, found {len(cells)}"
            else:
                self.repaired += 1
                self.first_repaired = self.first_repaired or number
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
        steps = []
        if self.faults:
            steps.append(Step("skipped malformed lines", self.faults, f"first: {self.fault}"))
        if self.repaired:
            detail = f"{separator!r} within a cell, the first in line {self.first_repaired}"
            steps.append(Step("repaired lines", self.repaired, detail))
        return tuple(steps)


def _unquoted(lines: dict[int, str], separator: str, width: int) -> tuple[dict[int, str], str]:
    """Return the lines without quotes around cells, and their separator, which then differs from a comma in a cell.

    Lines with bars have no quotes.
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
    """Return names as numbers from 1, in order of appearance; −1 for no name."""
    codes, _ = pd.factorize(texts.mask(texts == ""))
    return np.where(codes < 0, -1, codes + 1)


def _separator(line: str) -> str:
    return max(",;\t", key=line.count)


def names_of(line: str, separator: str = "") -> list[str]:
    """Return the names of the columns on the first line of a table, without quotes."""
    return [name.strip().strip('"') for name in line.split(separator or _separator(line))]
