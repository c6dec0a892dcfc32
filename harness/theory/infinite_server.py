"""The number of busy processors if there are always enough, and a dispatcher limits the time of each task.

Requests arrive as a Poisson stream of rate λ. Each takes a random number θ of processors at once, P{θ = k} = α_k. A
processor works for an exponential time of rate μ, unless the dispatcher's limit, exponential with rate ν, ends it
first. Limits with other distributions (`harness.theory.limit_laws`) change the b_j below.

With `release="independent"` every processor of a request works and is limited on its own, as in the underlying paper
(M/M/∞ with random width and a dispatcher's time limit). Its generating function (22) is that of a compound Poisson
distribution,

    G(z) = exp( Σ_j b_j (z^j − 1) )        b_j = a · P{θ ≥ j} / j        a = λ / (μ + ν)

With `release="together"` all processors of a request end at the same time, like those of a batch job. Then requests are
the customers of an M/M/∞ queue, and b_j = a · α_j. In both cases the probabilities of n busy processors satisfy

    n · p_n = Σ_{j=1..n} j · b_j · p_{n−j}        p_0 = exp(−Σ_j b_j)

(for independent processors this is (n+1) p_{n+1} = a Σ_k P{θ > k} p_{n−k}). All terms are positive, so the recursion is
stable. The mean is Σ j·b_j = a·E[θ] in both cases, and the variance Σ j²·b_j is a·E[θ(θ+1)]/2 or a·E[θ²].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize, stats

from harness.errors import HarnessError, did_you_mean
from harness.theory.inner_product import inner_product
from harness.theory.inputs import MOST_PROCS, FloatArray, fraction, nonnegative, positive, shares
from harness.theory.limit_laws import EXPONENTIAL, LimitLaw

Release = Literal["independent", "together"]

#: The widths of the paper's Figure 4; its Figure 3 is the first of these curves.
FIGURE_4 = (1, 3, 5)

#: The probability beyond the end of a distribution that may be neglected.
NEGLIGIBLE = 1e-15


@dataclass(frozen=True, eq=False)  # arrays have no single truth value
class InfiniteServer:
    """Requests of random width on unlimited processors, under a random time limit. Rates per second."""

    arrival_rate: float  # λ
    service_rate: float  # μ
    kill_rate: float  # ν; 0 is no limit
    widths: FloatArray  # α_1, α_2, …
    release: Release = "independent"
    leave_rate: float = 0.0  # of requests that end otherwise: failed, cancelled
    law: LimitLaw = EXPONENTIAL  # distribution of the limits, with mean 1/ν

    def __post_init__(self) -> None:
        positive(self.arrival_rate, "arrival rate")
        positive(self.service_rate, "service rate")
        nonnegative(self.kill_rate, "kill rate")
        nonnegative(self.leave_rate, "leave rate")
        object.__setattr__(self, "widths", np.trim_zeros(shares(self.widths), "b"))
        if self.release not in get_args(Release):
            raise HarnessError(f"there is no release {self.release!r}; {did_you_mean(self.release, get_args(Release))}")

    @property
    def offered(self) -> float:
        """Return a = λ/(μ+ν), the mean number of requests in service if all processors of each end together.

        Requests that end otherwise free their processors too, so their rate is added to μ + ν.
        """
        rate = self.service_rate + self.leave_rate
        if self._closed:
            return self.arrival_rate / (rate + self.kill_rate)
        return self.arrival_rate * self.law.held(rate, 1 / self.kill_rate)

    @property
    def _closed(self) -> bool:
        """Whether limits are exponential or absent, so that closed forms hold."""
        return self.law is EXPONENTIAL or self.kill_rate == 0

    @property
    def mean(self) -> float:
        return self.offered * self._moment(1)

    @property
    def variance(self) -> float:
        if self.release == "together":
            return self.offered * self._moment(2)
        if self._closed:
            return self.offered * (self._moment(2) + self._moment(1)) / 2
        batches = self._batches()
        return float(batches @ np.arange(1.0, batches.size + 1) ** 2)

    @property
    def completion_probability(self) -> float:
        """Return the probability that no processor of a request is stopped: Q(μ/(μ+ν)), Q(z) = Σ α_k z^k."""
        if self._closed:
            return self._completed(self.service_rate / (self.service_rate + self.kill_rate))
        return self._completed(self.service_rate * self.law.held(self.service_rate, 1 / self.kill_rate))

    def critical_limit(self, probability: float) -> float:
        """Return the mean limit z [s] with which a request is completed with this probability.

        For one processor it is z = x·P/(1−P), with the mean service time x = 1/μ. For wider requests, the root of
        Q(p) = P, the probability for each processor, replaces P. Other distributions are inverted numerically.
        """
        fraction(probability, "completion probability")
        one = optimize.brentq(lambda p: self._completed(p) - probability, 0.0, 1.0, xtol=1e-15)
        return self.law.mean_for(self.service_rate, float(one))

    def distribution(self) -> FloatArray:
        """Return p_0, p_1, …, the probabilities of n busy processors, until less than 1e-15 is left."""
        batches = self._batches()
        p = _compound_poisson(batches, _reach(batches))
        return np.trim_zeros(p, "b")

    def procs_needed(self, probability: float) -> int:
        """Return the smallest number of processors that suffices with this probability at a random time."""
        fraction(probability, "probability")
        enough = np.searchsorted(np.cumsum(self.distribution()), probability)
        return int(enough)

    def _moment(self, power: int) -> float:
        return float(self.widths @ np.arange(1.0, self.widths.size + 1) ** power)

    def _completed(self, one: float) -> float:
        """Return the probability that a request is completed, if each of its processors is with probability `one`."""
        if self.release == "together":
            return one
        return float(self.widths @ one ** np.arange(1, self.widths.size + 1))

    def _batches(self) -> FloatArray:
        """Return b_1, b_2, …"""
        if self.release == "together":
            return self.offered * self.widths
        if not self._closed:
            rate = self.service_rate + self.leave_rate
            return self.arrival_rate * self.law.busy_parts(rate, 1 / self.kill_rate, self.widths)
        at_least = np.cumsum(self.widths[::-1])[::-1]
        return self.offered * at_least / np.arange(1, self.widths.size + 1)


def poisson_case(arrival_rate: float, service_rate: float, kill_rate: float) -> Any:
    """Return the distribution of busy processors if every request needs one: Poisson (26), from `scipy.stats`."""
    offered = positive(arrival_rate, "arrival rate") / _end_rate(service_rate, kill_rate)
    return stats.poisson(offered)


def negative_binomial_case(arrival_rate: float, service_rate: float, kill_rate: float, alpha: float) -> Any:
    """Return the distribution of busy processors for independent processors and geometric θ, α_k = (1−α) α^{k−1}.

    From (30): G(z) = ((1−α) / (1−αz))^{a/α}, a negative binomial distribution, from `scipy.stats`.
    """
    offered = positive(arrival_rate, "arrival rate") / _end_rate(service_rate, kill_rate)
    return stats.nbinom(offered / fraction(alpha, "alpha"), 1 - alpha)


def completion_curve(mean_limits: ArrayLike, width: int, mean_service: float = 1.0) -> FloatArray:
    """Return the probability that a request of `width` processors is completed, by mean limit: (z/(z+x))^k (48)."""
    positive(width, "width")
    limits = np.asarray(mean_limits, dtype=np.float64)
    if not (limits >= 0).all():
        raise HarnessError("a mean time limit is below zero")
    return np.asarray((limits / (limits + positive(mean_service, "mean service time"))) ** width)


def completion_curves(
    widths: Sequence[int] = FIGURE_4, mean_service: float = 1.0, longest: float = 10.0, points: int = 201
) -> pd.DataFrame:
    """Return completion probabilities by mean limit (index), up to `longest` mean services; a column per width."""
    limits = np.linspace(0, positive(longest, "longest limit") * mean_service, points)
    curves = {f"k = {width}": completion_curve(limits, width, mean_service) for width in widths}
    return pd.DataFrame(curves, index=pd.Index(limits, name="mean limit"))


def _end_rate(service_rate: float, kill_rate: float) -> float:
    return positive(service_rate, "service rate") + nonnegative(kill_rate, "kill rate")


def _compound_poisson(batches: FloatArray, most: int) -> FloatArray:
    """Return p_0, …, p_most of Σ_j j·X_j, where X_j are independent Poisson variables with means b_j.

    p_0 may be too small for a float. So the recursion starts from 1 and is divided by 2^600 whenever it becomes large.
    The result is stored backwards, so that the sum reads memory forwards.
    """
    weights = batches * np.arange(1, batches.size + 1)
    backwards = np.zeros(most + 1)
    backwards[most] = 1.0
    rescaled = 0
    for n in range(1, most + 1):
        here = most - n
        span = min(n, weights.size)
        value = inner_product(weights[:span], backwards[here + 1 : here + 1 + span]) / n
        backwards[here] = value
        if value > 2.0**600:
            backwards[here:] *= 2.0**-600
            rescaled += 600
    return backwards[::-1] * exp(rescaled * log(2) - float(batches.sum()))


def _reach(batches: FloatArray) -> int:
    """Return an n exceeded with less than NEGLIGIBLE probability: P{N > n} ≤ G(z) / z^n for any z > 1 (Chernoff)."""
    sizes = np.flatnonzero(batches) + 1
    best = np.inf
    for log_z in np.geomspace(1e-9, 100, 120) / sizes[-1]:
        log_g = float(batches[sizes - 1] @ np.expm1(log_z * sizes))
        best = min(best, (log_g - np.log(NEGLIGIBLE)) / log_z)
    if not best <= MOST_PROCS:
        raise HarnessError(f"the requests keep more than {MOST_PROCS:,} processors busy; expected a lower offered load")
    return ceil(best)
