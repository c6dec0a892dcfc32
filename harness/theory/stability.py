"""Does the queue of a supercomputer stay finite? The criterion of Rumyantsev (2014), computed exactly.

Jobs arrive as a Poisson stream of rate λ and are served first come, first served. Each needs a random number N of the s
processors for an exponential time S, independent of N. The queue stays finite if and only if

    ρ = λ · C · E[S] < 1        C = E[1/‖m‖]

where ‖m‖ is the number of jobs at the head of an endless queue that fit on s processors together. 1/C is the mean
number of jobs in service when the queue never empties. At most 1/(C·E[S]) jobs can be served per second.

The paper sums over all partitions of 1, …, s. Here C takes O(s²) steps. With P(z) = Σ p_k z^k, the coefficient A_j of

    A(z) = −log(1 − P(z)) = Σ_n P(z)^n / n

is the sum over n of 1/n · P{n jobs need j processors in total}. The next job does not fit with probability
P{N > s − j}, so C = Σ_{j=1..s} A_j · P{N > s − j}. From z A' = z P' / (1 − P), the terms j·A_j satisfy a renewal
equation with positive terms only, so no digits are lost by cancellation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import HarnessError
from harness.present.words import readable
from harness.theory.inner_product import inner_product
from harness.theory.inputs import (
    FloatArray,
    positive,
    proc_count,
    same_length,
    series,
    shares,
    whole_widths,
)


@dataclass(frozen=True)
class Stability:
    """Whether a stream of jobs can be served on a number of processors, and how far it is from the limit."""

    procs: int
    constant: float  # C
    mean_width: float  # E[N], processors
    mean_service: float  # E[S], s
    arrival_rate: float  # λ, jobs per second that fit on the machine
    unaccepted: int = 0  # jobs of the log that are wider than the machine, and not part of the other fields

    @property
    def jobs_in_service(self) -> float:
        """Return 1/C, the mean number of jobs in service when the queue never empties."""
        return 1 / self.constant

    @property
    def load(self) -> float:
        """Return ρ, the load as a share of the capacity for such jobs."""
        return self.arrival_rate * self.constant * self.mean_service

    @property
    def stable(self) -> bool:
        """Whether the queue stays finite."""
        return self.load < 1

    @property
    def max_arrival_rate(self) -> float:
        """Return the jobs per second from which on the queue grows for ever."""
        return 1 / (self.constant * self.mean_service)

    @property
    def critical_factor(self) -> float:
        """Return the factor by which arrivals may be denser before the queue grows for ever."""
        return 1 / self.load

    @property
    def utilisation(self) -> float:
        """Return the offered share of the processors' time, all of which is served if the stream is stable."""
        return self.arrival_rate * self.mean_service * self.mean_width / self.procs

    @property
    def critical_utilisation(self) -> float:
        """Return the highest utilisation under first come, first served with such widths; the rest is gaps."""
        return self.mean_width / (self.constant * self.procs)

    def __str__(self) -> str:
        """Return the answer in words."""
        percent = f"{100 * self.load:.0f}"
        if percent == "100":
            percent = f"{100 * self.load:.4f}"  # near the limit a whole number would not show the side
        end = "" if self.stable else ", the queue grows for ever"
        much = f"{readable(self.load, 3)} times the" if self.load >= 10 else f"{percent} % of"
        return f"{'stable' if self.stable else 'unstable'}: {much} capacity{end}"


def stability_of_stream(widths: ArrayLike, procs: int, arrival_rate: float, mean_service: float) -> Stability:
    """Return the stability of a stream whose jobs need k processors with probability `widths[k - 1]`.

    `arrival_rate` is in jobs per second and `mean_service` in seconds, or both in another unit of time.
    """
    p = _up_to(procs, widths)
    return Stability(
        procs=procs,
        constant=stability_constant(p, procs),
        mean_width=float(p @ np.arange(1, procs + 1)),
        mean_service=positive(mean_service, "mean service time"),
        arrival_rate=positive(arrival_rate, "arrival rate"),
    )


def stability_of_log(interarrival: ArrayLike, service: ArrayLike, width: ArrayLike, procs: int) -> Stability:
    """Return the stability of the jobs of a log on `procs` processors, from their means and their widths.

    `interarrival` [s] has one value for each job, or one less, like `numpy.diff` of the arrivals. Jobs wider than the
    machine are left out, with their share of the arrivals, and counted.
    """
    services = series(service, "service")
    gaps = series(interarrival, "interarrival")
    every_width = whole_widths(width)
    same_length(service=services, width=every_width)
    if gaps.size not in (services.size, services.size - 1):
        raise HarnessError(f"{gaps.size} interarrival times do not belong to {services.size} jobs")
    fits = every_width <= proc_count(procs)
    rate = 1 / positive(float(gaps.mean()), "mean interarrival time") * fits.mean()
    p, unaccepted = width_distribution(every_width, procs)
    answer = stability_of_stream(p, procs, float(rate), float(services[fits].mean()))
    return Stability(**{**vars(answer), "unaccepted": unaccepted})


def width_distribution(widths: ArrayLike, procs: int) -> tuple[FloatArray, int]:
    """Return the shares p_1, …, p_s of the widths that fit on the machine, and the number of jobs that do not."""
    procs = proc_count(procs)
    every_width = whole_widths(widths)
    fitting = every_width[every_width <= procs]
    if not fitting.size:
        raise HarnessError(f"none of the {every_width.size} jobs fits on {procs} processors")
    counts = np.bincount(fitting, minlength=procs + 1)[1:]
    return counts / fitting.size, every_width.size - fitting.size


def stability_constant(widths: ArrayLike, procs: int | None = None) -> float:
    """Return the exact C = E[1/‖m‖] for jobs that need k processors with probability `widths[k - 1]`.

    The default for `procs` is the length of the list. 1/C is the mean number of jobs in service of the saturated
    system.
    """
    listed = shares(widths)
    procs = proc_count(listed.size if procs is None else procs)
    p = np.concatenate(([0.0], _up_to(procs, listed)))
    wider = np.append(np.cumsum(p[:0:-1])[::-1], 0.0)  # P{N > k}, k = 0, …, s, with the smallest terms added first
    renewals = _renewals(p)
    size = np.arange(1, procs + 1)
    return float(np.sum(renewals[1:] / size * wider[procs - size]))


def _renewals(p: FloatArray) -> FloatArray:
    """Return B_j = j·A_j, from B_j = j·p_j + Σ_{i<j} p_i·B_{j−i}, for j = 0, …, s.

    B is stored backwards, so that the sum over i reads memory forwards.
    """
    procs = p.size - 1
    backwards = np.zeros(procs + 1)
    for j in range(1, procs + 1):
        here = procs - j
        backwards[here] = j * p[j] + inner_product(p[1:j], backwards[here + 1 : procs])
    return backwards[::-1]


def _up_to(procs: int, widths: ArrayLike) -> FloatArray:
    """Return p_1, …, p_s, with zeros for missing widths. Refuse widths above that of the machine."""
    procs = proc_count(procs)
    p = shares(widths)
    too_wide = p[procs:].sum()
    if too_wide > 0:
        raise HarnessError(
            f"jobs wider than the {procs} processors have probability {too_wide:g} and can never start: leave them out"
        )
    return np.pad(p[:procs], (0, max(0, procs - p.size)))
