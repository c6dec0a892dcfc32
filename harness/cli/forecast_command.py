"""`harness forecast`: when the jobs will start that wait at one instant."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import compiling_said, say, warnings_said
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.forecasting.starts import StartForecast
    from harness.workload.snapshot import Snapshot

#: What the columns of the table for people are.
_HEADS = ("job", "procs", "limit", "waited", "starts in", "between", "and")


@options.spread
def forecast(
    workload: Annotated[str, typer.Argument(help="a log by path or short name: what was, and with --at what is")] = "",
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    *,
    given: options.Where,
    lenient: options.Lenient = False,
    at: Annotated[
        str, typer.Option(metavar="S|DATE", help="the instant: s after the log's first submit, or a date")
    ] = "",
    state: options.StateFile = None,
    repetitions: Annotated[int, typer.Option(help="so many simulations, each with other runtimes", min=1)] = 50,
    level: Annotated[float, typer.Option(help="share of the repetitions that an interval holds")] = 0.8,
    arrivals: Annotated[
        str, typer.Option(metavar="weeks|none", help="who comes later: as in an earlier week, or nobody")
    ] = "weeks",
    calibrate: Annotated[
        int,
        typer.Option(metavar="MOMENTS", help="intervals by what came of forecasts at so many earlier moments", min=0),
    ] = 0,
) -> None:
    """Say when each job will start that waits at an instant of WORKLOAD, or now in a --state.

    Only what was known then counts. The state is continued many times under the scheduler: what running jobs have left
    and waiting ones will take is drawn from what earlier jobs of the same user and limit took of theirs, or else of the
    user, of limits of that size, of all; who comes later, from an earlier week. Told are the median of the repetitions
    and the interval that holds the share --level of them: reports/forecast.md says how often starts lie in it. With
    --calibrate the intervals are those in which jobs started at earlier moments that were forecast so, which makes
    them honest, and wide. With --state, WORKLOAD is what was before: its users are others.
    """
    with compiling_said(), warnings_said():
        from harness.forecasting.correction import calibrated
        from harness.forecasting.starts import forecast_starts
        from harness.present.progress import progress

        given.known_format()
        snapshot = _snapshot(workload, at, state, lenient, given.folders)
        machine = given.machine(snapshot.workload())
        scheduler = given.scheduler(order, start)
        how: dict[str, Any] = {"repetitions": repetitions, "level": level, "arrivals": arrivals, "seed": given.seed}
        how |= {"plugins": given.folders, "timing": given.timing}
        with progress("continuing", "repetitions") as advance:
            found = forecast_starts(snapshot, machine, scheduler, progress=advance, **how)
        if calibrate:
            with progress("calibrating", "moments") as advance:
                found = calibrated(found, calibrate, machine, scheduler, progress=advance, **how)
    say(_shown(found, given.format))


def _snapshot(workload: str, at: str, state: Path | None, lenient: bool, folders: tuple[str, ...]) -> "Snapshot":
    """Return what is known at the instant that was asked for."""
    from harness.forecasting.arrivals import with_history
    from harness.workload.log_reading import read_workload
    from harness.workload.snapshot import at_instant, time_in
    from harness.workload.state_file import read_state

    if state is None and not (workload and at):
        raise HarnessError("expected a log and an instant of it, as in KTH-SP2 --at 1997-01-15, or --state FILE")
    if state is not None and at:
        raise HarnessError("--at and --state both given: expected one of them")
    log = read_workload(workload, lenient=lenient, plugins=folders) if workload else None
    if state is not None:
        there = read_state(state, lenient=lenient)
        return there if log is None else with_history(there, log)
    assert log is not None
    return at_instant(log, time_in(log, at))


def _shown(found: "StartForecast", format: str) -> str:
    """Return the forecast in the format the user wants."""
    import numpy as np

    from harness.present.human_units import humane
    from harness.present.json_text import to_json
    from harness.present.tables import render

    table = found.table
    if format == "json":
        return to_json({**_about(found), "jobs": table.to_dict(orient="records")})
    if format != "table":
        units = ("", "", *["s"] * 5)
        return render(tuple(table.columns), table.to_numpy(dtype=object).tolist(), format, units=units)
    times = table[["limit", "waited", "median", "low", "high"]].to_numpy(dtype=np.float64).tolist()
    rows = [
        (job, procs, *map(_when, seconds))
        for job, procs, seconds in zip(table["job"], table["procs"], times, strict=True)
    ]
    share = humane(found.level, "", share=True)
    lines = [_sentence(found), "", render(_HEADS, rows, "table"), ""]
    policies = ", ".join(f"{part} {policy}" for part, policy in found.scheduler.items())
    held = f"{share} of them lie in between" if found.correction is None else f"{share} are to start in between"
    lines += [f"{len(found.starts):,} repetitions; {held}; {policies}"]
    if found.correction is None:
        lines += [
            "the machine's own rules may make jobs start later than its state tells: --calibrate 20 learns how much"
        ]
    return "\n".join([*lines, *found.remarks, *_ignored(found)])


def _ignored(found: "StartForecast") -> list[str]:
    """Return a sentence for each kind of request that the platform does not have."""
    from harness.results.ignored_requests import ignored_requests

    return ignored_requests(found.snapshot.workload(), found.platform)


def _when(seconds: float) -> str:
    """Return a time for people."""
    from harness.present.human_units import humane

    return "never" if seconds == float("inf") else humane(seconds, "s")


def _sentence(found: "StartForecast") -> str:
    """Return the forecast in a sentence."""
    from harness.present.words import counted

    snapshot = found.snapshot
    runs, waits = int(snapshot.running.sum()), len(found.waiting)
    soon = int((found.table["median"] <= 3600).sum())
    return (
        f"{snapshot.name}, {instant_of(snapshot)}: {counted(runs, 'job')} run and {counted(waits, 'job')} wait on "
        f"{found.platform.name}; of these {soon:,} can be expected to start within the hour."
    )


def instant_of(snapshot: "Snapshot") -> str:
    """Return the instant of a snapshot, for people: a date if the log has one."""
    from harness.workload.wall_clock import WallClock

    date = WallClock.of(snapshot.header).date(snapshot.now)
    return f"at {snapshot.now:,.0f} s" if date is None else f"on {date}"


def _about(found: "StartForecast") -> dict[str, Any]:
    """Return what was forecast, for JSON."""
    platform = found.platform
    return {
        "name": found.snapshot.name,
        "now": found.snapshot.now,
        "instant": instant_of(found.snapshot),
        "running": int(found.snapshot.running.sum()),
        "platform": {"name": platform.name, "nodes": platform.nodes, "procs": platform.cores},
        "scheduler": found.scheduler,
        "repetitions": len(found.starts),
        "level": found.level,
        "assumed": list(found.remarks),
        "ignored": _ignored(found),
        "preparation": [asdict(step) for step in found.snapshot.steps],
    }
