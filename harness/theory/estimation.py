"""Estimates the parameters of the infinite-server model from a log: λ, μ, ν and α_k, with confidence intervals.

A completed job shows its service time, but not its limit. A job stopped by the dispatcher shows its limit, but not its
service time. A job that ended otherwise (cancelled by its user, or by the end of the log) shows only that both are
longer. All jobs could complete or be stopped at any time while they ran, so the maximum-likelihood rates are counts
divided by the common exposure,

    μ = completed / Σ runtime        ν = stopped / Σ runtime

which treats censored jobs correctly. The unit of observation is the job, whose processors end together. A model with
independent processors applies these rates to each processor.
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
    """An estimate with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)  # tables have no single truth value
class Parameters:
    """Parameters of the infinite-server model, estimated from a log. Rates per second."""

    arrival_rate: Estimate  # λ
    service_rate: Estimate  # μ
    kill_rate: Estimate  # ν
    widths: pd.DataFrame  # width, jobs, share (α_k), low, high: one row for each width that occurs
    completed: int
    killed: int
    censored: int  # ended otherwise
    confidence: float

    def model(
        self, release: Release = "independent", law: LimitLaw = EXPONENTIAL, mean_limit: float | None = None
    ) -> InfiniteServer:
        """Return the infinite-server model with the estimated values.

        The mean of non-exponential limits is `mean_limit` [s], or else the mean at which the model stops as many of the
        completed and stopped jobs as the log.
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

    `killed` marks the jobs that the dispatcher stopped at their limit, and `completed` those that ended by themselves
    (default: all others). A job that is marked as neither is censored for both rates. Times are in seconds. Intervals
    are exact: of Poisson counts for rates (Garwood 1936), of binomial counts for shares (Clopper and Pearson 1934, for
    each width).
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
    """Return the rate of events with Garwood's interval; its lower end is zero without events."""
    tail = (1 - confidence) / 2
    low = float(stats.gamma.ppf(tail, events)) if events else 0.0
    high = float(stats.gamma.ppf(1 - tail, events + 1))
    return Estimate(events / exposure, low / exposure, high / exposure)


def outcomes(
    runtime: ArrayLike, limit: ArrayLike, status: ArrayLike | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the jobs that were killed at their limit and those that completed, as `(killed, completed)`.

    A job that ran as long as its limit was killed, whatever its status. A limit of zero or less means none. Other jobs
    completed if their SWF `status` is 1 or unknown (−1, or not given). Failed and cancelled jobs are censored.
    """
    runtimes, limits = np.asarray(runtime, dtype=np.float64), np.asarray(limit, dtype=np.float64)
    killed = (limits > 0) & (runtimes >= limits)
    if status is None:
        return killed, ~killed
    return killed, ~killed & np.isin(np.asarray(status), (1, -1))


def _width_shares(widths: NDArray[np.int64], confidence: float) -> pd.DataFrame:
    """Return the shares α_k of the widths that occur."""
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
