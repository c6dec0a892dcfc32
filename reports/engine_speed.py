"""How fast this machine is, as ratios measured in one run: machines are shared and noisy, ratios less so."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from bare_loop import bare

from harness.experiment.simulation import simulate
from harness.platform.machine import NodeType, PerformanceState, Platform, SleepState
from harness.policy.scheduler import Scheduler
from harness.workload.log import Workload
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare
from harness.workload.resampling import resample

#: 240 processors on 120 nodes, with power figures, so that every run places jobs on nodes and accounts energy.
CLUSTER = Platform("120 nodes of 2", (NodeType(120, 2, idle=100.0, peak=200.0),))

#: The same nodes with everything that energy accounting may know of them.
METERED = Platform(
    "120 metered nodes of 2",
    (
        NodeType(
            120,
            2,
            curve=(100.0, 115.0, 128.0, 139.0, 149.0, 158.0, 166.0, 174.0, 182.0, 191.0, 200.0),
            performance=(PerformanceState(0.5, 80.0, 120.0), PerformanceState(0.75, 90.0, 155.0)),
            sleep=(SleepState("off", 10.0, down=10.0, up=60.0, down_energy=1_000.0, up_energy=9_000.0),),
        ),
    ),
)


@dataclass(frozen=True)
class Comparison:
    """The engine and the bare loop, on the same jobs."""

    start: str
    jobs: int
    seconds: float  # of the engine, the best of the rounds
    bare_seconds: float
    same: bool  # both found the same schedule and the same energy
    bytes_per_job: float  # of the engine's arrays

    @property
    def row(self) -> tuple[Any, ...]:
        """Return the row of the table."""
        return (
            self.start,
            self.jobs,
            self.jobs / self.seconds,
            self.jobs / self.bare_seconds,
            self.bare_seconds / self.seconds,
            self.bytes_per_job,
            self.same,
        )


#: The columns of `Comparison.row`, and their units.
HEADERS = ("start", "jobs", "engine", "bare loop", "ratio", "memory", "same schedule")
UNITS = ("", "", "jobs/s", "jobs/s", "", "bytes/job", "")


def stream(jobs: int, load: float = 0.8, procs: int = 240, seed: int = 0, widest: int = 128) -> Workload:
    """Generate a Poisson stream of log-normal runtimes, widths of powers of two, estimates 1 to 5 times too long."""
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


def compare(start: str, workload: Workload, rounds: int = 5) -> Comparison:
    """Run the engine and the bare loop in turn, and take the best of the rounds of each."""
    frame = workload.jobs
    columns = [frame[name].to_numpy() for name in ("submit", "work", "estimate", "procs")]
    node = CLUSTER.types[0]
    seconds, bare_seconds = [], []
    simulate(stream(100), CLUSTER, Scheduler(start=start, energy="cores"))  # compile
    for _ in range(rounds):
        outcome = simulate(workload, CLUSTER, Scheduler(start=start, energy="cores")).outcome
        seconds.append(outcome.seconds)
        began = time.perf_counter()
        starts, energy = bare(*columns, node.count, node.cores, node.idle, node.peak, start == "easy")
        bare_seconds.append(time.perf_counter() - began)
    same = bool(
        (outcome.jobs.start == starts).all() and np.isclose(outcome.jobs.energy.sum(), energy.sum(), rtol=1e-12)
    )
    # The first round of the bare loop compiles it.
    return Comparison(start, len(frame), min(seconds), min(bare_seconds[1:]), same, outcome.bytes / len(frame))


def accounting(jobs: int, idle: int, rounds: int = 3) -> tuple[int, int, float, float, float, int, float]:
    """Measure what accounting costs: jobs, timeout, seconds plain and with everything, their ratio, how much happened.

    Plain is cores + full + never; everything is spec + hysteresis + timeout, where the rate switches and nodes sleep.
    """
    plain = Scheduler(start="easy", energy="cores")
    rich = Scheduler(start="easy", energy="spec", rate="hysteresis(low=8, high=16)", sleep=f"timeout(idle={idle})")
    workload = stream(jobs, load=0.5)
    seconds: dict[str, list[float]] = {"plain": [], "rich": []}
    for scheduler in (plain, rich):
        simulate(stream(100), METERED, scheduler)  # compile
    for _ in range(rounds):
        for name, scheduler in (("plain", plain), ("rich", rich)):
            seconds[name].append(simulate(workload, METERED, scheduler).outcome.seconds)
    # How much there was to account, on the first of the jobs.
    sample = simulate(stream(min(jobs, 10_000), load=0.5), METERED, rich, timeline=True)
    timeline = sample.timeline
    lasts = np.diff(timeline["time"], append=timeline["time"].iloc[-1])
    asleep = float((timeline["asleep"] * lasts).sum() / (lasts.sum() * METERED.nodes))
    switches = int(np.count_nonzero(np.diff(timeline["rate"])))
    best = {name: min(taken) for name, taken in seconds.items()}
    return jobs, idle, best["plain"], best["rich"], best["rich"] / best["plain"], switches, asleep


#: The columns of `accounting`, and their units.
ACCOUNTING = (
    "jobs",
    "timeout",
    "cores + full + never",
    "spec + hysteresis + timeout",
    "ratio",
    "switches",
    "nodes asleep",
)
ACCOUNTING_UNITS = ("", "s", "s", "s", "", "per 10⁴ jobs", "share")


def whole_log(start: str, trace: str = "HPC2N") -> float:
    """Time the simulation alone of a whole log [s], with used widths, as the other tools were measured."""
    log = read_workload(trace)
    return simulate(prepare(log, procs_from="used"), log.procs, Scheduler(start=start)).outcome.seconds


def variations(trace: str = "HPC2N", count: int = 100) -> list[tuple[str, float]]:
    """Time the replay of some variations of a whole log under EASY, one by one. Return each with its seconds."""
    workload = prepare(read_workload(trace), procs_from="used")
    began = time.perf_counter()
    drawing = simulating = 0.0
    for seed in range(count):
        started = time.perf_counter()
        variation = resample(workload, seed)
        drawing += time.perf_counter() - started
        simulating += simulate(variation, None, Scheduler(start="easy")).outcome.seconds
    everything = time.perf_counter() - began
    what = f"{count} variations of {trace} ({len(workload):,} jobs)"
    return [(f"{what}: resampling", drawing), ("simulation alone", simulating), ("all", everything)]


def theory() -> list[tuple[str, float]]:
    """Time the exact results that are costly: what is computed, and its seconds."""
    from harness.theory import delays, stability_constant

    def of_constant(procs: int) -> float:
        widths = np.full(procs, 1 / procs)
        began = time.perf_counter()
        stability_constant(widths)
        return time.perf_counter() - began

    def of_delays(procs: int) -> float:
        draw = np.random.default_rng(1)
        width = draw.integers(1, procs + 1, 1_000_000)
        gaps, service = draw.exponential(1.0, 1_000_000), draw.exponential(1.2, 1_000_000)
        began = time.perf_counter()
        delays(gaps, service, width, procs)
        return time.perf_counter() - began

    of_constant(10)  # load what is compiled
    return [
        *((f"stability constant of {procs:,} processors", of_constant(procs)) for procs in (5_000, 100_000)),
        *((f"delays of 10⁶ jobs on {procs:,} processors", of_delays(procs)) for procs in (80, 1_000)),
    ]
