"""The stability constant by the formulas of its paper, for small machines, to confirm `stability_constant`.

Rumyantsev (2014), with C = E[1/‖m‖] as in `harness.theory.stability`. The sums are exact if they are given
`fractions.Fraction`s.

They correct the paper in two places. The right side of (8) lacks the division by ‖m‖, which (9) has. The "random
subset" of (10) is drawn with the probabilities of the jobs, because with a uniform draw the estimate is wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import HarnessError
from harness.theory.inputs import SUM_TOLERANCE, IntArray, proc_count, shares

Number = TypeVar("Number", float, Fraction)

#: Above these numbers of processors, a sum takes more than about a minute.
MOST_PROCS_ENUMERATED = 7
MOST_PROCS_PARTITIONED = 50


@dataclass(frozen=True)
class Sampled:
    """An estimate from independent samples."""

    value: float
    standard_error: float


def constant_by_enumeration(widths: Sequence[Number]) -> Number:
    """Return C by (4), a sum over all sequences of the widths of s jobs, s = len(widths)."""
    procs = _small(widths, MOST_PROCS_ENUMERATED)
    possible = [k for k in range(1, procs + 1) if widths[k - 1]]
    total = widths[0] * 0
    for jobs in product(possible, repeat=procs):
        total += prod((widths[k - 1] for k in jobs), start=total * 0 + 1) / _fitting(jobs, procs)
    return total


def constant_by_partitions(widths: Sequence[Number]) -> Number:
    """Return C by (9), a sum over the processors in service and their partitions into widths."""
    procs = _small(widths, MOST_PROCS_PARTITIONED)
    possible = [k for k in range(1, procs + 1) if widths[k - 1]]
    total = widths[0] * 0
    for needed in range(1, procs + 1):
        next_does_not_fit = sum(widths[procs - needed :], start=total * 0)
        for counts in _partitions(needed, possible):
            orders = Fraction(factorial(sum(counts) - 1), prod(map(factorial, counts)))
            chance = prod((widths[k - 1] ** n for k, n in zip(possible, counts, strict=False)), start=total * 0 + 1)
            total += orders * chance * next_does_not_fit
    return total


def constant_by_sampling(widths: ArrayLike, procs: int, samples: int = 100_000, seed: int = 0) -> Sampled:
    """Estimate C by (10), as the mean of 1/‖m‖ over random queues, drawn from `widths`."""
    p = shares(widths)
    procs = proc_count(procs)
    if p[procs:].any():
        raise HarnessError(f"jobs wider than the {procs} processors can never start: leave them out")
    if samples < 2:
        raise HarnessError(f"samples is {samples}; it takes at least 2 to know their error")
    reciprocals = 1 / _sampled_fits(p.cumsum(), procs, samples, np.random.default_rng(seed))
    return Sampled(float(reciprocals.mean()), float(reciprocals.std(ddof=1) / samples**0.5))


def _small(widths: Sequence[Number], most: int) -> int:
    """Return the number of processors. Refuse a large one, and widths that are not a distribution."""
    if not 1 <= len(widths) <= most:
        raise HarnessError(f"this sum is for 1 to {most} processors, not {len(widths)}; stability_constant is for any")
    if any(p < 0 for p in widths) or abs(float(sum(widths)) - 1) > SUM_TOLERANCE:
        raise HarnessError(f"the width distribution sums to {float(sum(widths)):.10g}; probabilities must sum to 1")
    return len(widths)


def _fitting(jobs: Sequence[int], procs: int) -> int:
    """Return ‖m‖, the number of jobs that fit together, from the first."""
    needed = 0
    for fitting, width in enumerate(jobs):
        needed += width
        if needed > procs:
            return fitting
    return len(jobs)


def _partitions(total: int, parts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all numbers of each of the ascending `parts` that sum to `total`; missing last numbers are zero."""
    if total == 0:
        yield ()
    elif parts:
        for count in range(total // parts[0] + 1):
            for rest in _partitions(total - count * parts[0], parts[1:]):
                yield (count, *rest)


def _sampled_fits(upto: np.ndarray, procs: int, samples: int, random: np.random.Generator) -> IntArray:
    """Return ‖m‖ of `samples` random queues, which grow until the next job does not fit."""
    free = np.full(samples, procs)
    fits = np.zeros(samples, dtype=np.int64)
    growing = np.arange(samples)
    while growing.size:
        width = np.searchsorted(upto, random.random(growing.size) * upto[-1], side="right") + 1
        fitting = width <= free[growing]
        growing, width = growing[fitting], width[fitting]
        free[growing] -= width
        fits[growing] += 1
    return fits
