"""`harness data …`: which logs there are, what they are like, and fetching them."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli.console import say
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.workload.describe import Description

app = typer.Typer(help="Logs by name: list, show, fetch; outages in them; one to try.", no_args_is_help=True)

#: A column of a picture from nothing to full.
_BLOCKS = " ▁▂▃▄▅▆▇█"


@app.command("list")
def list_traces(
    format: options.Format = "table",
) -> None:
    """List the logs known by name, what in them may mislead, and whether they are here (in other formats, where)."""
    from harness.present.tables import render
    from harness.workload.catalogue import catalogue, found_traces

    found = found_traces()
    rows = []
    for trace in catalogue().values():
        where = "not fetched" if trace.path else "not here"
        if trace.name in found:  # the whole path, where there is room for it
            where = "here" if format == "table" else str(found[trace.name])
        rows.append((trace.name, trace.jobs, trace.procs, trace.span, trace.hazards, where))
    say(render(("name", "jobs", "procs", "span", "hazards", "where"), rows, format))


@app.command()
def show(
    workload: options.Workload,
    procs: Annotated[int | None, typer.Option(help="processors of the machine; else its header's", min=1)] = None,
    lenient: options.Lenient = False,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    format: Annotated[str, typer.Option(help="table or json")] = "table",
) -> None:
    """Describe a log on one screen: its jobs, its load, when they came, and what in it may mislead."""
    from harness.present.json_text import to_json
    from harness.workload.describe import describe
    from harness.workload.log_reading import read_workload

    if format not in ("table", "json"):
        raise HarnessError(f"there is no format {format!r} of a description; {did_you_mean(format, ('table', 'json'))}")
    about = describe(read_workload(workload, lenient=lenient, plugins=tuple(plugins or ())), procs)
    say(to_json(asdict(about)) if format == "json" else "\n".join(_screen(about)))


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="short names of logs, see `harness data list`")],
    mirror: Annotated[
        str | None, typer.Option(help="address of a copy of the archive, with its folders; else HARNESS_MIRROR")
    ] = None,
    max_size: options.MaxSize = None,
) -> None:
    """Fetch logs from the Parallel Workloads Archive or a mirror, and check them.

    What was cut off is continued by the next call; a log is kept whole or not at all.
    """
    from harness.present.progress import progress
    from harness.workload.catalogue import fetched_folder, found_traces, named_trace
    from harness.workload.fetch import fetch as fetch_trace
    from harness.workload.fetch import is_intact

    traces = [named_trace(name) for name in names]  # all of them are known before the first is fetched
    found = found_traces()
    for trace in traces:
        here = found.get(trace.name)
        if here and is_intact(trace, here):
            say(f"{trace.name}: is here already, {here}")
            continue
        if here and here.parent != fetched_folder():  # not ours to replace, and it would be found first
            raise HarnessError(f"{here}: is damaged, or not the {trace.file} we know: remove it to fetch another")
        with progress(trace.name, "bytes") as advance:
            path = fetch_trace(trace, mirror=mirror, progress=advance)
        checked = "checksum as expected" if trace.checksum else "whole gzip data; no checksum is known"
        say(f"{trace.name}: fetched, {checked}, {path}")


@app.command()
def outages(
    workload: options.Workload,
    procs: Annotated[int | None, typer.Option(help="processors of the machine; else its header's", min=1)] = None,
    out: Annotated[Path | None, typer.Option(help="write them to this CSV, for --events")] = None,
    lenient: options.Lenient = False,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    format: options.Format = "table",
) -> None:
    """Infer from a log when its machine was down or shrunk: jobs came that fitted, and not one began.

    A rule of the site by which jobs wait though they fit looks the same: see what `harness adequacy` says of them.
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
        raise HarnessError(f"{log.name} does not say how many processors its machine had: give --procs N")
    if not (log.jobs["wait"] >= 0).any():
        raise HarnessError(f"{log.name}: no job says how long it waited; expected a log with waits")
    found = inferred(Occupation.of(log.jobs), size)
    if out is not None:
        write_csv(as_events(found, size), out)
    rows = [(one.begin, one.end, one.hours, one.procs, one.refused) for one in found]
    headers = ("from", "to", "length", "missing", "refused")
    caption = f"{log.name}: {len(found):,} intervals in which processors of {size:,} were missing, by its log"
    say(render(headers, rows, format, units=("s", "s", "h", "procs", "jobs"), caption=caption))


@app.command()
def example(
    path: Annotated[Path, typer.Argument(help="the file to write")],
    jobs: Annotated[int, typer.Option(help="so many jobs", min=1, max=10**6)] = 4000,
    seed: options.Seed = 1,
) -> None:
    """Write what `sacct --parsable2` prints of a made-up machine of 128 processors, to try things with."""
    from harness.experiment.example_dump import write_example_dump

    write_example_dump(path, jobs, seed)
    say(f"{path}: {jobs:,} jobs as sacct prints them; the machine had 128 processors")


# A description


def _screen(about: "Description") -> list[str]:
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
        _when(about),
        _load(about),
        "says: " + (", ".join(_told(*found) for found in about.said.items()) or "nothing else"),
        *(["does not say: " + ", ".join(about.unsaid)] if about.unsaid else []),
        "ended: " + ", ".join(f"{name} {count:,}" for name, count in about.statuses.items()),
        "",
        render(("", "jobs", "least", "25 %", "median", "75 %", "most", "mean"), rows, "table"),
        "",
        *_pictures(about.arrivals_by_hour, about.arrivals_by_weekday, days),
        "",
        *(f"! {h.name}: {h.jobs:,} jobs ({h.detail})" for h in about.hazards),
        *([] if about.hazards else ["nothing found that may mislead"]),
    ]


def _told(name: str, found: tuple[int, int]) -> str:
    """Return a column with how many jobs say something in it; how many different things, where they are names."""
    jobs, different = found
    names = name in ("user", "group", "queue", "partition", "features", "x_account")
    return f"{name} {jobs:,}" + (f" ({different:,} different)" if names else "")


def _when(about: "Description") -> str:
    submitted = f"submitted within {about.span / 86400:,.1f} days"
    return f"{submitted} from {about.begin} ({about.zone})" if about.begin else f"{submitted}; the date is not known"


def _load(about: "Description") -> str:
    if about.procs is None:
        return "the size of the machine is not known: give --procs"
    load = "unknown" if about.load is None else f"{about.load:.3f}"
    return f"load {load} of {about.procs:,} processors, from the first submit to the last"


def _pictures(hours: Sequence[int], weekdays: Sequence[int], days: Sequence[str]) -> list[str]:
    """Draw arrivals by hour and by weekday side by side, each to its own scale."""
    left = _columns(hours, 2)
    right = _columns(weekdays, 3)
    labels = "".join(f"{hour:<6}" for hour in range(0, 24, 3)), "".join(f"{day:<3}" for day in days)
    heads = f"arrivals by hour, at most {max(hours):,}", f"by day, at most {max(weekdays):,}"
    return [f"{a:<52}{b}".rstrip() for a, b in [heads, *zip(left, right, strict=True), labels]]


def _columns(counts: Sequence[int], width: int, height: int = 3) -> list[str]:
    """Draw a picture `height` lines high, each count a column of blocks."""
    full = 8 * height / max(1, *counts)
    levels = [math.ceil(count * full) for count in counts]  # whatever is there is seen
    return [
        "".join(_BLOCKS[min(8, max(0, level - 8 * line))] * (width - 1) + " " for level in levels)
        for line in reversed(range(height))
    ]
