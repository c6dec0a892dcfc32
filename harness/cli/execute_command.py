"""`harness execute`: run a workload on a real Slurm, faster than real time."""

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import echo, show_warnings
from harness.errors import HarnessError
from harness.present.words import counted, lasting, readable

if TYPE_CHECKING:
    import pandas as pd

    from harness.slurm.slurm_execution import SlurmExecution


@options.expand_groups
def execute(
    workload: options.Workload,
    slurm: Annotated[
        str,
        typer.Option(
            metavar="slurm.conf", help="the configuration, 'slurm.conf + accounts.dump' with fair shares, QOS, limits"
        ),
    ],
    *,
    given: options.JobOptions,
    reservations: Annotated[
        Path | None,
        typer.Option(help="maintenance windows: a CSV of begin, end, nodes, procs", rich_help_panel="Machine"),
    ] = None,
    as_root: Annotated[
        bool, typer.Option("--as-root", help="with accounts: submit jobs of several users; slurmd runs as root")
    ] = False,
    speed: Annotated[float, typer.Option(help="speed of time in the execution", min=1, max=1000)] = 30.0,
    out: Annotated[Path | None, options.output(help="write the schedule to FILE.csv (WORKLOAD-slurm.csv)")] = None,
) -> None:
    """Run WORKLOAD on a real Slurm, many times faster than real time, with jobs that only sleep.

    A controller and one daemon per node run on the loopback interface. `harness adequacy WORKLOAD --against FILE.csv`
    compares the schedule with a replay. FILE.json describes the execution and all differences from the configuration.
    With a dump from `sacctmgr dump` behind a `+`, an accounting database runs too, and every job belongs to its user.

    All processes run as you. If you are root, the daemons, the jobs and the submitting program run as the user nobody.
    Only root may submit jobs of several users: with --as-root, the submitting program and slurmd run as root. All
    processes end with the command, even if it is killed. The next execution removes files that a killed one left.
    """
    with show_warnings():
        from harness.platform.windows import read_windows
        from harness.present.progress import progress
        from harness.slurm.accounts_given import read_accounts
        from harness.slurm.configuration import read_slurm
        from harness.slurm.slurm_execution import execute as executed
        from harness.slurm.slurm_execution import programs
        from harness.slurm.slurm_scheduler import files_of

        # Refuse what would fail at the end before the work begins.
        given.known_format()
        conf, dump = files_of(slurm)
        programs(accounts=dump is not None)
        configuration = read_slurm(conf)
        accounts = None if dump is None else read_accounts(dump, configuration)
        windows = () if reservations is None else read_windows(reservations)
        log = given.log(workload)
        jobs = given.jobs(workload)
        place = _place(out, jobs.name)
        with progress("executing", "jobs") as advance:
            done = executed(
                jobs,
                configuration,
                log,
                accounts=accounts,
                windows=windows,
                as_root=as_root,
                speed=speed,
                progress=advance,
                slower=_print_notice,
            )
    _write(done, place)
    echo(_render(done, place, given.format))


def _print_notice(sentence: str) -> None:
    echo(f"harness: {sentence}", file=sys.stderr)


def _place(out: Path | None, name: str) -> Path:
    """Return the path of the schedule. Refuse an impossible one, and a default one that exists."""
    place = Path(re.sub(r"\W+", "-", name).strip("-") + "-slurm.csv") if out is None else out
    if place.suffix.lower() != ".csv":
        raise HarnessError(f"--out {place}: expected a name that ends in .csv")
    if not place.parent.is_dir():
        raise HarnessError(f"--out {place}: cannot be written: there is no folder {place.parent}")
    if out is None and place.exists():
        raise HarnessError(f"{place} exists already: expected --out with another name, or with this one to replace it")
    return place


def _write(done: "SlurmExecution", place: Path) -> None:
    """Write the schedule, and its provenance as JSON next to it."""
    from harness.disk.atomic import replacing
    from harness.present.numerals import numerals

    frame = done.schedule.copy()
    for name in frame.columns.difference(["status", "nodes"]):
        frame[name] = numerals(frame[name])
    with replacing(place) as temporary:
        frame.to_csv(temporary, index=False)
    with replacing(place.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(done.provenance, indent=2) + "\n", encoding="utf-8")


def _render(done: "SlurmExecution", place: Path, format: str) -> str:
    from harness.present.json_text import to_json
    from harness.present.tables import render

    measures = _measures(done.schedule)
    if format == "json":
        return to_json({"execution": done.provenance, "measures": {name: value for name, value, _ in measures}})
    table = render(("measure", "value", "unit"), measures, format)
    if format != "table":
        return table
    facts = done.provenance
    sentences = [
        f"{counted(len(done.schedule), 'job')} executed by {done.version}, {readable(done.speed)} times as fast as "
        f"time, in {lasting(done.seconds)}; the schedule is in {place}",
        f"95 % of the submissions are late by at most {facts['lag_p95']:.2f} s, all by at most "
        f"{facts['lag_max']:.2f} s; the median job holds its processors {done.overtime:.0f} s longer than its runtime",
        f"run as {done.rights.user}"
        + "".join(f"; as root: {names} ({why})" for names, why in done.rights.still_root.items()),
        *(f"job {job} was refused: {why}" for job, why in list(done.refused.items())[:5]),
        *(f"never started: job {line}" for line in done.stranded[:5]),
    ]
    reasons: dict[str, list[str]] = {}
    for difference in done.differences:
        if difference.given:
            reasons.setdefault(difference.why, []).append(difference.key)
    lines = [f"  {', '.join(keys)}: {why}" for why, keys in reasons.items()]
    return "\n".join([*sentences, *(["differs from the configuration:", *lines] if lines else []), "", table])


def _measures(schedule: "pd.DataFrame") -> list[tuple[str, Any, str]]:
    ran = schedule[schedule["start"].notna()]
    span = ran["end"].max() - schedule["submit"].min()
    return [
        ("started", len(ran), "jobs"),
        ("killed", int((schedule["status"] == "killed").sum()), "jobs"),
        ("mean_wait", float(ran["wait"].mean()), "s"),
        ("median_wait", float(ran["wait"].median()), "s"),
        ("max_wait", float(ran["wait"].max()), "s"),
        ("makespan", float(span), "s"),
    ]
