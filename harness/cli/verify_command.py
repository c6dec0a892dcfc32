"""`harness verify`: does a schedule keep within its machine, and keep a guarantee such as EASY's?"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import echo

if TYPE_CHECKING:
    from harness.results.guarantee_check import GuaranteeCheck, Violation


def verify(
    schedule: Annotated[str, typer.Argument(help="a log with waits: SWF, CSV, sacct, or the output of run --schedule")],
    promise: Annotated[
        str,
        typer.Option(
            help="none; fcfs: no job overtakes another; easy: no job delays the first of the queue; conservative: "
            "no job delays another"
        ),
    ] = "none",
    procs: options.Procs = None,
    workload: Annotated[
        str, typer.Option(metavar="LOG", help="take requested times from the log from which SCHEDULE was made")
    ] = "",
    slack: Annotated[float, typer.Option(help="a delay up to this is no breach [s]", min=0)] = 0.0,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    lenient: options.Lenient = False,
    format: Annotated[str, typer.Option(help="table or json")] = "table",
) -> int:
    """Check from SCHEDULE alone whether the machine was overcommitted, and where a promise was first broken.

    Jobs queue by submission time, then by their place in SCHEDULE. easy reserves for the first job of the queue the
    instant at which enough processors are free by the requested times of the running jobs. conservative reserves a
    start for every job at its submission, and may improve it later. A promise is void where a job runs longer than
    requested. A SCHEDULE without requested times needs --workload for easy and conservative.

    Exit status 1: overcommitted, or a promise is broken.
    """
    from harness.errors import HarnessError
    from harness.present.json_text import to_json
    from harness.results.guarantee_check import verify as verified
    from harness.workload.log_reading import read_workload

    if format not in ("table", "json"):
        raise HarnessError(f"--format {format}: expected table or json")
    how: dict[str, Any] = {"lenient": lenient, "plugins": tuple(plugins or ())}
    requests = read_workload(workload, **how) if workload else None
    found = verified(read_workload(schedule, **how), promise, procs=procs, slack=slack, workload=requests)
    echo(to_json(asdict(found) | {"kept": found.kept}) if format == "json" else _render(found))
    return int(not found.kept)


def _render(found: "GuaranteeCheck") -> str:
    from harness.present.words import counted

    out = f", {counted(found.left_out, 'job')} left out that did not run or have no times" if found.left_out else ""
    lines = [f"{found.name}: {counted(found.jobs, 'job')} on {found.procs:,} processors{out}"]
    lines += _breach(found.overcommitted, "never more processors in use than there are", "overcommitted")
    kept = {
        "fcfs": "no job starts before one that was submitted earlier",
        "easy": "the first of the queue is never delayed",
        "conservative": "no job starts later than promised",
    }
    if found.promise in kept:
        lines += _breach(found.broken, kept[found.promise], f"the promise of {found.promise} is broken")
    if found.void:
        lines.append(f"{counted(found.void, 'promise')} void: an earlier job ran longer than requested")
    return "\n".join(lines)


def _breach(breach: "Violation | None", kept: str, broken: str) -> list[str]:
    from harness.present.words import counted, readable

    if breach is None:
        return [kept]
    queue = ", ".join(map(str, breach.queue)) + (", …" if breach.waiting > len(breach.queue) else "")
    return [
        f"{broken}, first at {readable(breach.instant, 12)} s, for job {breach.job}: {breach.why}; "
        f"it starts at {readable(breach.start, 12)} s",
        f"  {counted(breach.waiting, 'job')} then waited{f': {queue}' if queue else ''}",
    ]
