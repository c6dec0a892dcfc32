"""Logs from tables with named columns: data frames, CSV and Parquet files."""

import io
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.size_limit import TABLE, refuse_large
from harness.disk.stored import stored_bytes, suffix_of, unpacked
from harness.errors import HarnessError, did_you_mean, shortened, shown_name
from harness.workload.content import canonical, content_digest
from harness.workload.delimited import read_delimited
from harness.workload.log import FURTHER, SWF_COLUMNS, Log, Step
from harness.workload.log_files import log_name
from harness.workload.resource_columns import REQUEST_COLUMNS, Constraints, is_request_column, numbers_in
from harness.workload.swf_header import header_procs

_REQUIRED = ("submit", "run", "procs")
#: Columns that contain names in other programs.
_NUMBERED = ("user", "group", "executable", "queue", "partition")
#: Common names of columns that differ from ours.
_OTHER_NAMES = {"id": "job", "cores": "procs", "cpus": "procs", "duration": "run", "elapsed": "run"} | dict.fromkeys(
    ("requested", "walltime", "timelimit"), "estimate"
)
_TABLES = (".csv", ".parquet")


def is_table(path: str) -> bool:
    """Return whether `path` is a file with the suffix of a table."""
    return suffix_of(path) in _TABLES and os.path.isfile(path)


def read_table(path: str | os.PathLike[str], *, lenient: bool = False) -> Log:
    """Read a log from a CSV or Parquet file, with columns as in `log_from_frame`.

    A cell that is not a number is an error that names its line. With `lenient` such lines are skipped and counted.
    """
    path = Path(path)
    table, steps = read_cells(path, "a table of jobs", lenient=lenient)
    table, names = encode_constraints(table, str(path))
    check_columns(table, str(path))
    table, skipped = numbers(table, str(path), lenient=lenient)
    log = log_from_frame(table, log_name(path), header=names, source=str(path))
    return replace(log, reading=steps + skipped)


def read_cells(path: Path, expected: str, *, lenient: bool) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """Return the cells of a CSV file as text, or the table of a Parquet file, and the steps of reading."""
    stored = stored_bytes(path, expected)
    if suffix_of(path) == ".parquet":
        return parquet_table(unpacked(stored, path), path), ()
    content = unpacked(stored, path, TABLE)
    table, steps = read_delimited(content, path, lenient=lenient)
    return table.apply(lambda column: column.str.strip('" ')), steps


def log_from_frame(
    frame: pd.DataFrame,
    name: str = "frame",
    *,
    procs: int | None = None,
    header: tuple[str, ...] = (),
    source: str = "",
) -> Log:
    """Return a log of the jobs in `frame`, one row per job, with columns named as in `SWF_COLUMNS`.

    `submit`, `run` and `procs` are required. Without a column `job`, jobs are numbered from 1. Other missing columns
    are unknown (−1). Requests are in the columns of `resource_columns.py`, and in `constraint`, a text like
    `intel&(gpu|knl)`. Columns whose names begin with `x_` contain numbers for policies. The machine has `procs`
    processors (default: the number in `header`).
    """
    frame, names = encode_constraints(frame, name)
    check_columns(frame, name)
    given, _ = numbers(frame, name)
    if not len(frame):
        raise HarnessError(f"{name}: has no jobs; expected one row per job")
    columns: dict[str, npt.NDArray[Any]] = {column: np.full(len(frame), -1, dtype=np.int64) for column in SWF_COLUMNS}
    columns["job"] = np.arange(1, len(frame) + 1)
    columns |= {str(column): canonical(given[column].to_numpy()) for column in given.columns}
    header = (*header, *names)
    jobs = pd.DataFrame(columns)
    digest = content_digest(jobs, header)
    return Log(name, jobs, header, source or name, digest, procs=procs or header_procs(header))


def encode_constraints(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Replace a column `constraint` by columns of feature bits. Return header lines with the names of the bits."""
    if "constraint" not in frame:
        return frame, ()
    constraints = Constraints(frame["constraint"].fillna("").astype(str), name)
    if constraints.beyond:
        raise HarnessError(
            f"{name}: column 'constraint': {constraints.example!r:.60}; expected features like a&b, a|b or a&(b|c)"
        )
    return frame.drop(columns="constraint").assign(**constraints.columns), constraints.header


def check_columns(frame: pd.DataFrame, name: str) -> None:
    """Refuse unknown and duplicate columns, and a table without the required ones."""
    for column in frame.columns:
        request = is_request_column(str(column)) or re.fullmatch(rf"{FURTHER}\w+", str(column))
        if column not in SWF_COLUMNS and not request:
            meant = _OTHER_NAMES.get(str(column).lower(), str(column))
            hint = did_you_mean(meant, (*SWF_COLUMNS, *REQUEST_COLUMNS, "constraint"))
            raise HarnessError(
                f"{name}: a log has no column {shown_name(column)}: {hint}; "
                f"needed: {', '.join(_REQUIRED)}; columns for policies begin with {FURTHER}"
            )
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise HarnessError(f"{name}: the column {shown_name(twice)} occurs twice; expected it once")
    if missing := [column for column in _REQUIRED if column not in frame.columns]:
        raise HarnessError(f"{name}: column {missing[0]!r} is missing; needed: {', '.join(_REQUIRED)}")


def numbers(frame: pd.DataFrame, name: str, *, lenient: bool = False) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """Return `frame` with a finite number in every cell. Rows with other cells are refused, or with `lenient` skipped.

    In the columns of SWF, except submission time and status, −1 means unknown and other negative numbers are errors.
    """
    columns = {column: _number_column(frame[column]) for column in frame.columns}
    wrong = {column: _wrong(str(column), values) for column, values in columns.items()}
    faulty = np.zeros(len(frame), dtype=np.bool_)
    for found in wrong.values():
        faulty |= found
    table = pd.DataFrame(columns, index=frame.index)
    if not faulty.any():
        return table, ()
    row = int(np.argmax(faulty))
    column = next(column for column, found in wrong.items() if found[row])
    value = frame[column].iloc[row]
    cell = f"'{shortened(value)}'" if isinstance(value, str) else value
    where = f"{frame.index.name or 'row'} {frame.index[row]}"
    what = "is below 0" if np.isfinite(columns[column][row]) else "is not a finite number"
    if column in _NUMBERED and not np.isfinite(columns[column][row]):
        what += f"; expected a number for each {column}"
    if (known := numbers_in(str(column))) and np.isfinite(columns[column][row]):
        what = f"is not {known.expected}"
    complaint = f"column {shown_name(column)}, {where}: {cell} {what}; unknown is -1"
    if not lenient or faulty.all():
        raise HarnessError(f"{name}: {complaint}")
    return table[~faulty], (Step("skipped rows without numbers", int(faulty.sum()), f"first: {complaint}"),)


def _wrong(column: str, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return the impossible numbers of a column. A status may be any code: `harness data show` lists odd ones."""
    wrong: npt.NDArray[np.bool_] = ~np.isfinite(values)
    if column in SWF_COLUMNS and column not in ("submit", "status"):
        wrong |= (values < 0) & (values != -1)
    if known := numbers_in(column):
        wrong |= ~known.among(values) & (values != -1)
    return wrong


def _number_column(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    """Return the cells of a column as numbers: NaN for other cells. Text that contains a number counts."""
    if column.dtype.kind == "i":
        return column.to_numpy()
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fub":  # avoids an object for each cell
        return column.to_numpy(dtype=np.float64)
    if column.dtype.kind in "mM":  # otherwise dates would become nanoseconds
        return np.full(len(column), np.nan)
    try:
        return np.asarray(column.to_numpy(dtype=object), dtype=np.float64)
    except (TypeError, ValueError):
        return pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=np.float64)


def parquet_table(stored: bytes, path: Path) -> pd.DataFrame:
    """Return the table in a Parquet file. Its size is checked first: few bytes can encode a long column."""
    try:
        import pyarrow
        from pyarrow import compute, parquet
    except ImportError:
        raise HarnessError(f"{path}: reading Parquet needs pyarrow: pip install 'sched-harness[parquet]'") from None
    try:
        schema = parquet.read_schema(io.BytesIO(stored))
        texts = [one.name for one in schema if _is_text(one.type)]
        for one in schema:
            if not _is_flat(one.type):
                kind = shortened(str(one.type), 30)
                raise HarnessError(
                    f"{path}: the column {shown_name(one.name)} is of type {kind}: expected numbers, texts or dates"
                )
        file = parquet.ParquetFile(io.BytesIO(stored), read_dictionary=texts)
        about = file.metadata
        sizes = [about.row_group(k).total_byte_size for k in range(about.num_row_groups)]
        refuse_large(max(8 * about.num_rows * about.num_columns, sum(sizes)), path)
        table = file.read()
        held = [
            compute.binary_length(chunk.dictionary).take(chunk.indices)
            for text in texts
            for chunk in table[text].chunks
        ]
        refuse_large(sum(compute.sum(lengths).as_py() or 0 for lengths in held), path)
        found: pd.DataFrame = table.cast(schema).to_pandas(ignore_metadata=True)
        return found
    except (OSError, ValueError, KeyError, pyarrow.ArrowException) as error:
        raise HarnessError(f"{path}: cannot be read as Parquet: {' '.join(str(error).split())[:120]}") from error


def _is_text(kind: Any) -> bool:
    """Return whether a Parquet type contains texts, which may have any length."""
    from pyarrow import types

    return any(
        is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _is_flat(kind: Any) -> bool:
    """Return whether cells of a Parquet type are texts or small. Lists are refused: they may have any length."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_flat(kind.value_type)
    return _is_text(kind) or types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)
