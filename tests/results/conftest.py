"""Small random workloads, and how to run them."""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from harness.engine.simulate import simulate
from harness.platform.platform import NodeType, Platform
from harness.plugins import plugins
from harness.policy import Scheduler
from harness.results.schedule import Schedule
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
        scheduler = Scheduler(**{"energy": "cores", **parts})
        chosen = scheduler.choose(policies)
        outcome = simulate(workload, platform, chosen, seed=seed)
        return Schedule(workload, platform, {part: str(chosen[part]) for part in asdict(scheduler)}, seed, outcome)

    return run


@pytest.fixture(scope="session")
def make() -> Callable[..., Workload]:
    """make(seed, jobs=120, width=12) -> a random workload."""
    return random_workload


@pytest.fixture(scope="session")
def some(run: Run) -> Schedule:
    """A schedule with a job of every status: some are too wide."""
    return run(random_workload(1, width=14))
