"""How much work a field is, before it runs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.experiment.execution import execute
from harness.experiment.field import Field
from harness.experiment.plan import Run, make_plan
from harness.experiment.pool import threads_wanted
from harness.workload.log import Workload

#: Every scheduler is tried on so many jobs.
SAMPLE = 2_000


@dataclass(frozen=True)
class Forecast:
    """So many runs and jobs, and a guess at the time."""

    name: str
    runs: int
    jobs: int
    seconds: float
    workers: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.runs:,} runs, {self.jobs:,} jobs; expected time about {_duration(self.seconds)} on "
            f"{self.workers} threads, from how fast each scheduler just replayed the first {SAMPLE:,} jobs here; "
            "a scheduler that lets its queue grow slows down, and takes longer than that"
        )


def forecast(
    field: Field, *, resamples: int | None = None, plugins: Iterable[str] = (), workers: int | None = None
) -> Forecast:
    """Try every scheduler of `field` on the first jobs of its first workload there."""
    plan = make_plan(field if resamples is None else replace(field, resamples=resamples), plugins)
    workers = threads_wanted(workers)
    pace: dict[tuple[str, ...], float] = {}
    seconds = 0.0
    for run in plan.runs:
        key = tuple(run.policies.values())
        if key not in pace:
            pace[key] = _seconds_per_job(run)
        seconds += run.jobs * pace[key]
    return Forecast(field.name, len(plan.runs), plan.jobs, seconds / workers, workers)


def _seconds_per_job(run: Run) -> float:
    workload = _beginning(run.workload)
    task = replace(run, variation=0).task()
    execute(task, workload)  # compile
    trial = execute(task, workload)
    return (trial.finished - trial.started) / len(workload)


def _beginning(workload: Workload) -> Workload:
    jobs = workload.jobs.sort_values("submit", kind="stable").head(SAMPLE).reset_index(drop=True)
    return replace(workload, jobs=jobs, digest=f"{workload.digest} beginning")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
