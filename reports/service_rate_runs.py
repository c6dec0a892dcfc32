"""Figure 3 of service-rate.md beyond one pass through the trace: in windows of it, and over many randomised runs.

The authors say that the curve of their single trace is irregular, and would be smoother over independent randomised
runs. Both here are of the same tasks: windows are so many in a row, each begun at an empty machine, and in a randomised
run every customer is one of the tasks, drawn with its service time, its width and the time to the next.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from harness import HarnessError, Workload
from harness.workload.log import GAP

#: Returns the mean workload [work] and the mean power [W] of tasks under a single threshold.
Measure = Callable[[Workload, float], tuple[float, float]]


def windows(tasks: Workload, measure: Measure, size: int, thresholds: tuple[float, float]) -> pd.DataFrame:
    """Compare two thresholds in every whole window of `size` tasks; `trades`: power falls while the workload rises."""
    count = len(tasks) // size
    if not count:
        raise HarnessError(f"--window {size}: expected at most the {len(tasks):,} tasks that there are")

    def row(number: int) -> dict[str, object]:
        part = _with(tasks, tasks.jobs.iloc[number * size : (number + 1) * size], f"window {number} of {size}")
        (low, power), (high, other) = (measure(part, k) for k in thresholds)
        return {
            "tasks": f"{part.jobs['job'].iloc[0]}–{part.jobs['job'].iloc[-1]}",
            **{f"workload, k = {k:g}": value for k, value in zip(thresholds, (low, high), strict=True)},
            **{f"power, k = {k:g}": value for k, value in zip(thresholds, (power, other), strict=True)},
            "trades": bool(other < power and high > low),
        }

    with ThreadPoolExecutor() as threads:
        return pd.DataFrame(threads.map(row, range(count))).set_index("tasks")


def averaged(
    tasks: Workload, measure: Measure, thresholds: Iterable[float], runs: int, size: int, seed: int
) -> pd.DataFrame:
    """Average `runs` randomised runs of `size` customers each, by threshold (index).

    `against the first` is the power less that under the first threshold, in the same runs, and `from` and `to` its 95 %
    t-interval.
    """
    values = list(thresholds)
    drawn = list(_randomised(tasks, runs, size, seed))
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(lambda k: [measure(one, k) for one in drawn], values))
    workload, power = np.moveaxis(np.array(found), 2, 0)
    gain = power - power[0]
    wide = stats.t.ppf(0.975, runs - 1) * gain.std(axis=1, ddof=1) / np.sqrt(runs) if runs > 1 else np.nan
    mean = gain.mean(axis=1)
    columns = {"mean workload": workload.mean(axis=1), "mean power as printed": power.mean(axis=1)}
    columns |= {"against the first": mean, "from": mean - wide, "to": mean + wide}
    return pd.DataFrame(columns, index=pd.Index(values, name="threshold"))


def _randomised(tasks: Workload, runs: int, size: int, seed: int) -> Iterator[Workload]:
    draw = np.random.default_rng(seed)
    for number in range(runs):
        jobs = tasks.jobs.iloc[draw.integers(0, len(tasks), size)]
        gaps = jobs[GAP].to_numpy()
        submit = np.concatenate(([0.0], np.cumsum(gaps[:-1])))
        yield _with(tasks, jobs.assign(job=np.arange(1, size + 1), submit=submit), f"run {number} of {size}, {seed}")


def _with(tasks: Workload, jobs: pd.DataFrame, told: str) -> Workload:
    """Return other jobs in place of the tasks, the first submitted at 0."""
    jobs = jobs.assign(submit=jobs["submit"] - jobs["submit"].iloc[0]).reset_index(drop=True)
    return replace(tasks, jobs=jobs, digest=f"{tasks.digest} {told}")
