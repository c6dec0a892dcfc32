"""The timeline and the placements of a run, as the engine writes them.

A long run has too many instants to show, so a timeline is thinned as it grows. The extremes of every column are kept.
"""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

#: The largest number of instants in a timeline.
MOST_INSTANTS = 200_000


class Timeline:
    """The system at the instants of a run, thinned to at most `most` of them."""

    def __init__(self, most: int = MOST_INSTANTS) -> None:
        self.most = most
        self.whole = True  # whether no instant was left out
        self._chunks: list[npt.NDArray[Any]] = []
        self._length = 0

    def add(self, samples: npt.NDArray[Any]) -> None:
        """Add the samples that the engine wrote since the last call."""
        self._chunks.append(np.array(samples))
        self._length += len(samples)
        if self._length > 2 * self.most:
            self._thin()

    @property
    def frame(self) -> pd.DataFrame:
        """One row per kept instant: `time` [s], and the system from then on.

        `queued`, `running` [jobs], `busy`, `free`, `up` (not failed) [procs], `rate`, remaining `work` [s at reference
        speed], `power` [W], nodes `asleep`, `switching`, `down`.
        """
        self._thin()
        return pd.DataFrame(self._joined())

    def _joined(self) -> npt.NDArray[Any]:
        return np.concatenate(self._chunks)

    def _thin(self) -> None:
        self.whole = self.whole and self._length <= self.most
        self._chunks = [thin_samples(self._joined(), self.most)]
        self._length = len(self._chunks[0])


def thin_samples(samples: npt.NDArray[Any], most: int) -> npt.NDArray[Any]:
    """Return at most `most` records: the first and the last, and the extremes of every column in bins of time."""
    if len(samples) <= most:
        return samples
    columns = [name for name in samples.dtype.names or () if name != "time"]
    bins = max(1, most // (2 * len(columns)) - 1)
    # Bins of equal time: repeated thinning does not thin the beginning of a run more than its end.
    edges = np.searchsorted(samples["time"], np.linspace(samples["time"][0], samples["time"][-1], bins + 1))
    edges[-1] = len(samples)
    kept = [0, len(samples) - 1]
    for begin, end in itertools.pairwise(edges.tolist()):
        for name in columns if begin < end else ():
            part = samples[name][begin:end]
            kept += [begin + int(part.argmin()), begin + int(part.argmax())]
    return samples[np.unique(kept)]


class Placements:
    """The nodes of each job over time; optionally only those that overlap the time from `begin` to `end` [s]."""

    def __init__(self, begin: float = -np.inf, end: float = np.inf) -> None:
        self.begin = begin
        self.end = end
        self._chunks: list[npt.NDArray[Any]] = []

    def add(self, placements: npt.NDArray[Any]) -> None:
        """Add the placements that the engine wrote since the last call."""
        self._chunks.append(placements[(placements["begin"] < self.end) & (placements["end"] > self.begin)])

    @property
    def records(self) -> npt.NDArray[Any]:
        """`job` (by place in the engine), `node`, `cores`, `begin` [s], `end` [s]."""
        return np.concatenate(self._chunks)
