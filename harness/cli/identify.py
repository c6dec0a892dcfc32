"""`harness identify`: which policies does the real scheduler most resemble?"""

from dataclasses import asdict
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.console import compiling_said, progress_bar, warnings_said
from harness.cli.run import preparation, provenance
from harness.errors import HarnessError


def identify(
    workload: options.Workload,
    platform: options.Platform = None,
    procs: options.Procs = None,
    order: Annotated[list[str] | None, typer.Option(help="an order; may be repeated (all there are)")] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(help="a start policy; may be repeated (all that do not preempt, and EASY-SJBF)"),
    ] = None,
    select: options.Select = "first-fit",
    procs_from: options.ProcsFrom = "requested",
    estimates: options.Estimates = "requested",
    overrun: options.Overrun = "raise",
    unknown: options.Unknown = "drop",
    memory: options.Memory = "requested",
    jobs: options.Jobs = None,
    from_: options.From = None,
    to: options.To = None,
    filter: options.Filter = None,
    best: Annotated[int | None, typer.Option(help="show only so many, the nearest", min=1)] = None,
    workers: Annotated[int | None, typer.Option(help="threads (as many as processors)", min=1)] = None,
    lenient: options.Lenient = False,
    seed: options.Seed = 0,
    plugins: options.PluginPaths = None,
    format: options.Format = "table",
) -> None:
    """Replay WORKLOAD under every combination of order and start policy, and rank them by P against its log."""

    if platform is not None and procs is not None:
        raise HarnessError("--platform and --procs both given: expected one of them")
    with compiling_said(), warnings_said():
        from harness.likeness import identify as ranked
        from harness.policy import Scheduler
        from harness.report.objects import to_json
        from harness.report.tables import known_format, render
        from harness.run import read_platform, read_workload
        from harness.workload.prepare import prepare

        known_format(format)
        folders = tuple(plugins or ())
        prepared = prepare(
            read_workload(workload, lenient=lenient, plugins=folders),
            procs_from=procs_from,
            estimates=estimates,
            overrun=overrun,
            unknown=unknown,
            memory=memory,
            jobs=jobs,
            start=from_,
            stop=to,
            filter=filter,
        )
        machine = procs if platform is None else read_platform(platform, plugins=folders)
        with progress_bar(1) as progress:
            found = ranked(
                prepared,
                machine,
                orders=order or (),
                starts=start or (),
                scheduler=Scheduler(select=select, energy="none"),
                seed=seed,
                plugins=folders,
                workers=workers,
                progress=progress,
            )
    if format == "json":
        ranking = [{"rank": place, **asdict(likeness)} for place, likeness in enumerate(found[:best], start=1)]
        about = {"select": select, "seed": seed, "combinations": len(found)}
        print(to_json(provenance(prepared) | about | {"ranking": ranking}))
        return
    rows = [(place, *asdict(likeness).values()) for place, likeness in enumerate(found[:best], start=1)]
    headers = ("rank", "order", "start", "P", "E", "median |V − v|", "p95 |V − v|", "different waits", "simulation")
    units = ("", "", "", "s", "s", "s", "s", "", "s")
    caption = f"{prepared.name}: {len(prepared):,} jobs under {len(found)} combinations, the nearest to the log first"
    if format == "table":
        print(*preparation(prepared), "", sep="\n")
    print(render(headers, rows, format, units=units, caption=caption))
