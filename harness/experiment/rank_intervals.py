"""Confidence intervals of ranks by P, from resampled weeks of the log.

P is a mean over jobs that are not independent: the errors of a busy week occur together. So whole weeks are drawn with
replacement (a block bootstrap), the same weeks for every combination (paired), and P and the ranks are computed anew.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WEEK = 604_800.0

#: A log of fewer weeks is cut into this many equal parts.
FEWEST = 12

DRAWS = 2000


def blocks_of(submit: Floats) -> Ints:
    """Return the block of each job: its week, or its part of a short log."""
    since = submit - submit.min()
    length = min(WEEK, float(since.max()) / FEWEST)
    return (since // length).astype(np.int64) if length > 0 else np.zeros(len(submit), dtype=np.int64)


def rank_intervals(squares: Floats, jobs: Ints, seed: int = 0) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Return the 95 % intervals of the ranks of combinations, and which cannot be distinguished from the nearest.

    `squares` has a row for each combination, with its sum of squared errors in each block. `jobs` are the numbers of
    jobs in each block. A combination is not distinguishable if it is nearer in at least 2.5 % of the draws.
    """
    blocks = len(jobs)
    drawn = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), size=DRAWS)
    means = drawn @ squares.T / np.maximum(drawn @ jobs, 1)[:, None]
    ranks = np.argsort(np.argsort(means, axis=1, kind="stable"), axis=1) + 1
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")
    best = int(np.argmin(squares.sum(axis=1)))
    tied = (means <= means[:, [best]]).mean(axis=0) >= 0.025
    return low.astype(np.int64), high.astype(np.int64), tied
