"""When the machine was down or shrunk, by what its log says: intervals in which nothing began though it fitted.

Many jobs that find processors enough begin at once; which share does is counted over the whole log. Where so many of
them came and not one began that chance would have it so less than once in a million, the machine was not there: down,
if nothing at all began; shrunk to the most that was busy, if only those began that fitted into that. A site that holds
jobs back by a rule, or keeps processors for somebody, looks the same to this method. What a log says of jobs that were
begun anew is only how they ended: before an outage that interrupted them, processors that they had seem idle.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.workload.events import COLUMNS
from harness.workload.occupation import Occupation

Floats = npt.NDArray[np.float64]

#: Who begins within this after its submission began at once [s].
_AT_ONCE = 600.0

#: So rarely would chance have it.
_CHANCE = 1e-6

#: Shorter intervals are no outage [s].
_SHORTEST = 1800.0

#: The machine is looked at in pieces of this length to see whether it was shrunk [s].
_PIECE = 6 * 3600.0


@dataclass(frozen=True)
class Outage:
    """An interval in which processors were missing."""

    begin: float  # [s]
    end: float  # [s]
    procs: int  # that were missing
    refused: int  # jobs that fitted, came, and did not begin

    @property
    def hours(self) -> float:
        """How long it was."""
        return (self.end - self.begin) / 3600


def outages(logged: Occupation, procs: int) -> list[Outage]:
    """Infer from a log when processors of the machine, which has `procs`, were missing."""
    if len(logged) < 2:
        return []
    busy = logged.busy_at(logged.submit)
    fits = busy + logged.procs <= procs
    began = logged.start - logged.submit <= _AT_ONCE
    rate = float(began[fits].mean()) if fits.any() else 0.0
    if not 0 < rate < 1:
        return []
    needed = math.ceil(math.log(_CHANCE) / math.log(1 - rate))
    found = _down(logged, fits, procs, needed)
    found += _shrunk(logged, fits & ~_within(logged.submit, found), busy, procs, needed)
    return sorted(found, key=lambda one: one.begin)


def _down(logged: Occupation, fits: npt.NDArray[np.bool_], procs: int, needed: int) -> list[Outage]:
    """Find the intervals between two starts in which `needed` jobs or more came that fitted."""
    starts = np.unique(logged.start)
    instants, busy = logged.steps
    came = np.sort(logged.submit[fits])
    found = []
    for begin, end in itertools.pairwise(starts.tolist()):
        refused = int(np.searchsorted(came, end) - np.searchsorted(came, begin, "right"))
        if refused >= needed and end - begin >= _SHORTEST:
            held = busy[(instants >= begin) & (instants < end)]
            found.append(Outage(float(begin), float(end), procs - int(held.min(initial=procs)), refused))
    return found


def _shrunk(logged: Occupation, fits: npt.NDArray[np.bool_], busy: Floats, procs: int, needed: int) -> list[Outage]:
    """Find runs of pieces in which never more than some number of processors were busy, though more fitted."""
    instants, held = logged.steps
    edges = np.arange(instants[0], instants[-1] + _PIECE, _PIECE)
    found: list[Outage] = []
    for begin, end in itertools.pairwise(edges.tolist()):
        inside = (instants >= begin) & (instants < end)
        before = held[max(0, int(np.searchsorted(instants, begin, "right")) - 1)]
        cap = int(max(held[inside].max(initial=0), before))
        beyond = fits & (logged.submit >= begin) & (logged.submit < end) & (busy + logged.procs > cap)
        refused = int(beyond.sum())
        if cap >= procs or refused == 0:
            continue
        last = found[-1] if found else None
        if last and last.end == begin and last.procs == procs - cap:
            found[-1] = Outage(last.begin, float(end), last.procs, last.refused + refused)
        else:
            found.append(Outage(float(begin), float(end), procs - cap, refused))
    return [one for one in found if one.refused >= needed]


def _within(times: Floats, intervals: list[Outage]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(len(times), dtype=np.bool_)
    for one in intervals:
        inside |= (times >= one.begin) & (times < one.end)
    return inside


def as_events(found: list[Outage], procs: int) -> pd.DataFrame:
    """Return what `--events` takes: as many nodes of one processor down and up again, the last ones of the machine."""
    rows = []
    before = 0
    for time in sorted({one.begin for one in found} | {one.end for one in found}):
        after = max((one.procs for one in found if one.begin <= time < one.end), default=0)
        event = "node-down" if after > before else "node-up"
        rows += [(time, event, node) for node in range(procs - max(before, after), procs - min(before, after))]
        before = after
    return pd.DataFrame(rows, columns=list(COLUMNS))
