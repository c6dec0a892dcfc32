"""The columns of a log that say between which widths its jobs may run, and how that changes what they take.

`procs_min` and `procs_max` are the least and the greatest number of processors, `procs` where one is unknown; `procs`,
`run` and `estimate` belong to each other, as always. How many times as fast a job is on so many processors as on one
says one of
`serial` (Amdahl's law, 1967: the share of the work that runs on one processor only; 0 divides the work evenly),
`parallelism` with `variance` (Downey 1997: the average parallelism A and its variance σ), or
`speedup_1`, `speedup_8` and the like (a table: measured on 1, 8, … processors, and between them interpolated).
Unknown is −1; a job of which nothing more is known divides its work evenly, one of which two of these are is refused.
"""

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]

#: The columns of every moldable job, and those of its speed-up.
WIDTHS = ("procs_min", "procs_max")
_LAWS = ("serial", "parallelism", "variance")

#: Which law a job's speed-up follows.
AMDAHL, DOWNEY, TABLE = range(3)


def is_width(column: str) -> bool:
    """Say whether a column of that name says how wide jobs may be, or how much faster they are for it."""
    return column in (*WIDTHS, *_LAWS) or _measured(column) is not None


def _measured(column: str) -> int | None:
    """Return on how many processors the speed-ups in a column were measured."""
    match = re.fullmatch(r"speedup_([1-9]\d{0,8})", column)
    return int(match[1]) if match else None


def moldable(columns: Iterable[str]) -> bool:
    """Say whether the jobs with these columns may have different widths."""
    return not set(WIDTHS).isdisjoint(columns)


class Widths:
    """Between which widths each job may run, and its speed-up: checked, in the order of the table."""

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
        """Refuse numbers that no rule of a speed-up has, and two rules for one job."""
        self._refuse((serial != -1) & ~((serial >= 0) & (serial <= 1)), "serial", "a share of at least 0 and at most 1")
        self._refuse((parallelism != -1) & (parallelism < 1), "parallelism", "at least 1, or −1 for unknown")
        self._refuse((variance != -1) & (variance < 0), "variance", "at least 0, or −1 for unknown")
        for n, column in zip(self.measured, self.table.T, strict=True):
            odd = (column <= 0) & (tabled | (column != -1))
            self._refuse(odd, f"speedup_{n}", "a number above 0, and for each of a job's columns or for none")
        one = "−1, because another rule says how fast the job is"
        self._refuse((serial >= 0) & (tabled | (parallelism >= 1)), "serial", one)
        self._refuse((parallelism >= 1) & tabled, "parallelism", one)
        self._refuse(
            (variance >= 0) & (parallelism < 1), "variance", "−1, because there is no parallelism that it is of"
        )

    def _column(self, name: str) -> _Floats:
        jobs = self._jobs
        return jobs[name].to_numpy(np.float64) if name in jobs else np.full(len(jobs), -1.0)

    def _refuse(self, wrong: _Bools, column: str, expected: str) -> None:
        if wrong.any():
            row = self._jobs.iloc[int(np.argmax(wrong))]
            raise HarnessError(f"{self.name}, job {row['job']:.15g}: {column} {row[column]:g}: expected {expected}")
