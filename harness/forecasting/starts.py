"""Forecasts of job starts: the state of a machine is simulated many times, with random runtimes."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.experiment.simulation import run_inputs
from harness.forecasting.arrivals import Arrivals
from harness.forecasting.usage import Usage
from harness.policy.scheduler import Scheduler
from harness.policy.timing import DecisionTiming
from harness.present.words import counted
from harness.workload.log import STARTED, Workload
from harness.workload.snapshot import Snapshot, followed_by

if TYPE_CHECKING:
    from harness.experiment.simulation import Machine
    from harness.forecasting.correction import Correction
    from harness.platform.machine import Platform

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StartForecast:
    """The forecast starts of the jobs that waited at one instant."""

    snapshot: Snapshot
    platform: "Platform"
    scheduler: dict[str, str]
    waiting: pd.DataFrame  # the waiting jobs, with a log's columns
    labels: tuple[str, ...]
    limits: Floats
    starts: Floats  # a row for each repetition, a column for each job; NaN: never
    level: float  # of the intervals
    remarks: tuple[str, ...]  # the assumptions, in words
    correction: "Correction | None" = None  # learned from earlier forecasts

    @property
    def quantiles(self) -> list[Floats]:
        """For the waiting jobs: start of the interval, median, and end of the interval [s from the instant on]."""
        left = np.where(np.isnan(self.starts), np.inf, self.starts - self.snapshot.now)
        ordered = np.sort(left, axis=0)  # medians are elements, not means of two, since some are infinite
        found = [ordered[rank] for rank in ranks(len(ordered), self.level)]
        if self.correction is not None:
            found[0], found[2] = self.correction.interval(found[1], self.level)
        return found

    @property
    def table(self) -> pd.DataFrame:
        """One row per waiting job, in order of the median.

        `job`, `procs`, `limit` [s], `waited` [s] so far, and the time from the instant on until its start [s]:
        `median`, and `low` to `high`, an interval with a share `level` of the repetitions. Infinity means never.
        """
        low, median, high = self.quantiles
        columns = {
            "job": self.labels,
            "procs": self.waiting["procs"].to_numpy(),
            "limit": self.limits,
            "waited": self.snapshot.now - self.waiting["submit"].to_numpy(dtype=np.float64),
            "median": median,
            "low": low,
            "high": high,
        }
        return pd.DataFrame(columns).sort_values("median", kind="stable", ignore_index=True)


def ranks(count: int, level: float) -> tuple[int, int, int]:
    """Return the ranks of the start of the interval, the median, and the end of the interval, among `count` numbers.

    If there are enough numbers, another one of the same kind lies in the interval with probability `level` or more.
    """
    outside = math.floor((1 - level) / 2 * (count + 1) + 1e-9)
    low = max(outside - 1, 0)
    return low, count // 2, count - 1 - low


def forecast_starts(
    snapshot: Snapshot,
    platform: "Machine | None" = None,
    scheduler: Scheduler | None = None,
    *,
    repetitions: int = 50,
    level: float = 0.8,
    arrivals: str = "weeks",
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
    timing: DecisionTiming | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StartForecast:
    """Forecast when each waiting job of `snapshot` starts: a median and an interval over the repetitions.

    In each repetition, remaining times of running jobs and runtimes of waiting jobs are drawn from the share of their
    limit that earlier jobs of the same user and limit used. Later submissions are those of an earlier week, or none if
    `arrivals` is "none". The forecast uses nothing else about later times.
    """
    if repetitions < 1:
        raise HarnessError(f"repetitions {repetitions}: expected at least 1")
    if not 0 < level < 1:
        raise HarnessError(f"level {level:g}: expected a share of the repetitions between 0 and 1, as 0.8")
    if snapshot.running.all():
        raise HarnessError(f"{snapshot.name}: no job waits then: expected an instant at which jobs wait")
    base = snapshot.workload()
    what = run_inputs(base, platform, scheduler, seed=seed, plugins=plugins, timing=timing)
    in_use = int(base.jobs["procs"][base.jobs[STARTED] >= 0].sum())
    if snapshot.live and in_use > what.machine.cores:
        raise HarnessError(
            f"{snapshot.name}: its running jobs use {counted(in_use, 'processor')} of a machine of "
            f"{what.machine.cores:,}: expected the machine of this state, of at least {in_use:,} processors"
        )
    base, crowded = _fitting(base, what.machine.cores)
    kept = ~crowded
    usage, draw = Usage(snapshot.past), np.random.default_rng([seed, 1])
    later = Arrivals(snapshot, usage, arrivals, draw)
    users = snapshot.present["user"].to_numpy(dtype=np.int64)
    runtimes = usage.runtimes(users, snapshot.limits, snapshot.elapsed, draw, repetitions)[:, kept]
    waits = base.jobs[STARTED].to_numpy() < 0
    starts = np.full((repetitions, int(waits.sum())), np.nan)
    for k in range(repetitions):
        jobs = _drawn(base, runtimes[k], later, np.random.default_rng([seed, 2, k]))
        outcome = simulate(jobs, what.machine, what.chosen, seed=seed, extras=what.extras)
        begun = np.empty(len(jobs))
        begun[outcome.place] = np.asarray(outcome.jobs["start"])
        starts[k] = begun[: len(waits)][waits]
        if progress is not None:
            progress(k + 1, repetitions)
    rows = ~snapshot.running
    at_once = int((starts == snapshot.now).all(axis=0).sum())
    return StartForecast(
        snapshot,
        what.machine,
        what.chosen.names,
        snapshot.present[rows].assign(procs=base.jobs["procs"].to_numpy()[waits]).reset_index(drop=True),
        tuple(np.array(snapshot.labels, dtype=object)[rows]),
        snapshot.limits[rows],
        starts,
        level,
        (usage.remark, later.remark, *_crowding(crowded), *_unexplained_waits(at_once)),
    )


def _fitting(base: Workload, cores: int) -> tuple[Workload, npt.NDArray[np.bool_]]:
    """Return the jobs without the last-started ones that exceed the machine, and which these are.

    In some logs more jobs run at times than their machine can hold.
    """
    started = base.jobs[STARTED].to_numpy()
    order = np.lexsort((np.arange(len(started)), np.where(started >= 0, started, np.inf)))
    procs = np.where(started >= 0, base.jobs["procs"].to_numpy(), 0)
    crowded = np.zeros(len(started), dtype=np.bool_)
    crowded[order] = np.cumsum(procs[order]) > cores
    crowded &= started >= 0
    if not crowded.any():
        return base, crowded
    return replace(base, jobs=base.jobs[~crowded].reset_index(drop=True)), crowded


def _crowding(crowded: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    count = int(crowded.sum())
    return (f"{count:,} running jobs left out: earlier ones fill the machine",) if count else ()


def _unexplained_waits(at_once: int) -> tuple[str, ...]:
    """Return a remark about waiting jobs that this scheduler would have started."""
    if not at_once:
        return ()
    return (f"{at_once:,} jobs wait although this scheduler would start them (a hold, another job, a limit, a node)",)


def _drawn(base: Workload, runtimes: Floats, later: Arrivals, draw: np.random.Generator) -> Workload:
    """Return the jobs with these runtimes, followed by later submissions."""
    longest = np.maximum(base.jobs["estimate"].to_numpy(), runtimes)
    jobs = replace(base, jobs=base.jobs.assign(work=runtimes, estimate=longest))
    others = later.drawn(draw)
    return jobs if others is None else followed_by(jobs, others[0], delay=others[1])
