"""`harness check`: a gate for a policy, an engine or a workload: what moved since a baseline was made."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import compiling_said, warnings_said
from harness.errors import HarnessError, did_you_mean


def check(
    baseline: Annotated[Path, typer.Argument(help="a JSON file, meant to be committed with its .starts.zip")],
    field: Annotated[str | None, typer.Option(help="what a new baseline is made of; together with --update")] = None,
    update: Annotated[bool, typer.Option("--update", help="write the baseline anew")] = False,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(metavar="MEASURE=SHARE", help="a relative difference that counts as none; may be repeated"),
    ] = None,
    plugins: Annotated[list[str] | None, typer.Option(help="a plugin file or folder; may be repeated")] = None,
    workers: Annotated[int | None, typer.Option(help="threads (as many as there are cores)", min=1)] = None,
    format: Annotated[str, typer.Option(help="table, github (markdown for a pull request) or json")] = "table",
) -> int:
    """Run again what BASELINE names, and say what moved, by how much, and which job first started otherwise.

    Begin with `harness check BASELINE --field FIELD --update`, and commit both files that it writes.

    Schedules are compared exactly, measures within 1e-9 of their value or within --tolerance (1 tolerates anything).
    --update keeps tolerances in the baseline. By its own direction a measure that moved is better or worse.

    Exit status 0: the same or better, or a new baseline.
    1: a measure is worse, or --update wrote other results than before, for a person to review.
    2: something could not be compared.
    """
    with compiling_said(), warnings_said():
        from harness.cli.tournament import told
        from harness.tournament import check as checking
        from harness.tournament.baseline import starts_path
        from harness.tournament.summary import FORMATS

        if format not in FORMATS:
            raise HarnessError(f"there is no format {format!r} of a check; {did_you_mean(format, FORMATS)}")
        tolerances = dict(_tolerance(text) for text in tolerance or ())
        with told() as watch:
            verdict = checking.check(
                baseline,
                field=field,
                update=update,
                tolerances=tolerances,
                plugins=tuple(plugins or ()),
                workers=workers,
                watch=watch,
            )
    print(FORMATS[format](verdict))
    if verdict.written:
        print(f"written: {baseline} and {starts_path(baseline)}", file=sys.stderr)
    return verdict.status


def _tolerance(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise HarnessError(f"--tolerance {text}: expected MEASURE=SHARE, such as mean_wait=0.01") from None
