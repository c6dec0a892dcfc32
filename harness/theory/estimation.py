"""The parameters of the infinite-server model from a log: λ, μ, ν and α_k, each with a confidence interval.

A job that completed shows its service time but not the limit it would have met; a job that the dispatcher
stopped shows its limit but not how long it would have worked; a job that ended otherwise (its user
cancelled it, the log ended) shows only that it lasted so long without either. All three were exposed to
both ends for as long as they ran, so the most likely rates are counts over the common exposure,

    μ = completed / Σ runtime        ν = stopped / Σ runtime

which neither forgets what is censored nor takes it for an end. The unit observed is the job,
whose processors end together; a model that lets them end independently gives these rates to each of them.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from harness.errors import HarnessError
from harness.theory.infinite_server import InfiniteServer, Release
from harness.theory.inputs import fraction, positive, same_length, series, whole_widths
from harness.theory.limit_laws import EXPONENTIAL, LimitLaw


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that holds the true one with the stated confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)  # tables have no single answer to ==
class Parameters:
    """What a log says about the infinite-server model. Rates per second."""

    arrival_rate: Estimate  # λ
    service_rate: Estimate  # μ
    kill_rate: Estimate  # ν
    widths: pd.DataFrame  # width, jobs, share (α_k), low, high: one row for each width that occurs
    completed: int
    killed: int
    censored: int  # ended neither way
    confidence: float

    def model(
        self, release: Release = "independent", law: LimitLaw = EXPONENTIAL, mean_limit: float | None = None
    ) -> InfiniteServer:
        """Return the infinite-server model with the estimated values.

        Limits of another law than the exponential have the mean with which as many jobs are stopped, of those that
        completed or were stopped, unless `mean_limit` [s] is known.
        """
        shares = np.zeros(int(self.widths["width"].max()))
        shares[self.widths["width"] - 1] = self.widths["share"]
        service, ended = self.service_rate.value, self.completed / (self.completed + self.killed)
        left = service * self.censored / self.completed
        if law is EXPONENTIAL or not (mean_limit or self.killed):
            kill = self.kill_rate.value
        else:
            kill = 1 / (mean_limit or law.mean_for(service, ended))
        return InfiniteServer(self.arrival_rate.value, service, kill, shares, release, left, law)


def estimate_parameters(
    interarrival: ArrayLike,
    runtime: ArrayLike,
    width: ArrayLike,
    killed: ArrayLike,
    completed: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Parameters:
    """Estimate the model from the jobs of a log, by maximum likelihood.

    `killed` marks the jobs the dispatcher stopped at their limit, `completed` those that ended by
    themselves (all others, when it is not given); a job that is marked as neither is censored for both
    rates. Times are in seconds. The intervals are exact ones: of Poisson counts for rates (Garwood 1936),
    of binomial counts for shares (Clopper and Pearson 1934, each width by itself).
    """
    fraction(confidence, "confidence")
    gaps, runtimes, widths = (
        series(interarrival, "interarrival"),
        series(runtime, "runtime"),
        whole_widths(width),
    )
    stopped = np.asarray(killed, dtype=bool)
    ended = ~stopped if completed is None else np.asarray(completed, dtype=bool)
    same_length(runtime=runtimes, width=widths, killed=stopped, completed=ended)
    both = np.flatnonzero(stopped & ended)
    if both.size:
        raise HarnessError(f"job {both[0]} is marked both as completed and as killed")
    if not ended.any():
        raise HarnessError(f"none of the {ended.size} jobs completed; the service rate cannot be estimated")
    exposure = positive(float(runtimes.sum()), "total runtime")
    return Parameters(
        arrival_rate=rate(gaps.size, positive(float(gaps.sum()), "total time between arrivals"), confidence),
        service_rate=rate(int(ended.sum()), exposure, confidence),
        kill_rate=rate(int(stopped.sum()), exposure, confidence),
        widths=_width_shares(widths, confidence),
        completed=int(ended.sum()),
        killed=int(stopped.sum()),
        censored=int((~ended & ~stopped).sum()),
        confidence=confidence,
    )


def rate(events: int, exposure: float, confidence: float = 0.95) -> Estimate:
    """Estimate the events per unit of exposure, with Garwood's interval; without events its lower end is zero."""
    tail = (1 - confidence) / 2
    low = float(stats.gamma.ppf(tail, events)) if events else 0.0
    high = float(stats.gamma.ppf(1 - tail, events + 1))
    return Estimate(events / exposure, low / exposure, high / exposure)


def outcomes(
    runtime: ArrayLike, limit: ArrayLike, status: ArrayLike | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which jobs were killed at their limit and which completed, as `(killed, completed)`.

    A job that lasted as long as its limit (zero or less: it has none) was killed, whatever the log calls
    it. Others completed if their SWF `status` is 1, or unknown (−1, or no status at all); failed and
    cancelled ones are censored.
    """
    runtimes, limits = np.asarray(runtime, dtype=np.float64), np.asarray(limit, dtype=np.float64)
    killed = (limits > 0) & (runtimes >= limits)
    if status is None:
        return killed, ~killed
    return killed, ~killed & np.isin(np.asarray(status), (1, -1))


def _width_shares(widths: NDArray[np.int64], confidence: float) -> pd.DataFrame:
    """Estimate α_k of the widths that occur; every occurring share is above zero."""
    occurring, jobs = np.unique(widths, return_counts=True)
    tail, n = (1 - confidence) / 2, widths.size
    return pd.DataFrame(
        {
            "width": occurring,
            "jobs": jobs,
            "share": jobs / n,
            "low": stats.beta.ppf(tail, jobs, n - jobs + 1),
            "high": np.where(jobs == n, 1.0, stats.beta.ppf(1 - tail, jobs + 1, np.maximum(n - jobs, 1))),
        }
    )
