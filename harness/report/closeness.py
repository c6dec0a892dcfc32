"""How far a replay is from the log it replays, and from a repetition of itself, as far as the page shows it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from harness.results.adequacy import Adequacy
    from harness.results.recording import Placements
    from harness.results.repeatability import Repeatability
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload


class Replay(Protocol):
    """Simulates a workload with the same scheduler, platform and seed each time."""

    def __call__(self, workload: "Workload", *, placements: "Placements | bool" = False) -> "Schedule": ...


#: Cells of the picture each way.
_CELLS = 48


@dataclass(frozen=True)
class Closeness:
    """A replay against the log; where that is undefined there is only the reason."""

    undefined: str = ""
    found: "Adequacy | None" = None
    reference: "Repeatability | None" = None
    edges: npt.NDArray[np.float64] | None = None  # of the cells, residence times [s]
    cells: npt.NDArray[np.float64] | None = None  # number of jobs, simulated (rows) against logged (columns)


def closeness(schedule: "Schedule", replay: "Replay", pairs: int) -> Closeness:
    """Compare a schedule with its log, and repetitions of it, which `replay` simulates, in `pairs` with each other."""
    from harness.results.adequacy import UndefinedError, adequacy, logged, simulated
    from harness.results.repeatability import repeatability

    try:
        found = adequacy(schedule)
    except UndefinedError as error:
        return Closeness(undefined=str(error))
    ours, theirs = (np.maximum(s.residence, 1.0) for s in (simulated(schedule), logged(schedule.workload)))
    edges = np.geomspace(1.0, max(ours.max(), theirs.max()) * 1.01, _CELLS + 1)
    cells = np.histogram2d(ours, theirs, bins=(edges, edges))[0]
    reference = repeatability(schedule.workload, replay, pairs=pairs) if pairs else None
    return Closeness("", found, reference, edges, cells)
