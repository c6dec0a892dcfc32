"""How much work a field is, before it runs."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from harness.experiment.execution import Stopped, execute
from harness.experiment.field import Field, shortened
from harness.experiment.pool import Stop, Threads, as_they_finish, threads_wanted
from harness.experiment.run_matrix import Plan, Run, make_plan
from harness.present.words import counted
from harness.workload.log import Workload

#: Every scheduler is tried on so many jobs.
SAMPLE = 2_000

#: Then so many runs are drawn and done, or this share of all of them where there are fewer.
DRAWN, SHARE = 120, 0.02

#: Of one of them no more is done than takes so long, and after so long no other is begun [s].
LONGEST, DRAWING = 5.0, 60.0

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
    drawn: int = 0  # runs that were done for it
    error: float = 0.0  # of the seconds: half a 95 % interval
    refused: int = 0  # combinations that cannot run

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
    """Try every scheduler of `field` on the first jobs of its first workload there, then some runs.

    These are drawn with probabilities in proportion to the times that the trials let expect, so that their times over
    these probabilities average to the time of all, however long queues grow. Of the slowest only the beginning is done.
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
    seconds = float(expected.sum()) / workers
    found = Forecast(field.name, len(plan.runs), plan.jobs, seconds, workers, refused=len(plan.refused))
    if not ratios:
        return found
    error = _WIDE * float(np.std(ratios, ddof=1)) / len(ratios) ** 0.5 * found.seconds
    return replace(found, seconds=found.seconds * float(np.mean(ratios)), drawn=len(ratios), error=error)


def _scheduler(run: Run) -> tuple[str, ...]:
    return tuple(run.policies.values())


def _how_many(plan: Plan) -> int:
    """Return how many runs are drawn: none where that would be one."""
    count = min(DRAWN, int(SHARE * len(plan.runs)))
    return count if count > 1 else 0


def _ratios(
    plan: Plan, expected: "np.ndarray[tuple[int], np.dtype[np.float64]]", workers: int, count: int
) -> Iterator[float]:
    """Do `count` runs, as many at once as there will be, and yield their times over those expected.

    Fewer where time is up before: those that were drawn first.
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
        for run, future in as_they_finish(in_time, lambda run: pool.call(_seconds, run), lambda: workers):
            took[run.identity] = future.result()
    for place in takewhile(lambda place: plan.runs[place].identity in took, drawn):
        yield took[plan.runs[place].identity] / expected[place]


def _seconds(run: Run, stop: Stop) -> float:
    """Return how long a run takes, or would as its pace develops if it takes longer than `LONGEST`."""
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
    """Return when all `jobs` will have left, from the `marks` (seconds, jobs that had left) of the first of them.

    The time grows on with the power of the jobs with which it grew over the later half: at least in proportion, and at
    most with their square, which is that of a queue that grows steadily.
    """
    seconds, done = marks[-1]
    if done < 1:  # all that is known is that it is slow
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
