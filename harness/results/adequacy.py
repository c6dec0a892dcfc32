"""Adequacy: the distance between two streams of the same jobs, such as a replay and its log (Baranov et al. 2019).

For two streams of n jobs, the residence times (waiting and processing) are v and V. Their difference is

    P = sqrt(Σ (V_i − v_i)² / n)        E = sqrt(Σ (V_i − v_i)²)

Compare by P; E grows with n. Both are undefined unless the streams have the same number of jobs and each job has the
same submit time, width and requested time. Jobs are in order of submit time.

A. Baranov, D. Lyakhovets, G. Savin, B. Shabanov, P. Telegin: Measure of adequacy for the supercomputer job management
system model.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError
from harness.results.adequacy_scale import Scale, scaled
from harness.workload.log import Log, LoggedStatus, Workload

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

#: Times that differ by less count as equal [s]: changing rates cause rounding errors.
ROUNDING = 1e-6

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class UndefinedError(HarnessError):
    """Two streams cannot be compared; the message states the reason and the first job that shows it."""


@dataclass(frozen=True)
class Growth:
    """The distance of two streams over their first `jobs` jobs."""

    jobs: int
    P: float  # [s]
    E: float  # [s]
    different: float  # jobs whose waits differ


@dataclass(frozen=True)
class Adequacy:
    """The distance between two streams of jobs."""

    streams: tuple[str, str]
    jobs: int
    P: float  # [s]
    E: float  # [s]
    median: float  # of |V − v| [s]
    p95: float  # of |V − v| [s]
    growth: tuple[Growth, ...]  # over the first 50, 100, 250, … jobs, and all
    scale: Scale  # null models, the skill, and robust figures


@dataclass(frozen=True)
class Stream:
    """The jobs of a schedule or log that are compared, in order of arrival."""

    name: str
    job: Ints
    submit: Floats
    procs: Floats
    estimate: Floats
    wait: Floats  # not a number: unknown
    residence: Floats


def adequacy(replay: "Schedule | Log", against: "Schedule | Log | None" = None) -> Adequacy:
    """Compare `replay` with `against`: another schedule or log, or by default the log that was replayed.

    From the replayed log the jobs are compared as they were prepared. Raises `UndefinedError` if the two cannot be
    compared.
    """
    if against is not None:
        ours, theirs = (stream_of_log(s) if isinstance(s, Log) else simulated_stream(s) for s in (replay, against))
        return compare(ours, theirs)
    if isinstance(replay, Log):
        raise HarnessError(f"{replay.name} is a log: expected a second log or schedule to compare it with")
    return compare(simulated_stream(replay), logged_stream(replay.workload))


def machine_mismatch(schedule: "Schedule") -> str:
    """Return why a schedule cannot be compared with its log if its platform has another size; empty if the sizes agree.

    A log that does not state the size of its machine may have run on any.
    """
    procs, cores = schedule.workload.procs, schedule.platform.cores
    if procs in (None, cores):
        return ""
    return (
        f"the adequacy of {schedule.workload.name} replayed is undefined: the log ran on {procs:,} processors, and "
        f"{schedule.platform.name} has {cores:,}; expected a platform of the size of the log's machine"
    )


def compare(model: Stream, real: Stream) -> Adequacy:
    """Compare two streams."""
    refuse_other_jobs(model, real)
    for stream in (model, real):
        _refuse_unknown(stream)
    off = np.abs(model.residence - real.residence)
    off[off < ROUNDING] = 0.0
    squares = np.cumsum(off**2)
    different = np.cumsum(np.abs(model.wait - real.wait) > ROUNDING)
    growth = [
        Growth(k, float(np.sqrt(squares[k - 1] / k)), float(np.sqrt(squares[k - 1])), int(different[k - 1]))
        for k in prefixes(len(off))
    ]
    median, p95 = map(float, np.quantile(off, [0.5, 0.95]))
    names, last = (model.name, real.name), growth[-1]
    return Adequacy(names, len(off), last.P, last.E, median, p95, tuple(growth), scaled(model, real))


def prefixes(jobs: int) -> list[int]:
    """Return 50, 100, 250, 500, 750, 1,000, 2,500, … below `jobs`, and `jobs`."""
    lengths = [50, 100]
    while lengths[-1] < jobs:
        lengths += [int(lengths[-1] * factor) for factor in (2.5, 5, 7.5, 10)]
    return [length for length in lengths if length < jobs] + [jobs]


# The streams


def simulated_stream(schedule: "Schedule") -> Stream:
    """Return the jobs as they were simulated; a job that left the queue waited until then."""
    jobs = np.asarray(schedule.outcome.jobs)  # in order of submission already
    submit, start, end = jobs["submit"], jobs["start"], jobs["end"]
    wait = np.where(np.isnan(start), end, start) - submit
    name = f"{schedule.workload.name} replayed"
    if (never := np.isnan(end)).any():
        raise UndefinedError(
            f"the adequacy of {name} is undefined: job {jobs['number'][np.argmax(never)]} never ran, as "
            f"{np.count_nonzero(never):,} of {len(never):,}; expected a platform on which all jobs run"
        )
    return Stream(name, jobs["number"], submit, jobs["procs"], jobs["estimate"], wait, end - submit)


def logged_stream(workload: Workload) -> Stream:
    """Return the jobs with the times in the log; a job that left the queue did not run."""
    jobs = workload.jobs
    # The arrays are sorted, not the table: a table would record each copy, for every run of a tournament.
    order = np.argsort(jobs["submit"].to_numpy(), kind="stable")
    job, submit, procs, estimate, cancel = (
        jobs[name].to_numpy()[order] for name in ("job", "submit", "procs", "estimate", "cancel")
    )
    wait, run = (  # a workload made in memory may never have been logged
        jobs[name].to_numpy()[order] if name in jobs else np.full(len(jobs), -1.0)
        for name in ("logged_wait", "logged_run")
    )
    run = np.where(np.isinf(cancel), run, np.maximum(run, 0.0))
    stream = Stream(workload.name, job, submit, procs, estimate, *_times(wait, run))
    _refuse_unknown(stream, "; the filter 'wait >= 0' leaves such jobs out")
    return stream


def stream_of_log(log: Log) -> Stream:
    """Return the jobs of a log that is not prepared, by submit time and number: some logs are sorted by end time."""
    jobs = log.jobs.take(np.lexsort((log.jobs["job"], log.jobs["submit"])))
    job, submit, procs, used, estimate, wait, run, status = (
        jobs[name].to_numpy() for name in ("job", "submit", "procs", "used_procs", "estimate", "wait", "run", "status")
    )
    run = np.where((status == LoggedStatus.CANCELLED) & (run < 0), 0.0, run)
    return Stream(log.name, job, submit, np.where(procs > 0, procs, used), estimate, *_times(wait, run))


def _times(wait: Floats, run: Floats) -> tuple[Floats, Floats]:
    """Return waits and residence times; −1 is unknown."""
    known = np.where(wait >= 0, wait, np.nan)
    return known, known + np.where(run >= 0, run, np.nan)


# Streams that cannot be compared


def refuse_other_jobs(model: Stream, real: Stream) -> None:
    common = min(len(model.job), len(real.job))
    facts = (("submit", "s"), ("procs", "processors"), ("estimate", "s requested"))
    columns = [(getattr(model, name)[:common], getattr(real, name)[:common], unit) for name, unit in facts]
    same = np.logical_and.reduce([ours == theirs for ours, theirs, _ in columns])
    first = int(np.argmin(same)) if not same.all() else common
    counts = f"{len(model.job):,} jobs against {len(real.job):,}, " if len(model.job) != len(real.job) else ""
    if first < common:
        ours, theirs, unit = next(c for c in columns if c[0][first] != c[1][first])
        what = f"{model.job[first]} has {ours[first]:.15g} against {theirs[first]:.15g} {unit}"
    elif counts:
        what = f"{max(model, real, key=lambda s: len(s.job)).job[first]} has no counterpart"
    else:
        return
    raise UndefinedError(
        f"the adequacy of {model.name} against {real.name} is undefined: {counts}job {what}; expected the same jobs, "
        "each with the same submit time, width and requested time"
    )


def _refuse_unknown(stream: Stream, advice: str = "") -> None:
    """Refuse a stream with unknown waits or runtimes, with `advice` for a log in which some waits are unknown."""
    unknown = np.isnan(stream.residence)
    if unknown.any():
        first = int(np.argmax(unknown))
        what = "wait" if np.isnan(stream.wait[first]) else "runtime"
        lacking = f"{np.count_nonzero(unknown):,} of {len(unknown):,}"
        raise UndefinedError(
            f"the adequacy against {stream.name} is undefined: the {what} of job {stream.job[first]} is unknown (not "
            f"logged); expected waits and runtimes of all jobs, which {lacking} lack"
            + (advice if what == "wait" and not unknown.all() else "")
        )
