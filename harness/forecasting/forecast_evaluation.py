"""The errors of start forecasts on a log, compared with two forecasts that need no simulation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.forecasting.starts import forecast_starts
from harness.forecasting.usage import size
from harness.policy.scheduler import Scheduler
from harness.workload.log import Log
from harness.workload.snapshot import Snapshot, at_instant, cancelled, widths

if TYPE_CHECKING:
    from harness.experiment.simulation import Machine

Floats = npt.NDArray[np.float64]

#: Upper ends of the ranges of lead times in tables [s].
LEADS = (3600.0, 4 * 3600.0, 12 * 3600.0, 24 * 3600.0, np.inf)

#: The forecasts that are compared.
METHODS = ("forecast", "similar", "at_once")


def instants(log: Log, count: int, seed: int = 0) -> list[float]:
    """Return random times in the second half of a log, in whole seconds, sorted."""
    submit = log.jobs["submit"].to_numpy(dtype=np.float64)
    first, last = float(submit[submit >= 0].min()), float(submit.max())
    draw = np.random.default_rng(seed).uniform((first + last) / 2, last, count)
    return sorted(np.floor(draw).tolist())


def evaluated(
    log: Log,
    moments: Sequence[float],
    scheduler: Scheduler,
    *,
    platform: "Machine | None" = None,
    level: float = 0.8,
    **how: Any,
) -> Iterator[pd.DataFrame]:
    """Yield the forecasts at each of these times of a log, a row for each job that waited then. Times in s.

    `left` is the time until the job left the queue by the log, and `lead` the same if it started, else NaN. The
    forecasts are `forecast` with its interval `low` to `high`, `similar` by the wait of the last similar job that had
    started, and `at_once`, zero. `now` and `job` identify the row.
    """
    jobs = log.jobs
    leaving = pd.Series((jobs["submit"] + jobs["wait"]).to_numpy(dtype=np.float64), jobs["job"].to_numpy())
    starting = leaving.where(~cancelled(jobs))
    leaving, starting = (times[~times.index.duplicated()] for times in (leaving, starting))
    for now in moments:
        try:
            snapshot = at_instant(log, now)
        except HarnessError:  # no job ran or waited
            continue
        if snapshot.running.all():
            continue
        found = forecast_starts(snapshot, platform, scheduler, level=level, **how)
        numbers = found.waiting["job"].to_numpy()
        low, median, high = found.quantiles
        columns = {
            "job": numbers,
            "now": now,
            "forecast": median,
            "low": low,
            "high": high,
            "similar": as_similar(snapshot),
            "at_once": 0.0,
            "left": leaving[numbers].to_numpy() - now,
            "lead": starting[numbers].to_numpy() - now,
        }
        yield pd.DataFrame(columns)


def as_similar(snapshot: Snapshot) -> Floats:
    """Return how long each waiting job still waits if its whole wait is that of the last similar job that started.

    A similar job has the same user and similar width and limit, else similar width and limit, else it is any job.
    """
    past = snapshot.past[snapshot.past["wait"] >= 0]
    past = past.iloc[np.argsort((past["submit"] + past["wait"]).to_numpy(), kind="stable")]
    last: dict[Any, float] = {}
    for keys, wait in zip(_similarities(past), past["wait"].tolist(), strict=True):
        last.update(dict.fromkeys(keys, float(wait)))
    waiting = snapshot.present[~snapshot.running]
    waits = [next((last[key] for key in keys if key in last), 0.0) for keys in _similarities(waiting)]
    left: Floats = np.maximum(0.0, waiting["submit"].to_numpy(dtype=np.float64) + np.array(waits) - snapshot.now)
    return left


def _similarities(jobs: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield keys for each job that it shares with similar jobs, from the most to the least similar."""
    sizes = zip(
        jobs["user"].tolist(), size(widths(jobs)).tolist(), size(jobs["estimate"].to_numpy()).tolist(), strict=True
    )
    for user, procs, limit in sizes:
        yield (user, procs, limit), (procs, limit), ()


@dataclass(frozen=True)
class Error:
    """The errors of forecasts for jobs in one range of lead times [s]."""

    below: float  # upper end of the lead times [s], may be infinite
    jobs: int
    moments: int
    means: dict[str, float]  # mean absolute error of each of `METHODS`
    medians: dict[str, float]
    covered: float  # share of the starts within the interval
    width: float  # median width of the interval


def errors(rows: pd.DataFrame, by: str = "lead") -> list[Error]:
    """Return the errors for started jobs by lead time, and last for all.

    The lead time is the logged one, or with `by` "forecast" the forecast one.
    """
    rows = rows[rows["lead"].notna()]
    place = np.searchsorted(LEADS, rows[by].to_numpy(), "left")
    parts = [(end, rows[place == k]) for k, end in enumerate(LEADS)]
    return [_error(end, part) for end, part in (*parts, (np.nan, rows)) if len(part)]


def _error(below: float, rows: pd.DataFrame) -> Error:
    off = {name: (rows[name] - rows["lead"]).abs() for name in METHODS}
    return Error(
        below,
        len(rows),
        rows["now"].nunique(),
        {name: float(values.mean()) for name, values in off.items()},
        {name: float(values.median()) for name, values in off.items()},
        float(((rows["low"] <= rows["lead"]) & (rows["lead"] <= rows["high"])).mean()),
        float((rows["high"] - rows["low"]).median()),
    )


def ratio(rows: pd.DataFrame, null: str, *, draws: int = 2000, seed: int = 0) -> tuple[float, float, float]:
    """Return the mean error of the forecast divided by that of method `null`, with its 95 % interval.

    The bootstrap resamples moments, because jobs that wait at one moment depend on each other.
    """
    from scipy.stats import bootstrap

    rows = rows[rows["lead"].notna()]
    off = pd.DataFrame({name: (rows[name] - rows["lead"]).abs() for name in ("forecast", null)})
    sums = off.groupby(rows["now"]).sum().to_numpy().T

    def quotient(ours: Floats, theirs: Floats, axis: int = -1) -> Any:
        return ours.sum(axis=axis) / theirs.sum(axis=axis)

    whole = float(quotient(*sums))
    if sums.shape[1] < 2:  # nothing to resample
        return whole, whole, whole
    how: Any = {"paired": True, "method": "percentile", "random_state": np.random.default_rng(seed)}
    found = bootstrap(tuple(sums), quotient, n_resamples=draws, **how).confidence_interval
    return float(found.low), whole, float(found.high)
