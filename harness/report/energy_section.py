"""Every scheduler's measures against its energy, for all workloads together and for each."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from harness.present.words import readable, spoken
from harness.ranking.ranking import ENERGY
from harness.report.page_subject import PageData
from harness.report.section import section
from harness.results.charts.figures import Figure
from harness.results.charts.trade_off import trade_off
from harness.results.measures import Measure

_CRITERIA = ("mean_bounded_slowdown", "mean_wait")


@section("energy", "At what energy?")
def energy(subject: PageData) -> dict[str, Any] | None:
    """Return the scheduler with the least energy, if energy was accounted."""
    if subject.ranking is None:
        return None
    done = _metered(subject)
    return {"conclusion": "" if done.empty else _conclusion(done, subject.schedulers, subject.measures[subject.by])}


@energy.chart
def pareto_front(subject: PageData) -> Iterator[Figure]:
    """Draw the criterion and two common measures against energy, for all workloads and for each."""
    done = _metered(subject)
    workloads = list(map(str, done["workload"].unique()))
    for name in dict.fromkeys((subject.by, *_CRITERIA)):
        for workload in ["", *workloads] if len(workloads) > 1 else workloads:
            runs = done[done["workload"].astype(str) == workload] if workload else done
            if name != ENERGY:
                runs = _comparable(runs[np.isfinite(runs[name].astype(float))])
                if not runs.empty:
                    pair = subject.measures[name], subject.measures[ENERGY]
                    yield trade_off(runs, subject.schedulers, *pair, workload, places="places in the ranking")


def _metered(subject: PageData) -> pd.DataFrame:
    done = subject.done
    return done[np.isfinite(done[ENERGY].astype(float))]


def _comparable(runs: pd.DataFrame) -> pd.DataFrame:
    """Leave out schedulers with failed runs: they would be compared on other jobs than the others."""
    counts = runs["scheduler"].value_counts()
    return runs[runs["scheduler"].isin(counts.index[counts == counts.max()])]


def _conclusion(done: pd.DataFrame, schedulers: list[str], by: Measure) -> str:
    """Return a sentence on the scheduler with the least energy, and how much more the first of the ranking takes."""
    means = _comparable(done).groupby("scheduler")[list({ENERGY, by.name})].mean()
    energy, measured = means[ENERGY].to_dict(), means[by.name].to_dict()
    thrifty, first = min(energy, key=energy.__getitem__), schedulers[0]
    least = f"{thrifty} takes the least energy, {readable(energy[thrifty], 4)} kWh a run on average"
    if first == thrifty:
        return f"{least}, and ranks first."
    if first not in energy or by.name == ENERGY:
        return f"{least}."
    values = [f"{readable(measured[scheduler], 4)} {by.unit}".rstrip() for scheduler in (first, thrifty)]
    more = f"{energy[first] / energy[thrifty] - 1:.1%} more"
    return f"{least}; {first}, which ranks first, takes {more}, at {spoken(by.name)} {' instead of '.join(values)}."
