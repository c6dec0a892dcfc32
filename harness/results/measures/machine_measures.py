"""Measures of the machine: its use, and averages over time."""

import math
from typing import TYPE_CHECKING

import numpy as np

from harness.results.measures.declaring import measure, ratio

if TYPE_CHECKING:
    from harness.results.schedule import Schedule


@measure("s", "less", "max(end) − min(submit)")
def makespan(schedule: "Schedule") -> float:
    """Time from the first submit to the last end."""
    if schedule.workload.now is not None:  # a run from a snapshot has earlier jobs
        return elapsed(schedule)
    ends = schedule.ran_column("end")
    return float(ends.max() - schedule.ran_column("submit").min()) if len(ends) else math.nan


@measure("", "more", "Σ N·run / (c · makespan)", headline=True, share=True)
def utilisation(schedule: "Schedule") -> float:
    """Share of the processors' time that was used by jobs."""
    if schedule.workload.now is not None:
        return ratio(_time_average(schedule, "busy"), schedule.platform.cores)
    used = np.sum(schedule.ran_column("procs") * schedule.ran_column("run"))
    return ratio(used, schedule.platform.cores * makespan(schedule))


@measure("", "neither", "Σ N·run / (c · (max(submit) − min(submit)))")
def offered_load(schedule: "Schedule") -> float:
    """Submitted work as a share of the capacity of the processors in that time; above 1 queues keep growing."""
    if schedule.workload.now is not None:  # the waiting jobs of a snapshot were submitted over an unknown time
        return math.nan
    used = np.sum(schedule.ran_column("procs") * schedule.ran_column("run"))
    submits = schedule.ran_column("submit")
    span = submits.max() - submits.min() if len(submits) else 0.0
    return ratio(used, schedule.platform.cores * span)


@measure("jobs/h", "more", "number of jobs that ran / makespan")
def throughput(schedule: "Schedule") -> float:
    """Jobs finished per hour."""
    return ratio(len(schedule.ran_column("end")) * 3600.0, makespan(schedule))


@measure("jobs", "less", "∫ (jobs waiting + jobs in service) dt / ∫ dt")
def mean_jobs(schedule: "Schedule") -> float:
    """Jobs in the system, averaged over time."""
    return _time_average(schedule, "jobs")


@measure("jobs", "less", "∫ Q dt / ∫ dt")
def mean_queued(schedule: "Schedule") -> float:
    """Jobs waiting in the queue, averaged over time; held jobs are not counted."""
    return _time_average(schedule, "queued")


@measure("procs", "neither", "∫ φ dt / ∫ dt")
def mean_busy(schedule: "Schedule") -> float:
    """Busy processors, averaged over time."""
    return _time_average(schedule, "busy")


@measure("s", "less", "∫ W dt / ∫ dt, W = Σ remaining work of all jobs in the system")
def mean_workload(schedule: "Schedule") -> float:
    """Remaining work, in seconds at reference speed, averaged over time."""
    return _time_average(schedule, "work")


@measure("procs", "neither", "∫ R·(c·I{Q>0} + φ·I{Q=0}) dt / ∫ dt")
def potential_load(schedule: "Schedule") -> float:
    """Processors at full rate that could have worked, averaged over time."""
    return _time_average(schedule, "potential")


@measure("procs", "neither", "∫ R·φ dt / ∫ dt")
def effective_load(schedule: "Schedule") -> float:
    """Processors at full rate that worked, averaged over time."""
    return _time_average(schedule, "effective")


@measure("procs", "less", "∫ (c − φ)·R·I{Q>0} dt / ∫ dt = potential load − effective load")
def job_wasting(schedule: "Schedule") -> float:
    """Processors at full rate that were idle while jobs waited, averaged over time."""
    return _time_average(schedule, "wasted")


def _time_average(schedule: "Schedule", total: str) -> float:
    return ratio(schedule.outcome.sums[total], elapsed(schedule))


def elapsed(schedule: "Schedule") -> float:
    """Return the duration of the run, from its first instant to its last [s]."""
    clock = schedule.outcome.clock
    return float(clock.now - clock.began)
