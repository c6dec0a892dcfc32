"""`harness forecast`: when the jobs that wait at one instant will start."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.forecasting.starts import StartForecast
    from harness.workload.snapshot import Snapshot

#: The heads of the table.
_HEADS = ("job", "procs", "limit", "waited", "starts in", "between", "and")


@options.expand_groups
def forecast(
    workload: Annotated[
        str, typer.Argument(help="a log by path or short name: the state with --at, the history with --state")
    ] = "",
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    *,
    given: options.SchedulerOptions,
    lenient: options.Lenient = False,
    at: Annotated[
        str,
        options.about_jobs(metavar="S|DATE", help="the instant: seconds after the log's first submission, or a date"),
    ] = "",
    state: options.StateFile = None,
    repetitions: Annotated[int, options.statistics(help="number of simulations, each with other runtimes", min=1)] = 50,
    level: Annotated[float, options.statistics(help="share of the repetitions in an interval")] = 0.8,
    arrivals: Annotated[
        str, options.statistics(metavar="weeks|none", help="later submissions: those of an earlier week, or none")
    ] = "weeks",
    calibrate: Annotated[
        int,
        options.statistics(
            metavar="MOMENTS", help="fit the intervals to forecasts at this many earlier moments", min=0
        ),
    ] = 0,
) -> None:
    """Forecast when each job starts that waits at one instant of WORKLOAD, or now in a --state.

    The forecast uses only data from before the instant. It simulates the scheduler from this state many times. The
    remaining time of running jobs and the runtime of waiting jobs are drawn from earlier jobs: of the same user and
    limit, else of the user, else of similar limits, else of all. Later submissions are drawn from an earlier week. The
    result is the median start and the interval that holds the share --level of the repetitions.

    reports/forecast.md shows how often jobs start in their interval. --calibrate fits the intervals to forecasts at
    earlier moments: they are then reliable, and wide. With --state, WORKLOAD is the history, with other user names.
    """
    with notices_on_stderr():
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
    echo(_render(found, given.format))


def _snapshot(workload: str, at: str, state: Path | None, lenient: bool, folders: tuple[str, ...]) -> "Snapshot":
    """Return the state at the instant of --at, or the one of --state."""
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


def _render(found: "StartForecast", format: str) -> str:
    """Return the forecast in the format the user wants."""
    import numpy as np

    from harness.present.human_units import with_units
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
    share = with_units(found.level, "", share=True)
    lines = [_sentence(found), "", render(_HEADS, rows, "table"), ""]
    policies = ", ".join(f"{part} {policy}" for part, policy in found.scheduler.items())
    held = f"{share} of them lie in between" if found.correction is None else f"{share} are to start in between"
    lines += [f"{len(found.starts):,} repetitions; {held}; {policies}"]
    if found.correction is None:
        lines += ["rules of the site may delay starts further than its state shows: --calibrate 20 learns by how much"]
    return "\n".join([*lines, *found.remarks, *_ignored(found)])


def _ignored(found: "StartForecast") -> list[str]:
    """Return a sentence for each kind of request that the platform does not have."""
    from harness.results.ignored_requests import ignored_requests

    return ignored_requests(found.snapshot.workload(), found.platform)


def _when(seconds: float) -> str:
    from harness.present.human_units import with_units

    return "never" if seconds == float("inf") else with_units(seconds, "s")


def _sentence(found: "StartForecast") -> str:
    from harness.present.words import counted

    snapshot = found.snapshot
    runs, waits = int(snapshot.running.sum()), len(found.waiting)
    soon = int((found.table["median"] <= 3600).sum())
    return (
        f"{snapshot.name}, {describe_instant(snapshot)}: {counted(runs, 'job')} run and "
        f"{counted(waits, 'job')} wait on {found.platform.name}; {soon:,} of these can be expected to "
        "start within the hour."
    )


def describe_instant(snapshot: "Snapshot") -> str:
    """Return the date of a snapshot if its log has one, else the seconds."""
    from harness.workload.wall_clock import WallClock

    date = WallClock.of(snapshot.header).date(snapshot.now)
    return f"at {snapshot.now:,.0f} s" if date is None else f"on {date}"


def _about(found: "StartForecast") -> dict[str, Any]:
    """Return what was forecast, and how, for JSON."""
    platform = found.platform
    return {
        "name": found.snapshot.name,
        "now": found.snapshot.now,
        "instant": describe_instant(found.snapshot),
        "running": int(found.snapshot.running.sum()),
        "platform": {"name": platform.name, "nodes": platform.nodes, "procs": platform.cores},
        "scheduler": found.scheduler,
        "repetitions": len(found.starts),
        "level": found.level,
        "assumed": list(found.remarks),
        "ignored": _ignored(found),
        "preparation": [asdict(step) for step in found.snapshot.steps],
    }
