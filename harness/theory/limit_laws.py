"""Distributions of the dispatcher's time limit, and their effect on how long processors are held.

The underlying paper has exponential limits. A processor that works for an exponential time X of rate r is held for
min(X, Z). For any limit Z with φ(s) = E[exp(−sZ)],

    E[min(X, Z)] = (1 − φ(r)) / r        P{X < Z} = 1 − φ(r)

So the mean number of busy processors only needs φ. If the processors of a request end together, so does the whole
distribution. If each ends independently, the number of busy processors of a request at age t is binomial with
probability S(t) = exp(−rt)·P{Z > t}, which is integrated over t.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import HarnessError, did_you_mean
from harness.policy.spec import parse
from harness.theory.inputs import FloatArray, positive, series

#: Points of a quadrature on each piece of a distribution.
_POINTS = 48

#: The quantiles at which distributions are cut into pieces.
_CUTS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True, eq=False)
class LimitLaw:
    """A distribution of time limits with mean 1."""

    name: str
    transform: Callable[[float], float]  # φ(s) = E[exp(−sZ)]
    survival: Callable[[FloatArray], FloatArray]  # P{Z > t}
    cuts: FloatArray  # where integrals over t are cut into pieces

    def held(self, rate: float, mean: float) -> float:
        """Return E[min(X, Z)], where X is exponential with this `rate` and Z has this `mean`."""
        if self is EXPONENTIAL:
            return 1 / (rate + 1 / mean)
        return (1 - self.transform(rate * mean)) / rate

    def mean_for(self, rate: float, share: float) -> float:
        """Return the mean limit such that this share of exponential times with this `rate` ends before it."""
        from scipy.optimize import brentq

        if self is EXPONENTIAL:
            return share / (1 - share) / rate
        off = partial(self._off, rate, share)
        try:
            return float(np.exp(brentq(off, np.log(1e-9 / rate), np.log(1e9 / rate), xtol=1e-13)))
        except ValueError:
            raise HarnessError(f"the limit law {self.name}: no mean limit completes {share:.6g}") from None

    def _off(self, rate: float, share: float, log_mean: float) -> float:
        return rate * self.held(rate, float(np.exp(log_mean))) - share

    def busy_parts(self, rate: float, mean: float, widths: FloatArray) -> FloatArray:
        """Return ∫ P{j processors of a request busy at age t} dt, j = 1, 2, …, for independent processors."""
        size = widths.size + 1
        roots = np.exp(-2j * np.pi * np.arange(size) / size)
        wide = np.flatnonzero(widths) + 1
        edges = np.unique(np.concatenate(([0.0, 1.0], np.exp(-rate * mean * self.cuts))))  # of u = exp(−rt)
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        found = np.zeros(size)
        for low, high in pairwise(edges.tolist()):
            u = low + (high - low) * (nodes + 1) / 2
            busy = u * self.survival(-np.log(u) / (rate * mean))
            values = 1 + busy[:, None] * (roots - 1)
            sums = sum(widths[k - 1] * values**k for k in wide)  # the generating function at roots of unity
            chance = np.fft.ifft(sums, axis=1).real
            found += (high - low) / 2 * (weights / (rate * u)) @ chance
        return np.maximum(found[1:], 0.0)


def limit_law(spec: str) -> LimitLaw:
    """Return the distribution of a spec: `exponential`, `deterministic`, `uniform`, `erlang(shape=2)`, …"""
    name, given = parse(spec)
    if name not in _LAWS:
        raise HarnessError(f"there is no law of time limits {name!r}; {did_you_mean(name, _LAWS)}")
    make, values = _LAWS[name]
    if name == "exponential" and not given:
        return EXPONENTIAL
    for parameter, value in given.items():
        if parameter not in values:
            raise HarnessError(f"{name!r} has no parameter {parameter!r}; {did_you_mean(parameter, values)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise HarnessError(f"{spec}: expected {parameter}, a number above 0")
    chosen = values | {parameter: positive(value, f"{spec}: {parameter}") for parameter, value in given.items()}
    return make(spec, **chosen)


def logged_limits(limits: ArrayLike) -> LimitLaw:
    """Return the distribution of requested limits, without those of zero and less, which mean no limit."""
    values = np.asarray(limits, dtype=np.float64)
    values = series(np.sort(values[values > 0]), "limit")
    scaled, times = np.unique(values / values.mean(), return_counts=True)
    shares = times / times.sum()

    def survival(t: FloatArray) -> FloatArray:
        at_least = np.append(np.cumsum(shares[::-1])[::-1], 0.0)
        return at_least[np.searchsorted(scaled, t, "right")]

    cuts = scaled if scaled.size <= 200 else np.quantile(values / values.mean(), np.linspace(0, 1, 200))
    return LimitLaw("logged", lambda s: float(shares @ np.exp(-s * scaled)), survival, cuts)


def _exponential(spec: str) -> LimitLaw:
    return LimitLaw(spec, lambda s: 1 / (1 + s), lambda t: np.exp(-t), -np.log1p(-np.array(_CUTS)))


def _deterministic(spec: str) -> LimitLaw:
    return LimitLaw(spec, lambda s: float(np.exp(-s)), lambda t: np.where(t < 1, 1.0, 0.0), np.array([1.0]))


def _uniform(spec: str) -> LimitLaw:
    return LimitLaw(
        spec,
        lambda s: float(-np.expm1(-2 * s) / (2 * s)),
        lambda t: np.maximum(0.0, 1 - t / 2),
        2 * np.array((*_CUTS, 1.0)),
    )


def _erlang(spec: str, shape: float) -> LimitLaw:
    from scipy import stats

    law = stats.gamma(shape, scale=1 / shape)
    return LimitLaw(spec, lambda s: float((1 + s / shape) ** -shape), law.sf, law.ppf(_CUTS))


def _lognormal(spec: str, sigma: float) -> LimitLaw:
    from scipy import stats

    law = stats.lognorm(sigma, scale=np.exp(-(sigma**2) / 2))
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    at, shares = np.exp(sigma * nodes - sigma**2 / 2), weights / weights.sum()
    return LimitLaw(spec, lambda s: float(shares @ np.exp(-s * at)), law.sf, law.ppf(_CUTS))


#: Name of a distribution → the function that makes it, and its parameters with their defaults.
_LAWS: dict[str, tuple[Callable[..., LimitLaw], dict[str, float]]] = {
    "exponential": (_exponential, {}),
    "deterministic": (_deterministic, {}),
    "uniform": (_uniform, {}),
    "erlang": (_erlang, {"shape": 2.0}),
    "lognormal": (_lognormal, {"sigma": 1.0}),
}

EXPONENTIAL = _exponential("exponential")
