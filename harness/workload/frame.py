"""Logs from tables in memory: the way in for jobs that never were in an SWF file."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.workload.content import canonical, content_digest
from harness.workload.log import SWF_COLUMNS, Log

_REQUIRED = ("submit", "run", "procs")


def log_from_frame(frame: pd.DataFrame, name: str = "frame", *, header: tuple[str, ...] = (), source: str = "") -> Log:
    """A log of the jobs in `frame`, one row per job, with columns named as in `SWF_COLUMNS`.

    `submit`, `run` and `procs` must be there; jobs are numbered from 1 unless there is a column `job`, and
    whatever else is absent is unknown (−1).
    """
    for column in frame.columns:
        if column not in SWF_COLUMNS:
            hint = did_you_mean(str(column), SWF_COLUMNS)
            raise HarnessError(f"{name}: a log has no column {str(column)!r}: {hint}")
    if missing := [column for column in _REQUIRED if column not in frame.columns]:
        raise HarnessError(f"{name}: column {missing[0]!r} is missing; needed: {', '.join(_REQUIRED)}")
    if not len(frame):
        raise HarnessError(f"{name}: holds no jobs; expected one row per job")
    columns: dict[str, npt.NDArray[Any]] = {column: np.full(len(frame), -1, dtype=np.int64) for column in SWF_COLUMNS}
    columns["job"] = np.arange(1, len(frame) + 1)
    columns |= {str(column): _numbers(frame[column], name) for column in frame.columns}
    jobs = pd.DataFrame(columns)
    return Log(name, jobs, header, source or name, content_digest(jobs, header))


def _numbers(column: "pd.Series[Any]", name: str) -> npt.NDArray[Any]:
    try:
        values = column.to_numpy(dtype=np.float64) if column.dtype.kind != "i" else column.to_numpy()
    except (TypeError, ValueError):
        raise HarnessError(f"{name}: column {column.name!r} holds something that is not a number") from None
    faulty = ~np.isfinite(values)
    if faulty.any():
        row = int(np.argmax(faulty))
        raise HarnessError(
            f"{name}: column {column.name!r}, row {row}: {values[row]} is not a finite number; unknown is -1"
        )
    return canonical(values)
