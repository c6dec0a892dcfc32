"""Reduce the points of a chart without changing its picture: omitted points lie between kept ones, extremes are
kept.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.results.timeline import thin_samples

Floats = npt.NDArray[np.float64]

#: More points than a screen can show.
MOST_STEPS = 500
MOST_INSTANTS = 2000


def distribution(values: npt.ArrayLike, most: int = MOST_STEPS) -> tuple[Floats, Floats]:
    """Return at most `most` distinct `values` with the share of values up to each, including the extremes.

    They are spaced evenly by share and by logarithm, so that the tails of a logarithmic chart remain.
    """
    values = np.asarray(values, np.float64)
    points, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    shares = np.cumsum(counts) / max(1, counts.sum())
    if len(points) <= most:
        return points, shares
    heights = np.log1p(points - points[0])
    half = most // 2
    kept = [np.searchsorted(scale, np.linspace(scale[0], scale[-1], half)) for scale in (shares, heights)]
    places = np.unique(np.clip(np.concatenate([[0], *kept, [len(points) - 1]])[: most + 1], 0, len(points) - 1))
    return points[places], shares[places]


def instants(timeline: pd.DataFrame, most: int = MOST_INSTANTS) -> pd.DataFrame:
    """Return at most `most` rows of a timeline, with the extremes of every column in each part of it."""
    return pd.DataFrame(thin_samples(timeline.to_records(index=False), most))
