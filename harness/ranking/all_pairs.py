"""Compare all pairs of schedulers, in the order of a ranking: ratios, intervals and groups."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from harness.ranking import inference
from harness.ranking.inference import ALPHA, FEWEST, Matrix


class AllPairs:
    """All pairs of schedulers, tested together; rows and columns of matrices follow the columns of `values`.

    `values` has a row per block and a column per scheduler, the best first. `key` are the index levels that identify
    units of inference, within which ratios are averaged.
    """

    def __init__(self, values: pd.DataFrame, key: Sequence[str], seed: int) -> None:
        count = self.count = values.shape[1]
        self._first, self._second = np.triu_indices(count, 1)
        table = values.to_numpy()
        blocks = inference.log_ratios(table[:, self._first], table[:, self._second])
        by_unit = pd.DataFrame(blocks, index=values.index).groupby(level=list(key)).mean().to_numpy()
        self.units = len(by_unit)
        self._found = inference.infer(by_unit, seed)
        logs, self.p_values = np.zeros((count, count)), np.ones((count, count))
        logs[self._first, self._second], logs[self._second, self._first] = self._found.means, -self._found.means
        self.ratios: Matrix = np.exp(logs)
        self.p_values[self._first, self._second] = self.p_values[self._second, self._first] = self._found.p_values

    def interval(self, row: int) -> tuple[float, float]:
        """Return the 95 % interval of the ratio of a scheduler's value to that of the first."""
        if row == 0:
            return 1.0, 1.0
        middle, half = (
            -self._found.means[row - 1],
            self._found.half[row - 1],
        )  # the first pairs contain the first scheduler
        if not math.isfinite(half):
            return math.nan, math.nan
        return math.exp(middle - half), math.exp(middle + half)

    def groups(self) -> list[tuple[int, ...]]:
        """Return the groups of schedulers that are pairwise not distinguishable; none if there are too few units for
        any test.
        """
        if self.units < FEWEST and self.count > 1:
            return []
        return inference.groups(self.p_values > ALPHA)

    def units_for_next(self) -> int | None:
        """Return the number of units needed to distinguish the first from the next indistinguishable scheduler.

        It assumes that their ratio stays as it is.
        """
        alike = np.flatnonzero(self.p_values[0, 1:] > ALPHA)
        return self._found.needed(int(alike[0])) if len(alike) and self.units > 1 else None

    def units_for(self, ratio: float) -> int | None:
        """Return the number of units needed to detect a `ratio` between two schedulers with the median spread of all
        pairs.
        """
        if self.count < 2 or self.units < 2:
            return None
        spreads = self._found.spreads
        typical = int(np.argsort(spreads, kind="stable")[len(spreads) // 2])
        return self._found.needed(typical, math.log(ratio))
