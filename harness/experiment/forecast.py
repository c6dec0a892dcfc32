"""Estimate the duration of a tournament before it runs."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from harness.experiment.execution import Stopped, execute
from harness.experiment.field import Field, with_first_jobs
from harness.experiment.pool import Stop, Threads, completed, thread_count
from harness.experiment.run_matrix import Run, RunMatrix, make_run_matrix
from harness.present.words import counted
from harness.workload.log import Workload

#: Every scheduler is first tried on this many jobs.
SAMPLE = 2_000

#: The number of runs that are then drawn and done, and their largest share of all runs.
DRAWN, SHARE = 120, 0.02

#: The longest time of one drawn run, and the time after which no other is started [s].
LONGEST, DRAWING = 5.0, 60.0

#: Half of the width of a normal 95 % interval.
_WIDE = 1.96


@dataclass(frozen=True)
class Forecast:
    """The number of runs and jobs of a field, and their expected duration."""

    name: str
    runs: int
    jobs: int
    seconds: float
    workers: int
    drawn: int = 0  # runs that were done for the estimate
    error: float = 0.0  # of the seconds: half a 95 % interval
    refused: int = 0  # combinations that cannot run

    def __str__(self) -> str:
        how = f"estimated from a replay of the first {SAMPLE:,} jobs by each scheduler here"
        if self.drawn:
            low, high = max(self.seconds - self.error, 0.0), self.seconds + self.error
            how += f" and from {self.drawn:,} runs drawn at random: {_duration(low)} to {_duration(high)}"
        else:
            how += "; a scheduler with a growing queue slows down, and takes longer"
        return (
            f"{self.name}: {self.runs:,} runs, {self.jobs:,} jobs; expected time about {_duration(self.seconds)} on "
            f"{self.workers} threads, {how}"
            + (f"; {counted(self.refused, 'combination')} cannot run, listed with the results" if self.refused else "")
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
    """Estimate the duration: try every scheduler of `field` on the first jobs of its first workload, then do some runs.

    The runs are drawn with probabilities proportional to the times that the trials predict. The mean of time divided by
    probability estimates the total, however long queues grow. Of the slowest runs only the beginning is done.
    """
    whole = field if resamples is None else replace(field, resamples=resamples)
    plan = make_run_matrix(with_first_jobs(whole, jobs), plugins)
    workers = thread_count(workers)
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
    seconds = float(expected.sum()) / workers
    found = Forecast(field.name, len(plan.runs), plan.jobs, seconds, workers, refused=len(plan.refused))
    if not ratios:
        return found
    error = _WIDE * float(np.std(ratios, ddof=1)) / len(ratios) ** 0.5 * found.seconds
    return replace(found, seconds=found.seconds * float(np.mean(ratios)), drawn=len(ratios), error=error)


def _scheduler(run: Run) -> tuple[str, ...]:
    return tuple(run.policies.values())


def _how_many(plan: RunMatrix) -> int:
    """Return the number of runs to draw; 0 if it would be 1."""
    count = min(DRAWN, int(SHARE * len(plan.runs)))
    return count if count > 1 else 0


def _ratios(
    plan: RunMatrix, expected: "np.ndarray[tuple[int], np.dtype[np.float64]]", workers: int, count: int
) -> Iterator[float]:
    """Do `count` drawn runs in parallel and yield their times divided by the expected times.

    If time runs out, the runs that were drawn last are left out.
    """
    if count == 0:
        return
    drawn = np.random.default_rng(0).choice(len(plan.runs), count, p=expected / expected.sum()).tolist()
    until = time.monotonic() + DRAWING
    chosen = [plan.runs[place] for place in dict.fromkeys(drawn)]
    took: dict[str, float] = {}
    with closing(Threads(workers)) as pool:
        pool.begin(chosen)
        in_time = takewhile(lambda run: len(took) < 2 or time.monotonic() < until, chosen)
        for run, future in completed(in_time, lambda run: pool.call(_seconds, run), lambda: workers):
            took[run.identity] = future.result()
    for place in takewhile(lambda place: plan.runs[place].identity in took, drawn):
        yield took[plan.runs[place].identity] / expected[place]


def _seconds(run: Run, stop: Stop) -> float:
    """Return the duration of a run; extrapolated from its pace if it takes longer than `LONGEST`."""
    began = time.perf_counter()
    marks: list[tuple[float, int]] = []

    def look(done: int, jobs: int) -> None:
        marks.append((time.perf_counter() - began, done))
        if marks[-1][0] > LONGEST:
            raise Stopped

    try:
        execute(run.task(), run.workload, stop, look)
    except Stopped:
        if stop():
            raise
        return extrapolated(marks, run.jobs)
    return time.perf_counter() - began


def extrapolated(marks: Sequence[tuple[float, int]], jobs: int) -> float:
    """Return the expected duration of all `jobs` from `marks` of (seconds, jobs that had ended).

    The time is a power of the number of jobs, fitted to the second half of the marks. The exponent is between 1 and 2:
    a queue that grows steadily costs the square.
    """
    seconds, done = marks[-1]
    if done < 1:  # no job has ended yet
        return seconds * jobs
    half = float(np.interp(done / 2, [count for _, count in marks], [at for at, _ in marks]))
    power = float(np.clip(np.log2(seconds / half), 1.0, 2.0)) if half > 0 else 1.0
    return float(seconds * (jobs / done) ** power)


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
