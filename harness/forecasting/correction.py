"""Forecast intervals learned from earlier forecasts: by which factor jobs started later than forecast.

A real machine has rules that its state does not show. For jobs that have started, the delay after the forecast is
known. For jobs that still wait, only a lower bound is known. Kaplan and Meier's estimate uses both.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.forecasting.forecast_evaluation import LEADS, evaluated
from harness.forecasting.starts import StartForecast
from harness.policy.scheduler import Scheduler
from harness.workload.log import Log
from harness.workload.snapshot import Snapshot

if TYPE_CHECKING:
    from harness.experiment.simulation import Machine

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: This time is added before factors are computed [s], so that a job forecast to start at once can also be late.
ADDED = 600.0

#: The least number of earlier forecasts of about the same lead time. With fewer, all forecasts are used.
ENOUGH = 50

#: Later than the end of any log [s].
_FAR = 1e12

#: Earlier moments are drawn from this time before the instant [s].
_BEFORE = 26 * 7 * 86400.0


class Correction:
    """Factors by which jobs started later than forecast, by the forecast lead time."""

    def __init__(self, forecast: Floats, seen: Floats, started: Bools) -> None:
        """Take the `forecast` times, the times for which jobs have waited since [s], and whether they `started`."""
        self._factors = np.log((seen + ADDED) / (forecast + ADDED))
        self._started = started
        self._place = np.searchsorted(LEADS, forecast, "left")

    @staticmethod
    def at(rows: pd.DataFrame, now: float) -> "Correction":
        """Return the correction that can be learned at `now` from earlier rows of `evaluated`."""
        rows = rows[(rows["now"] < now) & np.isfinite(rows["forecast"])]
        since = now - rows["now"].to_numpy()
        left = rows["left"].to_numpy()
        started = (left <= since) & rows["lead"].notna().to_numpy()
        return Correction(rows["forecast"].to_numpy(), np.minimum(left, since), started)

    def __len__(self) -> int:
        return int(self._started.sum())

    def interval(self, forecast: Floats, level: float) -> tuple[Floats, Floats]:
        """Return intervals in which a share `level` of jobs with this forecast starts [s], around the forecast."""
        place = np.searchsorted(LEADS, forecast, "left")
        low, high = np.array(forecast, dtype=np.float64), np.array(forecast, dtype=np.float64)
        for k in np.unique(place):
            rows = self._place == k
            if self._started[rows].sum() < ENOUGH:
                rows = np.ones(len(rows), dtype=np.bool_)
            own = place == k
            for values, share in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
                factor = np.exp(quantile(self._factors[rows], self._started[rows], share))
                values[own] = np.maximum(0.0, (forecast[own] + ADDED) * factor - ADDED)
        return np.minimum(low, forecast), np.maximum(high, forecast)


def with_intervals(rows: pd.DataFrame, level: float, learning: int) -> pd.DataFrame:
    """Return rows of `evaluated` from moment `learning` on, with intervals `from` and `to` learned before each."""
    found = []
    for now in rows["now"].unique()[learning:]:
        own = rows[rows["now"] == now]
        begin, end = Correction.at(rows, now).interval(own["forecast"].to_numpy(), level)
        found.append(own.assign(**{"from": begin, "to": end}))
    together: pd.DataFrame = pd.concat(found, ignore_index=True)
    return together


def quantile(values: Floats, known: Bools, share: float) -> float:
    """Return a quantile of numbers of which some are only lower bounds; at most the largest known number."""
    from scipy import stats

    if not known.any():
        return 0.0
    left = stats.ecdf(stats.CensoredData.right_censored(values, ~known)).sf
    reached = np.flatnonzero(left.probabilities <= 1 - share + 1e-12)
    return float(left.quantiles[reached[0]] if len(reached) else values[known].max())


def calibrated(
    found: StartForecast,
    moments: int,
    platform: "Machine | None" = None,
    scheduler: Scheduler | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    **how: Any,
) -> StartForecast:
    """Return a forecast with intervals learned from forecasts at earlier moments, drawn from the last half year.

    Those forecasts are made in the same way, from the data of their time. They are compared with the starts known now.
    """
    snapshot = found.snapshot
    log = _history(snapshot)
    first = max(float(snapshot.past["submit"].min()), snapshot.now - _BEFORE)
    times = np.sort(np.floor(np.random.default_rng([int(how.get("seed", 0)), 3]).uniform(first, snapshot.now, moments)))
    rows = []
    for k, time in enumerate(times.tolist()):
        rows += list(evaluated(log, [time], scheduler or Scheduler(), platform=platform, **how))
        if progress is not None:
            progress(k + 1, moments)
    learned = Correction.at(pd.concat(rows), snapshot.now) if rows else None
    if learned is None or not len(learned):
        raise HarnessError(
            f"{snapshot.name}: at {moments} earlier moments no job waited that has started since: nothing to calibrate "
            "with; expected a longer log, or no --calibrate"
        )
    remark = f"calibrated with {len(learned):,} forecasts at {moments:,} earlier moments"
    return replace(found, correction=learned, remarks=(remark, *found.remarks))


def _history(snapshot: Snapshot) -> Log:
    """Return the log as known now. Waiting jobs start, and running jobs end, at a time far in the future."""
    past = snapshot.past
    waits, runs = (past["wait"] < 0).to_numpy(), (past["status"] == -1).to_numpy() & (past["run"] < 0).to_numpy()
    unfinished = past["job"].isin(snapshot.present["job"]).to_numpy()
    wait = np.where(waits & unfinished, _FAR, past["wait"])
    run = np.where(runs & ~waits & unfinished, _FAR, past["run"])
    return Log(snapshot.name, past.assign(wait=wait, run=run), snapshot.header, snapshot.name, procs=snapshot.procs)
