"""The capacity of a machine whose queue never empties: for a log, and for random jobs with any distribution of
services.

The closed form C of `stability` is exact for exponential service times that do not depend on the width, which logs do
not have. For a log the capacity is computed directly: all its jobs are present at time 0 and are served in order, first
come, first served. If that takes longer than their arrivals took, the queue grows.

For other distributions C differs from E[1/‖m‖], because the overlap of services matters. An example has widths 1 or 2,
equally likely, on two servers. Exponential services give 1/C = 8/7. Deterministic services all start at multiples of
their length. In each slot the head of the queue is either a new job, or one of width 2 that did not fit next to a
narrow one before. A new head of width 2 (probability 1/2) starts alone. A narrow one starts with a narrow next job
(1/4), or alone (1/4). In the last case the next slot begins with the wide job, which starts alone. So 4/5 of the slots
have a new head, and 1/C = 4/5 · 5/4 + 1/5 = 6/5.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import HarnessError, did_you_mean
from harness.theory.inputs import FloatArray, shares
from harness.theory.kiefer_wolfowitz import delays_of_arrivals

#: Name of a service distribution → function that draws a number of services with mean 1.
LAWS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "exponential": lambda draw, size: draw.exponential(1.0, size),
    "deterministic": lambda draw, size: np.ones(size),
    "uniform": lambda draw, size: draw.uniform(0.0, 2.0, size),
    "lognormal": lambda draw, size: draw.lognormal(-2.0, 2.0, size),  # σ = 2
    "hyperexponential": lambda draw, size: np.where(
        draw.uniform(size=size) < 0.9, draw.exponential(0.5, size), draw.exponential(5.5, size)
    ),
}

#: The number of independent runs, and of jobs in each.
RUNS, JOBS = 20, 40_000


@dataclass(frozen=True)
class Saturated:
    """The mean number of jobs in service when the queue never empties, 1/C, with its 95 % interval."""

    jobs_in_service: float
    low: float
    high: float


def saturated_load(arrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int) -> float:
    """Return the time to serve a log's jobs if all are present at time 0, divided by the time of their arrivals.

    They are served in order, first come, first served. With 1 or more, the queue of this log grows.
    """
    arrivals, services = np.asarray(arrival, dtype=np.float64), np.asarray(service, dtype=np.float64)
    span = float(np.ptp(arrivals)) if arrivals.size else 0.0
    if not span > 0:
        raise HarnessError("the jobs all arrive at one instant: expected arrivals over some time")
    delay = delays_of_arrivals(np.zeros(arrivals.size), services, width, procs)
    return float((delay + services).max()) / span


def saturated_constant(widths: ArrayLike, procs: int, law: str, seed: int = 1) -> Saturated:
    """Return 1/C for jobs of random widths and the named distribution of services, from `RUNS` simulated runs."""
    from scipy import stats

    if law not in LAWS:
        raise HarnessError(f"there is no law of service times {law!r}; {did_you_mean(law, LAWS)}")
    p = shares(widths)
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(RUNS):
        width = draw.choice(np.arange(1, p.size + 1), size=JOBS, p=p)
        service = LAWS[law](draw, JOBS)
        delay = delays_of_arrivals(np.zeros(JOBS), service, width, procs)
        half = JOBS // 2  # the first half is not saturated
        found.append((JOBS - 1 - half) / float(delay[-1] - delay[half]))
    mean = float(np.mean(found))
    spread = float(stats.t.ppf(0.975, RUNS - 1) * np.std(found, ddof=1) / np.sqrt(RUNS))
    return Saturated(mean, mean - spread, mean + spread)
