"""Logs in the Standard Workload Format.

Format: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html, version 2.2.
"""

import csv
import gzip
import io
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.disk.atomic import replacing
from harness.disk.stored import pieces_of, text_lines, text_of
from harness.errors import HarnessError, shortened
from harness.present.numerals import numeral
from harness.present.words import without_controls
from harness.workload.content import canonical, content_digest, narrowed
from harness.workload.log import SWF_COLUMNS, Log, Step
from harness.workload.log_cache import CachedReading
from harness.workload.log_files import read_file

_WIDTH = len(SWF_COLUMNS)
_EXPECTED = f"expected {_WIDTH} numbers separated by blanks, as in the Standard Workload Format"


def read_swf(path: str | os.PathLike[str], *, lenient: bool = False, cache: bool = True) -> Log:
    """Read a log in SWF, packed or not, in the order of the file.

    A line that is neither a comment nor 18 numbers is an error that names it. With `lenient` such lines are skipped and
    counted in `Log.reading`. With `cache` the log is also stored in the cache folder, so that reading the same content
    again is much faster.
    """
    path = Path(path)
    return read_file(
        path,
        lambda content: _parse(content, path, lenient),
        kind="-lenient" if lenient else "",
        expected="a log in SWF",
        cache=cache,
    )


def write_swf(log: Log, path: str | os.PathLike[str]) -> None:
    """Write `log` to `path`, gzipped if the name ends in `.gz`. Reading the file gives the same log.

    Control characters of the header become `�`, since they could control the terminal that shows the file.
    """
    columns = {name: _numerals(log.jobs[name]) for name in SWF_COLUMNS}
    text = io.StringIO()
    text.writelines(without_controls(line) + "\n" for line in log.header)  # from any source
    table = pd.DataFrame(columns)
    table.to_csv(text, sep=" ", header=False, index=False, lineterminator="\n", quoting=csv.QUOTE_NONE)
    content = text.getvalue().encode()
    if str(path).lower().endswith(".gz"):
        content = gzip.compress(content, compresslevel=6, mtime=0)  # so that equal logs give equal files
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def _parse(content: bytes, path: Path, lenient: bool) -> CachedReading:
    content = text_lines(content, path)
    steps: tuple[Step, ...] = ()
    wide = _is_wide(content)
    header, table = _in_pieces(content, wide, path)
    if table is None:
        kept, skipped, first = _line_by_line(content, path, lenient)
        if skipped:
            steps = (Step("skipped malformed lines", skipped, f"first: {first}"),)
        wide = _is_wide(kept)
        _, table = _in_pieces(kept, wide, path)
        if table is None:  # the two readers disagree about a number
            raise HarnessError(f"{path}: cannot be read as SWF; {_EXPECTED}")
    if not table:
        raise HarnessError(f"{path}: has no jobs; {_EXPECTED}, one line per job")
    if wide:
        steps += (Step("ignored columns", len(table[0]), f"all but the first {_WIDTH} of every line"),)
    frame = pd.DataFrame(dict(zip(SWF_COLUMNS, map(canonical, table), strict=True)), copy=False)
    return CachedReading(frame, header, steps, content_digest(frame, header))


def _split_header(content: bytes) -> tuple[tuple[str, ...], bytes]:
    """Return all comment lines, and the rest."""
    if b";" not in content:
        return (), content
    comment = re.compile(rb"^[ \t]*;.*$", re.MULTILINE)
    return tuple(text_of(line) for line in comment.findall(content)), comment.sub(b"", content)


# `_fast` reads well-formed files. `_line_by_line` finds the malformed lines.

# Before 3.1, pandas needs this option to read all digits of a decimal; later versions do not have it.
_EXACT_DECIMALS: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)

Table = list[np.ndarray[Any, Any]]  # its columns; empty if there are no lines

_THREADS = min(4, os.cpu_count() or 1)

#: The highest number of comment lines.
_MOST_COMMENTS = 1_000_000


def _in_pieces(content: bytes, wide: bool, path: Path) -> tuple[tuple[str, ...], Table | None]:
    """Return the comment lines and the table, or None instead of the table if a line is malformed."""
    if content.count(b";") > _MOST_COMMENTS and len(re.findall(rb"(?m)^[ \t]*;", content)) > _MOST_COMMENTS:
        raise HarnessError(f"{path}: expected at most {_MOST_COMMENTS:,} comment lines")
    pieces = list(pieces_of(content))

    def read(piece: slice, floats: Iterable[int] = ()) -> tuple[tuple[str, ...], Table | None]:
        header, body = _split_header(content[piece])
        table = _fast(body, wide, floats)
        return header, table and [narrowed(column) for column in table]

    with ThreadPoolExecutor(_THREADS) as threads:
        found = list(threads.map(read, pieces))
        header = tuple(line for lines, _ in found for line in lines)
        if any(table is None for _, table in found):
            return header, None
        columns = list(zip(*(table for _, table in found if table), strict=True))
        mixed = [k for k, parts in enumerate(columns) if len({part.dtype.kind == "f" for part in parts}) == 2]
        if mixed and b"-0" in content:  # an integer has no negative zero
            found = list(threads.map(partial(read, floats=mixed), pieces))
            columns = list(zip(*(table for _, table in found if table), strict=True))
    kinds = [np.float64 if any(part.dtype.kind == "f" for part in parts) else np.int64 for parts in columns]
    return header, [np.concatenate(parts, dtype=kind) for parts, kind in zip(columns, kinds, strict=True)]


def _is_wide(content: bytes) -> bool:
    """Return whether the first line of a job has more columns than the format."""
    first = re.search(rb"^[ \t]*[^\s;].*", content, re.MULTILINE)
    return first is not None and len(first[0].split()) > _WIDTH


def _fast(body: bytes, wide: bool, floats: Iterable[int] = ()) -> Table | None:
    """Return the table of a well-formed file, else None: 18 columns, or 19 if every line has more.

    The columns at `floats` become floats, even if they contain whole numbers.
    """
    if not re.search(rb"\S", body):
        return []
    if any(strange in body for strange in (b"\0", b"\v", b"\f")):
        return None  # pandas ignores them after a number
    try:
        table = pd.read_csv(
            io.BytesIO(body),
            sep=r"\s+",
            header=None,
            engine="c",
            encoding="latin-1",
            na_filter=False,
            low_memory=False,
            quoting=csv.QUOTE_NONE,
            usecols=range(_WIDTH + 1) if wide else None,
            dtype=dict.fromkeys(floats, np.float64),
            **_EXACT_DECIMALS,
        )
    except (ValueError, pd.errors.ParserError):
        return None
    if table.shape[1] != _WIDTH + wide or (wide and (table[_WIDTH].astype(str) == "").any()):
        return None
    numbers = table.iloc[:, :_WIDTH]
    if any(dtype not in (np.int64, np.float64) for dtype in numbers.dtypes):
        return None
    decimals = [numbers[i].to_numpy() for i, dtype in enumerate(numbers.dtypes) if dtype == np.float64]
    if not all(np.isfinite(values).all() for values in decimals):
        return None
    large = any((np.abs(values) >= _TOO_LARGE).any() for values in decimals)
    if large and any(abs(int(number)) >= _TOO_LARGE for number in _LONG_NUMBER.findall(body)):
        return None  # larger than 64 bits
    return [numbers[i].to_numpy() for i in range(_WIDTH)]


_TOO_LARGE = 2**63
_LONG_NUMBER = re.compile(rb"(?<!\S)[+-]?\d{19,4000}(?!\S)")
_PLAIN_LINE = re.compile(rb"[ \t]*(-?\d{1,18}(\.\d+)?[ \t]+){%d}-?\d{1,18}[ \t]*" % (_WIDTH - 1))  # the usual form
_NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _line_by_line(content: bytes, path: Path, lenient: bool) -> tuple[bytes, int, str]:
    """Return the well-formed lines, the number of skipped ones, and the error in the first of these."""
    kept = bytearray()  # needs less memory than a list of lines
    skipped, first = 0, ""
    wide: bool | None = None  # set by the first well-formed line
    for number, line in enumerate(io.BytesIO(content), start=1):
        line = line.rstrip(b"\n")
        plain = not wide and _PLAIN_LINE.fullmatch(line) is not None
        fields = [] if plain else re.findall(rb"[^ \t]+", line)
        if not plain and (not fields or fields[0].startswith(b";")):
            continue
        wrong = None if plain else _fault(fields, wide)
        if wrong is None:
            kept += line + b"\n"
            wide = len(fields) > _WIDTH
            continue
        quote = f": {shortened(line.decode('latin-1'))}" if kept else ""  # a file without good lines may be anything
        complaint = f"line {number}: {_EXPECTED}, {wrong}{quote}"
        if not lenient:
            raise HarnessError(f"{path}: {complaint}")
        skipped += 1
        first = first or complaint
    return bytes(kept), skipped, first


def _fault(fields: list[bytes], wide: bool | None) -> str | None:
    """Return what is wrong with a line, or None. `wide` is whether earlier lines had more columns."""
    if len(fields) < _WIDTH:
        return f"found {len(fields)}"
    for position, field in enumerate(fields[:_WIDTH]):
        column = f"column {position + 1} ({SWF_COLUMNS[position]})"
        if not _NUMBER.fullmatch(field):
            return f"{column} is not a number"
        if not np.isfinite(float(field)) or (field.lstrip(b"+-").isdigit() and abs(int(field)) >= _TOO_LARGE):
            return f"{column} is too large"
    if wide is not None and wide != (len(fields) > _WIDTH):
        return f"found {len(fields)}, unlike earlier lines"
    return None


def _numerals(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column in its written form: whole numbers without decimal point, others in the shortest exact form."""
    values = canonical(column.to_numpy())
    if values.dtype == np.int64:
        return pd.Series(values)
    exact = 2**53  # larger whole numbers would be read back as integers
    return pd.Series([numeral(x) if abs(x) < exact else repr(x) for x in values.tolist()], dtype=object)
