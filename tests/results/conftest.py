"""Small random workloads, and how to run them."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import harness
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, SleepState
from harness.policy.registry import plugins
from harness.policy.scheduler import Scheduler
from harness.results.schedule import Schedule
from harness.workload.events import Events
from harness.workload.log import Workload

#: Twelve processors in two kinds of nodes.
PLATFORM = Platform("twelve", (NodeType(2, 4, 8e6, idle=50, peak=130), NodeType(2, 2, 3e6, idle=30, peak=70)))

Run = Callable[..., Schedule]


def random_workload(seed: int, jobs: int = 120, *, width: int = 12) -> Workload:
    """Crowded, with ties, submits out of order, job numbers with gaps, some jobs killed and some cancelled."""
    dice = np.random.default_rng(seed)
    work = dice.integers(1, 400, jobs).astype(float)
    cancelled = dice.random(jobs) < 0.1
    submit = np.cumsum(dice.integers(0, 60, jobs)).astype(float)
    submit[: jobs // 4] = dice.permutation(submit[: jobs // 4])
    estimate = np.ceil(work * dice.choice([1.0, 1.5, 4.0], jobs))
    work[cancelled] = 0.0
    frame = pd.DataFrame(
        {
            "job": 3 * np.arange(jobs) + 7,
            "submit": submit,
            "procs": dice.integers(1, width + 1, jobs),
            "work": work,
            "estimate": estimate,
            "memory": -1.0,
            "user": dice.integers(0, 5, jobs),
            "group": -1,
            "queue": -1,
            "partition": -1,
            "cancel": np.where(cancelled, submit + dice.integers(1, 500, jobs), np.inf),
            "killed": (work == estimate) & ~cancelled,
            "logged_wait": 0.0,
            "logged_run": work,
            "logged_status": 1,
        }
    )
    return Workload(f"random {seed}", frame, 12, f"digest {seed}")


@pytest.fixture(scope="session")
def run() -> Run:
    """run(workload, platform=…, seed=0, order="fcfs", start="easy", …) -> Schedule."""
    policies = plugins().policies

    def run(workload: Workload, platform: Platform = PLATFORM, seed: int = 0, **parts: str) -> Schedule:
        chosen = Scheduler(**{"energy": "cores", **parts}).choose(policies)
        outcome = simulate(workload, platform, chosen, seed=seed)
        return Schedule(workload, platform, chosen, seed, outcome)

    return run


@pytest.fixture(scope="session")
def make() -> Callable[..., Workload]:
    """make(seed, jobs=120, width=12) -> a random workload."""
    return random_workload


@pytest.fixture(scope="session")
def some(run: Run) -> Schedule:
    """A schedule with a job of every status: some are too wide."""
    return run(random_workload(1, width=14))


@pytest.fixture(scope="session")
def storm() -> Schedule:
    """Nodes fall asleep, wake, fail under their jobs, and one stays down, which strands the widest jobs."""
    sleepy = SleepState("off", watts=5.0, down=10.0, down_energy=800.0, up=20.0, up_energy=1600.0)
    platform = Platform("sleepy", (NodeType(6, 2, idle=50.0, peak=100.0, sleep=(sleepy,)),))
    dice = np.random.default_rng(4)
    frame = {"submit": np.sort(dice.integers(0, 9000, 80)), "run": dice.integers(5, 400, 80)}
    log = harness.log_from_frame(pd.DataFrame(frame | {"procs": [*dice.integers(1, 8, 78), 12, 12]}))
    times = [1000, 1500, 3000, 3100, 4000, 8000]
    words = ["node-down", "node-up", "node-down", "node-up", "node-down", "node-down"]
    events = Events(pd.DataFrame({"time": times, "event": words, "subject": [1, 1, 0, 0, 0, 5]}))
    scheduler = Scheduler(start="easy", sleep="timeout(idle=60)", energy="cores")
    return harness.simulate(harness.prepare(log), platform, scheduler, events=events, timeline=True)
