"""The jobs of a log as the formulas see them: when they came, what they needed, how they ended."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import HarnessError, did_you_mean
from harness.theory.estimation import outcomes
from harness.theory.inputs import FloatArray, IntArray, proc_count, series, whole_widths
from harness.workload.hpcwld import TIMES, drop_without_width, is_hpcwld, read_customers_table
from harness.workload.log import Step
from harness.workload.log_reading import locate, read_workload
from harness.workload.prepare import prepare

#: The column of hpcwld's logs that holds the requested or used processors.
_WIDTHS = {"requested": "cores_requested", "used": "cores_used"}


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class JobStream:
    """The jobs of a log in order of arrival, times in seconds."""

    name: str
    arrival: FloatArray
    service: FloatArray
    width: IntArray
    killed: NDArray[np.bool_]  # stopped at the limit
    completed: NDArray[np.bool_]  # ended by themselves
    procs: int | None = None  # processors of the machine, if the log says so
    reading: tuple[Step, ...] = ()  # what reading had to do

    def __len__(self) -> int:
        return self.arrival.size

    @property
    def interarrival(self) -> FloatArray:
        """Return the gaps between arrivals: one less than there are jobs."""
        return np.diff(self.arrival)

    def fitting(self, procs: int) -> "JobStream":
        """Return the jobs that fit on so many processors."""
        fits = self.width <= proc_count(procs)
        if not fits.any():
            raise HarnessError(f"{self.name}: none of the {len(self)} jobs fits on {procs} processors")
        columns = {name: value[fits] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return JobStream(**{**vars(self), **columns})


def read_job_stream(
    workload: str, width: str | None = None, procs_from: str = "requested", limit: float | None = None
) -> JobStream:
    """Read the jobs of anything that `read_workload` reads.

    In a CSV of interarrival and service times, `width` names the column of widths, and jobs that took no time count,
    as the recursions have them. Everything else is prepared, its width as `procs_from` says. The time limit of a job is
    what it requested; `limit` [s] sets one for all jobs instead. Without any limit none counts as killed.
    """
    path = locate(workload)
    if is_hpcwld(path):
        return _from_gaps(Path(path), width, procs_from, limit)
    if width is not None:
        raise HarnessError(
            f"{workload} has no interarrival times, so no column {width!r} of widths either; choose requested or used"
        )
    return _prepared(path, procs_from, limit)


def _from_gaps(path: Path, width: str | None, procs_from: str, limit: float | None) -> JobStream:
    table, steps = read_customers_table(path)
    width = width or (_WIDTHS[procs_from] if _WIDTHS[procs_from] in table else None)
    if width is None or width not in table:
        others = [str(name) for name in table.columns if name not in (*TIMES, "submit")]
        asked = "name the column of widths" if width is None else f"there is no column {width!r} of widths"
        raise HarnessError(f"{path}: {asked}; {did_you_mean(width or '', others)}")
    table, dropped = drop_without_width(table, [width])
    arrival, service = (series(table[name], f"{path}: {name}") for name in ("submit", "service"))
    killed, completed = outcomes(service, np.full(service.size, limit or 0.0))
    widths = whole_widths(table[width])
    return JobStream(path.stem, arrival, service, widths, killed, completed, reading=steps + dropped)


def _prepared(workload: str, procs_from: str, limit: float | None) -> JobStream:
    log = read_workload(workload)
    prepared = prepare(log, procs_from=procs_from)  # type: ignore[arg-type]  # checked there
    jobs = prepared.jobs.sort_values("submit", kind="stable")
    # Preparation raises estimates to runtimes; the limit is what was requested.
    requested = log.jobs.drop_duplicates("job").set_index("job")["estimate"].reindex(jobs["job"])
    limits = requested.to_numpy() if limit is None else np.full(len(jobs), limit)
    killed, completed = outcomes(jobs["work"], limits, jobs["logged_status"])
    arrival, service = (jobs[column].to_numpy(dtype=np.float64) for column in ("submit", "work"))
    widths = whole_widths(jobs["procs"])
    return JobStream(
        prepared.name, arrival - arrival[0], service, widths, killed, completed, prepared.procs, log.reading
    )
