"""Paired comparison: the blocks in which every scheduler has a value, and the runs and schedulers that are left out."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.results.measures import Measure

#: The properties that two runs must share to be compared.
BLOCK = ("workload", "platform", "variation", "seed")

#: A scheduler with values in fewer blocks than this share is left out, instead of the blocks that it lacks.
ENOUGH = 0.5


@dataclass(frozen=True)
class Gap:
    """A run without a value to compare."""

    scheduler: str
    workload: str
    platform: str
    variation: int
    seed: int
    reason: Literal["failed", "missing", "not a number"]
    error: str  # of a failed run


@dataclass(frozen=True, eq=False)
class Pairing:
    """The values of every measure, for every remaining scheduler, in every block that all of them share.

    A measure against the log has only the blocks in which all schedulers have it: variations and generated jobs have
    none.
    """

    measures: dict[str, pd.DataFrame]  # each with a row per block and a column per scheduler, both sorted
    gaps: tuple[Gap, ...]
    left_out: tuple[str, ...]  # schedulers
    blocks_left_out: int


def pair(frame: pd.DataFrame, by: str, measures: "Sequence[Measure]") -> Pairing:
    """Keep the runs of `frame` on common blocks: those in which every scheduler has a value of `by`."""
    runs = _checked(frame, by, [measure.name for measure in measures])
    blocks = runs.index.unique()
    done = runs[runs["status"] == "done"]
    values = done.pivot(columns="scheduler", values=by).reindex(index=blocks, columns=sorted(set(runs["scheduler"])))
    there = values.replace([math.inf, -math.inf], math.nan).notna()
    if not there.to_numpy().any():
        raise HarnessError(f"nothing to rank: none of the {len(runs)} runs is done and has a {by}")
    stays = there.mean() >= ENOUGH
    common = there.loc[:, stays].all(axis=1) & bool(stays.any())
    if not common.any():
        most = there.mean().sort_values(kind="stable")
        raise HarnessError(
            f"nothing to compare: no block ({', '.join(BLOCK)}) has a {by} of every scheduler; {most.index[0]} has one "
            f"in {int(there[most.index[0]].sum())} of {len(blocks)} blocks: expected runs of all on the same blocks"
        )
    kept = done[done["scheduler"].isin(stays.index[stays]) & done.index.isin(common.index[common])]
    tables = {measure.name: kept.pivot(columns="scheduler", values=measure.name) for measure in measures}
    return Pairing(
        {m.name: tables[m.name].dropna() if m.against_log else tables[m.name] for m in measures},
        tuple(_gaps(runs, there)),
        tuple(str(name) for name in stays.index[~stays]),
        int((~common).sum()),
    )


def _checked(frame: pd.DataFrame, by: str, measures: "Sequence[str]") -> pd.DataFrame:
    """Return the relevant columns, by block and sorted, so that the order of the rows does not matter."""
    for name in (*BLOCK, "scheduler", "status", by):
        if name not in frame:
            raise HarnessError(f"the results have no column {name!r}: expected one row per run of a tournament")
    twice = frame.columns[frame.columns.duplicated()].intersection([*BLOCK, "scheduler", "status", *measures])
    if len(twice):
        raise HarnessError(f"the results have two columns {twice[0]!r}: expected one")
    if frame.empty:
        raise HarnessError("nothing to rank: there are no runs")
    runs = frame[[*BLOCK, "scheduler", "status", *measures]].copy()
    for name in measures:
        try:
            runs[name] = runs[name].astype(float)
        except (TypeError, ValueError):
            raise HarnessError(f"the column {name!r} of the results has other values: expected numbers") from None
    runs["error"] = frame["error"].fillna("") if "error" in frame else ""
    labels = ["workload", "platform", "scheduler"]
    runs[labels] = runs[labels].astype(str)
    runs = runs.sort_values([*BLOCK, "scheduler"])
    again = runs[runs.duplicated([*BLOCK, "scheduler"])]
    if len(again):
        row = again.iloc[0]
        block = ", ".join(f"{name} {row[name]}" for name in BLOCK)
        raise HarnessError(f"there are two runs of {row['scheduler']} ({block}): expected one")
    return runs.set_index(list(BLOCK))


def _gaps(runs: pd.DataFrame, there: pd.DataFrame) -> "list[Gap]":
    known = runs.set_index("scheduler", append=True)[["status", "error"]].to_dict("index")
    gaps = []
    for row, column in np.argwhere(~there.to_numpy()):
        block, scheduler = there.index[row], there.columns[column]
        run = known.get((*block, scheduler))
        workload, platform, variation, seed = block
        where = (str(scheduler), workload, platform, int(variation), int(seed))
        if run is None:
            gaps.append(Gap(*where, "missing", ""))
        elif run["status"] == "done":
            gaps.append(Gap(*where, "not a number", ""))
        else:
            gaps.append(Gap(*where, "failed", str(run["error"])))
    return gaps
