"""Logs from tables with named columns, in memory or in a file: the way in for jobs that never were in an SWF file."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.workload.content import canonical, content_digest
from harness.workload.delimited import read_delimited
from harness.workload.files import log_name, shortened, stored_bytes, unpacked
from harness.workload.log import SWF_COLUMNS, Log, Step

_REQUIRED = ("submit", "run", "procs")
_TABLES = (".csv", ".csv.gz", ".parquet")


def is_table(path: str) -> bool:
    """Is `path` a file whose name says that it is a table?"""
    return path.lower().endswith(_TABLES) and Path(path).is_file()


def read_table(path: str | os.PathLike[str], *, lenient: bool = False) -> Log:
    """The log in a CSV or Parquet file with columns named as in `SWF_COLUMNS`; see `log_from_frame`.

    A cell that is not a number stops the reading with its line; with `lenient` such lines are skipped and counted.
    """
    path = Path(path)
    stored = stored_bytes(path, "a table of jobs")
    steps: tuple[Step, ...] = ()
    if path.suffix.lower() == ".parquet":
        table = _parquet(path)
    else:
        table, steps = read_delimited(unpacked(stored, path), path, lenient=lenient)
        table = table.apply(lambda column: column.str.strip('" '))
    check_columns(table, str(path))
    table, skipped = numbers(table, str(path), lenient=lenient)
    log = log_from_frame(table, log_name(path), source=str(path))
    return replace(log, reading=steps + skipped)


def log_from_frame(frame: pd.DataFrame, name: str = "frame", *, header: tuple[str, ...] = (), source: str = "") -> Log:
    """A log of the jobs in `frame`, one row per job, with columns named as in `SWF_COLUMNS`.

    `submit`, `run` and `procs` must be there; jobs are numbered from 1 unless there is a column `job`, and
    whatever else is absent is unknown (−1).
    """
    check_columns(frame, name)
    given, _ = numbers(frame, name)
    if not len(frame):
        raise HarnessError(f"{name}: holds no jobs; expected one row per job")
    columns: dict[str, npt.NDArray[Any]] = {column: np.full(len(frame), -1, dtype=np.int64) for column in SWF_COLUMNS}
    columns["job"] = np.arange(1, len(frame) + 1)
    columns |= {str(column): canonical(given[column].to_numpy()) for column in given.columns}
    jobs = pd.DataFrame(columns)
    return Log(name, jobs, header, source or name, content_digest(jobs, header))


def check_columns(frame: pd.DataFrame, name: str) -> None:
    """Nothing, if every column is one of a log's, none is there twice, and those that a replay needs are there."""
    for column in frame.columns:
        if column not in SWF_COLUMNS:
            hint = did_you_mean(str(column), SWF_COLUMNS)
            raise HarnessError(f"{name}: a log has no column {str(column)!r}: {hint}")
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise HarnessError(f"{name}: the column {twice!r} is there twice; expected it once")
    if missing := [column for column in _REQUIRED if column not in frame.columns]:
        raise HarnessError(f"{name}: column {missing[0]!r} is missing; needed: {', '.join(_REQUIRED)}")


def numbers(frame: pd.DataFrame, name: str, *, lenient: bool = False) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """`frame` with finite numbers in all its cells; rows with others are refused, or skipped if `lenient`."""
    columns = {column: _number_column(frame[column]) for column in frame.columns}
    faulty = np.zeros(len(frame), dtype=np.bool_)
    for values in columns.values():
        faulty |= ~np.isfinite(values)
    table = pd.DataFrame(columns, index=frame.index)
    if not faulty.any():
        return table, ()
    row = int(np.argmax(faulty))
    column = next(column for column, values in columns.items() if not np.isfinite(values[row]))
    value = frame[column].iloc[row]
    cell = f"'{shortened(value)}'" if isinstance(value, str) else value
    where = f"{frame.index.name or 'row'} {frame.index[row]}"
    complaint = f"column {str(column)!r}, {where}: {cell} is not a finite number; unknown is -1"
    if not lenient or faulty.all():
        raise HarnessError(f"{name}: {complaint}")
    return table[~faulty], (Step("skipped rows without numbers", int(faulty.sum()), f"first: {complaint}"),)


def _number_column(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    """The cells of a column as numbers, NaN where they are none; numbers written as text count."""
    if column.dtype.kind == "i":
        return column.to_numpy()
    if column.dtype.kind in "mM":  # dates would become nanoseconds
        return np.full(len(column), np.nan)
    try:
        return np.asarray(column.to_numpy(dtype=object), dtype=np.float64)
    except (TypeError, ValueError):
        return pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=np.float64)


def _parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow
    except ImportError:
        raise HarnessError(f"{path}: reading Parquet needs pyarrow: pip install 'sched-harness[parquet]'") from None
    try:
        return pd.read_parquet(path, engine="pyarrow")
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise HarnessError(f"{path}: cannot be read as Parquet: {' '.join(str(error).split())[:120]}") from error
