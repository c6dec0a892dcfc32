"""What a ranking of policies says of who wrote a log: one of them, several that cannot be told apart, or none.

The first question is who takes the log's decisions, one at a time (`one_step`), for that score does not add up errors.
Whether it is taken for the author depends on what it would reach if it were: it is replayed with random overheads, as
repetitions are, and asked about the states of its own log. Who agrees with the log much less than with itself did not
write it, or wrote it under disturbances that were not told: outages, longer overheads, requested times not in the log.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.experiment.decision_agreement import Asked
from harness.experiment.identification import Likeness
from harness.results.repeatability import seconds

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload

#: Who agrees with the log, in a typical part of it, less than this share of what it agrees with itself is not it.
#: reports/identify-study.md has what true authors and others reach.
AGREES = 0.94


@dataclass(frozen=True)
class Verdict:
    """Who wrote the log, as far as it can be told."""

    nearest: Likeness  # by its decisions
    alike: tuple[Likeness, ...]  # whose decisions agree as well, and whom P does not tell from it either
    attainable: float  # its typical agreement with a log of its own; not a number where that leaves nothing to ask
    named: bool  # it is taken for the author

    def __str__(self) -> str:
        """Say it in words."""
        it = f"{self.nearest.order} + {self.nearest.start}"
        agrees = f"{self.nearest.typical:.0%} of the decisions in a typical part of the log"
        itself = f"{self.attainable:.0%} of those of a log of its own"
        if math.isnan(self.attainable):
            return (
                f"It cannot be told who wrote the log: nearest is {it}, which takes {agrees}, but on a log of its own "
                "nobody had to decide."
            )
        if not self.named:
            return (
                f"None of these: even {it} takes only {agrees}, of {itself}. Either another policy wrote the log, or "
                "outages, overheads or requested times that it does not tell."
            )
        others = ", ".join(f"{one.order} + {one.start}" for one in self.alike)
        return f"{it}: it takes {agrees}, of {itself}." + (f" Not told from it: {others}." if others else "")


def identity_verdict(
    workload: "Workload",
    platform: "Platform | int | None",
    found: Sequence[Likeness],
    replay: "Callable[[Workload, Likeness], Schedule]",
    *,
    states: int = 200,
    launch: str = "exponential(mean=5)",
    completion: str = "exponential(mean=5)",
    repetitions: int = 3,
    seed: int = 0,
) -> Verdict | None:
    """Judge what `identify` found by what the nearest by decisions would reach on logs of its own; None if not asked.

    `replay` simulates a workload under the policies of one of those found.
    """
    asked = [one for one in found if one.one_step == one.one_step]
    if not asked:
        return None
    nearest = max(asked, key=lambda one: (one.one_step, -one.P))
    draw = np.random.default_rng(seed)
    own = []
    for number in range(repetitions):
        before, after = (seconds(spec, draw, (len(workload),)) for spec in (launch, completion))
        jobs = _own_log(workload, before, after, lambda held: replay(held, nearest), f"own log {number} {seed}")
        _, typical = Asked(jobs, platform, states, seed).of(lambda held: replay(held, nearest))
        own.append(typical)
    attainable = float(np.mean(own))
    alike = tuple(one for one in asked if one is not nearest and one.one_step >= nearest.one_step - 1e-9)
    return Verdict(nearest, alike, attainable, nearest.typical >= AGREES * attainable)


def _own_log(
    workload: "Workload",
    before: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    after: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    replay: "Callable[[Workload], Schedule]",
    name: str,
) -> "Workload":
    """Return the workload with the log that a policy would have written, launches and completions taking some time."""
    jobs = workload.jobs
    work = jobs["work"] + before + after
    held = jobs.assign(work=work, estimate=np.maximum(jobs["estimate"], work))
    schedule = replay(replace(workload, jobs=held, digest=f"{workload.digest} {name}"))
    wait = schedule.frame["wait"].to_numpy() + before
    return replace(workload, jobs=jobs.assign(logged_wait=wait, logged_run=jobs["work"].to_numpy()))


def claimed(header: Sequence[str]) -> str:
    """Return what a log's header says of its scheduler; empty if nothing."""
    said = [line.lstrip("; \t") for line in header if re.search(r"\bscheduler\b", line, re.IGNORECASE)]
    return said[0] if said else ""
