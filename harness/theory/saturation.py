"""What a machine serves when the queue never empties: of a log as it is, and of random jobs of any service law.

The closed form C of `stability` is exact for exponential service times that do not depend on the width. A log has
neither. What it has can be asked directly: all its jobs, in its order, there at time 0, first come, first served. If
that takes longer than they took to come, the queue grows.

For other laws C is not E[1/‖m‖], for how services overlap matters. Widths 1 or 2, equally likely, on two servers:
exponential 1/C = 8/7. With deterministic service all starts fall on whole multiples of it. In each slot the head of
the queue is a fresh job, or one of width 2 that did not fit beside a narrow one before. A fresh head starts 1 job with
width 2 (probability 1/2), 2 jobs if narrow and the next is too (1/4), else 1 (1/4), and then a head that is known to be
wide follows, which starts 1. So 4/5 of the slots have a fresh head, and 1/C = 4/5 · 5/4 + 1/5 = 6/5.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import HarnessError, did_you_mean
from harness.theory.inputs import FloatArray, shares
from harness.theory.kiefer_wolfowitz import delays_of_arrivals

#: Law of the service time → draws so many of mean 1.
LAWS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "exponential": lambda draw, size: draw.exponential(1.0, size),
    "deterministic": lambda draw, size: np.ones(size),
    "uniform": lambda draw, size: draw.uniform(0.0, 2.0, size),
    "lognormal": lambda draw, size: draw.lognormal(-2.0, 2.0, size),  # σ = 2
    "hyperexponential": lambda draw, size: np.where(
        draw.uniform(size=size) < 0.9, draw.exponential(0.5, size), draw.exponential(5.5, size)
    ),
}

#: Independent runs of so many jobs each.
RUNS, JOBS = 20, 40_000


@dataclass(frozen=True)
class Saturated:
    """Jobs in service on average when the queue never empties, 1/C, and the 95 % interval of that."""

    jobs_in_service: float
    low: float
    high: float


def saturated_load(arrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int) -> float:
    """Return how long the jobs of a log take on `procs` processors if all are there at time 0, by how long they came.

    In their order, first come, first served; 1 or more: the queue grows with this log.
    """
    arrivals, services = np.asarray(arrival, dtype=np.float64), np.asarray(service, dtype=np.float64)
    span = float(np.ptp(arrivals)) if arrivals.size else 0.0
    if not span > 0:
        raise HarnessError("the jobs all come at one instant: expected arrivals over some time")
    delay = delays_of_arrivals(np.zeros(arrivals.size), services, width, procs)
    return float((delay + services).max()) / span


def saturated_constant(widths: ArrayLike, procs: int, law: str, seed: int = 1) -> Saturated:
    """Return 1/C for jobs of random widths and a service time of the named `law`, by `RUNS` runs of the recursion."""
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
        half = JOBS // 2  # the beginning is not saturated yet
        found.append((JOBS - 1 - half) / float(delay[-1] - delay[half]))
    mean = float(np.mean(found))
    spread = float(stats.t.ppf(0.975, RUNS - 1) * np.std(found, ddof=1) / np.sqrt(RUNS))
    return Saturated(mean, mean - spread, mean + spread)
