"""Computes the figures of slurm.md: distances of replays from executions, and the effects of changes in both."""

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

#: Of the policies that know nothing of Slurm: all orders with all starts, and seconds between backfill passes.
ORDERS = ("fcfs", "sjf-width", "ljf-width")
STARTS = (("none", None), ("easy", None), ("conservative(replan=true)", None), ("conservative", 30.0))


@dataclass(frozen=True)
class Figures:
    """The results of one configuration with one workload."""

    configuration: str
    workload: str
    jobs: int
    interval: float  # of the backfill [s]
    waits: tuple[float, ...]  # the mean of each execution [s]
    ours: tuple[tuple[float, ...], ...]  # and of the replays of each
    between: float  # P between executions [s]
    replay: float  # P of replays that take the delays of launching and noticing from another execution
    own: float  # and of those that take them from the same
    replays: float  # P between replays with the delays of different executions
    perfect: tuple[float, ...]  # if replays are taken for the executions: how far others are from them, by ratio
    policies: dict[str, float]  # P of policies that know nothing of Slurm
    nobody: float  # P if nobody waited
    same: float  # P if all waited for the mean
    together: tuple[float, float]  # jobs that began within an interval, between executions, and with replays [%]

    @property
    def ratio(self) -> float:
        """How much further a replay is from an execution than an execution."""
        return self.replay / self.between

    @property
    def best(self) -> str:
        """The policy that is nearest, found afterwards."""
        return min(self.policies, key=lambda name: self.policies[name])

    @property
    def replayed(self) -> float:
        """The mean wait of replays [s]."""
        return float(np.mean(self.ours))

    @property
    def off(self) -> float:
        """How much longer the mean wait of replays is [%]."""
        return 100 * (self.replayed / float(np.mean(self.waits)) - 1)

    @property
    def error(self) -> float:
        """The standard error of it [s], from the scatter of replays of the same execution."""
        scatter = [np.var(some, ddof=1) * (1 + 1 / len(some)) for some in self.ours]
        return float(np.sqrt(np.sum(scatter)) / len(scatter))

    @property
    def inside(self) -> bool:
        """Whether the mean wait of replays is between those of the executions."""
        return min(self.waits) <= self.replayed <= max(self.waits)

    @property
    def half_width(self) -> float:
        """That of the interval that holds the mean wait of replays with 95 % [s]."""
        count = sum(map(len, self.ours))
        return _T * float(np.sqrt(np.mean([np.var(some, ddof=1) for some in self.ours]) / count))


def figures(one: Studied, others: list[tuple[str, str, float | None]]) -> Figures:
    """Return what is known of one that was executed twice or more often, and how near other policies are."""
    real, replayed = one.executed, one.replayed
    interval = one.cluster.parameters.interval
    pairs = list(combinations(real, 2))
    crossed = [(each, there) for some, there in _crossed(replayed, real) for each in some]
    ours = [(each, there) for some, there in zip(replayed, real, strict=True) for each in some]
    between = [(a, b) for some, more in combinations(replayed, 2) for a in some for b in more]
    ran = [Times(each.waits, each.residences - each.waits) for each in real]
    same = [Times(each.waits, run.residences + each.waits.mean()) for run, each in zip(ran, real, strict=True)]
    return Figures(
        one.case.name, one.which.name, len(one.jobs.jobs), interval,
        tuple(_mean_wait(each) for each in real), tuple(tuple(map(_mean_wait, some)) for some in replayed),
        _apart(pairs), _apart(crossed), _apart(ours), _apart(between), _perfect(replayed),
        {_named(*parts): _apart([(one.simulated(*parts), each) for each in real]) for parts in others},
        _apart(list(zip(ran, real, strict=True))),
        _apart(list(zip(same, real, strict=True))),
        (_together(pairs, interval), _together(crossed, interval)),
    )  # fmt: skip


def _crossed(replayed: list[list[Times]], real: list[Times]) -> list[tuple[list[Times], Times]]:
    """Return the distances of replays, with the delays of each execution, from every other one."""
    return [(some, there) for i, some in enumerate(replayed) for j, there in enumerate(real) if i != j]


def _apart(pairs: list[tuple[Times, Times]]) -> float:
    """Return P in the mean of some pairs [s]."""
    return float(np.mean([one.apart(other) for one, other in pairs])) if pairs else np.nan


def _together(pairs: list[tuple[Times, Times]], within: float) -> float:
    """Return the share of jobs that began within this time of each other, in the mean of some pairs [%]."""
    return float(np.mean([one.together(other, within) for one, other in pairs])) if pairs else np.nan


def policies() -> list[tuple[str, str, float | None]]:
    """Return the policies that do not depend on Slurm: order, start and interval between backfill passes [s]."""
    return [(order, start, interval) for order in ORDERS for start, interval in STARTS]


def _named(order: str, start: str, interval: float | None) -> str:
    return f"{order} + {start}" + (", every 30 s" if interval else "")


def _mean_wait(times: Times) -> float:
    return float(times.waits.mean())


def _perfect(replayed: list[list[Times]]) -> tuple[float, ...]:
    """Return ratios as they come out if a replay of each group is taken for the execution: those of a perfect model."""
    ends = np.array([each.residences for some in replayed for each in some])
    apart = np.array([np.sqrt(((ends - each) ** 2).mean(axis=1)) for each in ends])
    each, dice, found = len(replayed[0]), np.random.default_rng(0), []
    group = np.arange(len(ends)) // each
    for _ in range(DRAWN):
        drawn = np.arange(len(replayed)) * each + dice.integers(0, each, len(replayed))
        between = apart[np.ix_(drawn, drawn)][np.triu_indices(len(drawn), 1)].mean()
        others = apart[drawn][:, np.setdiff1d(np.arange(len(ends)), drawn)]
        other = group[drawn][:, None] != np.delete(group, drawn)[None, :]
        found.append(float(others[other].mean() / between) if between > 0 else 1.0)
    return tuple(found)


def resampled(rows: Floats, of: Callable[[Floats], Any]) -> tuple[float, float]:
    """Return where a figure of rows lies with 95 %, by drawing rows anew."""
    dice = np.random.default_rng(0)
    found = [of(rows[dice.integers(0, len(rows), len(rows))]) for _ in range(DRAWN)]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
