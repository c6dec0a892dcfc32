"""What mean ranks say beyond the blocks they come from: intervals, tests, and who cannot be told apart.

Every function takes `ranks`, one row per unit of inference and one column per scheduler. Units count as independent
of each other and alike; whoever calls decides what they are. After Demšar, Statistical comparisons of classifiers
over multiple data sets (2006).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

#: What counts as significant; intervals cover the rest.
ALPHA = 0.05

#: Bootstrap samples: enough for the first decimal of a mean rank, drawn a hundred at a time to save memory.
RESAMPLES = 5000
_BATCH = 100


@dataclass(frozen=True)
class Test:
    """Could differences like these come about if all schedulers were equally good?"""

    name: str
    statistic: float
    p_value: float

    @property
    def rejects(self) -> bool:
        """Whether equality is rejected."""
        return self.p_value < ALPHA


def mean_rank_intervals(strata: Sequence[Matrix], seed: int) -> Matrix:
    """Low and high end of the 95 % bootstrap interval of every scheduler's mean rank.

    Units are redrawn within each stratum. One with a single unit says nothing about chance: not a number.
    """
    if min(len(ranks) for ranks in strata) < 2:
        return np.full((2, strata[0].shape[1]), math.nan)
    from scipy.stats import bootstrap

    def mean(*samples: Matrix, axis: int) -> Any:
        return sum(ranks.sum(axis=axis) for ranks in samples) / sum(ranks.shape[axis] for ranks in samples)

    interval = bootstrap(
        [ranks.T for ranks in strata],
        mean,
        axis=-1,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        confidence_level=1 - ALPHA,
        method="percentile",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return np.array([interval.low, interval.high])


def friedman(ranks: Matrix) -> Test:
    """Friedman's test of at least three schedulers."""
    from scipy.stats import friedmanchisquare

    if (np.ptp(ranks, axis=1) == 0).all():  # all equal everywhere, where the statistic is 0/0
        return Test("Friedman", 0.0, 1.0)
    statistic, p_value = friedmanchisquare(*ranks.T)
    return Test("Friedman", float(statistic), float(p_value))


def wilcoxon(differences: Matrix) -> Test:
    """Wilcoxon's signed-rank test that the first of two schedulers is better: `differences` mostly below zero.

    The first is chosen by looking at the data, so the test is two-sided; it does not reject in favour of the other.
    """
    from scipy.stats import wilcoxon as signed_rank

    if not differences.any():
        return Test("Wilcoxon", 0.0, 1.0)
    result: Any = signed_rank(differences, alternative="less")
    return Test("Wilcoxon", float(result.statistic), min(1.0, 2 * float(result.pvalue)))


def critical_difference(schedulers: int, units: int) -> float:
    """Nemenyi: mean ranks of two schedulers that differ by as much are significantly different."""
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - ALPHA, schedulers, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(schedulers * (schedulers + 1) / (6 * units))


def groups(mean_ranks: Sequence[float], difference: float) -> list[range]:
    """The largest runs of ascending `mean_ranks` whose ends are equal, or less than `difference` apart."""
    found: list[range] = []
    for first, lowest in enumerate(mean_ranks):
        end = first + 1
        while end < len(mean_ranks) and (mean_ranks[end] == lowest or mean_ranks[end] - lowest < difference):
            end += 1
        if not found or end > found[-1].stop:
            found.append(range(first, end))
    return found
