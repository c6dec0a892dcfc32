"""Makes the tables and pictures of slurm.md: workloads executed by a real Slurm, and how near replays come.

What is there is not executed again: `python reports/slurm_study.py` goes on where it was stopped, and several may run
at once. `--most 0` only prints the tables.
"""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from slurm_configurations import CASES, GROWING, GROWTH, WORKLOADS, Case, Variation
from slurm_figures import figures, policies
from slurm_pictures import draw
from slurm_studied import KEPT, Studied, claimed, run
from slurm_tables import tables

import harness
from harness.cli import main

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def studied_ones(folder: Path, kept: Path) -> list[Studied]:
    """Return every configuration with every workload, and the workloads of other loads and lengths behind them."""
    named = [(case, which) for which in WORKLOADS for case in CASES.values()]
    named += [(CASES[GROWING], which) for which in GROWTH]
    return [one for case, which in named if (one := _studied(case, which, folder, kept))]


def _studied(case: Case, which: Variation, folder: Path, kept: Path) -> Studied | None:
    """Return one of them, unless the log that its workload is a slice of is not there."""
    try:
        return Studied(case, which, folder, kept)
    except harness.HarnessError as error:
        if not which.slice:
            raise
        print(f"{case.name} with a slice of a log is left out: {error}", file=sys.stderr)
        return None


@app.command()
def study(
    executions: Annotated[int, typer.Option(help="of each configuration with each workload", min=2, max=9)] = 3,
    most: Annotated[int, typer.Option(help="executions to make now, at most", min=0)] = 1000,
    speed: Annotated[float, typer.Option(help="how many times as fast as time")] = 30.0,
    kept: Annotated[Path, typer.Option(help="the folder of the executions")] = KEPT,
    pictures: Annotated[Path | None, typer.Option(help="the folder that the pictures are drawn to")] = None,
    format: Annotated[str, typer.Option(help="table, markdown, csv …")] = "table",
) -> None:
    """Execute what is missing, and print the tables."""
    kept.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        studied = studied_ones(Path(folder), kept)
        for one, number in [(one, number) for number in range(1, executions + 1) for one in studied]:
            place = one.place(number)
            if most <= 0 or place.exists():
                continue
            with claimed(place) as ours:
                if ours:
                    run(one, number, speed)
                    most -= 1
        longer = {which.name for which in GROWTH}
        known = {
            (one.case.name, one.which.name): figures(one, [] if one.which.name in longer else policies())
            for one in studied
            if len(one.executed) > 1
        }
    main_part = {key: one for key, one in known.items() if key[1] not in longer}
    grown = [(name, one) for (case, name), one in known.items() if case == GROWING and not name.startswith("slice")]
    print(tables(main_part, grown, format))
    if pictures is not None:
        draw(list(main_part.values()), dict(grown), pictures)


if __name__ == "__main__":
    main(app)
