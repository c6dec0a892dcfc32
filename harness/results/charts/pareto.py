"""Who cannot be improved in one respect without losing in another."""

import numpy as np
import numpy.typing as npt


def front(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Mark the `points` that no other dominates: in no column higher, in one lower. Less is better in all."""
    no_higher = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    lower = (points[:, None, :] < points[None, :, :]).any(axis=2)
    return np.asarray(~(no_higher & lower).any(axis=0))
