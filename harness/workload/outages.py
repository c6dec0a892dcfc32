"""Outages inferred from a log: intervals in which jobs that fitted did not start.

Usually a known share of the jobs that fit at submission starts at once. An interval is an outage if jobs that fitted
arrived, none started, and chance would produce that less than once in a million. The machine was down if nothing
started. It was smaller if only jobs started that fit into the highest number of busy processors.

A site that holds jobs or reserves processors looks the same. A requeued job appears in the log only with its last run,
so processors that it used before an outage seem idle.
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

#: A job that starts within this time after its submission started at once [s].
_AT_ONCE = 600.0

#: The probability of an outage by chance.
_CHANCE = 1e-6

#: The shortest outage [s].
_SHORTEST = 1800.0

#: The length of the pieces of the log in which a smaller machine is detected [s].
_PIECE = 6 * 3600.0


@dataclass(frozen=True)
class Outage:
    """An interval in which processors were missing."""

    begin: float  # [s]
    end: float  # [s]
    procs: int  # missing processors
    refused: int  # jobs that fitted and did not start

    @property
    def hours(self) -> float:
        return (self.end - self.begin) / 3600


def outages(logged: Occupation, procs: int) -> list[Outage]:
    """Infer from a log when some of the machine's `procs` processors were missing."""
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
    """Return the intervals between two starts in which at least `needed` jobs arrived that fitted."""
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
    """Return sequences of pieces in which larger jobs fitted, and none started."""
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
    """Return the events for `--events`: as many one-processor nodes fail and return, the last ones of the machine."""
    rows = []
    before = 0
    for time in sorted({one.begin for one in found} | {one.end for one in found}):
        after = max((one.procs for one in found if one.begin <= time < one.end), default=0)
        event = "node-down" if after > before else "node-up"
        rows += [(time, event, node) for node in range(procs - max(before, after), procs - min(before, after))]
        before = after
    return pd.DataFrame(rows, columns=list(COLUMNS))
