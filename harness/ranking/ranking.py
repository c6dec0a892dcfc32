"""Rank schedulers by one measure, paired on the same blocks, with the significance of their differences.

A block is one workload, platform, variation and seed: within it schedulers have the same jobs on the same machine.
Blocks are not independent. Variations of one log are alike, platforms and seeds repeat the same jobs, and schedulers
without random decisions give the same schedule for every seed. So ranks and ratios are first averaged within a *unit*
of inference, and intervals and tests count units, not blocks:

- workload: the default for several workloads. The results hold for workloads like these.
- variation: the default for one workload. The results hold only for variations of these workloads. They become more
  certain with more variations, although nothing more is known about the logs themselves.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.present.tables import Better
from harness.ranking import inference
from harness.ranking.all_pairs import AllPairs
from harness.ranking.inference import Matrix
from harness.ranking.pairing import BLOCK, Gap, Pairing, pair
from harness.results.charts import pareto
from harness.results.measures import Measure, known_measures

Unit = Literal["workload", "variation"]

#: The measure that the Pareto front compares with the criterion.
ENERGY = "energy"

#: Decimals of mean ranks: rounding errors of sums of fractions must not decide the order.
_DECIMALS = 12


@dataclass(frozen=True)
class Standing:
    """The place of one scheduler. Means are over the original logs; median and spread over all blocks."""

    rank: int  # 1 is best; equal mean ranks share it
    scheduler: str
    mean_rank: float
    ratio: float  # of the criterion to that of the first scheduler: the geometric mean over units
    interval: tuple[float, float]  # 95 %, of the ratio; not a number if there are too few units
    p_value: float  # of no difference from the first, corrected for the number of pairs
    groups: str  # a letter for every group it belongs to
    mean: float  # of the criterion
    of_variations: float  # the mean over the blocks of variations; not a number if there are none
    median: float
    spread: tuple[float, float]  # of the criterion: 2.5 and 97.5 % quantiles
    energy_spread: tuple[float, float]
    on_front: bool | None  # criterion against energy; None if the energy is not known
    workload_ranks: dict[str, float]  # mean rank on each workload alone
    means: dict[str, float] = field(repr=False)  # of every measure


@dataclass(frozen=True)
class Ranking:
    """The ranking of schedulers by one measure; sequences and matrices follow `standings`."""

    by: str
    measure_unit: str
    better: Better
    unit: Unit
    units: int
    blocks: int
    workloads: tuple[str, ...]
    platforms: tuple[str, ...]
    variations: int  # of all workloads, including the logs themselves
    seeds: int
    standings: tuple[Standing, ...]  # best first
    ratios: tuple[tuple[float, ...], ...]  # of the row's criterion to the column's
    p_values: tuple[tuple[float, ...], ...]  # that row and column do not differ; corrected for the number of pairs
    units_for_next: int | None  # units needed to distinguish the first from the next indistinguishable scheduler
    units_for_tenth: int | None  # units needed to distinguish two schedulers that differ by 10 %
    groups: tuple[tuple[str, ...], ...]  # pairwise indistinguishable schedulers; none if there are too few units
    identical: tuple[tuple[str, ...], ...]  # schedulers that gave the same schedules in all blocks
    wins: tuple[tuple[int, ...], ...]  # the number of blocks in which the row is better than the column
    ties: tuple[tuple[int, ...], ...]
    left_out: tuple[str, ...]  # schedulers
    blocks_left_out: int
    loads: dict[str, float]  # the largest offered load on each workload, if known
    with_adequacy: tuple[str, ...]  # the workloads that were compared with their logs
    without_adequacy: tuple[str, ...]  # the others: logs without waits, or of another machine
    gaps: tuple[Gap, ...]  # the runs that caused omissions


def rank(
    frame: pd.DataFrame,
    by: str = "mean_bounded_slowdown",
    *,
    unit: str | None = None,
    extra: Iterable[Measure] = (),
    seed: int = 0,
) -> Ranking:
    """Rank the schedulers of a tournament's results, one row per run, by one measure.

    `unit` is the unit of intervals and tests (by default workloads, or the variations of a single one). `extra` are
    measures that are not built in, and `seed` draws the permutations.
    """
    known = known_measures(extra)
    criterion = criterion_of(by, known)
    paired = pair(frame, by, [measure for name, measure in known.items() if name in frame or name == by])
    costs = paired.measures[by] * (-1 if criterion.better == "more" else 1)
    unit = _unit(unit, costs.index)
    key = ["workload"] if unit == "workload" else ["workload", "variation"]
    ranks = costs.rank(axis=1)
    mean_ranks = ranks.groupby(level=key).mean().mean().round(_DECIMALS)
    order = np.lexsort((costs.mean(), mean_ranks))  # by mean rank, then by mean
    costs, ranks, mean_ranks = costs.iloc[:, order], ranks.iloc[:, order], mean_ranks.iloc[order]
    pairs = AllPairs(paired.measures[by][costs.columns], key, seed)
    names = [str(name) for name in costs]
    groups = pairs.groups()
    return Ranking(
        by=by,
        measure_unit=criterion.unit,
        better=criterion.better,
        unit=unit,
        units=pairs.units,
        blocks=len(costs),
        workloads=tuple(costs.index.unique("workload")),
        platforms=tuple(sorted(costs.index.unique("platform"))),
        variations=len({(workload, variation) for workload, _, variation, _ in costs.index}),
        seeds=len(costs.index.unique("seed")),
        standings=tuple(_standings(paired, criterion, mean_ranks, ranks, pairs, groups)),
        ratios=_rows(pairs.ratios),
        p_values=_rows(pairs.p_values),
        units_for_next=pairs.units_for_next(),
        units_for_tenth=pairs.units_for(1.1),
        groups=tuple(tuple(names[row] for row in group) for group in groups),
        identical=_identical(frame, names),
        wins=_counted(costs, np.less),
        ties=_counted(costs, np.equal),
        left_out=paired.left_out,
        blocks_left_out=paired.blocks_left_out,
        loads=_loads(paired),
        with_adequacy=(known_logs := _with_adequacy(paired)),
        without_adequacy=tuple(sorted(set(map(str, frame["workload"])) - set(known_logs))),
        gaps=paired.gaps,
    )


def _standings(
    paired: Pairing,
    criterion: Measure,
    mean_ranks: "pd.Series[float]",
    ranks: pd.DataFrame,
    pairs: AllPairs,
    groups: list[tuple[int, ...]],
) -> Iterator[Standing]:
    values, energies = paired.measures[criterion.name], paired.measures.get(ENERGY)
    means = pd.DataFrame({name: _logs(table).mean(skipna=False) for name, table in paired.measures.items()})
    variations = values[~_of_logs(values)]
    on_front = _front(means, criterion)
    averages = means.to_dict("index")
    workload_ranks = ranks.groupby(level="workload").mean().to_dict()
    shared = mean_ranks.rank(method="min")
    for row, name in enumerate(map(str, mean_ranks.index)):
        yield Standing(
            rank=int(shared.iloc[row]),
            scheduler=name,
            mean_rank=float(mean_ranks.iloc[row]),
            ratio=float(pairs.ratios[row, 0]),
            interval=pairs.interval(row),
            p_value=float(pairs.p_values[row, 0]),
            groups="".join(_letter(number) for number, group in enumerate(groups) if row in group),
            mean=float(averages[name][criterion.name]),
            of_variations=float(variations[name].mean()),
            median=float(values[name].median()),
            spread=_spread(values[name]),
            energy_spread=(math.nan, math.nan) if energies is None else _spread(energies[name]),
            on_front=on_front.get(name),
            workload_ranks={str(workload): float(rank) for workload, rank in workload_ranks[name].items()},
            means={str(measure): float(mean) for measure, mean in averages[name].items()},
        )


def criterion_of(by: str, known: dict[str, Measure]) -> Measure:
    """Return the measure to rank by; refuse one that does not judge runs."""
    if by not in known:
        raise HarnessError(f"cannot rank by {by!r}, there is no such measure; {did_you_mean(by, known)}")
    if known[by].better == "neither":
        raise HarnessError(
            f"cannot rank by {by!r}: neither less nor more of it is better; expected a measure that judges a run, such "
            "as 'mean_wait'"
        )
    return known[by]


def known_unit(unit: str | None) -> None:
    """Refuse an unknown unit of inference."""
    if unit not in (None, *get_args(Unit)):
        raise HarnessError(f"the unit of inference {unit!r}: expected one of {', '.join(get_args(Unit))}")


def _unit(unit: str | None, blocks: pd.Index) -> Unit:
    variations = blocks.to_frame().groupby(level="workload")["variation"].nunique()
    known_unit(unit)
    if unit == "variation" and len(variations) > 1 and variations.min() < 2:
        raise HarnessError(
            f"the unit of inference 'variation': {variations.idxmin()} has only one; "
            "expected two or more of every workload, or 'workload'"
        )
    if unit == "workload" or (unit is None and len(variations) > 1):
        return "workload"
    return "variation"


def _identical(frame: pd.DataFrame, names: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return groups of schedulers with the same starts and the same mean response in all runs."""
    if not {"schedule_digest", "mean_response"} <= set(frame):
        return ()
    done = frame[(frame["status"] == "done") & frame["scheduler"].isin(names)]
    # Equal starts do not imply equal ends: the rate may differ, or nodes may have to wake first.
    same = done["schedule_digest"] + done["mean_response"].map(" {!r}".format)
    schedules = done.assign(same=same).pivot(index=list(BLOCK), columns="scheduler", values="same")
    found: dict[tuple[object, ...], list[str]] = {}
    for name in names:
        found.setdefault(tuple(schedules[name].fillna("")), []).append(name)
    return tuple(tuple(group) for group in found.values() if len(group) > 1)


def _of_logs(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return which blocks replay the original logs, not variations."""
    return pd.Series(table.index.get_level_values("variation") == 0, index=table.index)


def _logs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the blocks of the original logs; all, if there are only variations."""
    logs = table[_of_logs(table)]
    return table if logs.empty else logs


def _front(means: pd.DataFrame, criterion: Measure) -> dict[str, bool]:
    """Return which schedulers are on the Pareto front of criterion and energy, among those with a known energy."""
    if ENERGY not in means or criterion.name == ENERGY:
        return {}
    known = means[np.isfinite(means[ENERGY])]
    points = known[[criterion.name, ENERGY]].to_numpy() * (-1 if criterion.better == "more" else 1, 1)
    return dict(zip(map(str, known.index), pareto.front(points).tolist(), strict=True))


def _loads(paired: Pairing) -> dict[str, float]:
    known = paired.measures.get("offered_load")
    if known is None:
        return {}
    largest = known.max(axis=1).groupby(level="workload").max().dropna()
    return {str(workload): float(load) for workload, load in largest.items()}


def _with_adequacy(paired: Pairing) -> tuple[str, ...]:
    known = paired.measures.get("adequacy")
    return () if known is None else tuple(map(str, known.index.unique("workload")))


def _spread(values: "pd.Series[float]") -> tuple[float, float]:
    low, high = np.quantile(values, [inference.ALPHA / 2, 1 - inference.ALPHA / 2])
    return float(low), float(high)


def _counted(costs: pd.DataFrame, relation: np.ufunc) -> tuple[tuple[int, ...], ...]:
    """Return the number of blocks in which the relation holds between the row's scheduler and the column's."""
    values = costs.to_numpy()
    counts = relation(values[:, :, None], values[:, None, :]).sum(axis=0)
    return tuple(tuple(row) for row in counts.tolist())


def _rows(matrix: Matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _letter(number: int) -> str:
    """Return a, b, … z, then a letter and a digit: a1, b1, …"""
    round_, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(round_) if round_ else "")
