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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.results.adequacy import ADEQUACY
from harness.results.metrics import MEASURES, Better, Measure
from harness.tournament import inference, pareto
from harness.tournament.inference import Matrix, Test
from harness.tournament.pairing import Gap, Pairing, pair

Unit = Literal["workload", "variation"]

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
    adequacy_blocks: int  # that replay a log with waits
    gaps: tuple[Gap, ...]  # the runs because of which something was left out


def rank(
    frame: pd.DataFrame,
    by: str = "mean_bounded_slowdown",
    *,
    unit: str | None = None,
    extra: Iterable[Measure] = (),
    seed: int = 0,
) -> Ranking:
    """Rank the schedulers of a tournament's results, one row per run, by one measure.

    `unit` is what intervals and tests count (by default workloads, or the variations of a single one), `extra` are
    measures that are not built in, and `seed` is of the bootstrap.
    """
    known = MEASURES | {measure.name: measure for measure in extra}
    criterion = criterion_of(by, known)
    paired = pair(frame, by, [name for name in (*known, ADEQUACY) if name in frame or name == by])
    costs = paired.measures[by] * (-1 if criterion.better == "more" else 1)
    unit = _unit(unit, costs.index)
    key = ["workload"] if unit == "workload" else ["workload", "variation"]
    ranks = costs.rank(axis=1)
    mean_ranks = ranks.groupby(level=key).mean().mean().round(_DECIMALS)
    order = np.lexsort((costs.mean(), mean_ranks))  # by mean rank, then by mean
    costs, ranks, mean_ranks = costs.iloc[:, order], ranks.iloc[:, order], mean_ranks.iloc[order]
    unit_ranks = ranks.groupby(level=key).mean()
    test, difference = _tested(unit_ranks.to_numpy(), costs, key)
    groups = _groups(mean_ranks.to_list(), test, difference)
    names = [str(name) for name in costs]
    return Ranking(
        by=by,
        measure_unit=criterion.unit,
        better=criterion.better,
        unit=unit,
        units=len(unit_ranks),
        blocks=len(costs),
        workloads=tuple(costs.index.unique("workload")),
        platforms=tuple(sorted(costs.index.unique("platform"))),
        variations=len({(workload, variation) for workload, _, variation, _ in costs.index}),
        seeds=len(costs.index.unique("seed")),
        standings=tuple(_standings(paired, criterion, mean_ranks, ranks, _intervals(unit_ranks, unit, seed), groups)),
        test=test,
        critical_difference=difference,
        groups=tuple(tuple(names[place] for place in group) for group in groups),
        wins=_counted(costs, np.less),
        ties=_counted(costs, np.equal),
        left_out=paired.left_out,
        blocks_left_out=paired.blocks_left_out,
        adequacy_blocks=len(_compared(paired)),
        gaps=paired.gaps,
    )


def _standings(
    paired: Pairing,
    criterion: Measure,
    mean_ranks: "pd.Series[float]",
    ranks: pd.DataFrame,
    intervals: Matrix,
    groups: list[range],
) -> Iterator[Standing]:
    """The schedulers in the order of `mean_ranks`."""
    values, energies = paired.measures[criterion.name], paired.measures.get(ENERGY)
    tables = {name: _compared(paired) if name == ADEQUACY else table for name, table in paired.measures.items()}
    means = pd.DataFrame({name: table.mean(skipna=False) for name, table in tables.items()})
    on_front = _front(means, criterion)
    averages = means.to_dict("index")
    workload_ranks = ranks.groupby(level="workload").mean().to_dict()
    places = mean_ranks.rank(method="min")
    for place, name in enumerate(map(str, mean_ranks.index)):
        yield Standing(
            rank=int(places.iloc[place]),
            scheduler=name,
            mean_rank=float(mean_ranks.iloc[place]),
            interval=(float(intervals[0, place]), float(intervals[1, place])),
            groups="".join(_letter(number) for number, group in enumerate(groups) if place in group),
            mean=float(averages[name][criterion.name]),
            median=float(values[name].median()),
            spread=_spread(values[name]),
            energy_spread=(math.nan, math.nan) if energies is None else _spread(energies[name]),
            on_front=on_front.get(name),
            workload_ranks={str(workload): float(rank) for workload, rank in workload_ranks[name].items()},
            means={str(measure): float(mean) for measure, mean in averages[name].items()},
        )


def _compared(paired: Pairing) -> pd.DataFrame:
    """The adequacy in the blocks that have one: those of variations and of generated jobs have none."""
    return paired.measures.get(ADEQUACY, pd.DataFrame()).dropna()


def criterion_of(by: str, known: dict[str, Measure]) -> Measure:
    """The measure to rank by; what cannot judge is refused."""
    if by not in known:
        raise HarnessError(f"cannot rank by {by!r}, there is no such measure; {did_you_mean(by, known)}")
    if known[by].better == "neither":
        raise HarnessError(
            f"cannot rank by {by!r}: it describes a run and does not judge it; expected a measure of which less or "
            "more is better, such as 'mean_wait'"
        )
    return known[by]


def _unit(unit: str | None, blocks: pd.Index) -> Unit:
    variations = blocks.to_frame().groupby(level="workload")["variation"].nunique()
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


def _intervals(unit_ranks: pd.DataFrame, unit: Unit, seed: int) -> Matrix:
    """Variations are redrawn within each workload, workloads all together."""
    strata = [unit_ranks] if unit == "workload" else [part for _, part in unit_ranks.groupby(level="workload")]
    return inference.mean_rank_intervals([part.to_numpy() for part in strata], seed)


def _tested(unit_ranks: Matrix, costs: pd.DataFrame, key: list[str]) -> tuple[Test | None, float | None]:
    """The test that fits the number of schedulers, best first, and the critical difference of their mean ranks."""
    units, schedulers = unit_ranks.shape
    if units < 2 or schedulers < 2:
        return None, None
    if schedulers > 2:
        return inference.friedman(unit_ranks), inference.critical_difference(schedulers, units)
    # Relative to the two's sum, so that a crowded workload does not outweigh a calm one; 0/0 is no difference.
    relative = (costs.iloc[:, 0] - costs.iloc[:, 1]) / costs.abs().sum(axis=1)
    return inference.wilcoxon(relative.fillna(0.0).groupby(level=key).mean().to_numpy()), None


def _groups(mean_ranks: list[float], test: Test | None, difference: float | None) -> list[range]:
    """Without a test that rejects equality, all belong together; of two there is no difference to look up."""
    if test is None or not test.rejects:
        return [range(len(mean_ranks))]
    return inference.groups(mean_ranks, difference or 0.0)


def _front(means: pd.DataFrame, criterion: Measure) -> dict[str, bool]:
    """Who is on the Pareto front of criterion against energy, among those whose energy is known."""
    if ENERGY not in means or criterion.name == ENERGY:
        return {}
    known = means[np.isfinite(means[ENERGY])]
    points = known[[criterion.name, ENERGY]].to_numpy() * (-1 if criterion.better == "more" else 1, 1)
    return dict(zip(map(str, known.index), pareto.front(points).tolist(), strict=True))


def _spread(values: "pd.Series[float]") -> tuple[float, float]:
    low, high = np.quantile(values, [inference.ALPHA / 2, 1 - inference.ALPHA / 2])
    return float(low), float(high)


def _counted(costs: pd.DataFrame, relation: np.ufunc) -> tuple[tuple[int, ...], ...]:
    """In how many blocks the row's scheduler stands in that relation to the column's."""
    values = costs.to_numpy()
    counts = relation(values[:, :, None], values[:, None, :]).sum(axis=0)
    return tuple(tuple(row) for row in counts.tolist())


def _letter(number: int) -> str:
    """a, b, … z, then a letter and a digit: a1, b1, …"""
    round_, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(round_) if round_ else "")
