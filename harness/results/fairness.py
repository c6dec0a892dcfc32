"""Fairness: whether a job was delayed by jobs that arrived after it.

A job was treated unfairly if it started later than it would have if no job had arrived after it (Sabin and Sadayappan
2005). This takes one more simulation for each examined job, so a sample is usually enough.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import HarnessError
from harness.workload.log import Workload

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

#: Starts that differ by less count as equal [s]: changing rates cause rounding errors.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Fairness:
    """The number of examined jobs that were treated unfairly, and their delays."""

    examined: int
    unfair: int
    share: float  # unfair / examined; not a number if none was examined
    mean_delay: float  # of those treated unfairly [s], 0 if there are none
    max_delay: float  # of those treated unfairly [s], 0 if there are none

    def __str__(self) -> str:
        later = f", by {self.mean_delay:,.0f} s on average and {self.max_delay:,.0f} s at most" if self.unfair else ""
        return (
            f"fairness: {self.unfair} of {self.examined} jobs examined started later than they would have "
            f"if no job had arrived after them{later}"
        )


def fairness(
    schedule: "Schedule",
    replay: Callable[[Workload], "Schedule"],
    *,
    sample: int | None = None,
    seed: int = 0,
) -> Fairness:
    """Compare the start of each job, or of `sample` jobs drawn with `seed`, with its start if no job had arrived after
    it.

    `replay` simulates a workload with the scheduler, platform and seed of `schedule`. Only jobs that ran are examined.
    """
    if sample is not None and sample < 1:
        raise HarnessError(f"sample={sample}: expected at least one job to examine")
    place = schedule.outcome.place
    arrivals = np.flatnonzero(np.isin(place, schedule.ran.index.to_numpy()))
    if sample is not None and sample < len(arrivals):
        arrivals = np.sort(np.random.default_rng(seed).choice(arrivals, sample, replace=False))
    starts = schedule.outcome.jobs.start
    fair = [replay(_up_to(schedule, k)).outcome.jobs.start[k] for k in arrivals.tolist()]
    delays = starts[arrivals] - np.array(fair, dtype=np.float64)
    delays = delays[delays > ROUNDING]
    return Fairness(
        examined=len(arrivals),
        unfair=len(delays),
        share=len(delays) / len(arrivals) if len(arrivals) else math.nan,
        mean_delay=float(delays.mean()) if len(delays) else 0.0,
        max_delay=float(delays.max()) if len(delays) else 0.0,
    )


def _up_to(schedule: "Schedule", arrival: int) -> Workload:
    """Return the jobs that arrived up to the `arrival`-th, itself included, in log order."""
    workload = schedule.workload
    rows = np.sort(schedule.outcome.place[: arrival + 1])
    digest = hashlib.sha256(f"{workload.digest} first {arrival + 1}".encode()).hexdigest()
    return replace(workload, jobs=workload.jobs.iloc[rows].reset_index(drop=True), digest=digest)
