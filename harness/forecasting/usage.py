"""How long jobs will take of which only the limit is known: drawn from what earlier jobs took of theirs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.workload.snapshot import limits

#: So many earlier jobs a class must have to be drawn from, and so many of its last ones are drawn from.
LEAST, MOST = 10, 100

#: Jobs of one user are drawn from among so many that ended one after the other.
TOGETHER = 5

#: What older jobs than the last so many have taken is forgotten.
_KEPT = 20_000

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Usage:
    """What jobs that have ended took of their limits, by classes: user and limit, user, size of the limit, all.

    A job is drawn for from the narrowest of its classes that has enough jobs which took longer than it has run.
    """

    def __init__(self, past: pd.DataFrame) -> None:
        ended = past[(past["run"] > 0) & (past["wait"] >= 0)]
        order = np.argsort((ended["submit"] + ended["wait"] + ended["run"]).to_numpy(), kind="stable")
        ended = ended.iloc[order[-_KEPT:]]
        told = limits(ended, past) if len(ended) else np.zeros(0)
        self.shares: Floats = ended["run"].to_numpy(dtype=np.float64) / np.maximum(told, 1.0)
        users = ended["user"].to_numpy()
        self._all = np.arange(len(ended))
        places = pd.Series(self._all)
        self._of_user, self._of_size = places.groupby(users).indices, places.groupby(size(told)).indices
        self._of_limit = places.groupby([users, told]).indices

    @property
    def remark(self) -> str:
        """Return what runtimes are drawn from, for people."""
        if len(self.shares):
            return f"runtimes are drawn from what {len(self.shares):,} jobs that had ended took of their limits"
        return "nobody had ended before: runtimes are drawn evenly from what is left of the limits"

    def runtimes(self, user: Ints, limit: Floats, elapsed: Floats, draw: np.random.Generator, times: int) -> Floats:
        """Draw the runtimes of jobs so many times, in whole seconds: a row for each time, a column for each job.

        Everybody takes longer than it has run, and nobody longer than its limit who has not done so already. Jobs of
        one user go together: each time they are drawn from among jobs that ended one after the other.
        """
        found = np.empty((times, len(limit)))
        places = {who: draw.random(times) for who in np.unique(user[user >= 0]).tolist()}
        for k, (who, most, done) in enumerate(zip(user.tolist(), limit.tolist(), elapsed.tolist(), strict=True)):
            shares = self._candidates(who, most, done)
            if len(shares):
                place = places[who] if who >= 0 else draw.random(times)
                rows = (place * len(shares)).astype(np.int64) + draw.integers(0, TOGETHER, times)
                drawn = shares[rows % len(shares)] * most
            else:  # nobody has taken that long
                drawn = draw.uniform(done, max(most, 2 * done), times)
            highest = most if done < most else np.inf
            found[:, k] = np.maximum(np.ceil(np.round(np.minimum(drawn, highest), 6)), np.floor(done) + 1)
        return found

    def _candidates(self, user: int, limit: float, elapsed: float) -> Floats:
        """Return the shares to draw from."""
        shares: Floats = np.zeros(0)
        for rows in self._classes(user, limit):
            wider: Floats = self.shares[rows]
            wider = wider[wider * limit > elapsed][-MOST:]
            if len(wider) >= LEAST:
                return wider
            shares = wider if len(wider) >= len(shares) else shares
        return shares

    def _classes(self, user: int, limit: float) -> Iterator[Any]:
        """Yield the rows of the classes of a job, the narrowest first."""
        none: Ints = np.zeros(0, np.int64)
        if user >= 0:
            yield self._of_limit.get((user, limit), none)
            yield self._of_user.get(user, none)
        yield self._of_size.get(int(size(np.array([limit]))[0]), none)
        yield self._all


def size(values: Floats) -> Ints:
    """Return how large values are, in powers of two."""
    found: Ints = np.floor(np.log2(np.maximum(values, 1.0))).astype(np.int64)
    return found
