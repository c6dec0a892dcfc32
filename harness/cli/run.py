"""`harness run`: replay one workload under one scheduler."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.results.schedule import Schedule
    from harness.workload.log import Step, Workload

#: What takes seconds to compile, as kept kernels are named.
SLOW_TO_COMPILE = {"run": "the event loop", "start_jobs": "the start policy"}


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
    fairness: Annotated[int, typer.Option(help="examine so many jobs for fairness (slow)", min=0)] = 0,
    format: options.Format = "table",
) -> None:
    """Replay WORKLOAD on a platform under a scheduler, and say how it went."""
    if platform is not None and procs is not None:
        raise HarnessError("--platform and --procs both given: expected one of them")
    with compiling_said(), warnings_said():
        from harness.policy import Scheduler
        from harness.report.tables import known_format
        from harness.results.export import writer_for
        from harness.run import read_platform, read_workload, simulate
        from harness.workload.prepare import prepare
        from harness.workload.resampling import resample

        # What would fail at the end is refused before the work.
        known_format(format)
        if schedule is not None:
            writer_for(schedule)
            if not schedule.parent.is_dir():
                raise HarnessError(f"--schedule {schedule}: cannot be written: there is no folder {schedule.parent}")
            if schedule.exists() and Path(workload).exists() and schedule.samefile(workload):
                raise HarnessError(f"--schedule {schedule}: is the workload itself; expected another file")
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
            result = simulate(prepared, machine, scheduler, seed=seed, plugins=folders, progress=progress)
    if schedule is not None:
        result.export(schedule)
    print(_shown(result, format, folders))
    if fairness:
        print(_fairness(result, scheduler, fairness, folders), file=sys.stderr)


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
            "measures": measures,
            "seconds": result.outcome.seconds,
        }
        return to_json(summary)
    table = render(("measure", "value", "unit"), measures_table(measures, extra), format)
    if format != "table":
        return table
    return "\n".join([*heading(result), *_unaccepted(result), "", table])


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


def _fairness(result: "Schedule", scheduler: Any, sample: int, plugins: tuple[str, ...]) -> str:
    from harness.results.fairness import fairness
    from harness.run import simulate

    def replay(workload: "Workload") -> "Schedule":
        return simulate(workload, result.platform, scheduler, seed=result.seed, plugins=plugins)

    return str(fairness(result, sample=sample, seed=result.seed, replay=replay))


@contextmanager
def compiling_said() -> Iterator[None]:
    """Say so when something is compiled that takes seconds: the event loop, or a start policy."""
    from harness.keep import on_compiling

    def say(name: str) -> None:
        if name in SLOW_TO_COMPILE:
            print(
                f"compiling {SLOW_TO_COMPILE[name]} for this machine, kept for later runs …",
                file=sys.stderr,
                flush=True,
            )

    on_compiling.append(say)
    try:
        yield
    finally:
        on_compiling.remove(say)


@contextmanager
def warnings_said() -> Iterator[None]:
    """Warnings are one line each, on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"harness: {message}", file=sys.stderr)
        yield


@contextmanager
def progress_bar(jobs: int) -> Iterator[Any]:
    """A bar with the time left, on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=jobs)
        yield lambda done, total: bar.update(task, completed=done, total=total)
