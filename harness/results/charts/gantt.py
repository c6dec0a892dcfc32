"""A Gantt chart as few rectangles: processors upwards, time to the right, in a window of the run.

Neighbouring processors of one job become one rectangle. Schedules do not record which cores of a node a job uses, so it
is drawn on the lowest that are free.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.results.timeline import Placements

if TYPE_CHECKING:
    from harness.results.charts.log_comparison import Replay
    from harness.results.schedule import Schedule

#: Neighbours merge, so a window is tried with up to this many times more processors than rectangles are allowed.
_TRIED = 20

#: The shortest window [s].
_SHORTEST = 1.0


@dataclass(frozen=True)
class Gantt:
    """A window of a run."""

    rectangles: pd.DataFrame  # `job` (number), `core` (lowest), `cores`, `begin`, `end` [s since the first submit]
    jobs: pd.DataFrame  # by number: `procs`, `wait` [s]
    begin: float  # of the window [s since the first submit]
    end: float
    whole: bool  # whether the window is all of the run
    first_cores: npt.NDArray[np.int64]  # of every node


def gantt(schedule: "Schedule", replay: "Replay", most: int) -> Gantt | None:
    """Return at most `most` rectangles of a run; if it has more, those around the longest queue.

    The placements of a large run are too many to keep: `replay` repeats the run and records those of the window.
    """
    ran = schedule.ran
    if ran.empty:
        return None
    origin, first, last = (float(t) for t in (schedule.frame["submit"].min(), ran["start"].min(), ran["end"].max()))
    sizes = np.concatenate([np.full(t.count, t.cores) for t in schedule.platform.types])
    first_cores = np.cumsum(sizes) - sizes
    timeline = schedule.timeline
    centre = float(timeline["time"].iloc[int(timeline["queued"].to_numpy().argmax())])
    starts, ends, widths = (ran[name].to_numpy() for name in ("start", "end", "procs"))
    begin, end = first, last
    while widths[(starts < end) & (ends > begin)].sum() > _TRIED * most and end - begin > _SHORTEST:
        begin, end = _around(centre, begin, end)
    placements = replay(schedule.workload, placements=Placements(begin, end)).placements
    while True:
        rectangles = _rectangles(
            placements[(placements["begin"] < end) & (placements["end"] > begin)], first_cores, sizes
        )
        if len(rectangles) <= most or end - begin <= _SHORTEST:
            break
        begin, end = _around(centre, begin, end)
    rectangles = rectangles.head(most).assign(begin=rectangles["begin"] - origin, end=rectangles["end"] - origin)
    jobs = schedule.frame.set_index("job").loc[rectangles["job"].unique(), ["procs", "wait"]]
    whole = begin == first and end == last
    return Gantt(rectangles, jobs, begin - origin, end - origin, whole, first_cores)


def _around(centre: float, begin: float, end: float) -> tuple[float, float]:
    """Return half of a window, around `centre` where possible."""
    half = (end - begin) / 4
    middle = min(max(centre, begin + half), end - half)
    return middle - half, middle + half


def _rectangles(
    placements: pd.DataFrame, first_cores: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> pd.DataFrame:
    pieces = _on_cores(placements, first_cores, sizes).sort_values(["job", "begin", "core"], kind="stable")
    job, begin, core, cores = (pieces[name].to_numpy() for name in ("job", "begin", "core", "cores"))
    new = np.ones(len(pieces), bool)
    new[1:] = (job[1:] != job[:-1]) | (begin[1:] != begin[:-1]) | (core[1:] != core[:-1] + cores[:-1])
    firsts = np.flatnonzero(new)
    merged = pieces.iloc[firsts].copy()
    merged["cores"] = np.add.reduceat(cores, firsts) if len(firsts) else cores
    return merged.reset_index(drop=True)


def _on_cores(
    placements: pd.DataFrame, first_cores: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> pd.DataFrame:
    """Return placements with the lowest core of each; those that fit no free range of cores of their node are split."""
    node, cores = placements["node"].to_numpy(), placements["cores"].to_numpy()
    pieces = placements[["job", "begin", "end"]].assign(core=first_cores[node], cores=cores)
    shared = cores < sizes[node]
    if not shared.any():
        return pieces
    on_shared = pieces[np.isin(node, node[shared])].assign(node=node[np.isin(node, node[shared])])
    split = [
        piece
        for _, there in on_shared.groupby("node")
        for piece in _packed(there.sort_values(["begin", "end"]), int(sizes[there["node"].iloc[0]]))
    ]
    columns = ["job", "begin", "end", "core", "cores"]
    return pd.concat([pieces[~np.isin(node, node[shared])][columns], pd.DataFrame(split, columns=columns)])


def _packed(placements: pd.DataFrame, size: int) -> list[tuple[float, float, float, int, int]]:
    """Place the jobs of one node on the lowest cores that are free when each starts."""
    free_from = np.full(size, -np.inf)
    pieces = []
    for job, begin, end, first, cores in placements[["job", "begin", "end", "core", "cores"]].itertuples(index=False):
        # Rounding may make a job end just after the next starts: then the cores that are free soonest are used.
        busy = np.maximum(free_from - begin, 0.0)
        lanes = np.sort(np.argsort(np.where(busy < 1e-6, 0.0, busy), kind="stable")[: int(cores)])
        free_from[lanes] = end
        stretches = np.split(lanes, np.flatnonzero(np.diff(lanes) > 1) + 1)
        pieces += [(job, begin, end, int(first) + int(stretch[0]), len(stretch)) for stretch in stretches]
    return pieces
