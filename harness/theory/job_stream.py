"""The jobs of a log for the formulas: arrivals, services, widths, and how they ended."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import HarnessError
from harness.theory.estimation import outcomes
from harness.theory.inputs import FloatArray, IntArray, proc_count, whole_widths
from harness.workload.hpcwld import is_hpcwld, read_hpcwld
from harness.workload.log import Log, Step
from harness.workload.log_reading import locate, read_workload
from harness.workload.occupation import Occupation
from harness.workload.prepare import prepare


@dataclass(frozen=True, eq=False)  # arrays have no single truth value
class JobStream:
    """The jobs of a log in order of arrival, times in seconds."""

    name: str
    arrival: FloatArray
    service: FloatArray
    width: IntArray
    killed: NDArray[np.bool_]  # stopped at the limit
    completed: NDArray[np.bool_]  # ended by themselves
    wait: FloatArray  # logged [s]; −1 is unknown
    limit: FloatArray  # [s]; zero or less: none
    procs: int | None = None  # processors of the machine, if known
    reading: tuple[Step, ...] = ()  # steps of reading
    preparation: tuple[Step, ...] = ()  # steps of preparation

    def __len__(self) -> int:
        return self.arrival.size

    @property
    def interarrival(self) -> FloatArray:
        """Return the times between arrivals, one less than there are jobs."""
        return np.diff(self.arrival)

    def occupation(self, *, queued: bool) -> Occupation:
        """Return the occupation of the machine by the log, or with `queued` false as if no job had waited.

        The former includes only jobs with a known wait.
        """
        known = self.wait >= 0 if queued else np.ones(len(self), dtype=np.bool_)
        arrival, service = self.arrival[known], self.service[known]
        start = arrival + self.wait[known] * queued
        return Occupation(arrival, start, start + service, self.width[known].astype(np.float64))

    def fitting(self, procs: int) -> "JobStream":
        """Return the jobs that fit on `procs` processors."""
        fits = self.width <= proc_count(procs)
        if not fits.any():
            raise HarnessError(f"{self.name}: none of the {len(self)} jobs fits on {procs} processors")
        columns = {name: value[fits] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return JobStream(**{**vars(self), **columns})


def read_job_stream(workload: str, width: str | None = None, limit: float | None = None, **options: Any) -> JobStream:
    """Read the jobs of any workload, and prepare them with the `options` of `prepare`.

    In a CSV of interarrival and service times, `width` names the column of widths.
    """
    log = read_workload(workload) if width is None else read_log(workload, width)
    return job_stream(log, limit, **options)


def read_log(workload: str, width: str, lenient: bool = False) -> Log:
    """Read a CSV of interarrival and service times, with the widths in the column `width`."""
    path = locate(workload)
    if not is_hpcwld(path):
        raise HarnessError(
            f"{workload} has no interarrival times, so no column {width!r} of widths either; choose requested or used"
        )
    return read_hpcwld(path, width=width, lenient=lenient)


def job_stream(log: Log, limit: float | None = None, **options: Any) -> JobStream:
    """Prepare the jobs of a log with the `options` of `prepare`, and return them in order of arrival.

    The time limit of a job is its requested time, or `limit` [s] for all jobs. A job without a limit is never killed.
    """
    prepared = prepare(log, **options)
    jobs = prepared.jobs.sort_values("submit", kind="stable")
    # Preparation raises estimates to runtimes, but the limit is the requested time.
    requested = log.jobs.drop_duplicates("job").set_index("job")["estimate"].reindex(jobs["job"])
    limits = requested.to_numpy() * (options.get("seconds_at") or 1.0) if limit is None else np.full(len(jobs), limit)
    killed, completed = outcomes(jobs["work"], limits, jobs["logged_status"])
    arrival, service = (jobs[column].to_numpy(dtype=np.float64) for column in ("submit", "work"))
    widths, done = whole_widths(jobs["procs"]), prepared.preparation[len(log.reading) :]
    return JobStream(
        prepared.name,
        arrival - arrival[0],
        service,
        widths,
        killed,
        completed,
        jobs["logged_wait"].to_numpy(dtype=np.float64),
        np.asarray(limits, dtype=np.float64),
        prepared.procs,
        log.reading,
        done,
    )
