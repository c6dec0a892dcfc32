"""The customers of the formulas, read from a log: when they came, what they needed, how they ended."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import HarnessError, did_you_mean
from harness.theory.estimation import outcomes
from harness.theory.inputs import FloatArray, IntArray, series, server_count, whole_widths
from harness.workload.hpcwld import TIMES, drop_without_width, read_customers_table
from harness.workload.log import Step


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class Customers:
    """The jobs of a log in order of arrival, times in seconds."""

    name: str
    arrival: FloatArray
    service: FloatArray
    width: IntArray
    killed: NDArray[np.bool_]  # stopped at the limit
    completed: NDArray[np.bool_]  # ended by themselves
    servers: int | None = None  # processors of the machine, if the log says so
    reading: tuple[Step, ...] = ()  # what reading had to do

    def __len__(self) -> int:
        return self.arrival.size

    @property
    def interarrival(self) -> FloatArray:
        """The gaps between arrivals: one less than there are customers."""
        return np.diff(self.arrival)

    def fitting(self, servers: int) -> "Customers":
        """Those that fit on so many servers."""
        fits = self.width <= server_count(servers)
        if not fits.any():
            raise HarnessError(f"{self.name}: none of the {len(self)} jobs fits on {servers} servers")
        columns = {name: value[fits] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return Customers(**{**vars(self), **columns})


def read_customers(
    workload: str, width: str | None = None, procs_from: str = "requested", limit: float | None = None
) -> Customers:
    """The customers of a log: an SWF file or the name of a trace, or a CSV of interarrival and service times.

    A CSV has the columns `interarrival` [s until the next customer], `service` [s] and the one `width` names; of
    what is wrong with such data `harness.workload.hpcwld` takes care, and `Customers.reading` says so.
    In SWF, the time limit of a job is what it requested. `limit` [s] sets one for all jobs instead; without
    any limit none counts as killed.
    """
    if workload.endswith(".csv"):
        return _from_csv(Path(workload), width, limit)
    if width is not None:
        raise HarnessError(f"{workload} is not a CSV: it has no column {width!r}; choose requested or used width")
    return _from_swf(workload, procs_from, limit)


def _from_csv(path: Path, width: str | None, limit: float | None) -> Customers:
    table, steps = read_customers_table(path)
    if width is None or width not in table:
        others = [str(name) for name in table.columns if name not in (*TIMES, "submit")]
        asked = "name the column of widths" if width is None else f"there is no column {width!r} of widths"
        raise HarnessError(f"{path}: {asked}; {did_you_mean(width or '', others)}")
    table, dropped = drop_without_width(table, [width])
    service = series(table["service"], f"{path}: service")
    killed, completed = outcomes(service, np.full(service.size, limit or 0.0))
    arrival = series(table["submit"], f"{path}: arrival")
    return Customers(
        path.stem, arrival, service, whole_widths(table[width]), killed, completed, reading=steps + dropped
    )


def _from_swf(workload: str, procs_from: str, limit: float | None) -> Customers:
    from harness.workload.catalogue import find_trace
    from harness.workload.prepare import prepare
    from harness.workload.swf import read_swf

    log = read_swf(find_trace(workload))
    prepared = prepare(log, procs_from=procs_from)
    jobs = prepared.jobs.sort_values("submit", kind="stable")
    # Preparation raises estimates to runtimes; the limit is what was requested.
    requested = log.jobs.drop_duplicates("job").set_index("job")["estimate"].reindex(jobs["job"])
    limits = requested.to_numpy() if limit is None else np.full(len(jobs), limit)
    killed, completed = outcomes(jobs["work"], limits, jobs["logged_status"])
    arrival = jobs["submit"].to_numpy(dtype=np.float64)
    return Customers(
        prepared.name,
        arrival - arrival[0],
        jobs["work"].to_numpy(dtype=np.float64),
        whole_widths(jobs["procs"]),
        killed,
        completed,
        prepared.procs,
        log.reading,
    )
