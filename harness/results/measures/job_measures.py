"""Measures of jobs: how they ended, what interruptions cost, how long they waited."""

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
    """Jobs that did not end by themselves, but at their requested time or by an intervention."""
    return _count(schedule, Ending.KILLED)


@measure("jobs", "neither", "number of jobs with status cancelled")
def cancelled(schedule: "Schedule") -> float:
    """Jobs that their users took back, left out of every average over jobs."""
    return _count(schedule, Ending.CANCELLED)


@measure("jobs", "less", "number of jobs with status stranded", headline=True)
def stranded(schedule: "Schedule") -> float:
    """Jobs that never began, because nodes stayed down or a hold never let them go, left out of every average."""
    return _count(schedule, Ending.STRANDED)


@measure("jobs", "less", "number of jobs without a start")
def unstarted(schedule: "Schedule") -> float:
    """Jobs that never started: unaccepted, stranded, or cancelled while they waited."""
    return float(np.count_nonzero(np.isnan(schedule.of_all("start"))))


@measure("", "less", "Σ over all jobs of the times it was suspended", headline=True)
def preemptions(schedule: "Schedule") -> float:
    """How many times a running job was suspended."""
    return float(schedule.outcome.jobs["preemptions"].sum())


@measure("", "less", "Σ over all jobs of the times it had to begin again", headline=True)
def restarts(schedule: "Schedule") -> float:
    """How many times a running job was interrupted, lost what it had done, and waited again."""
    return float(schedule.of_all("restarts").sum())


@measure("procs·s", "less", "Σ over all jobs of N · (time in service before it had to begin again)")
def lost_work(schedule: "Schedule") -> float:
    """Processor time that interruptions made worthless."""
    return float((schedule.of_all("procs") * schedule.of_all("lost")).sum())


@measure("s", "less", "mean(start − submit)", headline=True)
def mean_wait(schedule: "Schedule") -> float:
    """Average waiting time (AWT), from submit to first start."""
    return _mean(schedule.of_those_that_ran("wait"))


@measure("s", "less", "median(start − submit)", headline=True)
def median_wait(schedule: "Schedule") -> float:
    """Waiting time that half of the jobs do not exceed."""
    return _quantile(schedule.of_those_that_ran("wait"), 0.5)


@measure("s", "less", "0.95-quantile of start − submit, linearly interpolated", headline=True)
def p95_wait(schedule: "Schedule") -> float:
    """Waiting time that 95 % of the jobs do not exceed."""
    return _quantile(schedule.of_those_that_ran("wait"), 0.95)


@measure("s", "less", "0.99-quantile of start − submit, linearly interpolated")
def p99_wait(schedule: "Schedule") -> float:
    """Waiting time that 99 % of the jobs do not exceed."""
    return _quantile(schedule.of_those_that_ran("wait"), 0.99)


@measure("s", "less", "max(start − submit)", headline=True)
def max_wait(schedule: "Schedule") -> float:
    """Longest waiting time."""
    return _quantile(schedule.of_those_that_ran("wait"), 1.0)


@measure("s", "less", "mean(time between start and service in which it held processors)")
def mean_boot(schedule: "Schedule") -> float:
    """Time a job held its processors and waited for sleeping nodes to wake, on average."""
    return _mean(schedule.of_those_that_ran("boot"))


@measure("s", "less", "mean(end − submit)", headline=True)
def mean_response(schedule: "Schedule") -> float:
    """Average response time (ART), from submit to end."""
    return _mean(schedule.of_those_that_ran("response"))


@measure("", "less", "mean(response / run), jobs of no length left out")
def mean_slowdown(schedule: "Schedule") -> float:
    """How much longer than in service, in all turns since its last beginning, a job was in the system, on average."""
    slowdown = schedule.of_those_that_ran("slowdown")
    return _mean(slowdown[~np.isnan(slowdown)])


@measure("", "less", "mean(max(1, response / max(run, 10 s)))", headline=True)
def mean_bounded_slowdown(schedule: "Schedule") -> float:
    """Mean slowdown in which jobs shorter than ten seconds count as that long."""
    return _mean(schedule.of_those_that_ran("bounded_slowdown"))


@measure("s", "less", "Σ N·run·response / Σ N·run")
def area_weighted_response(schedule: "Schedule") -> float:
    """Average response time in which every processor-second of service counts alike."""
    area = schedule.of_those_that_ran("procs") * schedule.of_those_that_ran("run")
    return ratio(np.sum(area * schedule.of_those_that_ran("response")), np.sum(area))


@measure("", "less", "Σ N·run·(response / run) / Σ N·run = Σ N·response / Σ N·run")
def area_weighted_slowdown(schedule: "Schedule") -> float:
    """Average slowdown in which every processor-second of service counts alike."""
    procs, run, response = (schedule.of_those_that_ran(name) for name in ("procs", "run", "response"))
    return ratio(np.sum(procs * response), np.sum(procs * run))


@measure("s", "less", "Σ N·response / Σ N")
def width_weighted_response(schedule: "Schedule") -> float:
    """Average response time in which a job counts once for every processor it uses."""
    procs = schedule.of_those_that_ran("procs")
    return ratio(np.sum(procs * schedule.of_those_that_ran("response")), np.sum(procs))


@measure("s", "less", "mean |first prediction − work|, both at reference speed")
def prediction_error(schedule: "Schedule") -> float:
    """How far the first prediction of a job's runtime was off, on average; that of the request without a predictor."""
    return _mean(np.abs(_surprise(schedule)))


@measure("", "less", "share of the jobs with first prediction < work")
def share_underpredicted(schedule: "Schedule") -> float:
    """Share of the jobs that took longer than was predicted when they were submitted."""
    return _mean((_surprise(schedule) < 0).astype(np.float64))


@measure("", "less", "Σ over all jobs of the times it outlived what was believed")
def corrections(schedule: "Schedule") -> float:
    """How many times a prediction had to be corrected while the job ran."""
    return float(schedule.outcome.jobs["corrections"].sum())


def _surprise(schedule: "Schedule") -> npt.NDArray[np.float64]:
    """Return by how much the first prediction exceeds the work, of the jobs that ran."""
    work: npt.NDArray[np.float64] = schedule.workload.jobs["work"].to_numpy(np.float64)[schedule.who_ran]
    return schedule.of_those_that_ran("predicted") - work


def _count(schedule: "Schedule", ending: Ending) -> float:
    return float(np.count_nonzero(schedule.statuses == ending))


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _quantile(values: npt.NDArray[np.float64], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else math.nan
