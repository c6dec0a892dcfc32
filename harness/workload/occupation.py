"""The occupation of a machine according to its log: busy processors over time, and when a waiting job fitted.

It uses only the logged starts, ends and widths. A log may need more processors than its machine has, because of several
partitions, other units or wrong times. Its schedule was then infeasible, and no replay can reproduce it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Occupation:
    """Submission, start, end and processors of the jobs that ran. All times in seconds."""

    submit: Floats
    start: Floats
    end: Floats
    procs: Floats

    @staticmethod
    def of(jobs: pd.DataFrame) -> "Occupation":
        """Return the occupation by the jobs that ran with known submission, wait and runtime."""
        column = {name: jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "wait", "run")}
        width = np.where(jobs["procs"] > 0, jobs["procs"], jobs["used_procs"]).astype(np.float64)
        ran = (column["wait"] >= 0) & (column["run"] > 0) & (width > 0) & (column["submit"] >= 0)
        submit, wait, run, procs = (values[ran] for values in (*column.values(), width))
        return Occupation(submit, submit + wait, submit + wait + run, procs)

    def __len__(self) -> int:
        return len(self.submit)

    @cached_property
    def steps(self) -> tuple[Floats, Floats]:
        """The times at which the number of busy processors may change, and the number from then on."""
        times = np.concatenate([self.start, self.end])
        change = np.concatenate([self.procs, -self.procs])
        instants, place = np.unique(times, return_inverse=True)
        return instants, np.cumsum(np.bincount(place, change, minlength=len(instants)))

    @property
    def peak(self) -> int:
        """The highest number of busy processors."""
        return int(self.steps[1].max(initial=0))

    @property
    def shares(self) -> Floats:
        """Return the shares of the time, from first start to last end, with n = 0, 1, … busy processors."""
        instants, busy = self.steps
        if len(instants) < 2:
            return np.ones(1)
        shares: Floats = np.bincount(busy[:-1].astype(np.int64), np.diff(instants)) / (instants[-1] - instants[0])
        return shares

    def above(self, procs: int) -> float:
        """Return the share of the time, from first start to last end, with more than `procs` busy processors."""
        instants, busy = self.steps
        span = instants[-1] - instants[0]
        return float(np.diff(instants)[busy[:-1] > procs].sum() / span) if span > 0 else 0.0

    def busy_at(self, times: Floats) -> Floats:
        """Return the number of busy processors just before each of `times`: without the jobs that end or start then."""
        begun = np.sort(self.start)
        held = np.concatenate([[0.0], np.cumsum(self.procs[np.argsort(self.start, kind="stable")])])
        gone = np.sort(self.end)
        freed = np.concatenate([[0.0], np.cumsum(self.procs[np.argsort(self.end, kind="stable")])])
        busy: Floats = held[np.searchsorted(begun, times, "left")] - freed[np.searchsorted(gone, times, "right")]
        return busy

    def fitting(self, procs: int) -> Floats:
        """Return for each job how long it waited while it fitted into the free processors of `procs` [s].

        During this time the queue order or a rule of the site kept it waiting, and not a lack of processors.
        """
        instants, busy = self.steps
        free = procs - busy
        lengths = np.diff(instants)
        found = np.zeros(len(self))
        for width in np.unique(self.procs):
            rows = np.flatnonzero(self.procs == width)
            fits = np.concatenate([[0.0], np.cumsum(lengths * (free[:-1] >= width))])
            begin, end = np.maximum(self.submit[rows], instants[0]), self.start[rows]
            before = np.maximum(instants[0] - self.submit[rows], 0.0)  # nothing runs before the first start
            found[rows] = np.interp(end, instants, fits) - np.interp(begin, instants, fits) + before
        return found


def periods(waits: Floats, candidates: tuple[int, ...] = (60, 300, 600, 3600, 10, 30)) -> list[tuple[int, float]]:
    """Return the periods [s] that divide more waits than chance would, with the shares, highest first.

    They come from a periodic scheduler, or from a clock without seconds.
    """
    some = waits[waits > 0]
    if len(some) < 30:
        return []
    shares = [(period, float(np.mean(np.mod(some, period) == 0))) for period in candidates]
    unlikely = [(period, share) for period, share in shares if share > max(0.2, 5 / period)]
    return sorted(unlikely, key=lambda found: (-found[1] + 1 / found[0], -found[0]))
