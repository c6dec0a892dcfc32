"""How fast this machine is, as ratios measured in one run: machines are shared and noisy, ratios less so."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.bench.bare_loop import bare
from harness.platform.platform import NodeType, Platform
from harness.policy import Scheduler
from harness.run import simulate
from harness.workload.log import Workload

#: 240 processors on 120 nodes, with power figures, so that every run places jobs on nodes and accounts energy.
CLUSTER = Platform("120 nodes of 2", (NodeType(120, 2, idle=100.0, peak=200.0),))


@dataclass(frozen=True)
class Comparison:
    """One run of the engine beside the bare loop on the same jobs."""

    name: str
    jobs: int
    seconds: float  # best of the rounds
    bare_seconds: float
    same_schedule: bool
    bytes_per_job: float

    @property
    def rate(self) -> float:
        """Jobs per second."""
        return self.jobs / self.seconds

    @property
    def bare_rate(self) -> float:
        """Jobs per second of the bare loop."""
        return self.jobs / self.bare_seconds

    @property
    def ratio(self) -> float:
        """The engine's rate over the bare loop's."""
        return self.bare_seconds / self.seconds


def stream(jobs: int, load: float = 0.8, procs: int = 240, seed: int = 0, widest: int = 128) -> Workload:
    """A Poisson stream of log-normal runtimes, widths that are powers of two, and estimates 1 to 5 times too long."""
    draw = np.random.default_rng(seed)
    width = 2 ** draw.integers(0, int(np.log2(widest)) + 1, jobs)
    work = np.round(np.exp(draw.normal(6.5, 2, jobs)).clip(1, 3 * 86400))
    gap = (width * work).mean() / (load * procs)
    columns: dict[str, Any] = {
        "job": np.arange(1, jobs + 1),
        "submit": np.round(np.cumsum(draw.exponential(gap, jobs))),
        "procs": width,
        "work": work,
        "estimate": np.ceil(work * draw.uniform(1, 5, jobs)),
        "memory": -1.0,
        **dict.fromkeys(("user", "group", "queue", "partition", "logged_status"), -1),
        **dict.fromkeys(("logged_wait", "logged_run"), -1.0),
        "cancel": np.inf,
        "killed": False,
    }
    return Workload(f"stream({jobs})", pd.DataFrame(columns), procs, "")


def compare(start: str, workload: Workload, rounds: int = 3) -> Comparison:
    """Run the engine and the bare loop in turn, and take the best of the rounds of each."""
    frame = workload.jobs
    columns = [frame[name].to_numpy() for name in ("submit", "work", "estimate", "procs")]

    def engine() -> Any:
        return simulate(workload, CLUSTER, Scheduler(start=start, energy="cores"))

    def bare_loop() -> Any:
        return bare(*columns, CLUSTER.cores, start == "easy", 50.0, 100.0)

    engine()  # compile, and touch the memory
    bare_loop()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, bare_seconds = [], []
    for _ in range(rounds):
        schedule = engine()
        seconds.append(schedule.outcome.seconds)
        took, (starts, _) = timed(bare_loop)
        bare_seconds.append(took)
    view_bytes = schedule.outcome.bytes
    del before
    same = bool((schedule.outcome.jobs.start == starts).all())
    return Comparison(start, len(frame), min(seconds), min(bare_seconds), same, view_bytes / len(frame))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of a call."""
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result
