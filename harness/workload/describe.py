"""The description of a log for `harness data show`: jobs, load, arrivals and hazards."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.workload.log import SWF_COLUMNS, Log, LoggedStatus, Step
from harness.workload.occupation import Occupation, periods
from harness.workload.resource_columns import NEEDS, REQUEST_COLUMNS
from harness.workload.wall_clock import WallClock

#: The statuses of the Standard Workload Format → their names. Any other status is odd.
STATUSES = {
    LoggedStatus.UNKNOWN: "unknown",
    LoggedStatus.FAILED: "failed",
    LoggedStatus.COMPLETED: "completed",
    LoggedStatus.PARTIAL: "partial, continued",
    LoggedStatus.LAST_PARTIAL: "partial, last, completed",
    LoggedStatus.FAILED_PARTIAL: "partial, last, failed",
    LoggedStatus.CANCELLED: "cancelled",
}

Floats = npt.NDArray[np.float64]

#: Columns that replays or policies can use, but do not need.
_OPTIONAL = ("wait", "estimate", "memory", "user", "group", "queue", "partition", "preceding")


@dataclass(frozen=True)
class Spread:
    """Quantiles of the known values of one property of the jobs."""

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
    """A log in numbers, with times in seconds. Without a date `begin` is empty, and hours and days count from 0."""

    name: str
    source: str
    jobs: int
    procs: int | None
    users: int
    begin: str
    zone: str
    span: float  # from the first submission to the last
    load: float | None  # processor-seconds of the jobs, divided by those of the machine during `span`
    statuses: dict[str, int]
    spreads: tuple[Spread, ...]
    arrivals_by_hour: tuple[int, ...]
    arrivals_by_weekday: tuple[int, ...]  # Monday first; without a known date days 1 to 7 from time 0
    hazards: tuple[Step, ...]
    present: dict[str, tuple[int, int]]  # optional column → jobs with a value, and number of different values
    absent: tuple[str, ...]  # optional columns without any value


@np.errstate(over="ignore")  # sums of the largest floats are infinite
def describe(log: Log, procs: int | None = None) -> Description:
    """Describe `log` on a machine of `procs` processors (default: the number in its header)."""
    procs = log.procs if procs is None else procs
    column = {str(name): log.jobs[name].to_numpy(dtype=np.float64) for name in log.jobs.columns}
    submit = column["submit"][column["submit"] >= 0]
    width = np.where(column["procs"] > 0, column["procs"], column["used_procs"])
    run, estimate = column["run"], column["estimate"]
    span = float(np.ptp(submit)) if submit.size else 0.0
    work = float((run * width)[(run > 0) & (width > 0)].sum())
    both = (run > 0) & (estimate > 0)
    clock = WallClock.of(log.header)
    beyond = clock.beyond(submit)
    if beyond:
        clock = WallClock(None, clock.zone)
    present = {n: _present(n, values) for n, values in column.items() if n in _OPTIONAL or n not in SWF_COLUMNS}
    begin = datetime.fromtimestamp(clock.start + submit.min(), clock.zone) if clock.start and submit.size else None
    return Description(
        name=log.name,
        source=log.source,
        jobs=len(log.jobs),
        procs=procs,
        users=int(np.unique(column["user"][column["user"] >= 0]).size),
        begin=begin.isoformat(" ", "minutes") if begin else "",
        zone=str(clock.zone) if begin else "",
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
        arrivals_by_hour=_counts(clock.hours(submit), 24),
        arrivals_by_weekday=_counts(clock.weekdays(submit), 7),
        hazards=(
            *log.reading,
            *[Step("no date", len(log.jobs), "the header's UnixStartTime lies beyond the calendar")] * bool(beyond),
            *_hazards(log, column, width, procs),
            *_schedule_hazards(Occupation.of(log.jobs), procs),
        ),
        present={name: found for name, found in present.items() if found[0]},
        absent=tuple(name for name in (*_OPTIONAL, *REQUEST_COLUMNS[:-1]) if not present.get(name, (0, 0))[0])
        + (() if any(name.startswith(NEEDS) for name in present) else (f"{NEEDS}…",)),
    )


def _present(name: str, values: Floats) -> tuple[int, int]:
    """Return the number of jobs with a value in a column, and the number of different values."""
    known = values[values > 0] if name in ("estimate", "memory") or name not in SWF_COLUMNS else values[values >= 0]
    return len(known), len(np.unique(known))


def _spread(name: str, unit: str, values: Floats) -> Spread:
    if not values.size:
        values = np.array([np.nan])
    least, quarter, median, three_quarters, most = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    known = int(np.isfinite(values).sum())
    return Spread(name, unit, known, least, quarter, median, three_quarters, most, float(values.mean()))


def _statuses(status: Floats) -> dict[str, int]:
    numbers, counts = np.unique(status, return_counts=True)
    named = {STATUSES[n]: int(c) for n, c in zip(numbers.tolist(), counts, strict=True) if n in STATUSES}
    odd = len(status) - sum(named.values())
    return named | ({"odd": odd} if odd else {})


def _counts(values: npt.NDArray[Any], bins: int) -> tuple[int, ...]:
    return tuple(np.bincount(values.astype(np.int64), minlength=bins).tolist())


def _hazards(log: Log, column: dict[str, Floats], width: Floats, procs: int | None) -> list[Step]:
    """Return the properties of a log that may mislead a replay, with the number of jobs concerned."""
    run, wait, estimate, status = (column[name] for name in ("run", "wait", "estimate", "status"))
    submit = column["submit"]
    gaps = np.diff(np.sort(submit[submit >= 0]))
    longest = float(gaps.max(initial=0.0)) / 86400
    numbers = log.jobs["job"].to_numpy()
    busiest = np.unique(column["user"][column["user"] >= 0], return_counts=True)[1].max(initial=0)
    found = (
        ("no header", len(numbers) * (not log.header), "the machine and the date are not known"),
        ("no size", len(numbers) * (bool(log.header) and procs is None), "the header names no MaxProcs: give --procs"),
        ("unsorted submits", (np.diff(submit) < 0).sum(), "submitted before the previous job"),
        ("no submit time", (submit < 0).sum(), "dropped by preparation"),
        ("unknown runtime", (run < 0).sum(), "dropped, or replayed as cancelled"),
        ("zero runtime", (run == 0).sum(), "dropped, or replayed as cancelled"),
        ("no width", (width <= 0).sum(), "neither requested nor used: dropped"),
        ("no requested width", ((column["procs"] <= 0) & (width > 0)).sum(), "the used width applies"),
        ("no requested time", (estimate <= 0).sum(), "the runtime applies: perfect estimates"),
        ("run > requested", ((run > estimate) & (estimate > 0)).sum(), "estimate raised, or job clipped"),
        ("too wide", (width > procs).sum() if procs else 0, f"more than the {procs} processors: unaccepted"),
        ("unknown wait", (wait < 0).sum(), "a replay's waits cannot be compared"),
        ("partial records", np.isin(status, (2, 3, 4)).sum(), "pieces of jobs that were checkpointed or swapped"),
        ("odd statuses", (~np.isin(status, list(STATUSES))).sum(), "outside −1 to 5"),
        ("repeated numbers", log.jobs["job"].duplicated().sum(), "job numbers that occur again"),
        ("one user", busiest if 4 * busiest > len(numbers) else 0, "more than a quarter of the jobs: a flurry?"),
        ("long silence", (gaps > 604_800).sum(), f"a week or more after the previous, at most {longest:.1f} days"),
    )
    return [Step(name, int(jobs), detail) for name, jobs, detail in found if jobs]


def _schedule_hazards(logged: Occupation, procs: int | None) -> list[Step]:
    """Return the parts of the logged schedule that no replay can repeat: too many processors, and periodic starts."""
    found = []
    if procs and logged.peak > procs:
        instants, busy = logged.steps
        over = (busy > procs)[np.searchsorted(instants, logged.start)]
        detail = (
            f"the logged schedule needs up to {logged.peak:,} of {procs:,} processors, and more than all in "
            f"{100 * logged.above(procs):.2g} % of the time: jobs that started then"
        )
        found.append(Step("infeasible schedule", int(over.sum()), detail))
    for period, share in periods(logged.start - logged.submit)[:1]:
        waited = int((logged.start > logged.submit).sum())
        detail = f"{100 * share:.1f} % of {waited:,} waits above 0 are multiples of {period} s: periodic scheduling"
        found.append(Step("periodic waits", round(share * waited), detail))
    return found
