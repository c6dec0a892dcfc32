"""Compare executions of one workload on a real machine with a replay and with each other.

An execution is a log. Its jobs are identified by their numbers. Their submissions may differ by seconds from the plan,
because of clocks and dispatchers, and lost jobs may be missing. P between two executions of one workload measures
P_ideal: a replay need not be below it.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.results.adequacy import ROUNDING, Ints, Stream, UndefinedError, refuse_other_jobs, stream_of_log
from harness.results.adequacy_scale import root_mean_square
from harness.results.repeatability import upper_quantile
from harness.workload.log import Log, Step, Workload
from harness.workload.occupation import Occupation

#: The largest difference between the submissions of a job in two executions [s]: dispatchers lag by seconds.
LAG = 60.0

#: If more than this share of the waiting passed while the job would have fit, some processors were unavailable.
_LOST = 0.1


@dataclass(frozen=True)
class Execution:
    """One execution, and the incidents that disturbed it."""

    name: str
    jobs: int
    busiest: int  # the most processors in use at once
    incidents: tuple[str, ...]


@dataclass(frozen=True)
class ExecutionDistance:
    """The distance between two streams of the same jobs."""

    one: str
    other: str
    jobs: int  # in both
    P: float  # [s]
    median: float  # of |V − v| [s]
    p95: float  # of |V − v| [s]
    usual: bool  # neither is an execution with incidents


@dataclass(frozen=True)
class Executions:
    """Executions of one workload, and every pair of them."""

    executions: tuple[Execution, ...]
    pairs: tuple[ExecutionDistance, ...]

    @property
    def ideal(self) -> float:
        """P_ideal, measured: the mean over the pairs without incidents [s]; not a number if there is none."""
        usual = [pair.P for pair in self.pairs if pair.usual]
        return sum(usual) / len(usual) if usual else math.nan

    @property
    def upper(self) -> tuple[float, float]:
        """An upper bound of P for another pair, and its probability (approximate, as pairs share executions)."""
        usual = [pair.P for pair in self.pairs if pair.usual]
        return upper_quantile(usual) if usual else (math.nan, math.nan)


def matched(one: Stream, other: Stream) -> tuple[Stream, Stream]:
    """Return the jobs that two streams share, by number, if both may be executions of one workload.

    If the submissions are equal, the jobs must be equal too. Otherwise submissions may differ by up to `LAG` after the
    clocks are aligned by their median difference; widths and requested times must be equal.
    """
    ours, theirs = (_by_number(stream) for stream in (one, other))
    common, mine, its = np.intersect1d(ours.job, theirs.job, assume_unique=True, return_indices=True)
    if not len(common):
        raise UndefinedError(f"the adequacy of {one.name} against {other.name} is undefined: no job is in both")
    order = np.argsort(ours.submit[mine], kind="stable")
    left, right = _taken(ours, mine[order]), _taken(theirs, its[order])
    lag = left.submit - right.submit
    if not lag.any():
        refuse_other_jobs(one, other)
    lag = lag - np.median(lag)
    if (late := np.abs(lag) > LAG).any():
        first = int(np.argmax(late))
        raise UndefinedError(
            f"the adequacy of {one.name} against {other.name} is undefined: job {left.job[first]} was submitted "
            f"{abs(lag[first]):,.1f} s off; expected executions of one workload, at most {LAG:g} s apart"
        )
    right = replace(right, submit=left.submit)
    refuse_other_jobs(left, right)
    return left, right


def submission_differences(one: Stream, other: Stream) -> str:
    """Return a sentence on how far the submissions of the jobs that two streams share differ; empty if they do not.

    The clocks are aligned by their median difference.
    """
    ours, theirs = (_by_number(stream) for stream in (one, other))
    common, mine, its = np.intersect1d(ours.job, theirs.job, assume_unique=True, return_indices=True)
    lag = ours.submit[mine] - theirs.submit[its]
    off = np.abs(lag - np.median(lag)) if len(lag) else lag
    if not (count := int((off > ROUNDING).sum())):
        return ""
    return (
        f"The submissions of {count:,} of {len(common):,} jobs in {one.name} and {other.name} differ by up to "
        f"{off.max():,.1f} s: each wait counts from its own submission."
    )


def with_executed_times(workload: Workload, log: Log, execution: Log) -> Workload:
    """Return `workload`, prepared from `log`, with the waits and runtimes of an `execution` as its logged values.

    Jobs that the execution lacks are left out.
    """
    jobs = workload.jobs
    asked = log.jobs.drop_duplicates("job").set_index("job")["estimate"].reindex(jobs["job"]).to_numpy(dtype=np.float64)
    nothing = np.zeros(len(jobs))
    submit, procs = (jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "procs"))
    planned = Stream(workload.name, jobs["job"].to_numpy(), submit, procs, asked, nothing, nothing)
    ours, theirs = matched(planned, stream_of_log(execution))
    found = dict(zip(ours.job.tolist(), zip(theirs.wait, theirs.residence - theirs.wait, strict=True), strict=True))
    kept = jobs[jobs["job"].isin(found)]
    wait, run = np.array([found[number] for number in kept["job"].tolist()]).T
    steps = [Step("executed", len(kept), f"waits and runtimes to compare with are those of {execution.name}")]
    if differ := submission_differences(planned, stream_of_log(execution)):
        steps.append(Step("submissions", len(kept), differ))
    if lacking := len(jobs) - len(kept):
        steps.append(Step("not executed", lacking, "left out"))
    kept = kept.assign(logged_wait=wait, logged_run=run).reset_index(drop=True)
    digest = f"{workload.digest} {execution.digest}"
    return replace(workload, jobs=kept, digest=digest, preparation=(*workload.preparation, *steps))


def execution_distance(one: Stream, other: Stream, *, usual: bool = True) -> ExecutionDistance:
    """Compare two streams, at least one of them an execution."""
    ours, theirs = matched(one, other)
    off = ours.residence - theirs.residence
    if np.isnan(off).any():
        first = int(np.argmax(np.isnan(off)))
        raise UndefinedError(
            f"the adequacy of {one.name} against {other.name} is undefined: the wait or runtime of job "
            f"{ours.job[first]} is unknown"
        )
    median, p95 = np.quantile(np.abs(off), [0.5, 0.95]).tolist()
    return ExecutionDistance(one.name, other.name, len(off), root_mean_square(off), median, p95, usual)


def compare_executions(
    logs: Sequence[Log], procs: int | None = None, jobs: int | None = None, *, alike: bool = True
) -> Executions:
    """Compare each pair of executions of one workload, and list the incidents of each execution.

    By default, `procs` and `jobs` are the largest numbers of processors and of jobs of any execution. If processors are
    not `alike`, idle processors do not count as available to waiting jobs.
    """
    busy = [Occupation.of(log.jobs) for log in logs]
    procs = procs or max((one.peak for one in busy), default=0)
    jobs = jobs or max(len(log.jobs) for log in logs)
    found = [
        Execution(log.name, len(log.jobs), one.peak, tuple(_incidents(log, one, procs, jobs, alike)))
        for log, one in zip(logs, busy, strict=True)
    ]
    streams = [stream_of_log(log) for log in logs]
    pairs = [
        execution_distance(streams[a], streams[b], usual=not (found[a].incidents or found[b].incidents))
        for a, b in itertools.combinations(range(len(logs)), 2)
    ]
    return Executions(tuple(found), tuple(pairs))


def _incidents(log: Log, busy: Occupation, procs: int, jobs: int, alike: bool) -> list[str]:
    found = []
    if lacking := jobs - len(log.jobs):
        found.append(f"{lacking:,} of {jobs:,} jobs are missing")
    if never := len(log.jobs) - len(busy):
        found.append(f"{never:,} jobs did not run")
    waiting = float((busy.start - busy.submit).sum())
    idle = float(busy.fitting(procs).sum()) / waiting if waiting > 0 else 0.0
    if alike and busy.peak < procs and idle > _LOST:
        found.append(
            f"never more than {busy.peak:,} of {procs:,} processors were busy, though {idle:.0%} of the waiting time "
            "passed while the job would have fit"
        )
    if busy.peak > procs:
        found.append(f"up to {busy.peak:,} of {procs:,} processors were busy")
    return found


def _by_number(stream: Stream) -> Stream:
    numbers, first, counts = np.unique(stream.job, return_index=True, return_counts=True)
    if (counts > 1).any():
        raise UndefinedError(f"{stream.name}: job {numbers[np.argmax(counts > 1)]} occurs twice: expected it once")
    return _taken(stream, first)


def _taken(stream: Stream, rows: Ints) -> Stream:
    columns = ("job", "submit", "procs", "estimate", "wait", "residence")
    return replace(stream, **{name: getattr(stream, name)[rows] for name in columns})
