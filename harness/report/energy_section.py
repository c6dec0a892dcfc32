"""At what energy: every scheduler's measure against the energy it took, all workloads together and each alone."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd

from harness.present.words import readable, spoken
from harness.ranking import pareto
from harness.ranking.ranking import ENERGY
from harness.report.figures import Figure, axis, label, marker_style
from harness.report.page_subject import Subject
from harness.report.section import section
from harness.results.measures import Measure

#: More names beside a chart leave no room for it.
_MOST_NAMES = 12

#: Where numbers stand, so that those of neighbours do not meet.
_AROUND = ("top right", "bottom left", "top left", "bottom right")

_CRITERIA = ("mean_bounded_slowdown", "mean_wait")


@section("energy", "At what energy?")
def energy(subject: Subject) -> dict[str, Any] | None:
    """Gather who takes least energy, if anybody accounts for it."""
    if subject.ranking is None:
        return None
    done = _metered(subject)
    return {"conclusion": "" if done.empty else _conclusion(done, subject.schedulers, subject.measures[subject.by])}


@energy.chart
def pareto_front(subject: Subject) -> Iterator[Figure]:
    """Draw what decides, and two measures that all look at, against energy, for all workloads and for each."""
    done = _metered(subject)
    workloads = list(map(str, done["workload"].unique()))
    for name in dict.fromkeys((subject.by, *_CRITERIA)):
        for workload in ["", *workloads] if len(workloads) > 1 else workloads:
            runs = done[done["workload"].astype(str) == workload] if workload else done
            if name != ENERGY:
                runs = _comparable(runs[np.isfinite(runs[name].astype(float))])
                if not runs.empty:
                    yield _against_energy(runs, subject.schedulers, subject.measures[name], workload)


def _metered(subject: Subject) -> pd.DataFrame:
    done = subject.done
    return done[np.isfinite(done[ENERGY].astype(float))]


def _comparable(runs: pd.DataFrame) -> pd.DataFrame:
    """Leave out who failed somewhere: it would be compared on other jobs than the others."""
    counts = runs["scheduler"].value_counts()
    return runs[runs["scheduler"].isin(counts.index[counts == counts.max()])]


def _conclusion(done: pd.DataFrame, schedulers: list[str], by: Measure) -> str:
    """Say who takes least energy, and how much more the first of the ranking takes."""
    means = _comparable(done).groupby("scheduler")[list({ENERGY, by.name})].mean()
    energy, measured = means[ENERGY].to_dict(), means[by.name].to_dict()
    thrifty, first = min(energy, key=energy.__getitem__), schedulers[0]
    said = f"{thrifty} takes least energy, {readable(energy[thrifty], 4)} kWh a run on average"
    if first == thrifty:
        return f"{said}, and ranks first."
    if first not in energy or by.name == ENERGY:
        return f"{said}."
    values = [f"{readable(measured[scheduler], 4)} {by.unit}".rstrip() for scheduler in (first, thrifty)]
    more = f"{energy[first] / energy[thrifty] - 1:.1%} more"
    return f"{said}; {first}, which ranks first, takes {more}, at {spoken(by.name)} {' instead of '.join(values)}."


def _against_energy(runs: pd.DataFrame, schedulers: list[str], measure: Measure, workload: str) -> Figure:
    means = runs.groupby("scheduler")[[measure.name, ENERGY]].mean()
    leaders = means[pareto.front(means.to_numpy() * (-1 if measure.better == "more" else 1, 1))].sort_values(ENERGY)
    crowded = len(means) > _MOST_NAMES
    around = dict(zip(means.sort_values(ENERGY).index, cycle(_AROUND)))
    points = [
        _point(runs[runs["scheduler"] == name], measure, place, around[name], name in leaders.index or not crowded)
        for place, name in enumerate(schedulers)
        if name in means.index
    ]
    low, high = float(means[measure.name].min()), float(means[measure.name].max())
    name, where = label(spoken(measure.name)), workload or "all workloads"
    text = f"{name} against energy on {where}"
    spread = "; bars hold 95 % of the runs" if len(runs) > len(means) else ""
    return Figure(
        f"pareto-{measure.name}-{workload or 'all'}",
        f"{name}, {where}",
        f"{text[0].upper()}{text[1:]}, mean of each scheduler{spread}. Numbers are places in the ranking"
        f"{', of those on the dotted line' if crowded else ''}. "
        f"Nobody is better in both than: {', '.join(map(str, leaders.index))}.",
        [_front(leaders, measure), *points],
        {
            "xaxis": axis("energy [kWh]"),
            "yaxis": axis(
                f"{spoken(measure.name)} [{measure.unit}]" if measure.unit else spoken(measure.name),
                **({"type": "log"} if 0 < 3 * low < high else {}),
            ),
            "showlegend": not crowded,
            "hovermode": "closest",
        },
        height=460,
        when=f"{name}, {where}",
    )


def _front(leaders: pd.DataFrame, measure: Measure) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": leaders[ENERGY].to_list(),
        "y": leaders[measure.name].to_list(),
        "mode": "lines",
        "line": {"dash": "dot", "width": 1.2, "color": "#888"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _point(own: pd.DataFrame, measure: Measure, place: int, around: str, numbered: bool) -> dict[str, Any]:
    """Return the mean of a scheduler's runs, with bars where there are several."""
    scheduler = label(own["scheduler"].iloc[0])
    shown = f"{label(spoken(measure.name))} %{{y:,.4g}} {label(measure.unit)}"
    bars = {"error_x": _spread(own[ENERGY]), "error_y": _spread(own[measure.name])} if len(own) > 1 else {}
    return {
        "type": "scatter",
        "x": [float(own[ENERGY].mean())],
        "y": [float(own[measure.name].mean())],
        "mode": "markers+text",
        "text": [str(place + 1) if numbered else ""],
        "textposition": around,
        "customdata": [scheduler],
        "marker": marker_style(place) | ({} if numbered else {"size": 7}),
        "name": f"{place + 1}. {scheduler}",
        "hovertemplate": f"%{{customdata}}<br>{shown}<br>%{{x:,.4g}} kWh<extra></extra>",
        "meta": {"policy": place},
        **bars,
    }


def _spread(values: "pd.Series[float]") -> Mapping[str, Any]:
    """Return bars that hold 95 % of the values."""
    low, mean, high = float(values.quantile(0.025)), float(values.mean()), float(values.quantile(0.975))
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - mean],
        "arrayminus": [mean - low],
        "thickness": 1,
        "width": 2,
        "color": "rgba(128, 140, 150, 0.35)",
    }
