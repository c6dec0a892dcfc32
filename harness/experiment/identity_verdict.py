"""Judge which policy wrote a log: one, several that cannot be distinguished, or none.

The nearest combination is the one with the best agreement with single decisions of the log (`one_step`), as that score
does not accumulate errors. Its agreement is then compared with the agreement that the true author would reach. To
measure that, the combination is replayed with random overheads, and compared with the log of its own replay. If it
agrees much less with the real log, another policy wrote the log, or there were disturbances that the log does not
record: outages, longer overheads, requested times.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.experiment.decision_agreement import DecisionAgreement
from harness.experiment.identification import Likeness
from harness.results.repeatability import draw_overheads

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload

#: The author's typical agreement with the log is at least this share of its agreement with its own log.
#: reports/identify-study.md lists the shares that true authors and others reach.
AGREES = 0.94


@dataclass(frozen=True)
class Verdict:
    """The policies that may have written the log."""

    nearest: Likeness  # by its decisions
    alike: tuple[Likeness, ...]  # equally good agreement
    attainable: float  # typical agreement with its own log; not a number if that has no decisions
    named: bool  # the nearest is accepted as the author

    def __str__(self) -> str:
        """Return the verdict in words."""
        it = f"{self.nearest.order} + {self.nearest.start}"
        agrees = f"{self.nearest.typical:.0%} of the decisions in a typical part of the log"
        itself = f"{self.attainable:.0%} in its own log"
        if math.isnan(self.attainable):
            return (
                f"The author of the log cannot be identified: the nearest is {it}, which takes {agrees}, but its own "
                "log has no decisions to compare."
            )
        if not self.named:
            return (
                f"None of these: even {it} takes only {agrees}, and {itself}. Another policy wrote the log, or the log "
                "does not record outages, overheads or requested times that mattered."
            )
        others = ", ".join(f"{one.order} + {one.start}" for one in self.alike)
        return f"{it}: it takes {agrees}, and {itself}." + (f" Not distinguishable: {others}." if others else "")


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
    """Judge the results of `identify`, from the agreement of the nearest with logs of its own; None if no state was
    compared.

    `replay` simulates a workload under the policies of one of the results.
    """
    asked = [one for one in found if one.one_step == one.one_step]
    if not asked:
        return None
    nearest = max(asked, key=lambda one: (one.one_step, -one.P))
    draw = np.random.default_rng(seed)
    own = []
    for number in range(repetitions):
        before, after = (draw_overheads(spec, draw, (len(workload),)) for spec in (launch, completion))
        jobs = _own_log(workload, before, after, lambda held: replay(held, nearest), f"own log {number} {seed}")
        _, typical = DecisionAgreement(jobs, platform, states, seed).of(lambda held: replay(held, nearest))
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
    """Return the workload with the log that a policy would have written, with overheads before and after each job."""
    jobs = workload.jobs
    work = jobs["work"] + before + after
    held = jobs.assign(work=work, estimate=np.maximum(jobs["estimate"], work))
    schedule = replay(replace(workload, jobs=held, digest=f"{workload.digest} {name}"))
    wait = schedule.frame["wait"].to_numpy() + before
    return replace(workload, jobs=jobs.assign(logged_wait=wait, logged_run=jobs["work"].to_numpy()))


def scheduler_in_header(header: Sequence[str]) -> str:
    """Return the line of a log's header that names its scheduler; empty if there is none."""
    said = [line.lstrip("; \t") for line in header if re.search(r"\bscheduler\b", line, re.IGNORECASE)]
    return said[0] if said else ""
