"""Schedules from other programs as logs: tables of submission, start and end of jobs.

`harness run --schedule FILE.csv` writes such a table, as do OAR's accounting and Batsim. Columns are recognised by the
names in these programs. Other columns are ignored and listed.
"""

import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from harness.disk.stored import first_line, stored_bytes, suffix_of, unpacked
from harness.errors import HarnessError
from harness.workload.delimited import names_of
from harness.workload.frame import log_from_frame, numbers, read_cells
from harness.workload.log import Log, LoggedStatus, Step
from harness.workload.log_files import log_name

#: Our columns → their names in the harness, OAR, Batsim and other programs.
_NAMES = {
    "job": ("job", "job_id", "jobid", "id"),
    "submit": ("submit", "submission_time", "submit_time"),
    "start": ("start", "starting_time", "start_time"),
    "end": ("end", "stop", "finish_time", "stop_time", "end_time"),
    "procs": ("procs", "cores", "requested_number_of_resources", "requested_number_of_processors"),
    "estimate": ("estimate", "walltime", "requested_time"),
    "user": ("user",),
}

_REQUIRED = ("submit", "start", "end", "procs")

#: The final states of those programs → status codes. Any other word is unknown.
_ENDINGS = {
    "completed": LoggedStatus.COMPLETED,
    "terminated": LoggedStatus.COMPLETED,
    "killed": LoggedStatus.FAILED,
    "error": LoggedStatus.FAILED,
    "cancelled": LoggedStatus.CANCELLED,
}

#: Times above this are seconds since 1970, others count from some start.
_CALENDAR = 1e8


def is_schedule(path: str) -> bool:
    """Return whether `path` is a table of submissions, starts and ends."""
    if suffix_of(path) == ".parquet":
        return os.path.isfile(path) and set(_REQUIRED) <= set(_known(_parquet_names(path)))
    return set(_REQUIRED) <= set(_known(names_of(first_line(path))))


def read_schedule(path: str | Path, *, lenient: bool = False) -> Log:
    """Read the schedule in a CSV or Parquet file as a log of the machine.

    Jobs that never started have no start: they left the queue at their end, if they have one. Times since 1970 are
    converted to seconds after the first submission.
    """
    path = Path(path)
    cells, steps = read_cells(path, "a schedule", lenient=lenient)
    found = _known(list(cells.columns))
    times = cells[list(found.values())].set_axis(list(found), axis=1)
    never = _empty(times["start"])
    times = times.mask(times.apply(_empty), "-1")
    table, skipped = numbers(times, str(path), lenient=lenient)
    words = cells.loc[table.index, "status" if "status" in cells else "state"] if {"status", "state"} & {*cells} else ()
    stayed = never[table.index].to_numpy()
    begin, submit = _first_date(table), table["submit"].to_numpy(dtype=np.float64)
    start, end = (table[name].to_numpy(dtype=np.float64) for name in ("start", "end"))
    _refuse_disorder(path, table[~stayed])
    left = np.where(stayed, np.where(end >= 0, end, -1.0), start)
    status = np.array([_ENDINGS.get(str(word).lower(), LoggedStatus.UNKNOWN) for word in words], dtype=int)
    frame = pd.DataFrame({name: table[name] for name in ("job", "procs", "estimate", "user") if name in table})
    frame["submit"] = submit - begin
    frame["wait"] = np.where(left >= 0, left - submit, -1.0)
    frame["run"] = np.where(stayed, -1.0, end - start)
    frame["used_procs"] = frame["procs"]
    frame["status"] = np.where(stayed, LoggedStatus.CANCELLED, status if len(status) else LoggedStatus.UNKNOWN)
    header = (f"; UnixStartTime: {begin:.0f}",) if begin else ()
    log = log_from_frame(frame.reset_index(drop=True), log_name(path), header=header, source=str(path))
    return replace(log, reading=steps + skipped + _ignored(cells, found))


def _known(names: list[str]) -> dict[str, str]:
    """Return our name of each used column → its name in the table."""
    given = {name.lower(): name for name in names}
    found = {ours: next((given[name] for name in theirs if name in given), None) for ours, theirs in _NAMES.items()}
    return {ours: name for ours, name in found.items() if name is not None}


def _parquet_names(path: str) -> list[str]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        return []  # the reader of tables raises the error
    try:
        content = unpacked(stored_bytes(Path(path), "a schedule"), Path(path))
        return list(parquet.read_schema(io.BytesIO(content)).names)
    except (OSError, UnicodeDecodeError, ArrowException):
        return []


def _empty(column: "pd.Series[str]") -> "pd.Series[bool]":
    return column.isna() | column.astype(str).str.lower().isin(["", "nan", "none"])


def _first_date(table: pd.DataFrame) -> float:
    """Return the first submission, if times are dates; else 0."""
    first = float(table["submit"].min())
    return first if first >= _CALENDAR else 0.0


def _refuse_disorder(path: Path, ran: pd.DataFrame) -> None:
    """Refuse jobs that start before their submission, or end before their start."""
    wrong = (ran["start"] < ran["submit"]) | (ran["end"] < ran["start"])
    if wrong.any():
        line = wrong[wrong].index[0]
        submit, start, end = (float(ran.loc[line, name]) for name in ("submit", "start", "end"))
        where = f"{ran.index.name or 'row'} {line}"
        raise HarnessError(
            f"{path}: {where}: submitted {submit:.15g}, began {start:.15g}, ended {end:.15g}; expected this order"
        )


def _ignored(cells: pd.DataFrame, found: dict[str, str]) -> tuple[Step, ...]:
    names = [str(name) for name in cells.columns if name not in (*found.values(), "status", "state", "wait", "run")]
    return (Step("ignored columns", len(cells), ", ".join(names)),) if names else ()
