"""Fit the overheads of a real machine from its executions: distributions of launch and completion times.

If no job waited at a submission and enough processors were free, the whole wait of the job is its launch time. The time
of a completion is not logged, but the runtimes of one job in two executions differ by it. The absolute difference of
two exponential times of equal mean is exponential with that mean.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError
from harness.results.adequacy import stream_of_log
from harness.results.executions import matched
from harness.workload.log import Log
from harness.workload.occupation import Occupation

Floats = npt.NDArray[np.float64]


def fitted_overheads(logs: Sequence[Log], procs: int) -> dict[str, str]:
    """Return `launch` and, from several executions, `completion`, as arguments of `harness.repeatability`."""
    found = {}
    launches = np.concatenate([_unobstructed(Occupation.of(log.jobs), procs) for log in logs])
    if len(launches):
        found["launch"] = fitted(launches)
    spreads = []
    for one, other in itertools.combinations([stream_of_log(log) for log in logs], 2):
        ours, theirs = matched(one, other)
        spreads.append(np.abs((ours.residence - ours.wait) - (theirs.residence - theirs.wait)))
    if spreads:
        found["completion"] = f"exponential(mean={np.concatenate(spreads).mean():.3g})"
    return found


def fitted(seconds: Floats) -> str:
    """Return the distribution nearest to `seconds` (least Kolmogorov distance), with fitted parameters."""
    from scipy import stats

    if not len(seconds):
        raise HarnessError("no overheads to fit: expected at least one")
    mean, median = float(seconds.mean()), float(np.median(seconds))
    if np.ptp(seconds) == 0:
        return f"constant(seconds={median:.3g})"
    low, high = np.quantile(seconds, [0.01, 0.99]).tolist()
    sigma = float(np.log(np.maximum(seconds, 0.5)).std())  # clocks of whole seconds round times below 0.5 to 0
    choices = {
        f"exponential(mean={mean:.3g})": stats.expon(scale=mean),
        f"uniform(low={low:.3g}, high={high:.3g})": stats.uniform(low, max(high - low, 1e-9)),
        f"lognormal(median={median:.3g}, sigma={sigma:.3g})": stats.lognorm(max(sigma, 1e-9), scale=max(median, 1e-9)),
    }
    return min(choices, key=lambda name: stats.kstest(seconds, choices[name].cdf).statistic)


def _unobstructed(busy: Occupation, procs: int) -> Floats:
    """Return the waits of jobs that found an empty queue and enough free processors."""
    enough = busy.busy_at(busy.submit) + busy.procs <= procs
    order = np.argsort(busy.submit, kind="stable")
    before = np.empty(len(busy))  # the latest start of the jobs submitted before
    before[order] = np.concatenate([[-np.inf], np.maximum.accumulate(busy.start[order])[:-1]])
    return (busy.start - busy.submit)[enough & (before <= busy.submit)]
