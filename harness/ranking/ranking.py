"""Schedulers ranked by one measure, paired on the same blocks, with what the ranks are worth.

A block is one workload, platform, variation and seed: within it schedulers met the same jobs on the same machine.
Blocks are not independent of each other. Variations redrawn from one log are alike, platforms and seeds repeat the
same jobs, and schedulers that flip no coins give the same schedule for every seed. So ranks and ratios are averaged
within a *unit* of inference first, and intervals and tests count units, not blocks:

workload    where there are several: what they say holds for workloads like these
variation   where there is one, or on request: what they say holds for variations of these very workloads only, and
            grows surer with their number although nothing more is known of the logs themselves
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

#: The measure that the Pareto front sets against the criterion.
ENERGY = "energy"

#: Of mean ranks: sums of thirds and the like must not decide by their rounding errors who is first.
_DECIMALS = 12


@dataclass(frozen=True)
class Standing:
    """How one scheduler stands. Means are over the logs as they are; median and spread over all blocks."""

    rank: int  # 1 is best; equal mean ranks share it
    scheduler: str
    mean_rank: float
    ratio: float  # of the criterion to that of the first: the geometric mean over units
    interval: tuple[float, float]  # 95 %, of the ratio; not a number where there are too few units
    p_value: float  # of no difference from the first, corrected for the number of pairs
    groups: str  # a letter for every group it belongs to
    mean: float  # of the criterion
    of_variations: float  # the same over the blocks of variations; not a number where there are none
    median: float
    spread: tuple[float, float]  # of the criterion: 2.5 and 97.5 % quantiles
    energy_spread: tuple[float, float]
    on_front: bool | None  # criterion against energy; None where the energy is not known
    workload_ranks: dict[str, float]  # mean rank on each workload alone
    means: dict[str, float] = field(repr=False)  # of every measure


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
    ratios: tuple[tuple[float, ...], ...]  # of the row's criterion to the column's
    p_values: tuple[tuple[float, ...], ...]  # that row and column do not differ; corrected for the number of pairs
    units_for_next: int | None  # how many it takes to tell the first from the next that it is not told from
    units_for_tenth: int | None  # and two schedulers that differ by 10 %
    groups: tuple[tuple[str, ...], ...]  # who are not told apart, in pairs; none where nobody could be
    identical: tuple[tuple[str, ...], ...]  # schedulers that gave the same schedules in all blocks
    wins: tuple[tuple[int, ...], ...]  # in how many blocks the row is better than the column
    ties: tuple[tuple[int, ...], ...]
    left_out: tuple[str, ...]  # schedulers
    blocks_left_out: int
    loads: dict[str, float]  # the largest offered load on each workload, where it is known
    with_adequacy: tuple[str, ...]  # the workloads whose log was compared with
    without_adequacy: tuple[str, ...]  # the others: logs without waits, or of another machine
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
    measures that are not built in, and `seed` is of the permutations.
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
    """Yield the schedulers in the order of `mean_ranks`."""
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
    """Return the measure to rank by; refuse what cannot judge."""
    if by not in known:
        raise HarnessError(f"cannot rank by {by!r}, there is no such measure; {did_you_mean(by, known)}")
    if known[by].better == "neither":
        raise HarnessError(
            f"cannot rank by {by!r}: it describes a run and does not judge it; expected a measure of which less or "
            "more is better, such as 'mean_wait'"
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
            f"the unit of inference 'variation': of {variations.idxmin()} there is only one; "
            "expected two or more of every workload, or 'workload'"
        )
    if unit == "workload" or (unit is None and len(variations) > 1):
        return "workload"
    return "variation"


def _identical(frame: pd.DataFrame, names: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return the schedulers, two or more, whose runs all gave the same starts and the same mean response."""
    if not {"schedule_digest", "mean_response"} <= set(frame):
        return ()
    done = frame[(frame["status"] == "done") & frame["scheduler"].isin(names)]
    # Starts may be the same where ends are not: under another rate, or on nodes that wake first.
    same = done["schedule_digest"] + done["mean_response"].map(" {!r}".format)
    schedules = done.assign(same=same).pivot(index=list(BLOCK), columns="scheduler", values="same")
    found: dict[tuple[object, ...], list[str]] = {}
    for name in names:
        found.setdefault(tuple(schedules[name].fillna("")), []).append(name)
    return tuple(tuple(group) for group in found.values() if len(group) > 1)


def _of_logs(table: pd.DataFrame) -> "pd.Series[bool]":
    """Find the blocks that replay logs as they are, not variations of them."""
    return pd.Series(table.index.get_level_values("variation") == 0, index=table.index)


def _logs(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the blocks of the logs as they are; all, where there are only variations."""
    logs = table[_of_logs(table)]
    return table if logs.empty else logs


def _front(means: pd.DataFrame, criterion: Measure) -> dict[str, bool]:
    """Find who is on the Pareto front of criterion against energy, among those whose energy is known."""
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
    """Count the blocks in which the row's scheduler stands in that relation to the column's."""
    values = costs.to_numpy()
    counts = relation(values[:, :, None], values[:, None, :]).sum(axis=0)
    return tuple(tuple(row) for row in counts.tolist())


def _rows(matrix: Matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _letter(number: int) -> str:
    """Return a, b, … z, then a letter and a digit: a1, b1, …"""
    round_, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(round_) if round_ else "")
