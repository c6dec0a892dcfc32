"""How much work a field is, before it runs."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from harness.experiment.execution import execute
from harness.experiment.field import Field, shortened
from harness.experiment.plan import Plan, Run, make_plan
from harness.experiment.pool import Threads, execute_all, threads_wanted
from harness.workload.log import Workload

#: Every scheduler is tried on so many jobs.
SAMPLE = 2_000

#: Then so many runs are drawn and done in full, or this share of all of them where there are fewer.
DRAWN, SHARE = 120, 0.02

#: Half of the width of a normal 95 % interval.
_WIDE = 1.96


@dataclass(frozen=True)
class Forecast:
    """So many runs and jobs, and a guess at the time."""

    name: str
    runs: int
    jobs: int
    seconds: float
    workers: int
    drawn: int = 0  # runs that were done in full for it
    error: float = 0.0  # of the seconds: half a 95 % interval

    def __str__(self) -> str:
        how = f"from how fast each scheduler just replayed the first {SAMPLE:,} jobs here"
        if self.drawn:
            low, high = max(self.seconds - self.error, 0.0), self.seconds + self.error
            how += f" and {self.drawn:,} runs drawn by lot took: {_duration(low)} to {_duration(high)}"
        else:
            how += "; a scheduler that lets its queue grow slows down, and takes longer than that"
        return (
            f"{self.name}: {self.runs:,} runs, {self.jobs:,} jobs; expected time about {_duration(self.seconds)} on "
            f"{self.workers} threads, {how}"
        )


def forecast(
    field: Field,
    *,
    resamples: int | None = None,
    jobs: int | None = None,
    plugins: Iterable[str] = (),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Forecast:
    """Try every scheduler of `field` on the first jobs of its first workload there, then some runs in full.

    These are drawn with probabilities in proportion to the times that the trials let expect, so that their times over
    these probabilities average to the time of all, however long queues grow.
    """
    whole = field if resamples is None else replace(field, resamples=resamples)
    plan = make_plan(shortened(whole, jobs), plugins)
    workers = threads_wanted(workers)
    tried: dict[tuple[str, ...], Run] = {}
    for run in plan.runs:
        tried.setdefault(_scheduler(run), run)
    drawn = _how_many(plan)
    tell = progress or (lambda done, total: None)
    pace: dict[tuple[str, ...], float] = {}
    for scheduler, run in tried.items():
        pace[scheduler] = _seconds_per_job(run)
        tell(len(pace), len(tried) + drawn)
    expected = np.array([run.jobs * pace[_scheduler(run)] for run in plan.runs])
    ratios = []
    for ratio in _ratios(plan, expected, workers, drawn):
        ratios.append(ratio)
        tell(len(tried) + len(ratios), len(tried) + drawn)
    found = Forecast(field.name, len(plan.runs), plan.jobs, float(expected.sum()) / workers, workers)
    if not ratios:
        return found
    error = _WIDE * float(np.std(ratios, ddof=1)) / len(ratios) ** 0.5 * found.seconds
    return replace(found, seconds=found.seconds * float(np.mean(ratios)), drawn=len(ratios), error=error)


def _scheduler(run: Run) -> tuple[str, ...]:
    return tuple(run.policies.values())


def _how_many(plan: Plan) -> int:
    """Return how many runs are drawn and done in full: none where that would be one."""
    count = min(DRAWN, int(SHARE * len(plan.runs)))
    return count if count > 1 else 0


def _ratios(
    plan: Plan, expected: "np.ndarray[tuple[int], np.dtype[np.float64]]", workers: int, count: int
) -> Iterator[float]:
    """Do `count` runs in full, as many at once as there will be, and yield their times over those expected."""
    if count == 0:
        return
    drawn = np.random.default_rng(0).choice(len(plan.runs), count, p=expected / expected.sum())
    times = {plan.runs[place].identity: (expected[place], int((drawn == place).sum())) for place in set(drawn.tolist())}
    with closing(Threads(workers)) as pool:
        chosen = [plan.runs[place] for place in dict.fromkeys(drawn.tolist())]
        pool.begin(chosen)
        for run, result in execute_all(pool, chosen, None):
            guess, often = times[run.identity]
            yield from [(result.finished - result.started) / guess] * often


def _seconds_per_job(run: Run) -> float:
    workload = _beginning(run.workload)
    task = replace(run, variation=0).task()
    execute(task, workload)  # compile
    began = time.time()
    execute(task, workload)
    return (time.time() - began) / len(workload)


def _beginning(workload: Workload) -> Workload:
    jobs = workload.jobs.sort_values("submit", kind="stable").head(SAMPLE).reset_index(drop=True)
    return replace(workload, jobs=jobs, digest=f"{workload.digest} beginning")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
