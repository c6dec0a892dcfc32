"""Schedulers ranked by one measure, paired on the same blocks, with what the ranks are worth.

A block is one workload, platform, variation and seed: within it schedulers met the same jobs on the same machine.
Blocks are not independent of each other. Variations redrawn from one log are alike, platforms and seeds repeat the
same jobs, and schedulers that flip no coins give the same schedule for every seed. So ranks are averaged within a
*unit* of inference first, and intervals and tests count units, not blocks:

workload    where there are several: what they say holds for workloads like these
variation   where there is one, or on request: what they say holds for variations of these very workloads only, and
            grows surer with their number although nothing more is known of the logs themselves
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.results.metrics import MEASURES, Better, Measure
from harness.tournament import inference, pareto
from harness.tournament.inference import Matrix, Test
from harness.tournament.pairing import Gap, pair

Unit = Literal["workload", "variation"]

#: A column of tournaments on logs with known waits, ranked by nobody: how far a replay is from the log [s].
ADEQUACY = "adequacy"

#: The measure that the Pareto front sets against the criterion.
ENERGY = "energy"

#: Of mean ranks: sums of thirds and the like must not decide by their rounding errors who is first.
_DECIMALS = 12


@dataclass(frozen=True)
class Standing:
    """One scheduler's place. Means, median and spread are over blocks."""

    rank: int  # 1 is best; equal mean ranks share it
    scheduler: str
    mean_rank: float
    interval: tuple[float, float]  # 95 %, of the mean rank
    groups: str  # a letter for every group it belongs to
    mean: float  # of the criterion
    median: float
    spread: tuple[float, float]  # of the criterion: 2.5 and 97.5 % quantiles
    energy_spread: tuple[float, float]
    on_front: bool | None  # criterion against energy; None where the energy is not known
    workload_ranks: dict[str, float]  # mean rank on each workload alone
    means: dict[str, float]  # of every measure


@dataclass(frozen=True)
class Ranking:
    """Everything that is known about who is best by one measure; sequences and matrices follow `standings`."""

    by: str
    measure_unit: str
    better: Better
    unit: Unit
    units: int
    blocks: int
    workloads: tuple[str, ...]
    platforms: tuple[str, ...]
    variations: int  # of all workloads together, the logs themselves included
    seeds: int
    standings: tuple[Standing, ...]  # best first
    test: Test | None  # Friedman of three or more, Wilcoxon of two; None where there is nothing to test
    critical_difference: float | None  # of mean ranks (Nemenyi); None below three schedulers or two units
    groups: tuple[tuple[str, ...], ...]  # who cannot be told apart; the largest such groups, best first
    wins: tuple[tuple[int, ...], ...]  # in how many blocks the row is better than the column
    ties: tuple[tuple[int, ...], ...]
    left_out: tuple[str, ...]  # schedulers
    blocks_left_out: int
    gaps: tuple[Gap, ...]  # the runs because of which something was left out


def rank(
    frame: pd.DataFrame,
    by: str = "mean_bounded_slowdown",
    *,
    unit: Unit | None = None,
    extra: Iterable[Measure] = (),
    seed: int = 0,
) -> Ranking:
    """Rank the schedulers of a tournament's results, one row per run, by one measure.

    `unit` is what intervals and tests count (by default workloads, or the variations of a single one), `extra` are
    measures that are not built in, and `seed` is of the bootstrap.
    """
    known = MEASURES | {measure.name: measure for measure in extra}
    criterion = _criterion(by, known)
    named = [name for name in (*known, ADEQUACY) if name in frame or name == by]
    paired = pair(frame, by, named)
    values = paired.measures[by]
    blocks = values.index.to_frame(index=False)
    costs = values.to_numpy() * (-1 if criterion.better == "more" else 1)
    ranks = _ranked(costs)

    workloads = tuple(blocks["workload"].unique())
    unit = _unit(unit, blocks)
    key = ["workload"] if unit == "workload" else ["workload", "variation"]
    unit_ranks = pd.DataFrame(ranks).groupby([blocks[name] for name in key]).mean()
    strata = [unit_ranks] if unit == "workload" else [part for _, part in unit_ranks.groupby(level="workload")]
    mean_ranks = unit_ranks.to_numpy().mean(axis=0).round(_DECIMALS)
    intervals = inference.mean_rank_intervals([part.to_numpy() for part in strata], seed)

    means = pd.DataFrame({name: table.mean(skipna=False) for name, table in paired.measures.items()})
    on_front = _front(means, by, criterion.better)
    order = np.lexsort((costs.mean(axis=0), mean_ranks))
    names = [str(values.columns[place]) for place in order]
    test, difference = _tested(unit_ranks.to_numpy()[:, order], costs[:, order], [blocks[name] for name in key])
    members = _groups(mean_ranks[order], test, difference)
    by_workload = pd.DataFrame(ranks).groupby(blocks["workload"]).mean()
    places = _ranked(mean_ranks[None, :], method="min")[0]
    energies = paired.measures.get(ENERGY)

    standings = tuple(
        Standing(
            rank=int(places[column]),
            scheduler=names[place],
            mean_rank=float(mean_ranks[column]),
            interval=(float(intervals[0, column]), float(intervals[1, column])),
            groups="".join(_letter(number) for number, group in enumerate(members) if place in group),
            mean=float(means[by].iloc[column]),
            median=float(values.iloc[:, column].median()),
            spread=_spread(values.iloc[:, column]),
            energy_spread=(math.nan, math.nan) if energies is None else _spread(energies.iloc[:, column]),
            on_front=on_front[column],
            workload_ranks={str(workload): float(row[column]) for workload, row in by_workload.iterrows()},
            means={name: float(means[name].iloc[column]) for name in named},
        )
        for place, column in enumerate(order)
    )
    ordered = costs[:, order]
    return Ranking(
        by=by,
        measure_unit=criterion.unit,
        better=criterion.better,
        unit=unit,
        units=len(unit_ranks),
        blocks=len(values),
        workloads=workloads,
        platforms=tuple(sorted(blocks["platform"].unique())),
        variations=len(blocks[["workload", "variation"]].drop_duplicates()),
        seeds=blocks["seed"].nunique(),
        standings=standings,
        test=test,
        critical_difference=difference,
        groups=tuple(tuple(names[place] for place in group) for group in members),
        wins=_counted(ordered[:, :, None] < ordered[:, None, :]),
        ties=_counted(ordered[:, :, None] == ordered[:, None, :]),
        left_out=paired.left_out,
        blocks_left_out=paired.blocks_left_out,
        gaps=paired.gaps,
    )


def _criterion(by: str, known: dict[str, Measure]) -> Measure:
    if by not in known:
        raise HarnessError(f"cannot rank by {by!r}, there is no such measure; {did_you_mean(by, known)}")
    if known[by].better == "neither":
        raise HarnessError(
            f"cannot rank by {by!r}: it describes a run and does not judge it; expected a measure of which less or "
            "more is better, such as 'mean_wait'"
        )
    return known[by]


def _unit(unit: str | None, blocks: pd.DataFrame) -> Unit:
    variations = blocks.groupby("workload")["variation"].nunique()
    if unit not in (None, *get_args(Unit)):
        raise HarnessError(f"the unit of inference {unit!r}: expected one of {', '.join(get_args(Unit))}")
    if unit == "variation" and len(variations) > 1 and variations.min() < 2:
        raise HarnessError(
            f"the unit of inference 'variation': of {variations.idxmin()} there is only one; "
            "expected two or more of every workload, or 'workload'"
        )
    if unit == "workload" or (unit is None and len(variations) > 1):
        return "workload"
    return "variation"


def _tested(ranks: Matrix, costs: Matrix, units: list[pd.Series]) -> tuple[Test | None, float | None]:
    """The test that fits the number of schedulers, best first, and the critical difference of their mean ranks."""
    count, schedulers = ranks.shape
    if count < 2 or schedulers < 2:
        return None, None
    if schedulers > 2:
        return inference.friedman(ranks), inference.critical_difference(schedulers, count)
    # Relative to the two's sum, so that a crowded workload does not outweigh a calm one.
    size = np.abs(costs).sum(axis=1)
    difference = np.divide(costs[:, 0] - costs[:, 1], size, out=np.zeros_like(size), where=size > 0)
    return inference.wilcoxon(pd.Series(difference).groupby(units).mean().to_numpy()), None


def _groups(mean_ranks: Matrix, test: Test | None, difference: float | None) -> list[range]:
    """Without a test that rejects equality, all belong together."""
    if test is None or not test.rejects:
        return [range(len(mean_ranks))]
    return inference.groups([float(value) for value in mean_ranks], difference or 0.0)


def _front(means: pd.DataFrame, by: str, better: Better) -> list[bool | None]:
    """Who is on the Pareto front of criterion against energy, among those whose energy is known."""
    on_front: list[bool | None] = [None] * len(means)
    if ENERGY in means and by != ENERGY:
        known = np.flatnonzero(np.isfinite(means[ENERGY]))
        points = means[[by, ENERGY]].to_numpy()[known] * ((-1 if better == "more" else 1), 1)
        for place, answer in zip(known, pareto.front(points), strict=True):
            on_front[place] = bool(answer)
    return on_front


def _ranked(costs: Matrix, method: Literal["average", "min"] = "average") -> Matrix:
    from scipy.stats import rankdata

    return np.asarray(rankdata(costs, axis=1, method=method))


def _spread(values: pd.Series) -> tuple[float, float]:
    low, high = np.quantile(values, [inference.ALPHA / 2, 1 - inference.ALPHA / 2])
    return float(low), float(high)


def _counted(pairs: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(count) for count in row) for row in pairs.sum(axis=0))


def _letter(number: int) -> str:
    """a, b, … z, then a letter and a digit: a1, b1, …"""
    round_, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(round_) if round_ else "")
