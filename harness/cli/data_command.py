"""`harness data …`: list, describe and fetch logs; infer outages; write an example."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli.console import echo
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.workload.describe import Description

app = typer.Typer(help="List, describe and fetch logs; infer outages; write an example.", no_args_is_help=True)

#: Eighths of a character cell, for bar charts.
_BLOCKS = " ▁▂▃▄▅▆▇█"


@app.command("list")
def list_traces(format: options.Format = "table") -> None:
    """List the logs known by name, their hazards, and whether they are on this machine.

    Formats other than the table name the path.
    """
    from harness.present.tables import render
    from harness.workload.catalogue import catalogue, found_traces

    found = found_traces()
    rows = []
    for trace in catalogue().values():
        where = "not fetched" if trace.path else "not here"
        if trace.name in found:
            where = "here" if format == "table" else str(found[trace.name])
        rows.append((trace.name, trace.jobs, trace.procs, trace.span, trace.hazards, where))
    echo(render(("name", "jobs", "procs", "span", "hazards", "where"), rows, format))


@app.command()
def show(
    workload: options.Workload,
    procs: Annotated[int | None, typer.Option(help="processors of the machine (default: the header's)", min=1)] = None,
    lenient: options.Lenient = False,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    format: Annotated[str, typer.Option(help="table or json")] = "table",
) -> None:
    """Describe a log on one screen: its jobs, load, arrivals, and what may mislead."""
    from harness.present.json_text import to_json
    from harness.workload.describe import describe
    from harness.workload.log_reading import read_workload

    if format not in ("table", "json"):
        raise HarnessError(f"there is no format {format!r} of a description; {did_you_mean(format, ('table', 'json'))}")
    about = describe(read_workload(workload, lenient=lenient, plugins=tuple(plugins or ())), procs)
    echo(to_json(asdict(about)) if format == "json" else "\n".join(_description_lines(about)))


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="names of logs; see `harness data list`")],
    mirror: Annotated[
        str | None, typer.Option(help="address of a copy of the archive with its folders (default: HARNESS_MIRROR)")
    ] = None,
    max_size: options.MaxSize = None,
) -> None:
    """Fetch logs from the Parallel Workloads Archive or a mirror, and check them.

    The next call continues an interrupted download. A log is stored only when it is complete.
    """
    from harness.present.progress import progress
    from harness.workload.catalogue import fetched_folder, found_traces, named_trace
    from harness.workload.fetch import fetch as fetch_trace
    from harness.workload.fetch import is_intact

    traces = [named_trace(name) for name in names]  # refuses an unknown name before anything is fetched
    found = found_traces()
    for trace in traces:
        here = found.get(trace.name)
        if here and is_intact(trace, here):
            echo(f"{trace.name}: is here already, {here}")
            continue
        if here and here.parent != fetched_folder():  # not ours to replace, and found before a fetched one
            raise HarnessError(f"{here}: is damaged, or not the known {trace.file}: remove it to fetch another")
        with progress(trace.name, "bytes") as advance:
            path = fetch_trace(trace, mirror=mirror, progress=advance)
        checked = "checksum as expected" if trace.checksum else "complete gzip data; no checksum is known"
        echo(f"{trace.name}: fetched, {checked}, {path}")


@app.command()
def outages(
    workload: options.Workload,
    procs: Annotated[int | None, typer.Option(help="processors of the machine (default: the header's)", min=1)] = None,
    out: Annotated[Path | None, typer.Option(help="write the outages to this CSV, for --events")] = None,
    lenient: options.Lenient = False,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    format: options.Format = "table",
) -> None:
    """Infer from a log when its machine was down or smaller: jobs were waiting that fitted, and none started.

    A rule of the site that holds jobs looks the same. `harness adequacy` shows the waits that a replay explains.
    """
    from harness.present.tables import known_format, render
    from harness.results.export import write_csv
    from harness.workload.log_reading import read_workload
    from harness.workload.occupation import Occupation
    from harness.workload.outages import as_events
    from harness.workload.outages import outages as inferred

    known_format(format)
    log = read_workload(workload, lenient=lenient, plugins=tuple(plugins or ()))
    size = procs or log.procs
    if size is None:
        raise HarnessError(f"{log.name} does not state how many processors its machine had: give --procs N")
    if not (log.jobs["wait"] >= 0).any():
        raise HarnessError(f"{log.name}: no job has a wait; expected a log with waits")
    found = inferred(Occupation.of(log.jobs), size)
    if out is not None:
        write_csv(as_events(found, size), out)
    rows = [(one.begin, one.end, one.hours, one.procs, one.refused) for one in found]
    headers = ("from", "to", "length", "missing", "refused")
    caption = f"{log.name}: {len(found):,} intervals in which processors of {size:,} were missing, by its log"
    echo(render(headers, rows, format, units=("s", "s", "h", "procs", "jobs"), caption=caption))


@app.command()
def example(
    path: Annotated[Path, typer.Argument(help="the file to write")],
    jobs: Annotated[int, typer.Option(help="number of jobs", min=1, max=10**6)] = 4000,
    seed: options.Seed = 1,
) -> None:
    """Write an accounting dump, like `sacct --parsable2` prints it, of a made-up machine of 128 processors."""
    from harness.experiment.example_dump import write_example_dump

    write_example_dump(path, jobs, seed)
    echo(f"{path}: {jobs:,} jobs as sacct prints them; the machine had 128 processors")


def _description_lines(about: "Description") -> list[str]:
    from harness.present.tables import render
    from harness.workload.wall_clock import DAYS

    rows = [
        (f"{s.name} [{s.unit}]" if s.unit else s.name, s.known, s.least, s.quarter, s.median, s.three_quarters, s.most,
         s.mean)
        for s in about.spreads
    ]  # fmt: skip
    days = DAYS if about.begin else tuple(f" {day}" for day in range(1, 8))
    return [
        f"{about.name}: {about.jobs:,} jobs of {about.users:,} users",
        about.source,
        _submission_span(about),
        _load(about),
        "has: " + (", ".join(_column_summary(*found) for found in about.present.items()) or "nothing else"),
        *(["does not have: " + ", ".join(about.absent)] if about.absent else []),
        "ended: " + ", ".join(f"{name} {count:,}" for name, count in about.statuses.items()),
        "",
        render(("", "jobs", "least", "25 %", "median", "75 %", "most", "mean"), rows, "table"),
        "",
        *_arrival_charts(about.arrivals_by_hour, about.arrivals_by_weekday, days),
        "",
        *(f"! {h.name}: {h.jobs:,} jobs ({h.detail})" for h in about.hazards),
        *([] if about.hazards else ["nothing found that may mislead"]),
    ]


def _column_summary(name: str, found: tuple[int, int]) -> str:
    """Return a column with its number of jobs, and its number of different values if these are names."""
    jobs, different = found
    names = name in ("user", "group", "queue", "partition", "features", "x_account")
    return f"{name} {jobs:,}" + (f" ({different:,} different)" if names else "")


def _submission_span(about: "Description") -> str:
    submitted = f"submitted within {about.span / 86400:,.1f} days"
    return f"{submitted} from {about.begin} ({about.zone})" if about.begin else f"{submitted}; the date is not known"


def _load(about: "Description") -> str:
    if about.procs is None:
        return "the number of processors is not known: give --procs"
    load = "unknown" if about.load is None else f"{about.load:.3f}"
    return f"load {load} of {about.procs:,} processors, from the first submit to the last"


def _arrival_charts(hours: Sequence[int], weekdays: Sequence[int], days: Sequence[str]) -> list[str]:
    """Return bar charts of arrivals by hour and by weekday, side by side, each with its own scale."""
    left = _bar_chart(hours, 2)
    right = _bar_chart(weekdays, 3)
    labels = "".join(f"{hour:<6}" for hour in range(0, 24, 3)), "".join(f"{day:<3}" for day in days)
    heads = f"arrivals by hour, at most {max(hours):,}", f"by day, at most {max(weekdays):,}"
    return [f"{a:<52}{b}".rstrip() for a, b in [heads, *zip(left, right, strict=True), labels]]


def _bar_chart(counts: Sequence[int], width: int, height: int = 3) -> list[str]:
    """Return the lines of a bar chart of `height` lines."""
    full = 8 * height / max(1, *counts)
    levels = [math.ceil(count * full) for count in counts]  # rounded up: a count of 1 stays visible
    return [
        "".join(_BLOCKS[min(8, max(0, level - 8 * line))] * (width - 1) + " " for level in levels)
        for line in reversed(range(height))
    ]
