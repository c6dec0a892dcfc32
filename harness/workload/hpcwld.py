"""CSV logs of the R package hpcwld: interarrival time, service time, processors and delay of each customer."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from harness.disk.size_limit import TABLE
from harness.disk.stored import first_line, stored_bytes, unpacked
from harness.errors import HarnessError, did_you_mean, shown_name
from harness.workload.delimited import names_of, read_delimited
from harness.workload.frame import log_from_frame, numbers
from harness.workload.log import GAP, Log, Step
from harness.workload.log_files import log_name

#: Required columns [s].
TIMES = ("interarrival", "service")

#: Column of the file → column of a log.
_COLUMNS = {"interarrival": GAP, "service": "run", "delays": "wait"}
_WITH_WIDTHS = _COLUMNS | {"cores_requested": "procs", "cores_used": "used_procs"}

#: The range of interarrival times [s] that replace those of zero or less: "several milliseconds", at random.
_DELAY = (0.001, 0.009)


def is_hpcwld(path: str) -> bool:
    """Return whether `path` is a CSV of interarrival and service times."""
    return set(TIMES) <= set(names_of(first_line(path)))


def read_hpcwld(path: str | os.PathLike[str], *, width: str | None = None, lenient: bool = False, seed: int = 1) -> Log:
    """Read a CSV log with the columns `interarrival`, `service` and `cores_requested` or `cores_used`.

    Jobs are numbered as in the file. `width` names the only column of widths to use. The column `x_gap` is the time
    until the next arrival. `seed` draws the interarrival times that replace those of zero or less.
    """
    path = Path(path)
    table, steps = _customers(path, lenient=lenient, seed=seed)
    if width is None:
        widths = [column for column in ("cores_requested", "cores_used") if column in table]
        if not widths:
            raise HarnessError(
                f"{path}: has no widths; expected a column cores_requested or cores_used, or the name of another "
                "column in harness theory --column"
            )
    elif width in table:
        widths = [width]
    else:
        others = [str(name) for name in table.columns if name not in (*TIMES, "submit")]
        known = [name for name in others if repr(name) == shown_name(name)]
        raise HarnessError(f"{path}: there is no column {width!r} of widths; {did_you_mean(width, known)}")
    table = table.assign(job=np.arange(1, len(table) + 1))
    table, dropped = _drop_without_width(table, widths)
    frame = table.assign(procs=table[width]).rename(columns=_COLUMNS) if width else table.rename(columns=_WITH_WIDTHS)
    if "procs" not in frame:
        frame["procs"] = frame["used_procs"]
    kept = [column for column in ("job", "submit", "wait", "run", "used_procs", "procs", GAP) if column in frame]
    log = log_from_frame(frame[kept], log_name(path), source=str(path))
    return replace(log, reading=steps + dropped)


def _customers(path: Path, *, lenient: bool = False, seed: int = 1) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """Read all columns as numbers, and add `submit` [s].

    As in Rumyantsev and Morozova, interarrival times of zero or less become several milliseconds, drawn with `seed`.
    """
    cells, steps = read_delimited(unpacked(stored_bytes(path, "a CSV"), path, TABLE), path, lenient=lenient)
    for name in TIMES:
        if name not in cells:
            raise HarnessError(f"{path}: has no column {name!r}; it has {', '.join(map(shown_name, cells.columns))}")
    wanted = [name for name in cells.columns if name]  # R may put row names first, in a column without a name
    table, skipped = numbers(cells[wanted].apply(lambda column: column.str.strip('" ')), str(path), lenient=lenient)
    gaps = table["interarrival"].to_numpy(dtype=np.float64, copy=True)
    together = gaps <= 0
    if together.any():
        delays = np.random.default_rng(seed).uniform(*_DELAY, size=int(together.sum()))
        gaps[together] = np.round(delays, 6)
        low, high = (f"{1000 * bound:g}" for bound in _DELAY)
        skipped += (Step("repaired interarrivals", len(delays), f"zero or negative: made {low} to {high} ms"),)
    submit = np.concatenate(([0.0], np.cumsum(gaps[:-1])))
    return table.assign(interarrival=gaps, submit=submit), steps + skipped


def _drop_without_width(table: pd.DataFrame, widths: list[str]) -> tuple[pd.DataFrame, tuple[Step, ...]]:
    """Return the jobs with a positive width in one of the columns."""
    wide = (table[widths] > 0).any(axis=1)
    if wide.all():
        return table, ()
    return table[wide], (Step("dropped customers", int((~wide).sum()), f"no width above zero in {', '.join(widths)}"),)
