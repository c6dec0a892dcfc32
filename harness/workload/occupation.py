"""How busy the machine was by what its log says: processors in use over time, and what would have fitted when.

Only the logged starts, ends and widths count. A log may say more than its machine can hold (records of several
partitions, widths in other units, wrong times): then its own schedule was not feasible, and a replay cannot be it.
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
    """Who held how many processors when, by a log. All times in seconds."""

    submit: Floats
    start: Floats
    end: Floats
    procs: Floats

    @staticmethod
    def of(jobs: pd.DataFrame) -> "Occupation":
        """Take the jobs that ran and of which submission, wait and runtime are known; `jobs` has a log's columns."""
        column = {name: jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "wait", "run")}
        width = np.where(jobs["procs"] > 0, jobs["procs"], jobs["used_procs"]).astype(np.float64)
        ran = (column["wait"] >= 0) & (column["run"] > 0) & (width > 0) & (column["submit"] >= 0)
        submit, wait, run, procs = (values[ran] for values in (*column.values(), width))
        return Occupation(submit, submit + wait, submit + wait + run, procs)

    def __len__(self) -> int:
        return len(self.submit)

    @cached_property
    def steps(self) -> tuple[Floats, Floats]:
        """The instants at which the number of busy processors may change, and the number from each on."""
        times = np.concatenate([self.start, self.end])
        change = np.concatenate([self.procs, -self.procs])
        instants, place = np.unique(times, return_inverse=True)
        return instants, np.cumsum(np.bincount(place, change, minlength=len(instants)))

    @property
    def peak(self) -> int:
        """The most processors that were ever busy together."""
        return int(self.steps[1].max(initial=0))

    @property
    def shares(self) -> Floats:
        """Return which share of the time, from first start to last end, n processors were busy: n = 0, 1, …"""
        instants, busy = self.steps
        if len(instants) < 2:
            return np.ones(1)
        shares: Floats = np.bincount(busy[:-1].astype(np.int64), np.diff(instants)) / (instants[-1] - instants[0])
        return shares

    def above(self, procs: int) -> float:
        """Return the share of the time, from first start to last end, in which more than `procs` were busy."""
        instants, busy = self.steps
        span = instants[-1] - instants[0]
        return float(np.diff(instants)[busy[:-1] > procs].sum() / span) if span > 0 else 0.0

    def busy_at(self, times: Floats) -> Floats:
        """Return how many processors are busy just before each of `times`: who ends then has left, nobody begun."""
        begun = np.sort(self.start)
        held = np.concatenate([[0.0], np.cumsum(self.procs[np.argsort(self.start, kind="stable")])])
        gone = np.sort(self.end)
        freed = np.concatenate([[0.0], np.cumsum(self.procs[np.argsort(self.end, kind="stable")])])
        busy: Floats = held[np.searchsorted(begun, times, "left")] - freed[np.searchsorted(gone, times, "right")]
        return busy

    def fitting(self, procs: int) -> Floats:
        """Return of each job how long it waited while enough of the `procs` processors were free for it [s].

        Until its own start, by what was logged of all others. Only the queue or a rule of the site kept it waiting.
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
    """Return the periods [s] of which more waits are multiples than chance has it, and their share, clearest first.

    Such waits are of a scheduler that looks at its queue now and then, or of a clock that counts no seconds.
    """
    some = waits[waits > 0]
    if len(some) < 30:
        return []
    shares = [(period, float(np.mean(np.mod(some, period) == 0))) for period in candidates]
    telling = [(period, share) for period, share in shares if share > max(0.2, 5 / period)]
    return sorted(telling, key=lambda found: (-found[1] + 1 / found[0], -found[0]))
