"""`harness execute`: let a real Slurm run a workload, many times as fast as time."""

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import say, warnings_said
from harness.errors import HarnessError
from harness.present.words import counted, lasting, readable

if TYPE_CHECKING:
    import pandas as pd

    from harness.slurm.slurm_execution import SlurmExecution


@options.spread
def execute(
    workload: options.Workload,
    slurm: Annotated[
        str,
        typer.Option(
            metavar="slurm.conf", help="the configuration, 'slurm.conf + accounts.dump' with fair shares, QOS, limits"
        ),
    ],
    *,
    given: options.Jobs,
    reservations: Annotated[
        Path | None, typer.Option(help="nodes kept for nobody at times: a CSV of begin, end, nodes, procs")
    ] = None,
    as_root: Annotated[
        bool, typer.Option("--as-root", help="with accounts: submit the jobs of several users, slurmd stays root's")
    ] = False,
    speed: Annotated[float, typer.Option(help="how many times as fast as time", min=1, max=1000)] = 30.0,
    out: Annotated[Path | None, typer.Option(help="write the schedule to FILE.csv (WORKLOAD-slurm.csv)")] = None,
) -> None:
    """Let a real Slurm run WORKLOAD: a controller and one daemon a node, on loopback, jobs that sleep.

    The schedule is like any other: `harness adequacy WORKLOAD --against FILE.csv` compares a replay with it, and with
    several of them. FILE.json beside it says how it was made, and what had to differ from the configuration. With what
    `sacctmgr dump` wrote behind a `+`, a database of accounts is started too, and every job is its user's.

    Everything runs as you. If you are root, the daemons, the jobs and the program that submits run as the user nobody.
    Only root may submit jobs of several users: with --as-root, that program and slurmd stay root's. All processes end
    with the command, even if it is killed. What a killed execution leaves behind, the next one removes.
    """
    with warnings_said():
        from harness.platform.windows import read_windows
        from harness.present.progress import progress
        from harness.slurm.accounts_given import read_accounts
        from harness.slurm.configuration import read_slurm
        from harness.slurm.slurm_execution import execute as executed
        from harness.slurm.slurm_execution import programs
        from harness.slurm.slurm_scheduler import files_of

        # What would fail at the end is refused before the work.
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
                slower=_told,
            )
    _write(done, place)
    say(_shown(done, place, given.format))


def _told(sentence: str) -> None:
    say(f"harness: {sentence}", file=sys.stderr)


def _place(out: Path | None, name: str) -> Path:
    """Return where the schedule goes; refuse what cannot be, and to replace one that nobody named."""
    place = Path(re.sub(r"\W+", "-", name).strip("-") + "-slurm.csv") if out is None else out
    if place.suffix.lower() != ".csv":
        raise HarnessError(f"--out {place}: expected a name that ends in .csv")
    if not place.parent.is_dir():
        raise HarnessError(f"--out {place}: cannot be written: there is no folder {place.parent}")
    if out is None and place.exists():
        raise HarnessError(f"{place} exists, and took its time: expected --out with a name of its own, or this one")
    return place


def _write(done: "SlurmExecution", place: Path) -> None:
    """Write the schedule, and beside it how it was made."""
    from harness.disk.atomic import replacing
    from harness.present.numerals import numerals

    frame = done.schedule.copy()
    for name in frame.columns.difference(["status", "nodes"]):
        frame[name] = numerals(frame[name])
    with replacing(place) as temporary:
        frame.to_csv(temporary, index=False)
    with replacing(place.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(done.provenance, indent=2) + "\n", encoding="utf-8")


def _shown(done: "SlurmExecution", place: Path, format: str) -> str:
    """Return what happened, in the format the user wants."""
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
        f"submissions late by {facts['lag_p95']:.2f} s or less but for one in twenty, by {facts['lag_max']:.2f} s at "
        f"most; processors held {done.overtime:.0f} s longer than the work, in the median",
        f"run as {done.rights.user}"
        + "".join(f"; as root: {names} ({why})" for names, why in done.rights.still_root.items()),
        *(f"job {job} was refused: {why}" for job, why in list(done.refused.items())[:5]),
        *(f"never began: job {line}" for line in done.stranded[:5]),
    ]
    reasons: dict[str, list[str]] = {}
    for difference in done.differences:
        if difference.given:
            reasons.setdefault(difference.why, []).append(difference.key)
    told = [f"  {', '.join(keys)}: {why}" for why, keys in reasons.items()]
    return "\n".join([*sentences, *(["differs from the configuration:", *told] if told else []), "", table])


def _measures(schedule: "pd.DataFrame") -> list[tuple[str, Any, str]]:
    """Return a few numbers about an execution."""
    ran = schedule[schedule["start"].notna()]
    span = ran["end"].max() - schedule["submit"].min()
    return [
        ("began", len(ran), "jobs"),
        ("killed", int((schedule["status"] == "killed").sum()), "jobs"),
        ("mean_wait", float(ran["wait"].mean()), "s"),
        ("median_wait", float(ran["wait"].median()), "s"),
        ("max_wait", float(ran["wait"].max()), "s"),
        ("makespan", float(span), "s"),
    ]
