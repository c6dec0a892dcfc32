"""What earlier forecasts were off by, as intervals of later ones: by what factor jobs started later than was forecast.

A real machine has rules that a state does not show. How much later than forecast its jobs start is known of those that
have started; of those that still wait, that it is more than so much (Kaplan and Meier's estimate heeds both).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.forecasting.forecast_evaluation import LEADS, judged
from harness.forecasting.starts import StartForecast
from harness.policy.scheduler import Scheduler
from harness.workload.log import Log
from harness.workload.snapshot import Snapshot

if TYPE_CHECKING:
    from harness.experiment.simulation import Machine

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: Factors are of times with so much added [s]: a job that was told to start at once can be late, too.
ADDED = 600.0

#: So many earlier forecasts of about the same lead time are enough; else all count.
ENOUGH = 50

#: Later than any log lasts [s].
_FAR = 1e12

#: Earlier moments are drawn from so long before [s].
_BEFORE = 26 * 7 * 86400.0


class Correction:
    """Factors by which starts came later than forecast, by the lead time that was forecast."""

    def __init__(self, forecast: Floats, seen: Floats, started: Bools) -> None:
        """Take what was `forecast`, and how long jobs were `seen` to wait since [s], until they `started` or not."""
        self._factors = np.log((seen + ADDED) / (forecast + ADDED))
        self._started = started
        self._place = np.searchsorted(LEADS, forecast, "left")

    @staticmethod
    def at(rows: pd.DataFrame, now: float) -> "Correction":
        """Return what can be learned at `now` from earlier rows of `judged`."""
        rows = rows[(rows["now"] < now) & np.isfinite(rows["forecast"])]
        since = now - rows["now"].to_numpy()
        left = rows["left"].to_numpy()
        started = (left <= since) & rows["lead"].notna().to_numpy()
        return Correction(rows["forecast"].to_numpy(), np.minimum(left, since), started)

    def __len__(self) -> int:
        return int(self._started.sum())

    def interval(self, forecast: Floats, level: float) -> tuple[Floats, Floats]:
        """Return from when to when a share `level` of jobs forecast so starts [s]; the forecast lies in between."""
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
    """Return rows of `judged` after so many moments, with intervals learned from all before, `from` and `to`."""
    found = []
    for now in rows["now"].unique()[learning:]:
        own = rows[rows["now"] == now]
        begin, end = Correction.at(rows, now).interval(own["forecast"].to_numpy(), level)
        found.append(own.assign(**{"from": begin, "to": end}))
    together: pd.DataFrame = pd.concat(found, ignore_index=True)
    return together


def quantile(values: Floats, known: Bools, share: float) -> float:
    """Return a quantile of numbers, some known only to be larger than so much; the largest known one at most."""
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
    """Return a forecast with intervals learned from those at so many earlier moments, drawn from the last half year.

    They are made in the same way, from what was known then; what came of them counts as far as it is known by now.
    """
    snapshot = found.snapshot
    log = _history(snapshot)
    first = max(float(snapshot.past["submit"].min()), snapshot.now - _BEFORE)
    times = np.sort(np.floor(np.random.default_rng([int(how.get("seed", 0)), 3]).uniform(first, snapshot.now, moments)))
    rows = []
    for k, time in enumerate(times.tolist()):
        rows += list(judged(log, [time], scheduler or Scheduler(), platform=platform, **how))
        if progress is not None:
            progress(k + 1, moments)
    learned = Correction.at(pd.concat(rows), snapshot.now) if rows else None
    if learned is None or not len(learned):
        raise HarnessError(
            f"{snapshot.name}: at {moments} earlier moments nobody waited who has started since: nothing to calibrate "
            "by; expected a longer log, or no --calibrate"
        )
    remark = f"calibrated by what came of {len(learned):,} forecasts at {moments:,} moments of the time before"
    return replace(found, correction=learned, remarks=(remark, *found.remarks))


def _history(snapshot: Snapshot) -> Log:
    """Return the log as it is known now: who waits will start, and who runs will end, at some time that is far off."""
    past = snapshot.past
    waits, runs = (past["wait"] < 0).to_numpy(), (past["status"] == -1).to_numpy() & (past["run"] < 0).to_numpy()
    there = past["job"].isin(snapshot.there["job"]).to_numpy()
    wait = np.where(waits & there, _FAR, past["wait"])
    run = np.where(runs & ~waits & there, _FAR, past["run"])
    return Log(snapshot.name, past.assign(wait=wait, run=run), snapshot.header, snapshot.name, procs=snapshot.procs)
