"""The speed of this machine, as ratios against a bare loop measured in the same run: `harness bench`."""

import sys
from typing import Annotated

import typer

from harness.cli import main, options
from harness.cli.console import echo
from harness.errors import HarnessError, did_you_mean

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def bench(
    what: Annotated[
        str, typer.Argument(help="engine, tournament, many: 20,000 runs of 500 jobs, or ratios")
    ] = "engine",
    jobs: Annotated[int, typer.Option(help="length of the longest stream", min=1000, max=10**8)] = 1_000_000,
    format: options.Format = "table",
    check: Annotated[bool, typer.Option("--check", help="measure ratios, and fail if one is worse than kept")] = False,
    within: Annotated[float, typer.Option(help="how much worse a ratio may be", min=0)] = 0.15,
    quick: Annotated[bool, typer.Option("--quick", help="only ratios that take a few seconds each")] = False,
    update: Annotated[
        bool, typer.Option("--update", help="measure ratios, and publish them as this release's")
    ] = False,
) -> None:
    """Measure the engine against a bare loop that does the same work without plugins; or tournaments on threads."""
    if check or update or what == "ratios":
        if quick and update:
            raise HarnessError("--update publishes all ratios; expected it without --quick")
        _ratios(within, format, quick=quick, update=update)
        return
    if what not in _BENCHES:
        raise HarnessError(f"there is no bench {what!r}; {did_you_mean(what, _BENCHES)}")
    _BENCHES[what](jobs, format)


def _engine(jobs: int, format: str) -> None:
    from bounds_cost import HEADERS as BOUNDS
    from bounds_cost import UNITS as BOUNDS_UNITS
    from bounds_cost import bounds_cost
    from engine_speed import (
        ACCOUNTING,
        ACCOUNTING_UNITS,
        HEADERS,
        UNITS,
        accounting,
        compare,
        stream,
        theory,
        variations,
        whole_log,
    )

    from harness.present.tables import render

    rows = [compare(start, stream(length)).row for length in (jobs // 10, jobs) for start in ("none", "easy")]
    print(render(HEADERS, rows, format, units=UNITS))
    print("\n" + render(ACCOUNTING, [accounting(jobs, idle) for idle in (600, 3600)], format, units=ACCOUNTING_UNITS))
    print("\n" + render(BOUNDS, bounds_cost(jobs // 5), format, units=BOUNDS_UNITS))
    print("\n" + render(("exact theory", "time"), theory(), format, units=("", "s")))
    try:
        logs = [(start, whole_log(start)) for start in ("none", "easy", "conservative")]
    except HarnessError as error:
        print(f"\nthe whole HPC2N log: not measured: {error}")
        return
    print("\n" + render(("start", "HPC2N"), logs, format, units=("", "s")))
    print("\n" + render(("under EASY", "time"), variations(), format, units=("", "s")))


def _ratios(within: float, format: str, *, quick: bool, update: bool) -> None:
    from speed_ratios import HEADERS, RATIOS, check
    from speed_releases import publish

    from harness import __version__
    from harness.present.tables import render

    findings = check(within, ratios=tuple(ratio for ratio in RATIOS if not (quick and ratio.slow)))
    print(render(HEADERS, [found.row for found in findings], format))
    for found in findings:
        if found.value is None:
            echo(f"{found.ratio.name}: not measured: {found.why}", file=sys.stderr)
    if update:
        values = {found.ratio.name: found.value for found in findings if found.value is not None}
        for path in publish(__version__, values, {ratio.name: ratio.goal for ratio in RATIOS}):
            print(f"wrote {path}")
    elif worse := [found.ratio.name for found in findings if found.worse]:
        print(f"worse than the last release by more than {within:.0%}: {', '.join(worse)}")
        raise typer.Exit(1)


def _tournament(jobs: int, format: str) -> None:
    from tournament_speed import HEADERS, HELD, HELD_UNITS, UNITS, held, real, throughput

    from harness.present.tables import render

    print(render(HEADERS, [*throughput(), *real()], format, units=UNITS))
    print("\n" + render(HELD, [*held()], format, units=HELD_UNITS))


def _many(jobs: int, format: str) -> None:
    from tournament_speed import MANY, MANY_UNITS, many

    from harness.present.tables import render

    print(render(MANY, [many()], format, units=MANY_UNITS))


_BENCHES = {"engine": _engine, "tournament": _tournament, "many": _many, "ratios": _engine}


if __name__ == "__main__":
    main(app)
