"""`harness verify`: does a schedule keep a promise, and the machine's size, as far as it shows itself?"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import say

if TYPE_CHECKING:
    from harness.results.guarantee_check import GuaranteeCheck, Violation


def verify(
    schedule: Annotated[str, typer.Argument(help="a log with waits: SWF, CSV, sacct, or what run --schedule wrote")],
    promise: Annotated[
        str,
        typer.Option(
            help="none; fcfs: nobody overtakes; easy: nobody delays the first of the queue; conservative: anybody"
        ),
    ] = "none",
    procs: options.Procs = None,
    workload: Annotated[
        str, typer.Option(metavar="LOG", help="the log that SCHEDULE was made of: its requested times count")
    ] = "",
    slack: Annotated[float, typer.Option(help="so much later than promised is no breach [s]", min=0)] = 0.0,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    lenient: options.Lenient = False,
    format: Annotated[str, typer.Option(help="table or json")] = "table",
) -> int:
    """Say from SCHEDULE alone whether a machine was overcommitted, and where a promise was first broken.

    Jobs queue by submission, and by their place in SCHEDULE if they were submitted at the same time. The first of the
    queue may count on the instant at which, by the requested times of those that run, there are processors enough for
    it; under conservative backfilling everybody may count on the reservation made at its submission, or a better one
    since. A promise is void where a job runs longer than it was to. A schedule without requested times needs --workload
    for the promises of easy and conservative.

    Exit status 1: overcommitted, or broken.
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
    say(to_json(asdict(found) | {"kept": found.kept}) if format == "json" else _told(found))
    return int(not found.kept)


def _told(found: "GuaranteeCheck") -> str:
    from harness.present.words import counted

    out = f", {counted(found.left_out, 'job')} left out that did not run or say when" if found.left_out else ""
    lines = [f"{found.name}: {counted(found.jobs, 'job')} on {found.procs:,} processors{out}"]
    lines += _breach(found.overcommitted, "never more processors in use than there are", "overcommitted")
    kept = {
        "fcfs": "nobody starts before who was submitted earlier",
        "easy": "the first of the queue is never delayed",
        "conservative": "nobody starts later than was promised",
    }
    if found.promise in kept:
        lines += _breach(found.broken, kept[found.promise], f"the promise of {found.promise} is broken")
    if found.void:
        lines.append(f"{counted(found.void, 'promise')} void: a job before ran longer than it was to")
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
