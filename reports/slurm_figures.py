"""The figures of slurm.md: how near replays are to executions, and what executions and replays say of a change."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from slurm_studied import Floats, Studied, Times

#: Student's t, two-sided with 95 %, for means of sixteen numbers; of more it is less.
_T = 2.13

#: Triples of replays in the place of executions, and samples of configurations, that are drawn.
DRAWN = 1000

#: Of the policies that know nothing of Slurm: all orders with all starts, at every event and in passes.
ORDERS = ("fcfs", "sjf-width", "ljf-width", "spf")
STARTS = ("none", "easy", "conservative", "conservative(replan=true)")
PASSES = ("", "backfill=30, main=0")


@dataclass(frozen=True)
class Figures:
    """What is known of one configuration with one workload."""

    configuration: str
    workload: str
    jobs: int
    interval: float  # of the backfill [s]
    waits: tuple[float, ...]  # the mean of each execution [s]
    ours: tuple[float, ...]  # and of each replay
    between: float  # P between executions [s]
    replay: float  # P of replays beside executions
    replays: float  # P between replays
    perfect: tuple[float, ...]  # of triples of replays in the place of executions: how far other replays are, by ratio
    policies: dict[str, float]  # P of policies that know nothing of Slurm
    nobody: float  # P if nobody waited
    same: float  # P if all waited for the mean
    together: tuple[float, float]  # jobs that began within an interval, between executions and beside replays [%]

    @property
    def ratio(self) -> float:
        """How much further a replay is from an execution than an execution."""
        return self.replay / self.between

    @property
    def best(self) -> str:
        """The policy that is nearest, found afterwards."""
        return min(self.policies, key=lambda name: self.policies[name])

    @property
    def off(self) -> float:
        """How much longer the mean wait of replays is [%]."""
        return 100 * (float(np.mean(self.ours)) / float(np.mean(self.waits)) - 1)

    @property
    def errors(self) -> float:
        """The same in standard errors of both means, as far as replays scatter."""
        each = float(np.std(self.ours, ddof=1)) * np.sqrt(1 / len(self.waits) + 1 / len(self.ours))
        return float((np.mean(self.ours) - np.mean(self.waits)) / each)

    @property
    def inside(self) -> bool:
        """Whether the mean wait of replays is between those of the executions."""
        return min(self.waits) <= float(np.mean(self.ours)) <= max(self.waits)


def figures(one: Studied) -> Figures:
    """Return what is known of a configuration that was executed twice or more often."""
    real, replayed = one.executed, one.replayed
    ours = [each for some in replayed for each in some]
    beside = [(each, other) for other, some in zip(real, replayed, strict=True) for each in some]
    matrix = _matrix(ours)
    upper = matrix[np.triu_indices(len(ours), 1)]
    interval = one.cluster.parameters.interval
    pairs = list(combinations(real, 2))
    return Figures(
        one.case.name, one.which.name, len(one.jobs.jobs), interval,
        tuple(_mean_wait(each) for each in real), tuple(_mean_wait(each) for each in ours),
        _mean([a.apart(b) for a, b in pairs]), _mean([a.apart(b) for a, b in beside]), float(upper.mean()),
        _perfect(matrix, len(real)),
        {_named(*parts): _mean([_simulated(one, *parts).apart(each) for each in real]) for parts in _policies()},
        _mean([each.apart(Times(each.waits * 0, each.residences - each.waits)) for each in real]),
        _mean([each.apart(Times(each.waits, each.residences - each.waits + each.waits.mean())) for each in real]),
        (_mean([a.together(b, interval) for a, b in pairs]), _mean([a.together(b, interval) for a, b in beside])),
    )  # fmt: skip


def _policies() -> list[tuple[str, str, str]]:
    return [(order, start, passing) for order in ORDERS for start in STARTS for passing in PASSES]


def _named(order: str, start: str, passing: str) -> str:
    return f"{order} + {start}" + (", every 30 s" if passing else "")


def _simulated(one: Studied, order: str, start: str, passing: str) -> Times:
    """Simulate a policy once for all executions."""
    known: dict[tuple[str, str, str], Times] = one.__dict__.setdefault("_policies", {})
    if (order, start, passing) not in known:
        known[order, start, passing] = one.simulated(order, start, passing)
    return known[order, start, passing]


def _mean(numbers: list[float]) -> float:
    return float(np.mean(numbers)) if numbers else np.nan


def _mean_wait(times: Times) -> float:
    return float(times.waits.mean())


def _matrix(ours: list[Times]) -> Floats:
    """Return P between all replays."""
    ends = np.array([each.residences for each in ours])
    return np.array([np.sqrt(((ends - each) ** 2).mean(axis=1)) for each in ends])


def _perfect(matrix: Floats, number: int) -> tuple[float, ...]:
    """Return ratios as they come out if some replays are taken for the executions: those of a perfect model."""
    dice, found = np.random.default_rng(0), []
    for _ in range(DRAWN):
        drawn = dice.permutation(len(matrix))
        real, rest = drawn[:number], drawn[number:]
        between = matrix[np.ix_(real, real)][np.triu_indices(number, 1)].mean()
        found.append(float(matrix[np.ix_(real, rest)].mean() / between) if between > 0 else 1.0)
    return tuple(found)


def within(numbers: tuple[float, ...]) -> float:
    """Return the half width of the interval that holds their mean with 95 %."""
    return _T * float(np.std(numbers, ddof=1)) / float(np.sqrt(len(numbers)))


def resampled(rows: Floats, of: Callable[[Floats], Any]) -> tuple[float, float]:
    """Return where a figure of rows lies with 95 %, by drawing rows anew."""
    dice = np.random.default_rng(0)
    found = [of(rows[dice.integers(0, len(rows), len(rows))]) for _ in range(DRAWN)]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
