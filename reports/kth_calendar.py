"""Makes the tables of kth-calendar.md: the calendar of KTH-SP2, fitted on one half of its log, judged on the other.

The breakdown of `harness adequacy KTH-SP2` shows when the site lets jobs begin: working days from 8 h to 17 h, nights,
and the weekend, and what begins in one ends in it. That is data for the hold `calendar`. By how much nights and
weekends may be outlasted is fitted: the best on average over four parts of the first half. `kth-first-half.toml` came
of it.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

import harness
from harness.cli import main
from harness.present.tables import known_format, render

#: The field that the calendar is held against: 15 orders with five start policies.
ORDERS = (
    *("fcfs", "lcfs", "spf", "lpf", "saf", "laf", "f1", "f2", "f3", "f4"),
    *("sjf-width", "ljf-width", "wfp3", "unicef", "expansion"),
)
STARTS = ("none", "greedy", "easy", "conservative", "easy(backfill_order=spf)")

#: When the windows of the week begin [h from Monday 0 h on], by a clock that is an hour ahead of UTC all year.
BEGINS = tuple(24.0 * day + hour for day in range(5) for hour in (8.0, 17.0))
AHEAD = 3600.0

#: By how much nights and weekends may be outlasted [h].
NIGHTS, WEEKENDS = (0, 1, 2, 3, 4, 6), (0, 4, 8, 12)
PARTS = 4
#: Until then the rule was kept, as `--months` shows.
KEPT = "1997-06-01"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def calendar(night: int, weekend: int) -> str:
    """Return the calendar in which nights may be outlasted by `night` hours, and weekends by `weekend`.

    Jobs of up to 15 h outlast a weekend by 4 h at most: with more they could begin on Monday by day.
    """
    evening = f"{8 + night:02}:00"
    kinds = {
        "at_most = 4": (True, min(weekend, 4)),
        "longer = 4\nat_most = 15": (False, min(weekend, 4)),
        "longer = 15\nat_most = 63": (None, weekend),
    }
    windows = []
    for kind, (days, late) in kinds.items():
        if days:
            windows.append((kind, "Mon-Fri", "08:00", "17:00"))
        if days is not None:
            windows.append((kind, "Mon-Thu", "17:00", evening))
        windows.append((kind, "Fri", "17:00", f"Mon {8 + late:02}:00"))
    about = f"KTH-SP2 by the first half of its log; nights may be outlasted by {night} h, weekends by {weekend} h."
    told = [f'about = "{about}"\nutc = 1    # by clocks that know no summer time\n']
    for kind, on, begin, end in windows:
        told.append(f'[[begin]]\n{kind}\ndays = "{on}"\nfrom = "{begin}"\nto = "{end}"\nwithin = true\n')
    return "\n".join(told)


def halves(log: harness.Log) -> tuple[list[harness.Workload], dict[str, harness.Workload]]:
    """Return the parts of the first half by time, both halves, and the part of the second before the rule ended."""
    submit = log.jobs["submit"]
    half = float(np.ptp(submit)) / 2
    cuts = np.linspace(0, half, PARTS + 1)
    parts = [harness.prepare(log, start=begin, stop=end) for begin, end in pairwise(cuts.tolist())]
    return parts, {
        "first": harness.prepare(log, stop=half),
        "second": harness.prepare(log, start=half),
        "second, to May": harness.prepare(log, start=half, stop=KEPT),
    }


def replayed(jobs: harness.Workload, order: str, start: str, table: str = "") -> harness.Adequacy:
    """Replay one part, and return its distance from the log."""
    return harness.adequacy(simulated(jobs, order, start, table))


def simulated(jobs: harness.Workload, order: str, start: str, table: str = "") -> harness.Schedule:
    """Simulate jobs, held by a calendar if a `table` is given."""
    with TemporaryDirectory() as here:
        path = Path(here) / "calendar.toml"
        path.write_text(table, encoding="utf-8")
        hold = f"calendar('{path}')" if table else "none"
        scheduler = harness.Scheduler(order=order, start=start, energy="none", hold=hold)
        return harness.simulate(jobs, None, scheduler)


def fitted(parts: list[harness.Workload]) -> tuple[int, int, str, float]:
    """Return hours of grace for nights and weekends, a start policy, and their mean skill over the parts."""

    def judged(choice: tuple[int, int, str]) -> float:
        night, weekend, start = choice
        return float(np.mean([replayed(part, "fcfs", start, calendar(night, weekend)).scale.skill for part in parts]))

    choices = list(product(NIGHTS, WEEKENDS, ("easy", "greedy")))
    with ThreadPoolExecutor() as threads:
        skills = list(threads.map(judged, choices))
    best = int(np.argmax(skills))
    return (*choices[best], skills[best])


def crossing(jobs: harness.Workload) -> pd.DataFrame:
    """Return by month how many jobs began by the log, and which share of them would outlast their window by request."""
    frame = jobs.jobs
    epoch = next(float(line.split(":")[1]) for line in jobs.header if "UnixStartTime" in line)
    start = (frame["submit"] + frame["logged_wait"]).to_numpy() + epoch + AHEAD
    hour = (start / 3600 + 72) % 168
    end = np.array([*BEGINS, BEGINS[0] + 168])[np.searchsorted(BEGINS, hour, "right")]
    left = (end - hour) % 168
    months = pd.to_datetime(start, unit="s").strftime("%Y-%m")
    over = frame["estimate"].to_numpy() / 3600 > left + 0.1
    return pd.DataFrame({"jobs": 1, "over": over}).groupby(months).agg({"jobs": "size", "over": "mean"})


def rows(judged: dict[str, harness.Workload], night: int, weekend: int, start: str) -> Iterator[tuple[Any, ...]]:
    """Yield half, scheduler, P, skill, median and rank correlation of the waits."""
    for half, jobs in judged.items():
        best = harness.identify(jobs, orders=ORDERS, starts=STARTS, states=0)[0]
        for told, order, begin, table in (
            ("", "fcfs", "easy", ""),
            (", best of the 75", best.order, best.start, ""),
            ("", "fcfs", "greedy", ""),
            (" + calendar", "fcfs", "easy", calendar(night, weekend)),
            (" + calendar", "fcfs", "greedy", calendar(night, weekend)),
        ):
            found = replayed(jobs, order, begin, table)
            chosen = ", fitted" * (table != "" and begin == start)
            scale = found.scale
            yield half, f"{order} + {begin}{told}{chosen}", found.P, scale.skill, found.median, scale.rank_correlation


@app.command()
def kth_calendar(
    trace: Annotated[str, typer.Argument(help="The log.")] = "KTH-SP2",
    months: Annotated[bool, typer.Option("--months", help="Only by month, how many starts break the rule.")] = False,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """A calendar fitted on the first half of a log and judged on the second: reports/kth-calendar.md."""
    known_format(format)
    log = harness.read_workload(trace)
    if months:
        table = crossing(harness.prepare(log))
        by_month = [(month, jobs, round(100 * over, 1)) for month, jobs, over in table.itertuples()]
        typer.echo(render(("month", "jobs", "would outlast their window"), by_month, format, units=("", "", "%")))
        return
    parts, judged = halves(log)
    night, weekend, start, skill = fitted(parts)
    headers = ("half", "scheduler", "P", "skill", "median of abs(V − v)", "rank correlation")
    found = rows(judged, night, weekend, start)
    shown = [(half, who, P, round(of, 3), median, round(rank, 3)) for half, who, P, of, median, rank in found]
    typer.echo(render(headers, shown, format, units=("", "", "s", "", "s", "")))
    if format in ("table", "markdown"):
        typer.echo(
            f"\nfitted: nights may be outlasted by {night} h, weekends by {weekend} h, fcfs + {start}; "
            f"mean skill over {PARTS} parts of the first half {skill:.3f}"
        )
        typer.echo(f"\n{calendar(night, weekend)}")


if __name__ == "__main__":
    main(app)
