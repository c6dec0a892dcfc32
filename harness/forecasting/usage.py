"""Draws runtimes for jobs with known limits, from the share of their limits that earlier jobs used."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.workload.snapshot import limits

#: The least number of earlier jobs in a class from which runtimes are drawn, and the most (the last ones).
LEAST, MOST = 10, 100

#: Runtimes of one user's jobs are drawn from among this many that ended one after the other.
TOGETHER = 5

#: Only this many of the last finished jobs are used.
_KEPT = 20_000

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Usage:
    """Runtimes of finished jobs as shares of their limits, by class: user and limit, user, size of the limit, all.

    A runtime is drawn from the smallest class of a job that has enough shares above its elapsed time.
    """

    def __init__(self, past: pd.DataFrame) -> None:
        ended = past[(past["run"] > 0) & (past["wait"] >= 0)]
        order = np.argsort((ended["submit"] + ended["wait"] + ended["run"]).to_numpy(), kind="stable")
        ended = ended.iloc[order[-_KEPT:]]
        limit = limits(ended, past) if len(ended) else np.zeros(0)
        self.shares: Floats = ended["run"].to_numpy(dtype=np.float64) / np.maximum(limit, 1.0)
        users = ended["user"].to_numpy()
        self._all = np.arange(len(ended))
        places = pd.Series(self._all)
        self._of_user, self._of_size = places.groupby(users).indices, places.groupby(size(limit)).indices
        self._of_limit = places.groupby([users, limit]).indices

    @property
    def remark(self) -> str:
        """The source of the runtimes, in words."""
        if len(self.shares):
            return f"runtimes are drawn from the shares of their limits that {len(self.shares):,} finished jobs used"
        return "no job had finished before: runtimes are drawn uniformly from the remaining limits"

    def runtimes(self, user: Ints, limit: Floats, elapsed: Floats, draw: np.random.Generator, times: int) -> Floats:
        """Draw runtimes of jobs in whole seconds: a row for each of `times` draws, a column for each job.

        A runtime exceeds the elapsed time, and does not exceed the limit unless the elapsed time does. The jobs of one
        user are correlated: in each row they are drawn from jobs that ended one after the other.
        """
        found = np.empty((times, len(limit)))
        places = {one: draw.random(times) for one in np.unique(user[user >= 0]).tolist()}
        for k, (one, most, done) in enumerate(zip(user.tolist(), limit.tolist(), elapsed.tolist(), strict=True)):
            shares = self._candidates(one, most, done)
            if len(shares):
                place = places[one] if one >= 0 else draw.random(times)
                rows = (place * len(shares)).astype(np.int64) + draw.integers(0, TOGETHER, times)
                drawn = shares[rows % len(shares)] * most
            else:  # no earlier job ran this long
                drawn = draw.uniform(done, max(most, 2 * done), times)
            highest = most if done < most else np.inf
            found[:, k] = np.maximum(np.ceil(np.round(np.minimum(drawn, highest), 6)), np.floor(done) + 1)
        return found

    def _candidates(self, user: int, limit: float, elapsed: float) -> Floats:
        shares: Floats = np.zeros(0)
        for rows in self._classes(user, limit):
            wider: Floats = self.shares[rows]
            wider = wider[wider * limit > elapsed][-MOST:]
            if len(wider) >= LEAST:
                return wider
            shares = wider if len(wider) >= len(shares) else shares
        return shares

    def _classes(self, user: int, limit: float) -> Iterator[Any]:
        """Yield the rows of each class of a job, from the smallest class to the largest."""
        none: Ints = np.zeros(0, np.int64)
        if user >= 0:
            yield self._of_limit.get((user, limit), none)
            yield self._of_user.get(user, none)
        yield self._of_size.get(int(size(np.array([limit]))[0]), none)
        yield self._all


def size(values: Floats) -> Ints:
    """Return the order of magnitude of values, in powers of two."""
    found: Ints = np.floor(np.log2(np.maximum(values, 1.0))).astype(np.int64)
    return found
