"""`harness check`: a gate for a policy, an engine or a workload: what moved since a baseline was made."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.console import compiling_said, say, warnings_said
from harness.errors import HarnessError, did_you_mean


@options.spread
def check(
    baseline: Annotated[Path, typer.Argument(help="a JSON file, meant to be committed with its .starts.zip")],
    *,
    given: options.Shared,
    field: Annotated[str | None, typer.Option(help="what a new baseline is made of; together with --update")] = None,
    update: Annotated[bool, typer.Option("--update", help="write the baseline anew")] = False,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(metavar="[MEASURE=]SHARE", help="a relative difference that counts as none, 5%; may be repeated"),
    ] = None,
    measures: Annotated[str, typer.Option(metavar="MEASURE,…", help="judge by these (those that matter)")] = "",
    schedule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[WORKLOAD=]FILE", help="a schedule made elsewhere, in the place of the run of its workload"
        ),
    ] = None,
    scheduler_name: Annotated[
        str, typer.Option(metavar="NAME", help="the scheduler that made --schedule (the file's name)")
    ] = "",
    starts_only: Annotated[
        bool, typer.Option("--starts-only", help="ignore the runtimes in --schedule, which else must be the workload's")
    ] = False,
    history: Annotated[
        int | None, typer.Option(metavar="N", help="only show the last so many baselines; nothing runs", min=2)
    ] = None,
    workers: options.Workers = None,
    format: Annotated[str, typer.Option(help="table, github (markdown for a pull request) or json")] = "table",
) -> int:
    """Run again what BASELINE names, and say what moved, by how much, and which job first started otherwise.

    Begin with `harness check BASELINE --field FIELD --update`, and commit both files that it writes.

    Schedules are compared exactly. Of measures those that matter are judged by, each by its own direction: mean waits,
    responses, slowdowns and energy may move by 1 %, the 95th percentile of waits, makespan and utilisation by 2 %, the
    longest wait by 5 %; --tolerance says otherwise, of one measure or of all (100% tolerates anything). --update keeps
    the tolerances of single measures in the baseline. Jobs that never started always count, by the measure unstarted.

    --schedule puts a schedule by a real scheduler or another simulator (SWF, sacct, CSV or Parquet) in the place of a
    policy's. It must have the jobs of the workload, by number. Its starts are replayed with the workload's runtimes.
    The verdict and the baseline carry the scheduler's name.

    Exit status 0: the same or better, or a new baseline.
    1: a measure is worse, or --update wrote other results than before, for a person to review.
    2: something could not be compared.
    """
    with compiling_said(), warnings_said():
        from harness.cli.tournament_command import told
        from harness.gate import checking as checking
        from harness.gate.baseline import starts_path
        from harness.gate.verdict import FORMATS

        if format not in FORMATS:
            raise HarnessError(f"there is no format {format!r} of a check; {did_you_mean(format, FORMATS)}")
        if history is not None:
            say(_history(baseline, history, update, format))
            return 0
        for option, value in {"--scheduler-name": scheduler_name, "--starts-only": starts_only}.items():
            if value and not schedule:
                raise HarnessError(f"{option} is about schedules made elsewhere: expected --schedule FILE")
        given_tolerances = dict(_tolerance(text) for text in tolerance or ())
        of_all = given_tolerances.pop("", None)
        with told() as watch:
            verdict = checking.check(
                baseline,
                field=field,
                update=update,
                tolerances=given_tolerances,
                tolerance=of_all,
                measures=[name.strip() for name in measures.split(",") if name.strip()],
                schedules=dict(_schedule(text) for text in schedule or ()),
                scheduler_name=scheduler_name,
                starts_only=starts_only,
                plugins=given.folders,
                workers=workers,
                watch=watch,
            )
    say(FORMATS[format](verdict))
    if verdict.written:
        say(f"written: {baseline} and {starts_path(baseline)}", file=sys.stderr)
    return verdict.status


def _tolerance(text: str) -> tuple[str, float]:
    """Read MEASURE=SHARE, or a SHARE of all measures, whose name is empty."""
    name, _, value = text.rpartition("=")
    try:
        share = float(value.strip().removesuffix("%")) / (100 if value.strip().endswith("%") else 1)
    except ValueError:
        expected = "expected SHARE or MEASURE=SHARE, such as 5% or mean_wait=0.01"
        raise HarnessError(f"--tolerance {text}: {expected}") from None
    if not share <= 1:
        raise HarnessError(f"--tolerance {text}: that is {share * 100:g} %; expected at most 100%, such as 5% or 0.05")
    return name.strip(), share


def _schedule(text: str) -> tuple[str, str]:
    """Read WORKLOAD=FILE, or a FILE of the only workload, whose name is empty."""
    workload, _, path = ("", "", text) if Path(text).is_file() else text.rpartition("=")
    return workload.strip(), path.strip()


def _history(baseline: Path, count: int, update: bool, format: str) -> str:
    """Return the last baselines as a table."""
    from harness.gate.baseline import read_baseline
    from harness.gate.history import history_table
    from harness.present.json_text import to_json

    if update:
        raise HarnessError("--history and --update both given: expected one of them")
    read, _ = read_baseline(baseline)
    if format == "json":
        return to_json([one.model_dump() for one in read.former[-count:]])
    return history_table(read, count, "markdown" if format == "github" else format)
