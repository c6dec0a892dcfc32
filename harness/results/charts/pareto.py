"""The Pareto front."""

import numpy as np
import numpy.typing as npt


def front(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Mark the `points` that no other point dominates: none is lower in one column and not higher in any other."""
    no_higher = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    lower = (points[:, None, :] < points[None, :, :]).any(axis=2)
    return np.asarray(~(no_higher & lower).any(axis=0))
