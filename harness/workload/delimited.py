"""Tables of text, one line per row, with the names of the columns on the first line."""

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from harness.errors import HarnessError
from harness.workload.files import plain_lines, shortened, text_of
from harness.workload.log import Step

#: Called with the cells of a line that has more than there are columns; gives the right number of them, or None.
Mend = Callable[[list[str]], list[str] | None]


def read_delimited(
    content: bytes,
    path: Path,
    separator: str = "",
    *,
    lenient: bool = False,
    only: Iterable[str] | None = None,
    mend: Callable[[list[str]], Mend] | None = None,
) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """The cells of a table as text, each row under the number of its line, and what had to be done.

    Without a `separator` it is the comma, semicolon or tab, whichever the first line has most of. `only` names
    the columns that are wanted. Lines with a wrong number of cells are refused, or skipped if `lenient`; before
    that, `mend(names)` may put those with too many right.
    """
    lines = text_of(plain_lines(content)).split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise HarnessError(f"{path}: is empty; expected a line with the names of the columns")
    separator = separator or max(",;\t", key=lines[first].count)
    names = names_of(lines[first], separator)
    fewest = len(names) - 1
    repair = mend(names) if mend else lambda cells: None
    numbers, rows, mended, faults = [], [], [], []
    for number, line in enumerate(lines[first + 1 :], start=first + 2):
        if not line or line.isspace():
            continue
        if line.count(separator) != fewest:
            cells = line.split(separator)
            right = repair(cells) if len(cells) > len(names) else None
            if right is None:
                faults.append(f"line {number}: expected {len(names)} cells, found {len(cells)}: {shortened(line)}")
                continue
            mended.append(number)
            line = separator.join(right)
        numbers.append(number)
        rows.append(line)
    if faults and not lenient:
        raise HarnessError(f"{path}: {faults[0]}")
    steps = []
    if faults:
        steps.append(Step("skipped malformed lines", len(faults), f"first: {faults[0]}"))
    if mended:
        steps.append(Step("mended lines", len(mended), f"{separator!r} within a cell, the first in line {mended[0]}"))
    if not rows:
        raise HarnessError(f"{path}: holds no jobs; expected one line per job below the names of the columns")
    wanted = range(len(names)) if only is None else [i for i, name in enumerate(names) if name in set(only)]
    table = pd.read_csv(
        io.StringIO("\n".join(rows)),
        sep=separator,
        header=None,
        usecols=wanted,
        dtype=str,
        na_filter=False,
        skip_blank_lines=False,
        quoting=csv.QUOTE_NONE,
    )
    table.columns = pd.Index([names[i] for i in wanted])
    table.index = pd.Index(numbers, name="line")
    return table, tuple(steps)


def names_of(line: str, separator: str = "") -> list[str]:
    """The names of the columns on the first line of a table; quotes around them do not count."""
    return [name.strip().strip('"') for name in line.split(separator or max(",;\t", key=line.count))]
