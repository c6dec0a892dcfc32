"""Rows of comma-separated tables from other sources, and the numbers in them."""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.disk.stored import read_text
from harness.errors import HarnessError, shortened

_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+(\.\d*)?|\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """A header, and the rows below it."""

    path: Path
    header: tuple[str, ...]
    records: tuple[tuple[str, ...], ...]

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield each row that is not blank, by column, with its number in a spreadsheet (the header is row 1).

        If a row has fewer fields than the header, its last columns are missing.
        """
        for row, fields in enumerate(self.records, start=2):
            if any(field.strip() for field in fields):
                yield row, dict(zip(self.header, map(str.strip, fields), strict=False))


def read_rows(path: str | Path) -> Table:
    """Read a table, plain or packed, in UTF-8 or Latin-1, with any line ends."""
    path = Path(path)
    try:
        records = list(csv.reader(io.StringIO(_text(path), newline=""), strict=True))
    except csv.Error as error:
        raise HarnessError(f"{path}: cannot be read as comma-separated text: {error}") from error
    if not any(any(map(str.strip, record)) for record in records[1:]):
        raise HarnessError(f"{path}: there are no rows; expected a header and a row for each server")
    return Table(path, tuple(name.strip() for name in records[0]), tuple(map(tuple, records[1:])))


def number(text: str) -> float:
    """Return `165064`, `1,024`, `95.3` or `3.68761e+07` as a number; raise `ValueError` for `n/a` and other text."""
    value = float(text.replace(",", "")) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"'{shortened(text, 30)}' is not a number")
    return value


def _text(path: Path) -> str:
    text = read_text(path, "comma-separated text")
    if "\0" in text:
        raise HarnessError(f"{path}: not a text file; expected comma-separated text in UTF-8 or Latin-1")
    return text
