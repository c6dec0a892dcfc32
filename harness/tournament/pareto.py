"""Who cannot be improved in one respect without losing in another."""

import numpy as np
import numpy.typing as npt


def front(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which `points` no other dominates: in no coordinate higher, in one lower. Less is better in every column."""
    no_higher = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    lower = (points[:, None, :] < points[None, :, :]).any(axis=2)
    return np.asarray(~(no_higher & lower).any(axis=0))
