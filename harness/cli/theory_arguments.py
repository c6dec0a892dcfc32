"""Options that the commands of `harness theory` share, and how their answers are printed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import WorkloadOptions
from harness.errors import HarnessError
from harness.workload.preparation import Preparation

if TYPE_CHECKING:
    from harness.theory import JobStream
    from harness.theory.inputs import FloatArray

#: One line of an answer: name, value, meaning.
Row = tuple[str, Any, str]


Workload = Annotated[
    str | None,
    typer.Argument(
        help="a log by path or short name, a model: lublin(jobs=…), or a CSV of interarrival and service times"
    ),
]
Widths = Annotated[
    str | None, typer.Option(help="probabilities p1,p2,… that a job needs 1, 2, … processors; or k:p,k:p,…")
]
Procs = Annotated[int | None, typer.Option("--procs", "--servers", help="processors of the machine")]
ArrivalRate = Annotated[float | None, typer.Option(help="jobs per second")]
MeanService = Annotated[float | None, typer.Option(help="mean service time [s]")]
Column = Annotated[str | None, typer.Option(help="the column with the widths in a CSV of interarrival times")]


def require_one_source(workload: str | None, widths: str | None, given: WorkloadOptions) -> None:
    """Refuse a call with both a log and --widths, with neither, or with preparation options but no log."""
    if (workload is None) == (widths is None):
        raise HarnessError("give either a WORKLOAD or --widths")
    if workload is None and given.preparation != Preparation():
        raise HarnessError("--widths: there are no jobs to prepare; expected such options with a WORKLOAD")


def refuse_rates(workload: str, options: dict[str, float | None]) -> None:
    """Refuse options for values that come from the log."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise HarnessError(f"{given[0]} is taken from {workload}; give one or the other")


def required(value: float | None, option: str) -> float:
    """Return the value of an option; refuse its absence."""
    if value is None:
        raise HarnessError(f"{option} is missing")
    return value


def distribution(text: str | None) -> "FloatArray":
    """Read p1,p2,… or k:p,k:p,… as probabilities of the widths 1, 2, …"""
    import numpy as np

    from harness.theory.inputs import proc_count

    if not text:
        raise HarnessError("--widths is empty")
    p: list[float] = []
    try:
        for place, entry in enumerate(text.split(","), start=1):
            width, _, share = entry.rpartition(":")
            k = proc_count(int(width)) if width else place
            p += [0.0] * (k - len(p))
            p[k - 1] += float(share)
    except ValueError:
        raise HarnessError(f"--widths {text!r} is not p1,p2,… nor k:p,k:p,… with numbers p and k") from None
    return np.array(p)


def jobs_of(workload: str, given: WorkloadOptions, column: str | None, limit: float | None = None) -> "JobStream":
    """WorkloadOptions and prepare the jobs of a log."""
    from harness.theory.job_stream import job_stream, read_log

    log = given.log(workload) if column is None else read_log(workload, column, given.lenient)
    return job_stream(log, limit, **vars(given.preparation))


def read(workload: str, given: WorkloadOptions, procs: int | None, column: str | None) -> tuple["JobStream", int]:
    """Read the jobs of a log, and the number of processors for them."""
    jobs = jobs_of(workload, given, column)
    procs = jobs.procs if procs is None else procs
    if procs is None:
        raise HarnessError(f"{jobs.name} does not state how many processors its machine had; give --procs")
    return jobs, procs


def reading_rows(jobs: "JobStream") -> list[Row]:
    """Return a row for each thing that reading and preparation changed in the log."""
    steps = [("", step) for step in jobs.reading] + [("prepared_", step) for step in jobs.preparation if step.jobs]
    return [(f"{of}{step.name}".replace(" ", "_"), step.jobs, step.detail) for of, step in steps]


def show(rows: list[Row], format: str) -> None:
    """Print an answer: as JSON one object of names and values, else a table with the meaning of each value."""
    from harness.present.json_text import to_json
    from harness.present.tables import render
    from harness.present.words import readable

    def in_words(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if value and isinstance(value[0], dict):
            return f"{len(value)} values (--format json lists them)"
        return " … ".join(map(readable, value))

    if format == "json":
        typer.echo(to_json({name: value for name, value, _ in rows}))
        return
    table = [(name, in_words(value), meaning) for name, value, meaning in rows]
    typer.echo(render(("what", "value", "meaning"), table, format))


def write(columns: Mapping[str, Iterable[Any]], index: str, out: Path) -> None:
    """Write columns as CSV with every digit. The rows are numbered in a column `index`."""
    import pandas as pd

    try:
        pd.DataFrame(dict(columns)).rename_axis(index).to_csv(out, float_format="%.17g")
    except OSError as error:
        raise HarnessError(f"cannot write {out}: {error.strerror}") from error
