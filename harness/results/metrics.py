"""Every measure of a run, each defined once: what it means, its unit, its formula, whether more of it is better.

Tables, rankings, checks and the documentation read it from `MEASURES`. In the formulas a sum or a mean without
further words is over the jobs that ran: accepted and not cancelled. N is a job's width, c the processors of the
platform, R the rate, φ the busy processors, Q the number of jobs waiting, and ∫ goes over the time from the first
submit to the last event. Where there is nothing to divide by, or energy was not accounted, a measure is not a number.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

Better = Literal["less", "more", "neither"]
Function = Callable[["Schedule"], float]

_JOULES_PER_KWH = 3.6e6
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, eq=False)
class Measure:
    """One number that says something about a schedule. The docstring of `function` says what, in a sentence."""

    name: str
    unit: str  # empty: a plain number
    better: Better  # "less", "more", or "neither": it describes the run and does not judge it
    formula: str
    function: Function
    #: Relative differences up to this say nothing: sums of the same numbers differ so much from machine to machine.
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if self.better not in get_args(Better):
            choices = ", ".join(get_args(Better))
            raise HarnessError(f"measure {self.name!r}: better={self.better!r}: expected one of {choices}")

    @property
    def meaning(self) -> str:
        """What it measures, in one sentence."""
        return " ".join((inspect.getdoc(self.function) or "").split())


#: The built-in measures, in the order of tables.
MEASURES: dict[str, Measure] = {}


def measure(unit: str, better: Better, formula: str) -> Callable[[Function], Function]:
    """Make the function below a built-in measure of its name."""

    def add(function: Function) -> Function:
        MEASURES[function.__name__] = Measure(function.__name__, unit, better, formula, function)
        return function

    return add


# ---------------------------------------------------------------- jobs


@measure("jobs", "neither", "number of jobs")
def jobs(schedule: "Schedule") -> float:
    """Jobs of the prepared workload."""
    return len(schedule.workload)


@measure("jobs", "more", "jobs − unaccepted")
def accepted(schedule: "Schedule") -> float:
    """Jobs that the platform can run."""
    return jobs(schedule) - unaccepted(schedule)


@measure("jobs", "less", "number of jobs with status unaccepted")
def unaccepted(schedule: "Schedule") -> float:
    """Jobs that the empty platform could not run, left out of every average."""
    return _count(schedule, "unaccepted")


@measure("jobs", "neither", "number of jobs with status killed")
def killed(schedule: "Schedule") -> float:
    """Jobs that did not end by themselves, but at their requested time or by an intervention."""
    return _count(schedule, "killed")


@measure("jobs", "neither", "number of jobs with status cancelled")
def cancelled(schedule: "Schedule") -> float:
    """Jobs that their users took back, left out of every average over jobs."""
    return _count(schedule, "cancelled")


@measure("jobs", "less", "number of jobs with status stranded")
def stranded(schedule: "Schedule") -> float:
    """Jobs that nodes which stayed down kept waiting to the end, left out of every average over jobs."""
    return _count(schedule, "stranded")


@measure("", "less", "Σ over all jobs of the times it was suspended")
def preemptions(schedule: "Schedule") -> float:
    """How many times a running job was suspended."""
    return float(schedule.outcome.jobs["preemptions"].sum())


@measure("", "less", "Σ over all jobs of the times it had to begin again")
def restarts(schedule: "Schedule") -> float:
    """How many times a running job was interrupted, lost what it had done, and waited again."""
    return float(schedule.frame["restarts"].sum())


@measure("procs·s", "less", "Σ over all jobs of N · (time in service before it had to begin again)")
def lost_work(schedule: "Schedule") -> float:
    """Processor time that interruptions made worthless."""
    return float((schedule.frame["procs"] * schedule.frame["lost"]).sum())


# ---------------------------------------------------------------- waiting and response


@measure("s", "less", "mean(start − submit)")
def mean_wait(schedule: "Schedule") -> float:
    """Average waiting time (AWT), from submit to first start."""
    return _mean(_of(schedule, "wait"))


@measure("s", "less", "median(start − submit)")
def median_wait(schedule: "Schedule") -> float:
    """Waiting time that half of the jobs do not exceed."""
    return _quantile(_of(schedule, "wait"), 0.5)


@measure("s", "less", "0.95-quantile of start − submit, linearly interpolated")
def p95_wait(schedule: "Schedule") -> float:
    """Waiting time that 95 % of the jobs do not exceed."""
    return _quantile(_of(schedule, "wait"), 0.95)


@measure("s", "less", "0.99-quantile of start − submit, linearly interpolated")
def p99_wait(schedule: "Schedule") -> float:
    """Waiting time that 99 % of the jobs do not exceed."""
    return _quantile(_of(schedule, "wait"), 0.99)


@measure("s", "less", "max(start − submit)")
def max_wait(schedule: "Schedule") -> float:
    """Longest waiting time."""
    return _quantile(_of(schedule, "wait"), 1.0)


@measure("s", "less", "mean(time between start and service in which it held processors)")
def mean_boot(schedule: "Schedule") -> float:
    """Time a job held its processors and waited for sleeping nodes to wake, on average."""
    return _mean(_of(schedule, "boot"))


@measure("s", "less", "mean(end − submit)")
def mean_response(schedule: "Schedule") -> float:
    """Average response time (ART), from submit to end."""
    return _mean(_of(schedule, "response"))


@measure("", "less", "mean(response / run), jobs of no length left out")
def mean_slowdown(schedule: "Schedule") -> float:
    """How many times longer than its time in service a job was in the system, on average."""
    slowdown = _of(schedule, "slowdown")
    return _mean(slowdown[~np.isnan(slowdown)])


@measure("", "less", "mean(max(1, response / max(run, 10 s)))")
def mean_bounded_slowdown(schedule: "Schedule") -> float:
    """Mean slowdown in which jobs shorter than ten seconds count as that long."""
    return _mean(_of(schedule, "bounded_slowdown"))


@measure("s", "less", "Σ N·run·response / Σ N·run")
def area_weighted_response(schedule: "Schedule") -> float:
    """Average response time in which every processor-second of service counts alike."""
    area = _of(schedule, "procs") * _of(schedule, "run")
    return _ratio(np.sum(area * _of(schedule, "response")), np.sum(area))


@measure("", "less", "Σ N·run·(response / run) / Σ N·run = Σ N·response / Σ N·run")
def area_weighted_slowdown(schedule: "Schedule") -> float:
    """Average slowdown in which every processor-second of service counts alike."""
    procs = _of(schedule, "procs")
    return _ratio(np.sum(procs * _of(schedule, "response")), np.sum(procs * _of(schedule, "run")))


@measure("s", "less", "Σ N·response / Σ N")
def width_weighted_response(schedule: "Schedule") -> float:
    """Average response time in which a job counts once for every processor it uses."""
    procs = _of(schedule, "procs")
    return _ratio(np.sum(procs * _of(schedule, "response")), np.sum(procs))


# ---------------------------------------------------------------- the machine


@measure("s", "less", "max(end) − min(submit)")
def makespan(schedule: "Schedule") -> float:
    """Time from the first submit to the last end."""
    ends = _of(schedule, "end")
    return float(ends.max() - _of(schedule, "submit").min()) if len(ends) else math.nan


@measure("", "more", "Σ N·run / (c · makespan)")
def utilisation(schedule: "Schedule") -> float:
    """Share of the processors' time that was spent on jobs."""
    used = np.sum(_of(schedule, "procs") * _of(schedule, "run"))
    return _ratio(used, schedule.platform.cores * makespan(schedule))


@measure("jobs/h", "more", "number of jobs that ran / makespan")
def throughput(schedule: "Schedule") -> float:
    """Jobs finished per hour."""
    return _ratio(len(_of(schedule, "end")) * _SECONDS_PER_HOUR, makespan(schedule))


@measure("jobs", "less", "∫ (jobs waiting + jobs in service) dt / ∫ dt")
def mean_jobs(schedule: "Schedule") -> float:
    """Jobs in the system, averaged over time."""
    return _time_average(schedule, "jobs")


@measure("jobs", "less", "∫ Q dt / ∫ dt")
def mean_queued(schedule: "Schedule") -> float:
    """Jobs waiting, averaged over time."""
    return _time_average(schedule, "queued")


@measure("procs", "neither", "∫ φ dt / ∫ dt")
def mean_busy(schedule: "Schedule") -> float:
    """Busy processors, averaged over time."""
    return _time_average(schedule, "busy")


@measure("s", "less", "∫ W dt / ∫ dt, W = Σ remaining work of all jobs in the system")
def mean_workload(schedule: "Schedule") -> float:
    """Work left to do, in seconds at reference speed, averaged over time."""
    return _time_average(schedule, "work")


@measure("procs", "neither", "∫ R·(c·I{Q>0} + φ·I{Q=0}) dt / ∫ dt")
def potential_load(schedule: "Schedule") -> float:
    """Processors at full rate that could have been at work, averaged over time."""
    return _time_average(schedule, "potential")


@measure("procs", "neither", "∫ R·φ dt / ∫ dt")
def effective_load(schedule: "Schedule") -> float:
    """Processors at full rate that were at work, averaged over time."""
    return _time_average(schedule, "effective")


@measure("procs", "less", "∫ (c − φ)·R·I{Q>0} dt / ∫ dt = potential load − effective load")
def job_wasting(schedule: "Schedule") -> float:
    """Processors at full rate that stood idle while jobs waited, averaged over time."""
    return _time_average(schedule, "wasted")


# ---------------------------------------------------------------- energy


@measure("W", "less", "∫ P dt / ∫ dt, P = power of all nodes")
def mean_power(schedule: "Schedule") -> float:
    """Power drawn by all nodes, averaged over time."""
    return _ratio(_joules(schedule, "energy"), _elapsed(schedule))


@measure("kWh", "less", "∫ P dt")
def energy(schedule: "Schedule") -> float:
    """Energy drawn by all nodes over the run."""
    return _joules(schedule, "energy") / _JOULES_PER_KWH


@measure("kWh", "less", "Σ over nodes of ∫ (power while no core is busy) dt")
def idle_energy(schedule: "Schedule") -> float:
    """Part of the energy that nodes drew while none of their cores was busy."""
    return _joules(schedule, "idle_energy") / _JOULES_PER_KWH


@measure("kWh", "less", "Σ over nodes of ∫ (power while asleep) dt")
def sleep_energy(schedule: "Schedule") -> float:
    """Part of the energy that sleeping nodes drew."""
    return _joules(schedule, "sleep_energy") / _JOULES_PER_KWH


@measure("kWh", "less", "Σ over nodes of ∫ (power while falling asleep or waking) dt")
def transition_energy(schedule: "Schedule") -> float:
    """Part of the energy that nodes drew on their way to sleep and back."""
    return _joules(schedule, "transition_energy") / _JOULES_PER_KWH


@measure("", "neither", "Σ over nodes of time asleep / (number of nodes · ∫ dt)")
def share_asleep(schedule: "Schedule") -> float:
    """Share of the nodes' time that they slept."""
    return _ratio(schedule.outcome.nodes["asleep"].sum(), schedule.platform.nodes * _elapsed(schedule))


@measure("J/(procs·s)", "less", "∫ P dt / Σ N·S, S = work at reference speed")
def energy_per_work(schedule: "Schedule") -> float:
    """Energy for every processor-second of work, at reference speed, that was done."""
    work = schedule.workload.jobs["work"].to_numpy(np.float64)[schedule.who_ran]
    return _ratio(_joules(schedule, "energy"), np.sum(_of(schedule, "procs") * work))


@measure("J·s", "less", "∫ P dt · mean response")
def energy_delay_product(schedule: "Schedule") -> float:
    """Energy times average response time: low only for those who save neither at the other's cost."""
    return _joules(schedule, "energy") * mean_response(schedule)


# ---------------------------------------------------------------- what the formulas share


def _count(schedule: "Schedule", status: str) -> float:
    from harness.results.schedule import STATUSES

    return float(np.count_nonzero(schedule.statuses == STATUSES.index(status)))


def _of(schedule: "Schedule", column: str) -> npt.NDArray[np.float64]:
    return schedule.of_those_that_ran(column)


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _quantile(values: npt.NDArray[np.float64], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else math.nan


def _ratio(numerator: Any, denominator: Any) -> float:
    return float(numerator) / float(denominator) if denominator > 0 else math.nan


def _elapsed(schedule: "Schedule") -> float:
    clock = schedule.outcome.clock
    return float(clock.now - clock.began)


def _time_average(schedule: "Schedule", total: str) -> float:
    return _ratio(schedule.outcome.sums[total], _elapsed(schedule))


def _joules(schedule: "Schedule", field: str) -> float:
    return float(schedule.outcome.nodes[field].sum()) if schedule.metered else math.nan
