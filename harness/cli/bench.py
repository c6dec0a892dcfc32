"""`harness bench`: the speed of this machine, as ratios against a bare loop measured in the same run."""

from typing import Annotated

import typer


def bench(
    jobs: Annotated[int, typer.Option(help="length of the longest stream", min=1000)] = 1_000_000,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Measure the engine beside a bare loop that does the same work without plugins."""
    from harness.bench.speed import (
        ACCOUNTING,
        ACCOUNTING_UNITS,
        HEADERS,
        UNITS,
        accounting,
        compare,
        stream,
        theory,
        whole_log,
    )
    from harness.errors import HarnessError
    from harness.report.tables import render

    rows = [compare(start, stream(length)).row for length in (jobs // 10, jobs) for start in ("none", "easy")]
    print(render(HEADERS, rows, format, units=UNITS))
    print("\n" + render(ACCOUNTING, [accounting(jobs, idle) for idle in (600, 3600)], format, units=ACCOUNTING_UNITS))
    print("\n" + render(("exact theory", "time"), theory(), format, units=("", "s")))
    try:
        logs = [(start, whole_log(start)) for start in ("none", "easy", "conservative")]
    except HarnessError as error:
        print(f"\nthe whole HPC2N log: not measured: {error}")
        return
    print("\n" + render(("start", "HPC2N"), logs, format, units=("", "s")))
