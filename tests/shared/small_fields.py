"""A small field, and variations that stand in for resampled ones."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.workload.log import Workload

#: Two streams, three schedulers, one of which flips coins.
FIELD = """
workloads = ["lublin(jobs=200, procs=16, seed=1)", "poisson(jobs=150, procs=16, seed=2)"]
seeds = [0, 1]

[[scheduler]]
order = ["fcfs", "spf"]
start = "easy"

[[scheduler]]
start = "none"
select = "random"
"""

#: An order policy that takes its time, so that a run can be caught in the middle; and one that fails.
SLEEPY = """
import time
import harness

def sleepy(job, clock, pause=0.02):
    if job.number == 1:
        time.sleep(pause)
    return job.submit

def failing(job, clock):
    if job.number == 7:
        raise LookupError("no seven")
    return job.submit

@harness.hookimpl
def order_queue():
    return [harness.Order("sleepy", sleepy, compiled=False), harness.Order("failing", failing, compiled=False)]
"""

#: Short runs, each of which sleeps.
SLOW_FIELD = """
workloads = "poisson(jobs=40, procs=8, seed=1)"
seeds = {seeds}

[[scheduler]]
order = "sleepy(pause={pause})"
start = ["easy", "none"]
"""

Write = Callable[..., Path]


def turn(workload: Workload, seed: int) -> Workload:
    """A variation that is quickly made: the jobs' lengths in another order, turned by the seed."""
    jobs = workload.jobs.copy()
    for name in ("work", "estimate"):
        jobs[name] = [*jobs[name][seed:], *jobs[name][:seed]]
    return replace(workload, jobs=jobs, digest=f"{workload.digest} turned {seed}")
