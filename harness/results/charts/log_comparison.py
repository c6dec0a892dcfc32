"""The comparison of a replay with its log and with repetitions of itself, as a page shows it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from harness.results.charts.thinning import Floats, distribution

if TYPE_CHECKING:
    from harness.results.adequacy import Adequacy
    from harness.results.breakdown import Breakdown
    from harness.results.repeatability import Repeatability
    from harness.results.schedule import Schedule
    from harness.results.timeline import Placements
    from harness.workload.log import Workload

#: Cells of the chart each way.
_CELLS = 48


class Replay(Protocol):
    """Simulates a workload with the same scheduler, platform and seed each time."""

    def __call__(self, workload: "Workload", *, placements: "Placements | bool" = False) -> "Schedule": ...


@dataclass(frozen=True)
class Compared:
    """A replay against its log."""

    found: "Adequacy"
    reference: "Repeatability | None"  # of repetitions, if they were compared
    edges: npt.NDArray[np.float64]  # of the cells, residence times [s]
    cells: npt.NDArray[np.float64]  # number of jobs, simulated (rows) against logged (columns)
    where: "Breakdown"
    waits: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]  # distributions [s], simulated and logged


def against_log(schedule: "Schedule", replay: Replay, pairs: int) -> Compared | str:
    """Compare a schedule with its log, and `pairs` of repetitions by `replay`; return the reason if that is
    undefined.
    """
    from harness.results.adequacy import UndefinedError, adequacy, logged_stream, machine_mismatch, simulated_stream
    from harness.results.breakdown import breakdown
    from harness.results.repeatability import repeatability

    if why := machine_mismatch(schedule):
        return why
    try:
        found = adequacy(schedule)
    except UndefinedError as error:
        return str(error)
    streams = simulated_stream(schedule), logged_stream(schedule.workload)
    ours, theirs = (np.maximum(stream.residence, 1.0) for stream in streams)
    edges = np.geomspace(1.0, max(ours.max(), theirs.max()) * 1.01, _CELLS + 1)
    cells = np.histogram2d(ours, theirs, bins=(edges, edges))[0]
    model, real = (distribution(np.maximum(stream.wait, 1.0)) for stream in streams)
    reference = repeatability(schedule.workload, replay, pairs=pairs) if pairs else None
    return Compared(found, reference, edges, cells, breakdown(schedule), (model, real))
