"""Textbook queues with known results, as tests of a simulator: M/M/c, M/G/1, and Little's law.

One-processor jobs arrive as a Poisson stream. `mean_service` and all waits are in seconds, rates per second.
"""

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import HarnessError
from harness.theory.inputs import nonnegative, positive, proc_count, same_length, series


def erlang_b(procs: int, offered: float) -> float:
    """Return the probability that all processors are busy when jobs cannot wait (Erlang 1917); `offered` = λ·E[S]."""
    offered = positive(offered, "offered load")
    blocked = 1.0
    for c in range(1, proc_count(procs) + 1):  # all terms are positive, so this is stable for any number
        blocked = offered * blocked / (c + offered * blocked)
    return blocked


def erlang_c(procs: int, offered: float) -> float:
    """Return the probability that a job has to wait in M/M/c; `offered` = λ·E[S] < c."""
    _must_be_stable(positive(offered, "offered load") / proc_count(procs))
    blocked = erlang_b(procs, offered)
    return blocked / (1 - offered / procs * (1 - blocked))


def mmc_mean_wait(arrival_rate: float, mean_service: float, procs: int) -> float:
    """Return the mean wait in M/M/c: exponential service, first come, first served."""
    offered = positive(arrival_rate, "arrival rate") * positive(mean_service, "mean service time")
    return erlang_c(procs, offered) * mean_service / (procs - offered)


def mg1_mean_wait(arrival_rate: float, mean_service: float, service_variance: float) -> float:
    """Return the mean wait in M/G/1, first come, first served (Pollaczek 1930, Khinchine 1932)."""
    load = positive(arrival_rate, "arrival rate") * positive(mean_service, "mean service time")
    _must_be_stable(load)
    second_moment = nonnegative(service_variance, "variance of the service time") + mean_service**2
    return arrival_rate * second_moment / (2 * (1 - load))


def little(arrival_rate: float, mean_time: float) -> float:
    """Return the mean number in a system, L = λW (Little 1961), from the rate of arrivals and the mean time in it."""
    return nonnegative(arrival_rate, "arrival rate") * nonnegative(mean_time, "mean time")


def mean_number(enter: ArrayLike, leave: ArrayLike) -> float:
    """Return the mean number of jobs inside, over the time from the first `enter` to the last `leave`.

    For such a complete run Little's law is exact: this equals `little(jobs / length of the run, mean of
    leave − enter)`.
    """
    entered, left = series(enter, "enter"), series(leave, "leave")
    same_length(enter=entered, leave=left)
    backwards = np.flatnonzero(left < entered)
    if backwards.size:
        raise HarnessError(f"job {backwards[0]} leaves before it enters")
    instants = np.concatenate((entered, left))
    steps = np.repeat((1, -1), entered.size)
    order = np.argsort(instants, kind="stable")
    lasting = np.diff(instants[order])
    length = positive(float(lasting.sum()), "length of the run")
    return float(np.cumsum(steps[order])[:-1] @ lasting) / length


def _must_be_stable(load: float) -> None:
    if load >= 1:
        raise HarnessError(f"the system is unstable at {100 * load:.4g} % of capacity; it has no mean delay")
