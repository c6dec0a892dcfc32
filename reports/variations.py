"""Makes the tables of variations.md: where a log lies among its variations, drawn as they are and as they were.

As they were: every user's jobs shifted by some weeks, without regard to how busy the weeks become.
"""

from collections.abc import Iterator
from typing import Annotated, Any
from unittest.mock import patch

import numpy as np
import typer

from harness import Scheduler, Workload, prepare, read_workload, resample, simulate
from harness.cli import main
from harness.present.progress import progress
from harness.present.tables import known_format, render
from harness.workload import resampling

LOGS = ("KTH-SP2", "SDSC-SP2", "CTC-SP2")
SCHEDULERS = {"fcfs + easy": Scheduler(), "spf + easy": Scheduler(order="spf")}
MEASURES = ("mean_wait", "mean_bounded_slowdown")
HEADERS = ("log", "drawn", "scheduler", "measure", "the log", "20th", "median", "80th", "percentile of the log")
MEANS = ("log", "wait under fcfs + easy", "the log", "20th", "median", "80th", "percentile of the log")
LOADS = ("log", "drawn", "mean load of a week", "its standard deviation", "the busiest week")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def variations(
    number: Annotated[int, typer.Option(help="variations of each log", min=1)] = 40,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Replay three logs and variations of them, and print the position of the logs among these."""
    known_format(format)
    rows: list[tuple[Any, ...]] = []
    loads: list[tuple[Any, ...]] = []
    means: list[tuple[Any, ...]] = []
    with progress("replaying", "variations") as advance:
        for log in LOGS:
            source = prepare(read_workload(log))
            loads.append((log, "the log itself", *_weeks([source], source)))
            for way, rounds in (("before", 0), ("now", resampling._ROUNDS)):
                with patch.object(resampling, "_ROUNDS", rounds):
                    drawn = [resample(source, seed) for seed in range(1, number + 1)]
                rows += _compared(source, drawn, way)
                loads.append((log, way, *_weeks(drawn, source)))
                means += _means(source, drawn) if way == "now" else ()
                advance((LOGS.index(log) + (way == "now") / 2) * number, len(LOGS) * number)
    typer.echo(render(HEADERS, rows, format, units=("", "", "", "", "", "", "", "", "%"), digits=4))
    typer.echo()
    typer.echo(render(LOADS, loads, format, digits=3))
    typer.echo()
    typer.echo(render(MEANS, means, format, units=("", "", "", "", "", "", "%"), digits=4))


def _compared(source: Workload, drawn: list[Workload], way: str) -> Iterator[tuple[Any, ...]]:
    """Replay a log and its variations. Return the log's value and theirs, by scheduler and measure."""
    for scheduler, policies in SCHEDULERS.items():
        own, *theirs = (simulate(jobs, source.procs, policies).measures() for jobs in (source, *drawn))
        for measure in MEASURES:
            values = np.array([measures[measure] for measures in theirs])
            low, middle, high = np.quantile(values, [0.2, 0.5, 0.8])
            below = 100 * np.mean(values < own[measure])
            yield source.name, way, scheduler, measure.replace("_", " "), own[measure], low, middle, high, below


def _means(source: Workload, drawn: list[Workload]) -> Iterator[tuple[Any, ...]]:
    """Replay a log and its variations. Return its wait and theirs for several means, and the submissions meanwhile."""
    own, *theirs = (_taken(jobs, source.procs or 1) for jobs in (source, *drawn))
    for name, value in own.items():
        values = np.array([found[name] for found in theirs])
        yield source.name, name, value, *np.quantile(values, [0.2, 0.5, 0.8]), 100 * np.mean(values < value)


def _taken(jobs: Workload, procs: int) -> dict[str, float]:
    """Return the wait under EASY as means over jobs, processor time, users, days and weeks."""
    ran = simulate(jobs, procs, Scheduler()).ran
    wait, area = ran["wait"], ran["procs"] * ran["run"]
    when = ran["submit"] - ran["submit"].min()
    found = {
        "mean over jobs": float(wait.mean()),
        "mean over processor time": float((wait * area).sum() / area.sum()),
        "mean over users of their means": float(wait.groupby(ran["user"]).mean().mean()),
    }
    for name, period in (("days", resampling.WEEK / 7), ("weeks", resampling.WEEK)):
        each = wait.groupby(when // period).agg(["mean", "size"])
        found[f"mean over {name} of their means"] = float(each["mean"].mean())
        found[f"correlation of {name}' means with how many submit"] = float(each["mean"].corr(each["size"]))
    return found


def _weeks(workloads: list[Workload], source: Workload) -> tuple[float, ...]:
    """Return mean, standard deviation and maximum of the load of a week, as means over workloads."""
    first = source.jobs["submit"].min()
    found = []
    for workload in workloads:
        jobs = workload.jobs
        week = ((jobs["submit"] - first) // resampling.WEEK).astype(int)
        load = np.bincount(week, jobs["procs"] * jobs["work"]) / ((source.procs or 1) * resampling.WEEK)
        found.append((load.mean(), load.std(), load.max()))
    return tuple(np.mean(found, axis=0))


if __name__ == "__main__":
    main(app)
