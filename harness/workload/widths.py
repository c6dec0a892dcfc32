"""Columns of moldable jobs: the limits of their widths, and their speed-up.

`procs_min` and `procs_max` are the limits of the number of processors, `procs` if unknown. `run` and `estimate` are
those on `procs` processors. The speed-up over one processor has one of three forms:

- `serial`: Amdahl's law (1967), with the share of the work that runs on one processor only.
- `parallelism` and `variance`: Downey's model (1997), with the average parallelism A and its variance σ.
- `speedup_1`, `speedup_8`, …: measured on 1, 8, … processors, and interpolated between them.

Unknown is −1. A job without any of them divides its work evenly. A job with two of them is refused.
"""

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]

#: The columns of the limits, and those of the speed-up.
WIDTHS = ("procs_min", "procs_max")
_LAWS = ("serial", "parallelism", "variance")

#: Forms of the speed-up.
AMDAHL, DOWNEY, TABLE = range(3)


def is_width(column: str) -> bool:
    """Return whether a column is one of moldable jobs."""
    return column in (*WIDTHS, *_LAWS) or _measured(column) is not None


def _measured(column: str) -> int | None:
    """Return the number of processors in the name of a column of measured speed-ups."""
    match = re.fullmatch(r"speedup_([1-9]\d{0,8})", column)
    return int(match[1]) if match else None


def moldable(columns: Iterable[str]) -> bool:
    """Return whether jobs with these columns may have different widths."""
    return not set(WIDTHS).isdisjoint(columns)


class Widths:
    """The limits of each job's width, and its speed-up, in the order of the table."""

    def __init__(self, jobs: pd.DataFrame, name: str) -> None:
        self.name, self._jobs = name, jobs
        asked = jobs["procs"].to_numpy(np.int64)
        least, most = map(self._column, WIDTHS)
        for column, values in zip(WIDTHS, (least, most), strict=True):
            odd = (values < 1) | (values != np.floor(values))
            self._refuse(odd & (values != -1), column, "a whole number of at least 1, or −1 for unknown")
        self.least = np.where(least >= 1, least, asked).astype(np.int64)
        self.most = np.where(most >= 1, most, asked).astype(np.int64)
        self._refuse(self.least > self.most, "procs_max", "at least its procs_min")
        self.measured = sorted(filter(None, map(_measured, map(str, jobs.columns))))
        self.table = np.column_stack(
            [self._column(f"speedup_{n}") for n in self.measured] or [np.zeros((len(jobs), 0))]
        )
        serial, parallelism, variance = map(self._column, _LAWS)
        tabled = np.asarray((self.table > 0).any(axis=1))
        self._refuse_laws(serial, parallelism, variance, tabled)
        self.law = np.select([tabled, parallelism >= 1.0], [TABLE, DOWNEY], AMDAHL)
        self.first = np.where(self.law == DOWNEY, parallelism, np.maximum(serial, 0.0))
        self.second = np.maximum(variance, 0.0)

    def _refuse_laws(self, serial: _Floats, parallelism: _Floats, variance: _Floats, tabled: _Bools) -> None:
        """Refuse impossible numbers, and jobs with two forms of speed-up."""
        self._refuse((serial != -1) & ~((serial >= 0) & (serial <= 1)), "serial", "a share of at least 0 and at most 1")
        self._refuse((parallelism != -1) & (parallelism < 1), "parallelism", "at least 1, or −1 for unknown")
        self._refuse((variance != -1) & (variance < 0), "variance", "at least 0, or −1 for unknown")
        for n, column in zip(self.measured, self.table.T, strict=True):
            odd = (column <= 0) & (tabled | (column != -1))
            self._refuse(odd, f"speedup_{n}", "a number above 0, and for each of a job's columns or for none")
        one = "−1, because another column gives the job's speed-up"
        self._refuse((serial >= 0) & (tabled | (parallelism >= 1)), "serial", one)
        self._refuse((parallelism >= 1) & tabled, "parallelism", one)
        self._refuse((variance >= 0) & (parallelism < 1), "variance", "−1, because the job has no parallelism")

    def _column(self, name: str) -> _Floats:
        jobs = self._jobs
        return jobs[name].to_numpy(np.float64) if name in jobs else np.full(len(jobs), -1.0)

    def _refuse(self, wrong: _Bools, column: str, expected: str) -> None:
        if wrong.any():
            row = self._jobs.iloc[int(np.argmax(wrong))]
            raise HarnessError(f"{self.name}, job {row['job']:.15g}: {column} {row[column]:g}: expected {expected}")
