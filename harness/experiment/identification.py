"""Identify the policy that most resembles the real scheduler: replay every combination and sort by distance to
the log.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError
from harness.experiment.decision_agreement import DecisionAgreement
from harness.experiment.execution import stopping_when
from harness.experiment.pool import Stop, Threads, completed, thread_count
from harness.experiment.rank_intervals import blocks_of, rank_intervals
from harness.experiment.simulation import simulate
from harness.policy.declared_traits import SIGNAL
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Scheduler
from harness.policy.timing import DecisionTiming
from harness.results.adequacy import adequacy, logged_stream, simulated_stream

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.events import Events
    from harness.workload.log import Workload

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Likeness:
    """The distance of the replay under one combination of policies from the log."""

    order: str
    start: str
    P: float  # [s]
    E: float  # [s]
    median: float  # of |V − v| [s]
    p95: float  # of |V − v| [s]
    different: int  # jobs whose waits differ
    skill: float  # 1 − P / P of one wait for all
    first: int  # 95 % interval of the rank by P, from resampled weeks of the log
    last: int
    tied: bool  # P does not distinguish it from the nearest
    one_step: float  # agreement with single decisions of the log, 0 to 1; not a number if not measured
    typical: float  # the same in a typical part of the log
    seconds: float  # simulation alone


def identify(
    workload: "Workload",
    platform: "Platform | int | None" = None,
    *,
    orders: Sequence[str] = (),
    starts: Sequence[str] = (),
    scheduler: Scheduler | None = None,
    seed: int = 0,
    timing: DecisionTiming | None = None,
    plugins: Iterable[str | Path] = (),
    workers: int | None = None,
    events: "Events | None" = None,
    states: int = 200,
    progress: Callable[[int, int], None] | None = None,
) -> list[Likeness]:
    """Replay `workload` under every order with every start policy, and return the combinations sorted by P, nearest
    first.

    By default, `orders` are all orders. `starts` are all start policies with their default parameters, and
    `easy(backfill_order=spf)`, without those that preempt or read a signal. The other policies are those of
    `scheduler`. The replays run on `workers` threads, by default one per processor. `progress(done, all)` is called
    after each. `events` are replayed with each. The decisions of each combination are also compared with those of the
    log in `states` logged states (see `harness.experiment.decision_agreement`).
    """
    real = logged_stream(workload)  # raises before the simulations if the comparison is undefined
    combinations = _combinations(orders, starts, scheduler or Scheduler(energy="none"), plugins)
    block = blocks_of(real.submit)
    asked = DecisionAgreement(workload, platform, states, seed)

    def replayed(scheduler: Scheduler, stop: Stop) -> tuple[dict[str, Any], Floats]:
        run = partial(simulate, seed=seed, plugins=plugins, progress=stopping_when(stop), timing=timing)
        schedule = run(workload, platform, scheduler, events=events)
        errors = (simulated_stream(schedule).residence - real.residence) ** 2
        one_step, typical = asked.of(lambda jobs: run(jobs, platform, scheduler))
        figures = {"order": scheduler.order, "start": scheduler.start, "one_step": one_step, "typical": typical}
        return figures | _figures(schedule), np.bincount(block, errors).astype(np.float64)

    found: list[tuple[dict[str, Any], Floats]] = []
    with closing(Threads(thread_count(workers))) as threads:
        for _, future in completed(combinations, partial(threads.call, replayed), threads.room):
            found.append(future.result())
            if progress is not None:
                progress(len(found), len(combinations))
    found.sort(key=lambda pair: (pair[0]["P"], pair[0]["start"], pair[0]["order"]))
    intervals = rank_intervals(np.array([squares for _, squares in found]), np.bincount(block), seed)
    return [
        Likeness(**figures, first=int(first), last=int(last), tied=bool(tied))
        for (figures, _), first, last, tied in zip(found, *intervals, strict=True)
    ]


def _combinations(
    orders: Sequence[str], starts: Sequence[str], rest: Scheduler, plugins: Iterable[str | Path]
) -> list[Scheduler]:
    """Return every order with every start policy; raise an error if one is named twice."""
    policies = load_plugins(*map(str, plugins)).policies
    orders = orders or list(policies["order_queue"])
    served = [
        name
        for name, policy in policies["start_jobs"].items()
        if not getattr(policy, "preemptive", False) and SIGNAL not in policy.needs
    ]
    starts = starts or [*served, "easy(backfill_order=spf)"]
    found = [replace(rest, order=order, start=start) for start in starts for order in orders]
    if len(set(found)) < len(found):
        raise HarnessError("a combination of order and start is named twice: expected each once")
    return found


def _figures(schedule: "Schedule") -> dict[str, Any]:
    """Return the fields of `Likeness` that depend on this replay alone."""
    off = adequacy(schedule)
    return {
        **{name: getattr(off, name) for name in ("P", "E", "median", "p95")},
        "different": int(off.growth[-1].different),
        "skill": off.scale.skill,
        "seconds": schedule.outcome.seconds,
    }
