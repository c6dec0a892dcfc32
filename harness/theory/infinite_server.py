"""How many processors are busy when there are always enough, and the dispatcher limits the time of each task.

Requests arrive as a Poisson stream of rate λ. Each occupies a random number θ of processors, P{θ = k} = α_k,
at once; a processor works for an exponential time of rate μ unless the dispatcher's limit, exponential of
rate ν, ends it first. Limits of other laws (`harness.theory.limit_laws`) change the b_j below.

With `release="independent"` every processor of a request works and is limited by itself, as in the paper
this room follows (M/M/∞ with random width and a dispatcher's time limit). Its generating function (22) is
that of a compound Poisson law,

    G(z) = exp( Σ_j b_j (z^j − 1) )        b_j = a · P{θ ≥ j} / j        a = λ / (μ + ν)

With `release="together"` all processors of a request end at one instant, as those of a batch job do: then
requests are the customers of an M/M/∞ queue and b_j = a · α_j. Either way the probabilities of n busy
processors follow

    n · p_n = Σ_{j=1..n} j · b_j · p_{n−j}        p_0 = exp(−Σ_j b_j)

(for independent processors this is (n+1) p_{n+1} = a Σ_k P{θ > k} p_{n−k}); all terms are positive, so it is
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

#: Probability that may be left out beyond the end of a distribution.
NEGLIGIBLE = 1e-15


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class InfiniteServer:
    """Requests of random width on unlimited processors, under a random time limit. Rates per second."""

    arrival_rate: float  # λ
    service_rate: float  # μ
    kill_rate: float  # ν; 0 is no limit
    widths: FloatArray  # α_1, α_2, …
    release: Release = "independent"
    leave_rate: float = 0.0  # at which requests end neither way: failed, cancelled
    law: LimitLaw = EXPONENTIAL  # of the limits, whose mean is 1/ν

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

        Requests that end neither way free their processors too: their rate adds to μ + ν.
        """
        rate = self.service_rate + self.leave_rate
        if self._closed:
            return self.arrival_rate / (rate + self.kill_rate)
        return self.arrival_rate * self.law.held(rate, 1 / self.kill_rate)

    @property
    def _closed(self) -> bool:
        """Whether limits are exponential, or there are none."""
        return self.law is EXPONENTIAL or self.kill_rate == 0

    @property
    def mean(self) -> float:
        """Return the mean number of busy processors."""
        return self.offered * self._moment(1)

    @property
    def variance(self) -> float:
        """Return the variance of the number of busy processors."""
        if self.release == "together":
            return self.offered * self._moment(2)
        if self._closed:
            return self.offered * (self._moment(2) + self._moment(1)) / 2
        batches = self._batches()
        return float(batches @ np.arange(1.0, batches.size + 1) ** 2)

    @property
    def completion_probability(self) -> float:
        """Return the probability that the limit stops no processor of a request: Q(μ/(μ+ν)), Q(z) = Σ α_k z^k."""
        if self._closed:
            return self._completed(self.service_rate / (self.service_rate + self.kill_rate))
        return self._completed(self.service_rate * self.law.held(self.service_rate, 1 / self.kill_rate))

    def critical_limit(self, probability: float) -> float:
        """Return the mean limit z [s] with which a request is completed with this probability.

        For one processor it is z = x·P/(1−P), x = 1/μ the mean service time; for wider requests, P is
        replaced by the probability that each processor needs, the root of Q(p) = P. Other laws are inverted.
        """
        fraction(probability, "completion probability")
        one = optimize.brentq(lambda p: self._completed(p) - probability, 0.0, 1.0, xtol=1e-15)
        return self.law.mean_for(self.service_rate, float(one))

    def distribution(self) -> FloatArray:
        """Return p_0, p_1, …, the probabilities of n busy processors, up to where less than 1e-15 is left."""
        batches = self._batches()
        p = _compound_poisson(batches, _reach(batches))
        return np.trim_zeros(p, "b")

    def procs_needed(self, probability: float) -> int:
        """Return the fewest processors that are enough for all requests with this probability, at a random instant."""
        fraction(probability, "probability")
        enough = np.searchsorted(np.cumsum(self.distribution()), probability)
        return int(enough)

    def _moment(self, power: int) -> float:
        return float(self.widths @ np.arange(1.0, self.widths.size + 1) ** power)

    def _completed(self, one: float) -> float:
        """Return the probability that a request is completed, where each of its parts is with probability `one`."""
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
    """Return the law of busy processors if every request needs one: Poisson (26), as `scipy.stats` has it."""
    offered = positive(arrival_rate, "arrival rate") / _end_rate(service_rate, kill_rate)
    return stats.poisson(offered)


def negative_binomial_case(arrival_rate: float, service_rate: float, kill_rate: float, alpha: float) -> Any:
    """Return the law of busy processors if θ is geometric, α_k = (1−α) α^{k−1}, and processors end by themselves.

    From (30): G(z) = ((1−α) / (1−αz))^{a/α}, a negative binomial law, as `scipy.stats` has it.
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
    """Return the probability of completion, a column for each width, by mean limit (index) up to `longest` services."""
    limits = np.linspace(0, positive(longest, "longest limit") * mean_service, points)
    curves = {f"k = {width}": completion_curve(limits, width, mean_service) for width in widths}
    return pd.DataFrame(curves, index=pd.Index(limits, name="mean limit"))


def _end_rate(service_rate: float, kill_rate: float) -> float:
    return positive(service_rate, "service rate") + nonnegative(kill_rate, "kill rate")


def _compound_poisson(batches: FloatArray, most: int) -> FloatArray:
    """Return p_0, …, p_most of Σ_j j·X_j, X_j independent Poisson variables of means b_j.

    p_0 may be too small for a floating-point number, so the recursion starts from 1 and is halved 600 times
    whenever it grows large. It is written backwards, so that the sum reads two pieces of memory forwards.
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
