"""At what energy: every scheduler's measure against the energy it took, all workloads together and each alone."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures import Figure, Section, axis, label, marker_style
from harness.report.tables import readable
from harness.report.winners import measure_name
from harness.results.metrics import Measure
from harness.tournament import pareto
from harness.tournament.ranking import ENERGY

#: More names beside a picture leave no room for it.
_MOST_NAMES = 12

#: Where numbers stand, so that those of neighbours do not meet.
_AROUND = ("top right", "bottom left", "top left", "bottom right")

_CRITERIA = ("mean_bounded_slowdown", "mean_wait")
_TITLE = "At what energy?"


def energies(frame: pd.DataFrame, schedulers: list[str], by: str, known: Mapping[str, Measure]) -> Section:
    """The section of performance against energy."""
    done = frame[(frame["status"] == "done") & np.isfinite(frame[ENERGY].astype(float))]
    done = done[done["scheduler"].isin(schedulers)]
    if done.empty:
        return Section("energy", _TITLE, "energies.html.j2", {"known": False})
    criteria = dict.fromkeys((by, *_CRITERIA))
    workloads = list(map(str, done["workload"].unique()))
    figures = [
        figure
        for measure in (known[name] for name in criteria if name != ENERGY)
        for workload in (["", *workloads] if len(workloads) > 1 else workloads)
        if (figure := _picture(done, schedulers, measure, workload)) is not None
    ]
    data = {"known": True, "choice": "picture", "conclusion": _conclusion(done, schedulers, known[by])}
    return Section("energy", _TITLE, "energies.html.j2", data, figures)


def _conclusion(done: pd.DataFrame, schedulers: list[str], by: Measure) -> str:
    """Who takes least energy, and how much more the first of the ranking takes."""
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
    return (
        f"{said}; {first}, which ranks first, takes {more}, at {measure_name(by.name)} {' instead of '.join(values)}."
    )


def _comparable(runs: pd.DataFrame) -> pd.DataFrame:
    """Without who failed somewhere: it would be compared on other jobs than the others."""
    counts = runs["scheduler"].value_counts()
    return runs[runs["scheduler"].isin(counts.index[counts == counts.max()])]


def _picture(done: pd.DataFrame, schedulers: list[str], measure: Measure, workload: str) -> Figure | None:
    runs = done[done["workload"].astype(str) == workload] if workload else done
    runs = _comparable(runs[np.isfinite(runs[measure.name].astype(float))])
    if runs.empty:
        return None
    means = runs.groupby("scheduler")[[measure.name, ENERGY]].mean()
    sign = -1 if measure.better == "more" else 1
    front = pareto.front(means.to_numpy() * (sign, 1))
    leaders = means[front].sort_values(ENERGY)
    crowded = len(means) > _MOST_NAMES
    places = dict(zip(means.sort_values(ENERGY).index, cycle(_AROUND)))
    name, unit, where = label(measure_name(measure.name)), label(measure.unit), workload or "all workloads"
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": leaders[ENERGY].to_list(),
            "y": leaders[measure.name].to_list(),
            "mode": "lines",
            "line": {"dash": "dot", "width": 1.2, "color": "#888"},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    for place, scheduler in enumerate(schedulers):
        if scheduler not in means.index:
            continue
        own = runs[runs["scheduler"] == scheduler]
        x, y = float(own[ENERGY].mean()), float(own[measure.name].mean())
        shown = scheduler in leaders.index or not crowded
        # One run has no spread.
        bars = {"error_x": _spread(own[ENERGY]), "error_y": _spread(own[measure.name])} if len(own) > 1 else {}
        data.append(
            {
                "type": "scatter",
                "x": [x],
                "y": [y],
                "mode": "markers+text",
                "text": [str(place + 1) if shown else ""],
                "textposition": places[scheduler],
                "customdata": [label(scheduler)],
                "marker": marker_style(place) | ({} if shown else {"size": 7}),
                "name": f"{place + 1}. {label(scheduler)}",
                "hovertemplate": f"%{{customdata}}<br>{name} %{{y:,.4g}} {unit}<br>%{{x:,.4g}} kWh<extra></extra>",
                "meta": {"policy": place},
                **bars,
            }
        )
    low, high = float(means[measure.name].min()), float(means[measure.name].max())
    scale = {"type": "log"} if 0 < 3 * low < high else {}
    text = f"{name} against energy on {where}"
    listed = ", ".join(map(str, leaders.index))
    spread = "; bars hold 95 % of the runs" if len(runs) > len(means) else ""
    return Figure(
        f"pareto-{measure.name}-{workload or 'all'}",
        f"{name}, {where}",
        f"{text[0].upper()}{text[1:]}, mean of each scheduler{spread}. Numbers are places in the ranking"
        f"{', of those on the dotted line' if crowded else ''}. "
        f"Nobody is better in both than: {listed}.",
        data,
        {
            "xaxis": axis("energy [kWh]"),
            "showlegend": not crowded,
            "yaxis": axis(
                f"{measure_name(measure.name)} [{measure.unit}]" if unit else measure_name(measure.name), **scale
            ),
            "hovermode": "closest",
        },
        height=460,
        when=f"{name}, {where}",
    )


def _spread(values: "pd.Series[float]") -> dict[str, Any]:
    """Bars that hold 95 % of the values."""
    low, mean, high = float(values.quantile(0.025)), float(values.mean()), float(values.quantile(0.975))
    ends = {"array": [high - mean], "arrayminus": [mean - low]}
    return {
        "type": "data",
        "symmetric": False,
        "thickness": 1,
        "width": 2,
        "color": "rgba(128, 140, 150, 0.35)",
        **ends,
    }
