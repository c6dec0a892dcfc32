"""Measures of jobs: how they ended, the cost of interruptions, and how long they waited."""

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from harness.results.job_outcomes import Ending
from harness.results.measures.declaring import measure, ratio

if TYPE_CHECKING:
    from harness.results.schedule import Schedule


@measure("jobs", "neither", "number of jobs")
def jobs(schedule: "Schedule") -> float:
    """Jobs of the prepared workload."""
    return len(schedule.workload)


@measure("jobs", "more", "jobs − unaccepted")
def accepted(schedule: "Schedule") -> float:
    """Jobs that the platform can run and the start policy did not reject."""
    return jobs(schedule) - unaccepted(schedule)


@measure("jobs", "less", "number of jobs with status unaccepted", headline=True)
def unaccepted(schedule: "Schedule") -> float:
    """Jobs that the empty platform could not run or the start policy rejected, left out of every average."""
    return _count(schedule, Ending.UNACCEPTED)


@measure("jobs", "neither", "number of jobs with status killed", headline=True)
def killed(schedule: "Schedule") -> float:
    """Jobs that were ended at their requested time or by an intervention."""
    return _count(schedule, Ending.KILLED)


@measure("jobs", "neither", "number of jobs with status cancelled")
def cancelled(schedule: "Schedule") -> float:
    """Jobs that their users cancelled, left out of every average over jobs."""
    return _count(schedule, Ending.CANCELLED)


@measure("jobs", "less", "number of jobs with status stranded", headline=True)
def stranded(schedule: "Schedule") -> float:
    """Jobs that never started because nodes stayed down or a hold never released them, left out of every average."""
    return _count(schedule, Ending.STRANDED)


@measure("jobs", "less", "number of jobs without a start")
def unstarted(schedule: "Schedule") -> float:
    """Jobs that never started: unaccepted, stranded, or cancelled while they waited."""
    return float(np.count_nonzero(np.isnan(schedule.column("start"))))


@measure("", "less", "Σ over all jobs of its suspensions", headline=True)
def preemptions(schedule: "Schedule") -> float:
    """Number of times that a running job was suspended."""
    return float(schedule.outcome.jobs["preemptions"].sum())


@measure("", "less", "Σ over all jobs of its restarts", headline=True)
def restarts(schedule: "Schedule") -> float:
    """Number of times that a running job was interrupted, lost its progress, and waited again."""
    return float(schedule.column("restarts").sum())


@measure("procs·s", "less", "Σ over all jobs of N · (time in service before a restart)")
def lost_work(schedule: "Schedule") -> float:
    """Processor time that interruptions wasted."""
    return float((schedule.column("procs") * schedule.column("lost")).sum())


@measure("s", "less", "mean(start − submit)", headline=True)
def mean_wait(schedule: "Schedule") -> float:
    """Average waiting time (AWT), from submit to first start."""
    return _mean(schedule.ran_column("wait"))


@measure("s", "less", "median(start − submit)", headline=True)
def median_wait(schedule: "Schedule") -> float:
    """Waiting time that half of the jobs do not exceed."""
    return _quantile(schedule.ran_column("wait"), 0.5)


@measure("s", "less", "0.95-quantile of start − submit, linearly interpolated", headline=True)
def p95_wait(schedule: "Schedule") -> float:
    """Waiting time that 95 % of the jobs do not exceed."""
    return _quantile(schedule.ran_column("wait"), 0.95)


@measure("s", "less", "0.99-quantile of start − submit, linearly interpolated")
def p99_wait(schedule: "Schedule") -> float:
    """Waiting time that 99 % of the jobs do not exceed."""
    return _quantile(schedule.ran_column("wait"), 0.99)


@measure("s", "less", "max(start − submit)", headline=True)
def max_wait(schedule: "Schedule") -> float:
    """Longest waiting time."""
    return _quantile(schedule.ran_column("wait"), 1.0)


@measure("s", "less", "mean(time from start to service)")
def mean_boot(schedule: "Schedule") -> float:
    """Average time that a job held its processors and waited for sleeping nodes to wake."""
    return _mean(schedule.ran_column("boot"))


@measure("s", "less", "mean(end − submit)", headline=True)
def mean_response(schedule: "Schedule") -> float:
    """Average response time (ART), from submit to end."""
    return _mean(schedule.ran_column("response"))


@measure("", "less", "mean(response / run), without jobs with run = 0")
def mean_slowdown(schedule: "Schedule") -> float:
    """Average ratio of the time in the system to the time in service since the last start."""
    slowdown = schedule.ran_column("slowdown")
    return _mean(slowdown[~np.isnan(slowdown)])


@measure("", "less", "mean(max(1, response / max(run, 10 s)))", headline=True)
def mean_bounded_slowdown(schedule: "Schedule") -> float:
    """Average slowdown in which jobs shorter than ten seconds count as ten seconds long."""
    return _mean(schedule.ran_column("bounded_slowdown"))


@measure("s", "less", "Σ N·run·response / Σ N·run")
def area_weighted_response(schedule: "Schedule") -> float:
    """Average response time in which every processor-second of service has the same weight."""
    area = schedule.ran_column("procs") * schedule.ran_column("run")
    return ratio(np.sum(area * schedule.ran_column("response")), np.sum(area))


@measure("", "less", "Σ N·run·(response / run) / Σ N·run = Σ N·response / Σ N·run")
def area_weighted_slowdown(schedule: "Schedule") -> float:
    """Average slowdown in which every processor-second of service has the same weight."""
    procs, run, response = (schedule.ran_column(name) for name in ("procs", "run", "response"))
    return ratio(np.sum(procs * response), np.sum(procs * run))


@measure("s", "less", "Σ N·response / Σ N")
def width_weighted_response(schedule: "Schedule") -> float:
    """Average response time in which each processor of a job counts once."""
    procs = schedule.ran_column("procs")
    return ratio(np.sum(procs * schedule.ran_column("response")), np.sum(procs))


@measure("s", "less", "mean |first prediction − work|, both at reference speed")
def prediction_error(schedule: "Schedule") -> float:
    """Average error of the first prediction of a job's runtime; without a predictor, of the requested time."""
    return _mean(np.abs(_surprise(schedule)))


@measure("", "less", "share of the jobs with first prediction < work")
def share_underpredicted(schedule: "Schedule") -> float:
    """Share of the jobs that ran longer than predicted at their submission."""
    return _mean((_surprise(schedule) < 0).astype(np.float64))


@measure("", "less", "Σ over all jobs of the corrections of its estimate")
def corrections(schedule: "Schedule") -> float:
    """Number of times that a running job exceeded its estimate, which was then corrected."""
    return float(schedule.outcome.jobs["corrections"].sum())


def _surprise(schedule: "Schedule") -> npt.NDArray[np.float64]:
    """Return the first prediction minus the work, for the jobs that ran."""
    work: npt.NDArray[np.float64] = schedule.workload.jobs["work"].to_numpy(np.float64)[schedule.ran_mask]
    return schedule.ran_column("predicted") - work


def _count(schedule: "Schedule", ending: Ending) -> float:
    return float(np.count_nonzero(schedule.statuses == ending))


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _quantile(values: npt.NDArray[np.float64], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else math.nan
