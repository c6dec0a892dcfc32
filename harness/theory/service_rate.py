"""The experiments of the service-rate paper: the cluster whose rate follows its workload, on the paper's own data.

Rumyantsev, Morozova and Basmadjian, "Discrete-Event Modeling of a High-Performance Computing Cluster with Service Rate
Control" (2018), section IV: 80 servers, first come first served, rates 2.0 and 2.66, and the tasks of a year that come
with the R package `hpcwld`. The recorded service time of a task is its amount of work S, as in the paper: at rate R it
takes S / R seconds. Work here is in these units; the engine's is in seconds at full speed, 2.66 times less.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

from harness.errors import HarnessError
from harness.policy import Scheduler
from harness.results.schedule import Schedule
from harness.run import simulate
from harness.theory.inputs import nonnegative
from harness.workload.content import content_digest
from harness.workload.log import Workload

LOW, HIGH = 2.0, 2.66  # the two rates: work done in a second
K_LOW, K_HIGH = 1e5, 3e5  # the thresholds on the workload, in units of work
THRESHOLDS = tuple(1e5 * k for k in range(31))

#: How the paper's busy powers may be read → the platform that says so.
READINGS = {"as printed": "service-rate-80", "exchanged": "service-rate-80-exchanged"}

#: Tasks submitted together come this much apart instead, at random [s].
APART = (0.001, 0.01)


def read_tasks(path: str | Path, seed: int = 0) -> Workload:
    """The tasks of `HPC_KRC2.csv`, numbered as in the file, cleaned as the paper says.

    Interarrival times that are not positive become a few random milliseconds; then tasks without cores are left out.
    Tasks that took no whole second stay: they need their cores too, if only for an instant.
    """
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise HarnessError(f"cannot read {path}: {error}") from error
    for name in ("interarrival", "service", "cores_used"):
        if name not in table:
            raise HarnessError(f"{path} has no column {name!r}; expected the columns of hpcwld's HPC_KRC2")
    gaps = table["interarrival"].to_numpy(dtype=np.float64)
    repaired = np.random.default_rng(seed).uniform(*APART, len(gaps))
    gaps = np.where(gaps > 0, gaps, repaired)
    work = table["service"].to_numpy(dtype=np.float64) / HIGH
    columns = {
        "job": np.arange(1, len(table) + 1),
        "submit": np.concatenate(([0.0], np.cumsum(gaps[:-1]))),
        "procs": table["cores_used"],
        "work": work,
        "estimate": work,
        "memory": -1.0,
        **dict.fromkeys(("user", "group", "queue", "partition", "logged_status"), -1),
        "cancel": np.inf,
        "killed": False,
    }
    tasks = pd.DataFrame(columns)
    tasks = tasks[tasks["procs"] > 0].reset_index(drop=True)
    return Workload(Path(path).name, tasks, 80, content_digest(tasks, ()))


def controlled(
    tasks: Workload, low: float = K_LOW, high: float = K_HIGH, reading: str = "as printed", record: bool = True
) -> Schedule:
    """The cluster that goes fast when the workload rises above `high` and slow when it has fallen to `low`."""
    thresholds = {"low": nonnegative(low, "the lower threshold") / HIGH, "high": nonnegative(high, "the upper") / HIGH}
    rate = f"workload(low={thresholds['low']!r}, high={thresholds['high']!r}, slow={LOW / HIGH!r}, fast=1.0)"
    scheduler = Scheduler(order="fcfs", start="none", rate=rate, energy="cores")
    return simulate(tasks, READINGS[reading], scheduler, timeline=record, placements=record)


def trajectory(schedule: Schedule) -> pd.DataFrame:
    """Every key epoch: `time` [s], `workload` just before and at it, customers `served`, and the `rate` from it on."""
    timeline = schedule.timeline
    elapsed = timeline["time"].diff().fillna(0.0)
    done = (elapsed * timeline["rate"].shift() * timeline["running"].shift()).fillna(0.0)  # work is served at R each
    before = (timeline["work"].shift() - done).fillna(0.0).clip(lower=0.0)
    return pd.DataFrame(
        {
            "time": timeline["time"],
            "before": before * HIGH,
            "workload": timeline["work"].clip(lower=0.0) * HIGH,
            "served": timeline["running"],
            "rate": timeline["rate"] * HIGH,
        }
    )


def sweep(tasks: Workload, thresholds: Iterable[float] = THRESHOLDS) -> pd.DataFrame:
    """Mean workload, and mean power [W] in each reading, by the single threshold k = k_L = k_H (index)."""

    def row(k: float) -> dict[str, float]:
        found = {name: controlled(tasks, k, k, name, record=False).measures() for name in READINGS}
        return {
            "mean workload": found["as printed"]["mean_workload"] * HIGH,
            **{f"mean power {name}": measures["mean_power"] for name, measures in found.items()},
        }

    values = list(thresholds)
    with ThreadPoolExecutor() as threads:
        return pd.DataFrame(threads.map(row, values), index=pd.Index(values, name="threshold"))


def summary(schedule: Schedule) -> dict[str, float]:
    """Numbers that hold figures 1 and 2, by what they say."""
    epochs = trajectory(schedule)
    measures = schedule.measures()
    fast = np.average(epochs["rate"][:-1] > LOW, weights=np.diff(epochs["time"]))
    return {
        "customers": measures["jobs"],
        "switches of the rate": float(np.count_nonzero(np.diff(epochs["rate"]))),
        "share of time at the high rate": float(fast),
        "largest workload [work]": float(epochs["workload"].max()),
        "mean workload [work]": measures["mean_workload"] * HIGH,
        "most customers in service": float(epochs["served"].max()),
        "customers that wait": float((schedule.ran["wait"] > 0).sum()),
        "mean delay [s]": measures["mean_wait"],
        "mean power [W]": measures["mean_power"],
    }
