"""How fast tournaments are here: what a second thread and Dask workers bring, and how long real ones take."""

import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from harness.errors import HarnessError
from harness.experiment.execution import execute
from harness.experiment.field import Field
from harness.experiment.field_reading import parse_field, read_field
from harness.experiment.pool import Progress, cores
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.runner import tournament
from harness.experiment.source_text import SourceText
from harness.ranking.ranking import rank

#: Compiled policies only, on logs of everyday length; seeds only repeat the work.
_STREAM = "lublin(jobs=100000, procs=256, seed={seed}, load=0.7)"
_COMPILED = """
workloads = {workloads}
seeds = {seeds}
[[scheduler]]
order = ["fcfs", "spf"]
start = ["easy", "conservative"]
"""
#: 100 variations of KTH-SP2 (and the log itself) under 8 policies.
_VARIATIONS = """
workloads = "KTH-SP2"
resamples = 100
[[scheduler]]
order = ["fcfs", "lcfs", "spf", "lpf"]
start = ["easy", "conservative"]
"""

#: Many small runs: 100 streams of 500 jobs under 40 schedulers, five times.
_MANY = """
workloads = {workloads}
seeds = [0, 1, 2, 3, 4]
[[scheduler]]
order = ["fcfs", "lcfs", "spf", "lpf", "saf", "laf", "sjf-width", "wfp3", "unicef", "f1"]
start = ["none", "greedy", "easy", "conservative"]
"""
MANY = (
    "runs",
    "time",
    "runs per second",
    "processor time",
    "memory after a tenth",
    "at the end",
    "reading and ranking",
)
MANY_UNITS = ("", "s", "", "s", "MB", "MB", "s")

HELD = (
    "runs",
    "jobs of each",
    "processor time of a run",
    "of that, in the simulation",
    "threads busy, if all else holds the lock",
)
HELD_UNITS = ("", "", "ms", "ms", "")

Row = tuple[str, int, int, float, float, float | None]
HEADERS = ("tournament", "runs", "jobs", "time", "speed", "ratio to one thread")
UNITS = ("", "", "", "s", "jobs/s", "")


def throughput() -> Iterator[Row]:
    """Time the same runs on one thread, on two, and by two Dask workers, best of three."""
    field = _field(_COMPILED.format(workloads=[_STREAM.format(seed=k) for k in (1, 2)], seeds=list(range(5))))
    for workers in (1, 2):  # compile
        _time(field, workers=workers)
    alone = _best(field, workers=1)
    yield _row("1 thread", alone, 1.0)
    two = _best(field, workers=2)
    yield _row("2 threads", two, alone[1] / two[1])
    try:
        with two_workers() as address:
            _time(field, dask=address)
            dask = _best(field, dask=address)
    except ImportError:
        return
    yield _row("2 Dask workers", dask, alone[1] / dask[1])


def held() -> Iterator[tuple[int, int, float, float, float]]:
    """Return the share of a run outside the simulation. Only the simulation releases Python's lock."""
    for jobs, text in ((100_000, _COMPILED), (500, _MANY)):
        streams = [f"lublin(jobs={jobs}, procs=128, seed={seed}, load=0.8)" for seed in (1, 2)]
        runs = make_run_matrix(replace(_field(text.format(workloads=streams, seeds=[0])), seeds=(0,))).runs
        for run in runs:  # compile, and touch what is kept
            execute(run.task(), run.workload)
        whole = inside = 0.0
        for run in runs:
            began = time.thread_time()
            schedule = run.simulate()
            schedule.measures()
            schedule.digest  # noqa: B018 - calculated here
            whole += time.thread_time() - began
            inside += schedule.outcome.processor_seconds
        share = 1 - inside / whole
        yield len(runs), jobs, 1e3 * whole / len(runs), 1e3 * inside / len(runs), 1 / share


def many() -> tuple[int, float, float, float, float, float, float]:
    """Time many small runs on all cores. Return the memory that remains, and the times of reading and ranking."""
    streams = [f"lublin(jobs=500, procs=128, seed={seed}, load=0.8)" for seed in range(1, 101)]
    field = _field(_MANY.format(workloads=streams))
    _time(replace(field, workloads=field.workloads[:1]), workers=cores())  # compile
    seen: list[tuple[int, float, float, float]] = []

    def watch(progress: Progress) -> None:
        if progress.done % (progress.runs // 10) == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            seen.append((progress.done, time.perf_counter(), time.process_time(), peak))

    with tempfile.TemporaryDirectory() as folder:
        results = tournament(field, folder, workers=cores(), watch=watch)
        began = time.perf_counter()
        rank(results.frame())
        ranking = time.perf_counter() - began
    (_, start, cpu, _), (_, _, _, tenth), *_, (done, end, over, peak) = seen
    return done, end - start, done / (end - start), over - cpu, tenth, peak, ranking


def real() -> Iterator[Row]:
    """Time tournaments on real logs, on all cores, the second time: nothing is compiled any more."""
    for name, field in (("classic", read_field("classic")), ("100 variations × 8", _field(_VARIATIONS))):
        try:
            _time(replace(field, resamples=0), workers=cores())
            yield _row(name, _time(field, workers=cores()), None)
        except HarnessError as error:
            yield f"{name}: {error}", 0, 0, float("nan"), float("nan"), None


def _field(text: str) -> Field:
    return parse_field(SourceText(Path("bench.toml"), text))


def seconds_of(text: str, *, workers: int | None = None, dask: str | None = None) -> float:
    """Return the seconds that a field's tournament takes, from the first run to the last."""
    return _time(_field(text), workers=workers, dask=dask)[1]


def _time(field: Field, *, workers: int | None = None, dask: str | None = None) -> tuple[Progress, float]:
    """Run a tournament: return what was done, and the seconds from the first run to the last."""
    seen: list[tuple[Progress, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        tournament(field, folder, workers=workers, dask=dask, watch=lambda p: seen.append((p, time.perf_counter())))
    return seen[-1][0], seen[-1][1] - seen[0][1]


def _best(field: Field, *, workers: int | None = None, dask: str | None = None) -> tuple[Progress, float]:
    return min((_time(field, workers=workers, dask=dask) for _ in range(3)), key=lambda one: one[1])


def _row(name: str, measured: tuple[Progress, float], ratio: float | None) -> Row:
    progress, seconds = measured
    return name, progress.done, progress.done_jobs, seconds, progress.done_jobs / seconds, ratio


@contextmanager
def two_workers() -> Iterator[str]:
    """Start two Dask workers on this machine; yield the address of their scheduler."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=40) as cluster:
        yield cluster.scheduler_address
