"""`harness run`: replay one workload under one scheduler."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import compiling_said, progress_bar, warnings_said
from harness.cli.report import ready_for, write_run
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.results.schedule import Schedule
    from harness.workload.log import Step, Workload


def run(
    workload: options.Workload = "lublin",
    platform: options.Platform = None,
    procs: options.Procs = None,
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    select: options.Select = "first-fit",
    rate: options.Rate = "full",
    sleep: options.Sleep = "never",
    energy: options.Energy = "",
    procs_from: options.ProcsFrom = "requested",
    estimates: options.Estimates = "requested",
    overrun: options.Overrun = "raise",
    unknown: options.Unknown = "drop",
    memory: options.Memory = "requested",
    jobs: options.Jobs = None,
    from_: options.From = None,
    to: options.To = None,
    filter: options.Filter = None,
    width: Annotated[float | None, typer.Option(help="multiply the widths, to fit another machine")] = None,
    load: Annotated[float | None, typer.Option(help="multiply the load: interarrival times are divided by it")] = None,
    variation: Annotated[int | None, typer.Option(help="redraw the users' streams by this seed", min=0)] = None,
    lenient: options.Lenient = False,
    seed: options.Seed = 0,
    plugins: options.PluginPaths = None,
    schedule: Annotated[Path | None, typer.Option(help="write it to FILE.csv, .parquet, .swf or .swf.gz")] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            help="write the system at every instant, thinned, to FILE.csv or .parquet: time [s], queued and running "
            "[jobs], busy, free and up [procs], rate, work left [s], power [W], asleep, switching and down [nodes], "
            "effective, potential and wasted [procs]"
        ),
    ] = None,
    events: Annotated[
        Path | None, typer.Option(help="replay failures and interventions: a CSV of time [s], event, subject")
    ] = None,
    interrupted: Annotated[str, typer.Option(help="jobs on a node that fails: requeue or kill")] = "requeue",
    fairness: Annotated[int, typer.Option(help="examine so many jobs for fairness (slow)", min=0)] = 0,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="also show the run as a page")] = None,
    format: options.Format = "table",
) -> None:
    """Replay WORKLOAD on a platform under a scheduler, and say how it went."""
    if platform is not None and procs is not None:
        raise HarnessError("--platform and --procs both given: expected one of them")
    if fairness and events is not None:
        raise HarnessError("--fairness and --events both given: expected one of them")
    with compiling_said(), warnings_said():
        from harness.policy import Scheduler
        from harness.report.tables import known_format
        from harness.results.export import schedule_writer, timeline_writer
        from harness.run import read_platform, read_workload, simulate
        from harness.workload.events import read_events
        from harness.workload.prepare import prepare
        from harness.workload.resampling import resample

        # What would fail at the end is refused before the work.
        known_format(format)
        if schedule is not None:
            schedule_writer(schedule)
            _check_place("--schedule", schedule, {"the workload itself": Path(workload), "the --events": events})
        if timeline is not None:
            timeline_writer(timeline)
            others = {"the workload itself": Path(workload), "the --events": events, "the --schedule": schedule}
            _check_place("--timeline", timeline, others)
        ready_for(report)
        happenings = None if events is None else read_events(events, interrupted=interrupted)
        folders = tuple(plugins or ())
        prepared = prepare(
            read_workload(workload, lenient=lenient, plugins=folders),
            procs_from=procs_from,
            estimates=estimates,
            overrun=overrun,
            unknown=unknown,
            memory=memory,
            jobs=jobs,
            load=load,
            start=from_,
            stop=to,
            filter=filter,
            width=width,
        )
        if variation is not None:
            prepared = resample(prepared, variation)
        machine = procs if platform is None else read_platform(platform, plugins=folders)
        scheduler = Scheduler(order, start, select, rate, sleep, energy)
        with progress_bar(len(prepared)) as progress:
            result = simulate(
                prepared,
                machine,
                scheduler,
                seed=seed,
                plugins=folders,
                progress=progress,
                events=happenings,
                timeline=timeline is not None or report is not None,
            )
    if schedule is not None:
        result.export(schedule)
    if timeline is not None:
        result.export_timeline(timeline)
    write_run(result, report, folders)
    print(_shown(result, format, folders))
    if fairness:
        print(_fairness(result, scheduler, fairness, folders), file=sys.stderr)


def _check_place(option: str, path: Path, others: dict[str, Path | None]) -> None:
    """Writing needs a folder, and must not replace what is read, nor what else is written."""
    if not path.parent.is_dir():
        raise HarnessError(f"{option} {path}: cannot be written: there is no folder {path.parent}")
    for what, other in others.items():
        if other is not None and path.resolve() == other.resolve():
            raise HarnessError(f"{option} {path}: is {what}; expected another file")


def _shown(result: "Schedule", format: str, plugins: tuple[str, ...]) -> str:
    """What was replayed and how it went, in the format the user wants."""
    from harness.report.objects import to_json
    from harness.report.tables import measures_table, render
    from harness.run import extra_measures

    extra = extra_measures(plugins)
    measures = result.measures(extra)
    if format == "json":
        summary = {
            **circumstances(result),
            **({"events": _events(result)} if result.events else {}),
            "measures": measures,
            "seconds": result.outcome.seconds,
        }
        return to_json(summary)
    table = render(("measure", "value", "unit"), measures_table(measures, extra), format)
    if format != "table":
        return table
    return "\n".join([*heading(result), *_unaccepted(result), *_happened(result), "", table])


def circumstances(result: "Schedule") -> dict[str, Any]:
    """What was replayed, where and by whom, for JSON."""
    platform = result.platform
    return {
        **provenance(result.workload),
        "platform": {"name": platform.name, "nodes": platform.nodes, "procs": platform.cores},
        "scheduler": {**result.scheduler, "seed": result.seed},
    }


def provenance(workload: "Workload") -> dict[str, Any]:
    """Which jobs were replayed, and what was done to them before, for JSON."""
    about = {"name": workload.name, "jobs": len(workload), "procs": workload.procs, "digest": workload.digest}
    return {"workload": about, "preparation": [vars(step) for step in workload.preparation]}


def heading(result: "Schedule") -> list[str]:
    """What was replayed, where and by whom, for people."""
    policies = ", ".join(f"{part} {policy}" for part, policy in result.scheduler.items())
    return [
        f"{result.workload.name}: {len(result.workload):,} jobs on {result.platform.name}",
        f"scheduler: {policies}, seed {result.seed}",
        f"simulated in {result.outcome.seconds:.3f} s",
        "",
        *preparation(result.workload),
    ]


def preparation(workload: "Workload") -> list[str]:
    """What was done to the jobs before they were replayed, for people."""
    return ["preparation:", *map(_step, workload.preparation)]


def _step(step: "Step") -> str:
    detail = f" ({step.detail})" if step.detail else ""
    return f"  {step.name}: {step.jobs:,} jobs{detail}"


def _unaccepted(result: "Schedule") -> list[str]:
    """Name the jobs that the platform could never run; the first few of many."""
    frame = result.frame
    numbers = frame["job"][frame["status"] == "unaccepted"]
    if numbers.empty:
        return []
    names = ", ".join(map(str, numbers.head(10))) + (", …" if len(numbers) > 10 else "")
    return [f"  unaccepted: {len(numbers):,} jobs (more than the platform has: jobs {names})"]


def _events(result: "Schedule") -> dict[str, Any] | None:
    """What was replayed besides jobs: how many events, how many before the run was over, how many of them in vain."""
    if result.events is None:
        return None
    return {
        "path": result.events.source,
        "interrupted": result.events.interrupted,
        "events": len(result.events.frame),
        "happened": int(result.outcome.clock.events),
        "without_effect": int(result.outcome.sums.vain),
    }


def _happened(result: "Schedule") -> list[str]:
    events = _events(result)
    if events is None:
        return []
    return [
        f"events: {events['events']:,} in {events['path']}, {events['happened']:,} before the run was over, "
        f"{events['without_effect']:,} of them without effect; jobs on failing nodes: {events['interrupted']}"
    ]


def _fairness(result: "Schedule", scheduler: Any, sample: int, plugins: tuple[str, ...]) -> str:
    from harness.results.fairness import fairness
    from harness.run import simulate

    def replay(workload: "Workload") -> "Schedule":
        return simulate(workload, result.platform, scheduler, seed=result.seed, plugins=plugins)

    return str(fairness(result, sample=sample, seed=result.seed, replay=replay))
