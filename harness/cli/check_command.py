"""`harness check`: a regression gate that compares runs with a stored baseline."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr
from harness.errors import HarnessError, did_you_mean


@options.expand_groups
def check(
    baseline: Annotated[Path, typer.Argument(help="a JSON file, to be committed together with its .starts.zip")],
    *,
    given: options.PluginOptions,
    field: Annotated[str | None, typer.Option(help="the field of runs for a new baseline, with --update")] = None,
    update: Annotated[bool, typer.Option("--update", help="write the baseline anew")] = False,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(metavar="[MEASURE=]SHARE", help="relative difference that is acceptable, as in 5%; repeatable"),
    ] = None,
    measures: Annotated[
        str, typer.Option(metavar="MEASURE,…", help="judge by these measures (default: the important ones)")
    ] = "",
    schedule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[WORKLOAD=]FILE", help="use a schedule made elsewhere instead of the run of its workload"
        ),
    ] = None,
    scheduler_name: Annotated[
        str, typer.Option(metavar="NAME", help="the scheduler that made --schedule (default: the name of the file)")
    ] = "",
    starts_only: Annotated[
        bool, typer.Option("--starts-only", help="ignore runtimes in --schedule that differ from the workload's")
    ] = False,
    history: Annotated[
        int | None, typer.Option(metavar="N", help="only print the last N baselines; nothing runs", min=2)
    ] = None,
    workers: options.Workers = None,
    format: Annotated[str, options.output(help="table, github (markdown for a pull request) or json")] = "table",
) -> int:
    """Repeat the runs of BASELINE, and print which measures changed and which job first started at another time.

    Begin with `harness check BASELINE --field FIELD --update`, and commit both files that it writes.

    Schedules are compared exactly. The verdict depends on the important measures, each in its own direction. Mean
    waits, responses, slowdowns and energy may change by 1 %, the 95th percentile of waits, makespan and utilisation by
    2 %, and the longest wait by 5 %. --tolerance replaces this for one measure or for all (100% accepts any change).
    --update stores the tolerances of single measures in the baseline. Jobs that never started always count, by the
    measure unstarted.

    --schedule uses a schedule from a real scheduler or another simulator (SWF, sacct, CSV or Parquet) instead of a run.
    It must have the jobs of the workload, by number. Its starts are replayed with the workload's runtimes. The verdict
    and the baseline name its scheduler.

    Exit status 0: the same or better, or a new baseline. 1: a measure is worse, or --update wrote other results than
    before, which a person should review. 2: something could not be compared.
    """
    with notices_on_stderr():
        from harness.cli.tournament_command import report_pace
        from harness.gate import checking as checking
        from harness.gate.baseline import starts_path
        from harness.gate.verdict import FORMATS

        if format not in FORMATS:
            raise HarnessError(f"there is no format {format!r} of a check; {did_you_mean(format, FORMATS)}")
        if history is not None:
            echo(_history(baseline, history, update, format))
            return 0
        for option, value in {"--scheduler-name": scheduler_name, "--starts-only": starts_only}.items():
            if value and not schedule:
                raise HarnessError(f"{option} is about schedules made elsewhere: expected --schedule FILE")
        given_tolerances = dict(_tolerance(text) for text in tolerance or ())
        of_all = given_tolerances.pop("", None)
        with report_pace() as watch:
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
    echo(FORMATS[format](verdict))
    if verdict.written:
        echo(f"written: {baseline} and {starts_path(baseline)}", file=sys.stderr)
    return verdict.status


def _tolerance(text: str) -> tuple[str, float]:
    """Read MEASURE=SHARE, or SHARE for all measures, with an empty name."""
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
    """Read WORKLOAD=FILE, or FILE for the only workload, with an empty name."""
    workload, _, path = ("", "", text) if Path(text).is_file() else text.rpartition("=")
    return workload.strip(), path.strip()


def _history(baseline: Path, count: int, update: bool, format: str) -> str:
    from harness.gate.baseline import read_baseline
    from harness.gate.history import history_table
    from harness.present.json_text import to_json

    if update:
        raise HarnessError("--history and --update both given: expected one of them")
    read, _ = read_baseline(baseline)
    if format == "json":
        return to_json([one.model_dump() for one in read.former[-count:]])
    return history_table(read, count, "markdown" if format == "github" else format)
