"""Traces in the CSV formats of their publishers, which are recognised by the names of the columns.

`_lumos` reads Mira, Theta, ThetaGPU and Philly from the LUMOS study (Li et al. 2023), `_eagle` NREL's log of Eagle, and
`_alibaba` the pods of Alibaba's GPU cluster of 2023.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.size_limit import TABLE
from harness.disk.stored import first_line, stored_bytes, unpacked
from harness.errors import HarnessError
from harness.workload.delimited import names_of, numbered, read_delimited
from harness.workload.frame import log_from_frame
from harness.workload.log import Log, LoggedStatus, Step
from harness.workload.log_files import log_name
from harness.workload.resource_columns import Constraints
from harness.workload.sacct_cells import STATUS, state_word

Floats = npt.NDArray[np.float64]


@dataclass
class Cells:
    """The cells of a file, converted to numbers column by column, and the steps that this took."""

    table: pd.DataFrame
    path: Path
    steps: list[Step] = field(default_factory=list)
    header: tuple[str, ...] = ()  # the names that its numbers represent

    def note(self, name: str, jobs: Any, detail: str) -> None:
        """Record a step, if it concerned any job."""
        if jobs:
            self.steps.append(Step(name, int(jobs), detail))

    def number(self, name: str) -> Floats:
        """Return a column of numbers: NaN in empty cells, and everywhere if the column is missing."""
        return self._read(name, lambda texts: pd.to_numeric(texts, errors="coerce"), "a number")

    def instant(self, name: str) -> Floats:
        """Return a column of dates as seconds since 1970, in the site's time zone."""

        def seconds(texts: "pd.Series[str]") -> "pd.Series[float]":
            dates = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
            return (dates - pd.Timestamp(0, tz="UTC")).dt.total_seconds()

        return self._read(name, seconds, "a date")

    def _read(self, name: str, reader: Callable[[Any], Any], expected: str) -> Floats:
        if name not in self.table:
            return np.full(len(self.table), np.nan)
        texts = self.table[name]
        values: Floats = reader(texts).to_numpy(dtype=np.float64)
        wrong = np.isnan(values) & (texts != "").to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            raise HarnessError(
                f"{self.path}: line {texts.index[row]}, column {name!r}: {texts.iloc[row]!r:.40}, where {expected} was "
                "expected"
            )
        return values

    def names(self, name: str) -> npt.NDArray[Any]:
        """Return a column of names as numbers from 1, in order of appearance."""
        return numbered(self.table[name]) if name in self.table else np.full(len(self.table), -1)

    def states(self, name: str, known: Mapping[str, LoggedStatus]) -> npt.NDArray[Any]:
        """Return a column of final states as status codes."""
        if name not in self.table:
            return np.full(len(self.table), -1)
        return self.table[name].map(known).fillna(LoggedStatus.UNKNOWN).to_numpy()


def _lumos(cells: Cells) -> dict[str, Any]:
    """Return the columns of a log. The width is the number of GPUs if there are any, else of nodes."""
    gpus, nodes = cells.number("gpu_num"), cells.number("node_num")
    by_gpus = np.nanmax(gpus, initial=0) > 0
    cells.note("width", len(gpus), "GPUs" if by_gpus else "whole nodes")
    states = {"Pass": LoggedStatus.COMPLETED, "Failed": LoggedStatus.FAILED, "Killed": LoggedStatus.CANCELLED}
    return {
        "submit": cells.number("submit_time"),
        "wait": cells.number("wait_time"),
        "run": cells.number("run_time"),
        "procs": gpus if by_gpus else nodes,
        "estimate": cells.number("wall_time"),
        "status": cells.states("new_status", states),
        "user": cells.names("user"),
        "group": cells.names("project"),
    }


def _eagle(cells: Cells) -> dict[str, Any]:
    """Return the columns of a log. The width is the number of requested processors."""
    submit = cells.instant("submit_time")
    nodes = cells.number("nodes_req")
    cells.note("memory", (cells.number("mem_req") > 0).sum(), "requested in an unknown unit: not replayed")
    return {
        "submit": submit,
        "wait": cells.instant("start_time") - submit,
        "run": cells.number("run_time"),
        "procs": cells.number("processors_req"),
        "estimate": cells.number("wallclock_req"),
        "status": cells.table["state"].map(state_word).map(STATUS).fillna(LoggedStatus.UNKNOWN).to_numpy(),
        "user": cells.names("user"),
        "group": cells.names("account"),
        "queue": cells.names("qos"),
        "partition": cells.names("partition"),
        **_if_requested("nodes", nodes),
        **_if_requested("needs_gpu", np.ceil(cells.number("gpus_req") / np.fmax(nodes, 1))),
    }


def _alibaba(cells: Cells) -> dict[str, Any]:
    """Return the columns of a log. The width is the number of requested cores, rounded up."""
    submit, scheduled = cells.number("creation_time"), cells.number("scheduled_time")
    procs = np.maximum(np.ceil(cells.number("cpu_milli") / 1000), 1)
    gpus, milli = cells.number("num_gpu"), cells.number("gpu_milli")
    shared = (gpus == 1) & (milli < 1000)
    cells.note("shared GPUs", shared.sum(), "thousandths of all GPUs of a node: single GPUs are not modelled")
    models = cells.table["gpu_spec"] if "gpu_spec" in cells.table else [""] * len(procs)
    constraints = Constraints(models, str(cells.path))
    cells.header += constraints.header
    states = {"Succeeded": LoggedStatus.COMPLETED, "Failed": LoggedStatus.FAILED}
    return {
        "submit": submit,
        "wait": scheduled - submit,
        "run": cells.number("deletion_time") - scheduled,
        "procs": procs,
        "memory": np.floor(cells.number("memory_mib") * 1024 / procs),
        "status": cells.states("pod_phase", states),
        "queue": cells.names("qos"),
        "nodes": 1,
        **_if_requested("needs_gpu", np.where(shared, 0, gpus)),
        **_if_requested("needs_gpu_milli", gpus * np.where(np.isnan(milli), 1000, milli)),
        **constraints.columns,
    }


def _if_requested(name: str, values: Floats) -> dict[str, Floats]:
    """Return a column of requests, or nothing if no job requests any."""
    return {name: np.where(values > 0, values, -1)} if (values > 0).any() else {}


#: Columns that replays or policies can use, but do not need.
_OPTIONAL = ("wait", "estimate", "memory", "status", "user", "group", "queue", "partition")

#: The columns that identify a format → the function that reads it.
FORMATS: dict[frozenset[str], Callable[[Cells], dict[str, Any]]] = {
    frozenset(("submit_time", "wait_time", "run_time", "gpu_num")): _lumos,
    frozenset(("wallclock_req", "processors_req", "submit_time", "state")): _eagle,
    frozenset(("cpu_milli", "num_gpu", "creation_time", "scheduled_time")): _alibaba,
}


def is_published(path: str) -> bool:
    """Return whether the first line of the file has the columns of one of these formats."""
    return any(columns <= set(names_of(first_line(path))) for columns in FORMATS)


def read_published(path: str | os.PathLike[str], *, lenient: bool = False) -> Log:
    """Read a trace of LUMOS, Eagle or Alibaba.

    Submit times count from the first. Names become numbers in order of appearance. Jobs without a submit time or a
    width are left out and counted.
    """
    path = Path(path)
    table, steps = read_delimited(unpacked(stored_bytes(path, "a trace"), path, TABLE), path, lenient=lenient)
    read = next((read for columns, read in FORMATS.items() if columns <= set(table)), None)
    if read is None:
        raise HarnessError(
            f"{path}: expected the columns of one format: {'; '.join(', '.join(sorted(f)) for f in FORMATS)}"
        )
    cells = Cells(table.apply(lambda column: column.str.strip('" ')), path, list(steps))
    columns = read(cells)
    known = np.isfinite(columns["submit"]) & (columns["procs"] > 0)
    cells.note("left out", (~known).sum(), "no submit time, or no width above zero")
    if not known.any():
        raise HarnessError(f"{path}: has no jobs with a submit time and a width above zero")
    if absent := [name for name in _OPTIONAL if not np.any(np.asarray(columns.get(name, -1)) >= 0)]:
        cells.note("not in the file", known.sum(), ", ".join(absent))
    frame = pd.DataFrame({name: np.broadcast_to(values, len(table))[known] for name, values in columns.items()})
    begin = float(frame["submit"].min())
    run = frame["run"].to_numpy(dtype=np.float64, copy=True)
    cells.note("unknown runtime", (~(run >= 0)).sum(), "no end, or one before the start")
    frame["submit"] -= begin
    frame["run"] = np.where(run >= 0, run, np.nan)
    dated = (f"; UnixStartTime: {begin:.0f}", "; TimeZoneString: UTC") if begin > 0 else ()
    header = (*dated, *cells.header)
    log = log_from_frame(frame.fillna(-1), log_name(path), header=header, source=str(path))
    return replace(log, reading=tuple(cells.steps))
