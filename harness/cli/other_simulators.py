"""`harness theory other-simulators`: what Batsim and SPARS published of nodes that sleep, beside our replay."""

from pathlib import Path
from typing import Annotated

import typer


def other_simulators(
    folder: Annotated[
        str, typer.Argument(help="The folder with `batsim-evalys` and `spars`, below HARNESS_DATA or here.")
    ] = "reference-schedules",
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Do two other simulators, given the same jobs, nodes and policies, find the same energy?"""
    from harness.report.tables import known_format, render
    from harness.theory.other_simulators import HEADERS, UNITS, batsim_cases, spars_cases
    from harness.workload.catalogue import find_data

    known_format(format)
    place: Path = find_data(folder)
    rows = [case.row for case in (*batsim_cases(place / "batsim-evalys"), *spars_cases(place / "spars"))]
    typer.echo(render(HEADERS, rows, format, units=UNITS))
