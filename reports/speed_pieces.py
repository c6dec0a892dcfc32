"""The pieces of work that `speed_ratios.py` compares in pairs.

Each does its work and returns what it took: for how long the simulation had a processor, mostly. What is to be compiled
first has been when a pair is returned; `run` counts the simulation alone and need not care.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from bare_loop import bare
from engine_speed import CLUSTER, METERED, stream
from felt_memory import apart
from tournament_speed import seconds_of, two_workers

from harness.errors import HarnessError
from harness.experiment.pool import cores
from harness.experiment.simulation import simulate
from harness.platform.machine import NodeType, Platform
from harness.policy.scheduler import Scheduler
from harness.workload.log import Workload
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare
from harness.workload.swf import read_swf

Work = Callable[[], float]  # does it, and returns what it took [s, or bytes]
Pair = tuple[Work, Work]

#: Largest resident bytes a job for a run, beyond the log; and the number of jobs for this measurement.
BYTES = 250.0
JOBS_FELT = 1_000_000


def run(jobs: int, load: float, platform: Platform = CLUSTER, **parts: Any) -> Work:
    """Return a function that replays a stream of `jobs` jobs."""
    return replay(stream(jobs, load=load), platform, **({"energy": "none"} | parts))


def replay(workload: Workload, platform: Platform | int, **parts: Any) -> Work:
    """Return what replays a workload."""
    scheduler = Scheduler(**parts)
    return lambda: simulate(workload, platform, scheduler).outcome.processor_seconds


def alone(workload: Workload, nodes: int, cores: int, *, easy: bool) -> Work:
    """Return the bare loop on a workload."""
    kinds = {"submit": float, "work": float, "estimate": float, "procs": int}
    columns = [workload.jobs[name].to_numpy(kind) for name, kind in kinds.items()]

    def bare_loop() -> float:
        began = time.thread_time()
        bare(*columns, nodes, cores, 100.0, 200.0, easy)
        return time.thread_time() - began

    bare(*(column[:10] for column in columns), nodes, cores, 100.0, 200.0, easy)
    return bare_loop


def over_bare(start: str) -> Pair:
    """Return the engine and the bare loop, on the same jobs."""
    node = CLUSTER.types[0]
    bare_loop = alone(stream(40_000), node.count, node.cores, easy=start == "easy")
    return run(40_000, 0.8, start=start, energy="cores"), bare_loop


def of_log(name: str) -> Pair:
    """Return the conservative replay of a log, and EASY as the bare loop does it."""
    log = read_workload(name)
    workload, procs = prepare(log), log.procs
    assert procs is not None
    return replay(workload, procs, start="conservative"), alone(workload, 1, procs, easy=True)


def with_everything() -> Pair:
    """Return runs with rates, sleep and measured power, and without, on the same nodes."""
    plain = run(20_000, 0.5, METERED, start="easy", energy="cores")
    power: dict[str, Any] = {"energy": "spec", "rate": "hysteresis(low=8, high=16)", "sleep": "timeout(idle=600)"}
    return run(20_000, 0.5, METERED, start="easy", **power), plain


def four_times(jobs: int, load: float = 1.3, **parts: Any) -> Pair:
    """Return a stream four times as long as the other: four is as good as can be."""
    return run(4 * jobs, load, **parts), run(jobs, load, **parts)


def on_more_nodes(many: int, few: int, cores: int = 2, jobs: int = 40_000, **parts: Any) -> Pair:
    """Return the same jobs on many nodes, of two kinds, and on few."""

    def on(count: int) -> Work:
        old, new = (NodeType(count // 2, cores, idle=idle, peak=400.0 - idle) for idle in (100.0, 80.0))
        return run(jobs, 0.8, Platform(f"{count} nodes", (old, new)), start="easy", **parts)

    return on(many), on(few)


def asleep_on(count: int) -> Work:
    """Return a function that replays a stream on `count` nodes, which sleep when they are idle."""
    platform = Platform(f"{count} nodes", (replace(METERED.types[0], count=count),))
    return run(10_000, 0.5, platform, start="easy", energy="cores", sleep="timeout(idle=600)")


def selecting(select: str) -> Pair:
    """Return the same jobs on 1,000 nodes of 64 cores, placed by a selection, and by the simplest."""
    return on_more_nodes(1_000, 1_000, 64, 20_000, select=select)[0], on_more_nodes(1_000, 1_000, 64, 20_000)[1]


def memory() -> Pair:
    """Return the memory of a run beyond its workload for each job, and its limit."""
    if sys.platform != "linux":
        raise HarnessError("needs /proc, in which Linux reports the memory of a process")
    return lambda: apart(JOBS_FELT)[0], lambda: BYTES


# Whole commands


def by_itself(*arguments: str, **environment: str) -> float:
    """Run Python in a process of its own, as users do; return for how long that had a processor [s]."""
    before = os.times()
    known = {**os.environ, **environment}
    known.pop("PYTHONDONTWRITEBYTECODE", None)  # else our own files are compiled anew each time
    subprocess.run([sys.executable, *arguments], env=known, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@cache
def compiled_for(start: str | None) -> tuple[TemporaryDirectory[str], Path]:
    """Return a folder for as long as it is wanted, and in it a small log; in `kept` what one start policy compiles."""
    folder = TemporaryDirectory()
    log, kept = Path(folder.name) / "small.swf", Path(folder.name) / "kept"
    write_small(log, 100)
    kept.mkdir()
    if start is not None:
        answer(log, start, kept)
    return folder, log


def answer(log: Path, start: str, cache: Path) -> float:
    """Run the command that describes a log."""
    return by_itself("-m", "harness", "run", str(log), "--start", start, HARNESS_CACHE=str(cache))


def beginning(compiled: str | None, start: str = "easy") -> Pair:
    """Return a first answer on a few jobs, when a start policy has been compiled before or none; and bare imports."""
    folder, log = compiled_for(compiled)

    def first() -> float:
        with TemporaryDirectory(dir=folder.name) as own:
            shutil.copytree(log.with_name("kept"), own, dirs_exist_ok=True)
            return answer(log, start, Path(own))

    return first, lambda: by_itself("-c", "import numba, pandas")


def write_small(path: Path, jobs: int) -> None:
    """Write a log of short jobs that hardly wait."""
    lines = (f"{k} {9 * k} 0 {60 + k % 900} {k % 64 + 1} -1 -1 {k % 64 + 1} 3600{' -1' * 9}" for k in range(jobs))
    path.write_text("\n".join(["; MaxProcs: 128", *lines, ""]), encoding="utf-8")


def timed(work: Callable[[], Any]) -> Work:
    """Return a function that does the work and returns its time by the clock [s]."""

    def clocked() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return clocked


def reading(jobs: int, reference: int | None = None) -> Pair:
    """Return the reading of a new log, and of a shorter one, or of its table alone by pandas."""
    folder = TemporaryDirectory()
    paths = [Path(folder.name) / f"{count}.swf" for count in (jobs, reference or jobs)]
    for path, count in zip(paths, (jobs, reference or jobs), strict=True):
        write_small(path, count)

    def ours(path: Path) -> Work:
        return timed(lambda: read_swf(path, cache=False) and folder)  # which is there for as long as this

    table = timed(lambda: pd.read_csv(paths[1], sep=" ", comment=";", header=None))
    return ours(paths[0]), ours(paths[1]) if reference else table


# Tournaments


def on_two(*, dask: bool) -> Pair:
    """Return a tournament of compiled policies on two threads or by two Dask workers, and on one thread."""
    if cores() < 2:
        raise HarnessError("two workers need two cores")
    if dask and find_spec("distributed") is None:
        raise HarnessError("needs Dask: pip install 'sched-harness[dask]'")
    text = """
    workloads = ["lublin(jobs=100000, procs=256, seed=1, load=0.7)", "lublin(jobs=100000, procs=256, seed=2, load=0.7)"]
    seeds = [0, 1]
    [[scheduler]]
    order = ["fcfs", "spf"]
    start = ["easy", "conservative"]
    """
    seconds_of(text, workers=1)  # compile

    def best(**who: Any) -> float:
        return min(seconds_of(text, **who) for _ in range(3))

    def by_two() -> float:
        with two_workers() if dask else nullcontext() as address:
            return best(workers=2, dask=address)  # in the first of three a worker loads what is compiled

    return by_two, lambda: best(workers=1)


def empty_runs(runs: int = 200) -> Pair:
    """Return the time of a run of one job in a tournament, and of the bare loop with 10,000 jobs."""
    text = f"""
    workloads = "lublin(jobs=1, procs=16)"
    seeds = {list(range(runs))}
    [[scheduler]]
    order = "fcfs"
    start = "easy"
    """
    node = CLUSTER.types[0]
    seconds_of(text, workers=1)  # compile
    return lambda: seconds_of(text, workers=1) / runs, alone(stream(10_000), node.count, node.cores, easy=True)
