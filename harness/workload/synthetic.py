"""Generated logs: a published model of supercomputer workloads, and streams with exact results in queueing theory.

Every generator has its own random generator with the given `seed`: the same call gives the same log.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.frame import log_from_frame
from harness.workload.log import Log

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_DAY = 86_400.0
_SLOTS = 48  # half hours of the model's daily cycle
_SLOT = _DAY / _SLOTS


def lublin(jobs: int = 10_000, procs: int = 256, seed: int = 1, load: float | None = None) -> Log:
    """Generate rigid jobs after Lublin and Feitelson (2003), with their published parameters for all jobs together.

    Time 0 is midnight. The model has no estimates, so the requested time is the runtime, and no users. With `load`,
    arrivals are scaled so that the sum of runtime · width, divided by the time to the last submit, is this share of
    `procs`. The daily cycle keeps its 24 hours.

    U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the characteristics of rigid
    jobs. Journal of Parallel and Distributed Computing 63(11), 2003, 1105–1122.
    """
    _check(jobs=jobs, procs=procs, seed=seed, load=load)
    rng = np.random.default_rng(seed)
    width = _lublin_widths(rng, jobs, procs)
    run = _lublin_runtimes(rng, width)
    activity = _lublin_activity(rng, jobs)
    if load is not None:
        busy = float(np.sum(run * width))
        activity *= _activity_until(busy / (procs * load)) / activity[-1]
    submit = np.floor(_time_of(activity))
    options = {"jobs": jobs, "procs": procs, "seed": seed} | ({} if load is None else {"load": load})
    about = ("Lublin and Feitelson (2003), all jobs, batch and interactive together", "time 0 is midnight")
    return _log("lublin", options, procs, about, submit=submit, run=run, procs_of_job=width)


def poisson(
    jobs: int = 10_000,
    procs: int = 64,
    load: float = 0.7,
    mean_runtime: float = 3600.0,
    width: int | None = None,
    seed: int = 1,
    whole: bool = True,
) -> Log:
    """Generate Poisson arrivals and independent exponential runtimes, as queueing theory assumes.

    All widths are `width`, or else random powers of two up to `procs`. `load` is arrival rate times mean runtime times
    mean width, divided by `procs`. Times are rounded to whole seconds (runtimes to at least one) unless `whole` is
    false.
    """
    _check(jobs=jobs, procs=procs, seed=seed, load=load, mean_runtime=mean_runtime, width=width)
    if width is not None and width > procs:
        raise HarnessError(f"width={width!r} is wider than procs={procs!r}; expected at most that")
    rng = np.random.default_rng(seed)
    choices = np.array([width]) if width is not None else 2 ** np.arange(procs.bit_length())
    mean_gap = mean_runtime * float(np.mean(choices)) / (load * procs)
    submit = np.cumsum(rng.exponential(mean_gap, jobs))
    run = rng.exponential(mean_runtime, jobs)
    if whole:
        submit, run = np.floor(submit), np.maximum(1.0, np.rint(run))
    options: dict[str, Any] = {"jobs": jobs, "procs": procs, "load": load, "mean_runtime": mean_runtime}
    options |= ({} if width is None else {"width": width}) | {"seed": seed}
    options |= {} if whole else {"whole": False}
    about = ("Poisson arrivals, exponential runtimes",)
    return _log("poisson", options, procs, about, submit=submit, run=run, procs_of_job=rng.choice(choices, jobs))


def _log(
    generator: str,
    options: dict[str, Any],
    procs: int,
    about: tuple[str, ...],
    *,
    submit: Floats,
    run: Floats,
    procs_of_job: Ints,
) -> Log:
    call = f"{generator}({', '.join(f'{name}={value!r}' for name, value in options.items())})"
    header = ("; Version: 2.2", f"; Computer: {call}", *(f"; Note: {note}" for note in about))
    header += (
        f"; MaxJobs: {len(run)}",
        f"; MaxRecords: {len(run)}",
        f"; MaxNodes: {procs}",
        f"; MaxProcs: {procs}",
    )
    columns = {
        "submit": submit,
        "run": run,
        "used_procs": procs_of_job,
        "procs": procs_of_job,
        "estimate": run,
    }
    frame = pd.DataFrame(columns | {"status": np.ones(len(run), dtype=np.int64)})
    return log_from_frame(frame, call, procs=procs, header=header, source=call)


def _check(*, jobs: int, procs: int, seed: int, **positive: float | None) -> None:
    for name, value, least, most in (("jobs", jobs, 1, 10**8), ("procs", procs, 1, 2**31), ("seed", seed, 0, 2**63)):
        if not isinstance(value, int) or not least <= value <= most:
            raise HarnessError(f"{name}={value!r}: expected a whole number from {least} to {most}")
    for name, number in positive.items():
        if number is not None and not (isinstance(number, int | float) and 0 < number < math.inf):
            raise HarnessError(f"{name}={number!r}: expected a number above 0")
    if isinstance(width := positive.get("width"), float):
        raise HarnessError(f"width={width!r}: expected a whole number")


def _lublin_widths(rng: np.random.Generator, jobs: int, procs: int) -> Ints:
    """Draw widths as in the model: serial jobs, powers of two, and others, two-stage uniform in their logarithm."""
    serial, power_of_two, narrow = 0.244, 0.576, 0.86
    low, high = 0.8, math.log2(procs)
    middle = max(low, high - 2.5)  # a machine of fewer than ten processors has no first stage
    kind = rng.random(jobs)
    first = rng.random(jobs) <= narrow
    size = rng.uniform(np.where(first, low, middle), np.where(first, middle, max(high, middle)))
    size = np.where(kind <= serial + power_of_two, np.floor(size + 0.5), size)
    width = np.minimum(np.floor(2.0**size + 0.5), procs)
    return np.where(kind <= serial, 1, width).astype(np.int64)


def _lublin_runtimes(rng: np.random.Generator, width: Ints) -> Floats:
    """Draw runtimes with hyper-gamma logarithm, below two days. Wide jobs more often have the long distribution."""
    short = np.clip(0.78 - 0.0054 * width, 0.0, 1.0)
    log_run = np.full(len(width), np.inf)
    while (again := np.flatnonzero(log_run > 12.0)).size:
        is_short = rng.random(again.size) <= short[again]
        log_run[again] = rng.gamma(np.where(is_short, 4.2, 312.0), np.where(is_short, 0.94, 0.03))
    runtimes: Floats = np.floor(np.exp(log_run))
    return runtimes


def _lublin_activity(rng: np.random.Generator, jobs: int) -> Floats:
    """Draw arrivals without a time of day: interarrival times with gamma logarithm, at most five days."""
    rush_hours_to_all = 1.0225
    log_gap = np.full(jobs, np.inf)
    while (again := np.flatnonzero(log_gap > 13.0)).size:
        log_gap[again] = rng.gamma(10.2303 * rush_hours_to_all, 0.4871, again.size)
    return np.cumsum(np.exp(log_gap))


def _activity_by_slot() -> Floats:
    """Return the cumulative activity from midnight to the end of each half hour, in seconds of an average half hour.

    The shares of the half hours follow a gamma distribution over a day that begins with its eleventh half hour.
    """
    from scipy.special import gammainc  # its import takes a tenth of a second, which replays of logs save

    slot = np.arange(11, 11 + _SLOTS)
    shares = gammainc(8.1737, (slot + 0.5) / 3.9631) - gammainc(8.1737, (slot - 0.5) / 3.9631)
    weights = np.empty(_SLOTS)
    weights[(slot - 1) % _SLOTS] = shares / shares.mean()
    return np.concatenate([[0.0], np.cumsum(weights)]) * _SLOT


def _time_of(activity: Floats) -> Floats:
    """Return the times at which the cumulative activity has these values. It grows faster in busy hours.

    For each job the published program subtracts the share of each half hour from the interarrival time. Since it
    carries the remainder over, this function, the inverse of the cumulative activity, gives the same times. That
    program also cuts every interarrival time to whole seconds, and its days drift by half a second per job. Here only
    the submit times are cut.
    """
    gathered = _activity_by_slot()
    day, rest = np.divmod(activity, gathered[-1])
    times: Floats = day * _DAY + np.interp(rest, gathered, np.arange(_SLOTS + 1) * _SLOT)
    return times


def _activity_until(time: float) -> float:
    """Return the inverse of `_time_of`."""
    gathered = _activity_by_slot()
    day, rest = divmod(time, _DAY)
    return day * float(gathered[-1]) + float(np.interp(rest, np.arange(_SLOTS + 1) * _SLOT, gathered))
