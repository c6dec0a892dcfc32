"""What a log is like: its jobs, its load, when they came, and what in it may mislead."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.workload.log import Log, Step
from harness.workload.swf import header_number, header_texts, procs_of

#: What the statuses of the Standard Workload Format mean; whatever else occurs is odd.
STATUSES = {
    -1: "unknown",
    0: "failed",
    1: "completed",
    2: "partial, continued",
    3: "partial, last, completed",
    4: "partial, last, failed",
    5: "cancelled",
}

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """How the known values of one property are spread over the jobs."""

    name: str
    unit: str
    known: int
    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float
    mean: float


@dataclass(frozen=True)
class Description:
    """A log in figures. Times in seconds; `begin` is empty and hours and days count from 0 if no date is known."""

    name: str
    source: str
    jobs: int
    procs: int | None
    users: int
    begin: str
    zone: str
    span: float  # from the first submit to the last
    load: float | None  # processor-seconds of the jobs by those of the machine during `span`
    statuses: dict[str, int]
    spreads: tuple[Spread, ...]
    arrivals_by_hour: tuple[int, ...]
    arrivals_by_weekday: tuple[int, ...]  # Monday first; if no date is known, days 1 to 7 from time 0
    hazards: tuple[Step, ...]


def describe(log: Log, procs: int | None = None) -> Description:
    """What `log` is like, on a machine of `procs` processors or as many as its header names."""
    procs = procs_of(log) if procs is None else procs
    column = {str(name): log.jobs[name].to_numpy(dtype=np.float64) for name in log.jobs.columns}
    submit = column["submit"][column["submit"] >= 0]
    width = np.where(column["procs"] > 0, column["procs"], column["used_procs"])
    run, estimate = column["run"], column["estimate"]
    span = float(np.ptp(submit)) if submit.size else 0.0
    work = float((run * width)[(run > 0) & (width > 0)].sum())
    both = (run > 0) & (estimate > 0)
    start, zone = _clock(log.header)
    hours, weekdays = _arrivals(submit, start, zone)
    begin = datetime.fromtimestamp(start + submit.min(), zone) if start and zone and submit.size else None
    return Description(
        name=log.name,
        source=log.source,
        jobs=len(log.jobs),
        procs=procs,
        users=int(np.unique(column["user"][column["user"] >= 0]).size),
        begin=begin.isoformat(" ", "minutes") if begin else "",
        zone=str(zone) if begin else "",
        span=span,
        load=work / (procs * span) if procs and span else None,
        statuses=_statuses(column["status"]),
        spreads=(
            _spread("width", "procs", width[width > 0]),
            _spread("runtime", "s", run[run > 0]),
            _spread("requested time", "s", estimate[estimate > 0]),
            _spread("runtime / requested", "", run[both] / estimate[both]),
            _spread("wait", "s", column["wait"][column["wait"] >= 0]),
        ),
        arrivals_by_hour=hours,
        arrivals_by_weekday=weekdays,
        hazards=(*log.reading, *_hazards(log, column, width, procs)),
    )


def _spread(name: str, unit: str, values: Floats) -> Spread:
    if not values.size:
        values = np.array([np.nan])
    least, quarter, median, three_quarters, most = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    known = int(np.isfinite(values).sum())
    return Spread(name, unit, known, least, quarter, median, three_quarters, most, float(values.mean()))


def _statuses(status: Floats) -> dict[str, int]:
    numbers, counts = np.unique(status.astype(np.int64), return_counts=True)
    named = {STATUSES[n]: int(c) for n, c in zip(numbers.tolist(), counts, strict=True) if n in STATUSES}
    odd = len(status) - sum(named.values())
    return named | ({"odd": odd} if odd else {})


def _clock(header: tuple[str, ...]) -> tuple[int | None, ZoneInfo | None]:
    """When the log's time 0 was, and where; None what the header does not say."""
    names = header_texts(header, "TimeZoneString")
    try:
        zone = ZoneInfo(names[0] if names else "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        zone = ZoneInfo("UTC")
    return header_number(header, "UnixStartTime"), zone


def _arrivals(submit: Floats, start: int | None, zone: ZoneInfo | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many jobs came in each hour of the day and on each day of the week, by the clock on the wall."""
    if start is None:
        hours, days = submit // 3600 % 24, submit // 86400 % 7
    else:
        when = pd.DatetimeIndex(pd.to_datetime(start + submit, unit="s", utc=True)).tz_convert(zone)
        hours, days = when.hour.to_numpy(), when.day_of_week.to_numpy()
    return _counts(hours, 24), _counts(days, 7)


def _counts(values: npt.NDArray[Any], bins: int) -> tuple[int, ...]:
    return tuple(np.bincount(values.astype(np.int64), minlength=bins).tolist())


def _hazards(log: Log, column: dict[str, Floats], width: Floats, procs: int | None) -> list[Step]:
    """What may mislead a replay, each with the number of jobs it concerns."""
    run, wait, estimate, status = (column[name] for name in ("run", "wait", "estimate", "status"))
    submit = column["submit"]
    gaps = np.diff(np.sort(submit[submit >= 0]))
    longest = float(gaps.max(initial=0.0)) / 86400
    numbers = log.jobs["job"].to_numpy()
    busiest = np.unique(column["user"][column["user"] >= 0], return_counts=True)[1].max(initial=0)
    found = (
        ("no header", len(numbers) * (not log.header), "the machine and the date are not known"),
        ("no size", len(numbers) * (bool(log.header) and procs is None), "the header names no MaxProcs: give --procs"),
        ("unsorted submits", (np.diff(submit) < 0).sum(), "submitted before the job above"),
        ("no submit time", (submit < 0).sum(), "dropped by preparation"),
        ("unknown runtime", (run < 0).sum(), "dropped, or what was cancelled replayed as such"),
        ("zero runtime", (run == 0).sum(), "dropped, or what was cancelled replayed as such"),
        ("no width", (width <= 0).sum(), "neither requested nor used: dropped"),
        ("no requested width", ((column["procs"] <= 0) & (width > 0)).sum(), "the used one is taken"),
        ("no requested time", (estimate <= 0).sum(), "the runtime is taken: perfect estimates"),
        ("run > requested", ((run > estimate) & (estimate > 0)).sum(), "estimate raised, or job clipped"),
        ("too wide", (width > procs).sum() if procs else 0, f"more than the {procs} processors: unaccepted"),
        ("unknown wait", (wait < 0).sum(), "nothing to compare a replay's waits with"),
        ("partial records", np.isin(status, (2, 3, 4)).sum(), "pieces of jobs that were checkpointed or swapped"),
        ("odd statuses", (~np.isin(status, list(STATUSES))).sum(), "outside −1 to 5"),
        ("repeated numbers", log.jobs["job"].duplicated().sum(), "job numbers seen before"),
        ("one user", busiest if 4 * busiest > len(numbers) else 0, "more than a quarter of the jobs: a flurry?"),
        (
            "long silence",
            (gaps > 604_800).sum(),
            f"came a week or more after the one before, at most {longest:.1f} days",
        ),
    )
    return [Step(name, int(jobs), detail) for name, jobs, detail in found if jobs]
