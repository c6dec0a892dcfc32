"""What `theory.py` simulates: streams of jobs as the formulas assume them, and logs like those of machines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from harness import Workload, log_from_frame, lublin, poisson, prepare
from harness.theory import InfiniteServer
from harness.theory.infinite_server import Release
from harness.theory.inputs import FloatArray, IntArray
from harness.workload.log import Log

Generator = np.random.Generator
Draw = Callable[[Generator, int], FloatArray]


@dataclass(frozen=True)
class Service:
    """A law of service times with mean 1 s."""

    variance: float  # s²
    draw: Draw


def _hyperexponential(dice: Generator, count: int) -> FloatArray:
    """Draw service times of which nine in ten take 0.5 s in the mean, the tenth 5.5 s."""
    return dice.standard_exponential(count) * np.where(dice.random(count) < 0.9, 0.5, 5.5)


SERVICES = {
    "deterministic": Service(0.0, lambda dice, count: np.ones(count)),
    "uniform": Service(1 / 3, lambda dice, count: dice.uniform(0.0, 2.0, count)),
    "hyperexponential": Service(5.5, _hyperexponential),
}


def _evenly(procs: int, widths: Sequence[int]) -> FloatArray:
    """Return the distribution in which each of `widths` is as likely as the others."""
    p = np.zeros(procs)
    p[np.array(widths) - 1] = 1 / len(widths)
    return p


#: Probabilities that a job needs 1, 2, … processors, up to all of the machine.
WIDTHS = {
    "1 or 2 on 2": _evenly(2, (1, 2)),
    "uniform on 10": _evenly(10, range(1, 11)),
    "uniform on 100": _evenly(100, range(1, 101)),
    "powers of two on 64": _evenly(64, (1, 2, 4, 8, 16, 32, 64)),
}


def hpc(jobs: int, seed: int) -> Log:
    """Generate jobs as Lublin and Feitelson model them, on 256 processors."""
    return lublin(jobs, 256, seed, load=0.8)


def _poisson(procs: int, load: float, **options: Any) -> Callable[[int, int], Log]:
    return lambda jobs, seed: poisson(jobs, procs, load, seed=seed, **options)


#: Processors, and the function that generates a number of jobs from a seed.
STREAMS: dict[str, tuple[int, Callable[[int, int], Log]]] = {
    "one processor each": (16, _poisson(16, 0.95, width=1)),
    "powers of two": (64, _poisson(64, 0.7, whole=False)),
    "many at one instant": (64, _poisson(64, 0.7, mean_runtime=3)),
    "overloaded": (1024, _poisson(1024, 1.3)),
    "HPC-like": (256, hpc),
}


def stream(gaps: FloatArray, service: FloatArray, procs: ArrayLike = 1) -> Workload:
    """Return the jobs that arrive with these gaps between them."""
    return limited(np.cumsum(gaps), service, procs, service)


def limited(submit: FloatArray, service: FloatArray, procs: ArrayLike, limit: FloatArray) -> Workload:
    """Return the jobs that arrive at these instants and are stopped at their limits."""
    columns = {"submit": submit, "run": service, "procs": procs, "estimate": limit}
    return prepare(log_from_frame(pd.DataFrame(columns), "stream"), overrun="clip")


def drawn_widths(dice: Generator, widths: FloatArray, count: int) -> IntArray:
    """Draw the widths of `count` jobs."""
    return dice.choice(np.arange(1, widths.size + 1), count, p=widths)


# ---------------------------------------------------------------- requests under a time limit


@dataclass(frozen=True)
class Quantity:
    """Something about the number of busy processors, as the model gives it and as a sample shows it."""

    what: str
    expected: Callable[[InfiniteServer], float]
    observed: Callable[[FloatArray, InfiniteServer], float]


def _up_to(probability: float) -> Quantity:
    """Return the distribution function at a quantile: the share of time with that number of processors or less."""
    return Quantity(
        "share of instants",
        lambda model: float(model.distribution()[: model.procs_needed(probability) + 1].sum()),
        lambda busy, model: float(np.mean(busy <= model.procs_needed(probability))),
    )


BUSY = {
    "mean": Quantity("busy processors", lambda model: model.mean, lambda busy, _: float(busy.mean())),
    "variance": Quantity(
        "busy processors²", lambda model: model.variance, lambda busy, model: float(np.mean((busy - model.mean) ** 2))
    ),
    "up to median": _up_to(0.5),
    "up to 95 % quantile": _up_to(0.95),
}

RELEASES: tuple[Release, ...] = ("together", "independent")


def requests_model(release: Release) -> InfiniteServer:
    """Return a model of 20 requests a second, half for one processor, none for over four; limits are twice services."""
    return InfiniteServer(20.0, 1.0, 0.5, np.array([0.5, 0.2, 0.1, 0.2]), release)


def busy_at(frame: pd.DataFrame, instants: FloatArray) -> FloatArray:
    """Count the processors that are busy at these instants."""
    procs = frame["procs"].to_numpy(np.float64)
    busy = np.zeros(instants.size)
    for column, sign in (("start", 1), ("end", -1)):
        times = frame[column].to_numpy(np.float64)
        order = np.argsort(times)
        until = np.concatenate(([0.0], np.cumsum(procs[order])))
        busy += sign * until[np.searchsorted(times[order], instants, side="right")]
    return busy
