"""Makes the tables of oar-executions.md: workloads executed on real nodes under OAR, and how far replays are off."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import harness
from harness.cli import main
from harness.errors import HarnessError
from harness.present.tables import render
from harness.results.executions import Executions, compare_executions, with_executed_times
from harness.results.overheads import fitted_overheads

ORDERS = ("fcfs", "spf", "saf", "sjf-width", "wfp3", "unicef", "expansion")
STARTS = ("none", "greedy", "easy", "conservative", "easy(backfill_order=spf)")

HEADERS = (
    *("seed", "executions", "with incidents", "pairs without", "P_ideal [s]", "largest [s]"),
    *("FCFS + EASY [s]", "its skill", "best replay", "P [s]", "its skill", "P / P_ideal", "nobody waits [s]"),
    *("one wait for all [s]",),
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def groups(folder: Path) -> Iterator[tuple[int, harness.Log | None, list[harness.Log]]]:
    """Yield each seed with its workload, if it is there, and its executions."""
    planned = {int(found[1]): path for path in sorted(folder.glob("*.json*")) if (found := _seed(path, "_"))}
    ran: dict[int, list[Path]] = {}
    for path in sorted(folder.glob("*.csv*")):
        if found := _seed(path, "."):
            ran.setdefault(int(found[1]), []).append(path)
    if not ran:
        raise HarnessError(f"{folder}: no executions; expected files as NAME.seedN.csv.gz")
    for seed, paths in sorted(ran.items()):
        log = harness.read_workload(planned[seed]) if seed in planned else None
        yield seed, log, [harness.read_workload(path) for path in paths]


def _seed(path: Path, before: str) -> re.Match[str] | None:
    return re.search(rf"{re.escape(before)}seed(\d+)[._]", path.name)


def row(seed: int, log: harness.Log | None, logs: list[harness.Log]) -> tuple[Any, ...]:
    """Return the results of the executions of one workload."""
    found = compare_executions(logs, log.procs if log else None, len(log.jobs) if log else None)
    usual = [each for each, one in zip(logs, found.executions, strict=True) if not one.incidents]
    pairs = [pair.P for pair in found.pairs if pair.usual]
    head = (seed, len(logs), len(logs) - len(usual), len(pairs), found.ideal, max(pairs, default=None))
    if log is None:
        return (*head, *[None] * 8)
    try:
        jobs = [with_executed_times(harness.prepare(log), log, each) for each in usual]
    except harness.UndefinedError:
        return (*head, "executed were other jobs", *[None] * 7)
    return (*head, *_replays(jobs, found))


def _replays(jobs: list[harness.Workload], found: Executions) -> tuple[Any, ...]:
    """Replay under every combination; return FCFS with EASY, the best, and the null models: means over executions."""
    means: dict[tuple[str, str], tuple[float, float]] = {}
    nulls = (0.0, 0.0)
    for start in STARTS:
        for order in ORDERS:
            scheduler = harness.Scheduler(order, start, energy="none")
            scores = [harness.adequacy(harness.simulate(each, None, scheduler)) for each in jobs]
            means[order, start] = (
                float(np.mean([one.P for one in scores])),
                float(np.mean([one.scale.skill for one in scores])),
            )
            nulls = (
                float(np.mean([one.scale.nobody_waits for one in scores])),
                float(np.mean([one.scale.mean_wait for one in scores])),
            )
    best = min(means, key=lambda name: means[name][0])
    return (*means["fcfs", "easy"], " + ".join(best), *means[best], means[best][0] / found.ideal, *nulls)


@app.command()
def executions(
    folder: Annotated[Path, typer.Argument(help="workloads NAME_seedN_….json.gz and executions NAME.seedN.csv.gz")],
    format: Annotated[str, typer.Option(help="table, markdown, csv, …")] = "table",
) -> None:
    """Compare executions of the same workloads with each other and with replays."""
    parts = list(groups(folder))
    typer.echo(render(HEADERS, [row(*part) for part in parts], format, digits=4))
    typer.echo()
    for seed, log, logs in parts:
        procs = log.procs if log else None
        found = compare_executions(logs, procs, len(log.jobs) if log else None)
        for one in found.executions:
            for told in one.incidents:
                typer.echo(f"- seed {seed}, `{one.name}`: {told}.")
        usual = [each for each, one in zip(logs, found.executions, strict=True) if not one.incidents]
        if usual:
            fitted = fitted_overheads(usual, procs or max(one.busiest for one in found.executions))
            told = ", ".join(f"{name} `{spec}`" for name, spec in fitted.items())
            typer.echo(f"- seed {seed}: overheads fitted to {len(usual)} executions: {told}.")


if __name__ == "__main__":
    main(app)
