"""Read small CSV files: limits, calendars, reservations of nodes."""

import csv
import io
from collections.abc import Collection
from pathlib import Path

from harness.disk.stored import read_text
from harness.errors import HarnessError, did_you_mean, shown_name


def rows_of(
    path: str | Path, expected: str, known: Collection[str], needed: Collection[str] = ()
) -> list[tuple[str, dict[str, str]]]:
    """Return the place of each row of a CSV, in words, and its cells by column, without empty cells.

    Only `known` columns are allowed; those in `needed` must exist.
    """
    lines = csv.DictReader(io.StringIO(read_text(Path(path), expected)), skipinitialspace=True)
    found = []
    try:
        columns = list(lines.fieldnames or ())
        for column in columns:
            if column not in known:
                raise HarnessError(
                    f"{path}: there is no column {shown_name(column)}; {did_you_mean(str(column), known)}"
                )
            if columns.count(column) > 1:
                raise HarnessError(f"{path}: the column {shown_name(column)} occurs twice: expected it once")
        for column in needed:
            if column not in columns:
                raise HarnessError(f"{path}: expected a column {column!r}")
        for row in lines:
            where = f"{path}, line {lines.line_num}"
            if None in row:
                raise HarnessError(f"{where}: expected no more cells than columns")
            found.append((where, {name: text.strip() for name, text in row.items() if text and text.strip()}))
    except csv.Error as error:  # for example a cell of a hundred thousand letters
        raise HarnessError(f"{path}: {error}: expected {expected}") from None
    if not found:
        raise HarnessError(f"{path}: expected {expected} with at least one row below {', '.join(known)}")
    return found


def is_name(cell: str) -> bool:
    """Return whether a cell is a name: it has a letter."""
    return any(map(str.isalpha, cell))
