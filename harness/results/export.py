"""Write a schedule or its timeline to a file, in the format of the file's name."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.disk.atomic import replacing
from harness.errors import HarnessError
from harness.present.numerals import numerals
from harness.present.tables import render
from harness.present.words import without_controls
from harness.results.job_outcomes import SWF_CODES, Ending
from harness.workload.frame import log_from_frame
from harness.workload.log import Log
from harness.workload.resource_columns import is_request_column, names_in
from harness.workload.swf import write_swf

if TYPE_CHECKING:
    from harness.results.schedule import Schedule


def export(schedule: "Schedule", path: str | os.PathLike[str]) -> None:
    """Write `schedule` to `path`: the whole file or, after an error, nothing."""
    schedule_writer(path)(schedule, path)


def export_timeline(schedule: "Schedule", path: str | os.PathLike[str]) -> None:
    """Write the timeline of `schedule` to `path`, in the same way."""
    timeline_writer(path)(schedule.timeline, path)


#: The number of rows converted to text at once: as text, a row takes many times more memory.
_ROWS = 100_000


def _pieces(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    return (frame.iloc[begin : begin + _ROWS] for begin in range(0, len(frame), _ROWS))


def write_csv(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write the columns; whole numbers without a decimal point, missing values empty."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(",".join(map(without_controls, frame.columns)).encode() + b"\n")
        for rows in _pieces(frame):
            columns = [list(map(str, rows[name])) if name == "status" else numerals(rows[name]) for name in rows]
            file.write("\n".join([*map(",".join, zip(*columns, strict=True)), ""]).encode())


def write_parquet(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write the columns unchanged."""
    _need_pyarrow(path, "Parquet")
    with replacing(path) as temporary:
        frame.to_parquet(temporary, engine="pyarrow", index=False)


def write_arrow(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write the columns unchanged as an Arrow file, which other programs can map into memory."""
    _need_pyarrow(path, "Arrow")
    with replacing(path) as temporary:
        frame.to_feather(temporary, compression="uncompressed")


def _need_pyarrow(path: str | os.PathLike[str], what: str) -> None:
    try:
        import pyarrow  # noqa: F401 - pandas' own message does not name our extra
    except ImportError:
        raise HarnessError(f"{path}: writing {what} needs pyarrow: pip install 'sched-harness[parquet]'") from None


def write_json(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a list of objects, one per row; missing values are null."""
    headers, before = list(map(str, frame)), "[\n"
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for rows in _pieces(frame):
            text = render(headers, rows.itertuples(index=False), "json")
            file.write(before + text[2:-2])  # without its brackets
            before = ",\n"
        file.write("\n]\n" if len(frame) else "[]\n")


def write_log(schedule: "Schedule", path: str | os.PathLike[str]) -> None:
    """Write the log that the simulated machine would have written."""
    write_swf(simulated_log(schedule), path)


Writer = Callable[[Any, str | os.PathLike[str]], None]

_TABLES: dict[str, Writer] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".arrow": write_arrow,
    ".json": write_json,
}
_LOGS: dict[str, Writer] = {".swf": write_log, ".swf.gz": write_log}


def schedule_writer(path: str | os.PathLike[str]) -> Writer:
    """Return the function that writes a schedule in the format of the name of `path`."""
    tables = {suffix: _of_frame(write) for suffix, write in _TABLES.items()}
    return _writer(path, tables | _LOGS, "a schedule")


def timeline_writer(path: str | os.PathLike[str]) -> Writer:
    """Return the function that writes the table of a timeline in the format of the name of `path`."""
    return _writer(path, _TABLES, "a timeline")


def _of_frame(write: Writer) -> Writer:
    return lambda schedule, path: write(schedule.frame, path)


def _writer(path: str | os.PathLike[str], writers: dict[str, Writer], what: str) -> Writer:
    name = Path(path).name.lower()
    for suffix, write in writers.items():
        if name.endswith(suffix):
            return write
    raise HarnessError(f"{path}: unknown format of {what}; expected a name ending in {', '.join(writers)}")


def simulated_log(schedule: "Schedule") -> Log:
    """Return the schedule as a log: wait, run and status of the simulation, the rest from the workload.

    A cancelled job keeps the time until its cancellation as its wait, even if it was started and ended at once because
    its work is unknown. A replay of the log with `prepare(…, unknown="cancel")` therefore gives the same schedule.
    """
    frame, jobs = schedule.frame, schedule.workload.jobs
    gave_up = (schedule.statuses == Ending.CANCELLED) & ~(frame["run"] > 0)
    served = frame["start"].notna() & ~gave_up
    patience = jobs["cancel"].where(np.isfinite(jobs["cancel"]), frame["end"])
    left = frame["start"].where(~gave_up, patience)  # the queue
    columns = {
        "job": frame["job"],
        "submit": frame["submit"],
        "wait": (left - frame["submit"]).fillna(-1),
        "run": frame["run"].where(served, -1),
        "used_procs": frame["procs"].where(served, -1),
        "procs": frame["procs"],
        "estimate": frame["estimate"],
        "status": SWF_CODES[schedule.statuses],
        **{name: jobs[name].to_numpy() for name in ("memory", "user", "group", "queue", "partition")},
        **{name: jobs[name].to_numpy() for name in jobs.columns if is_request_column(str(name))},
    }
    name = schedule.workload.name
    frame, procs, source = pd.DataFrame(columns), schedule.platform.cores, f"simulated from {name}"
    return log_from_frame(frame, name, procs=procs, header=_header(schedule), source=source)


def _header(schedule: "Schedule") -> tuple[str, ...]:
    from harness import __version__

    policies = ", ".join(f"{part} {policy}" for part, policy in schedule.scheduler.items())
    fields = {
        "Version": "2.2",
        "Computer": schedule.platform.name,
        "MaxJobs": str(len(schedule.workload)),
        "MaxProcs": str(schedule.platform.cores),
        "Generator": f"sched-harness {__version__}, simulated from {schedule.workload.name}",
        "Platform": f"{schedule.platform.name}, digest {schedule.platform.digest}",
        "Workload": f"{schedule.workload.name}, digest {schedule.workload.digest}",
        "Scheduler": f"{policies}, seed {schedule.seed}{schedule.timing.remark}",
    }
    named = [(field, names_in(schedule.workload.header, field)) for field in ("Feature", "Partition")]
    said = [f"; {field}: {number} {name}" for field, names in named for number, name in names.items()]
    return (*(f"; {name}: {' '.join(value.split())}" for name, value in fields.items()), *said)
