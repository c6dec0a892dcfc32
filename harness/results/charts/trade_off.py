"""A scatter plot of one measure against another: a point for each scheduler, and a line through the Pareto front."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pandas as pd

from harness.present.words import spoken
from harness.results.charts import pareto
from harness.results.charts.figures import Figure, axis, label, marker_style
from harness.results.measures import Measure

#: With more names the legend would leave no room for the chart.
_MOST_NAMES = 12

#: Positions of numbers, so that those of neighbours do not overlap.
_AROUND = ("top right", "bottom left", "top left", "bottom right")


def trade_off(
    runs: pd.DataFrame, schedulers: list[str], measure: Measure, other: Measure, workload: str, *, places: str
) -> Figure:
    """Draw `measure` against `other`, means over `runs` by scheduler; `places` describes the numbers of the points."""
    means = runs.groupby("scheduler")[[measure.name, other.name]].mean()
    signs = [-1 if one.better == "more" else 1 for one in (measure, other)]
    leaders = means[pareto.front(means.to_numpy() * signs)].sort_values(other.name)
    crowded = len(means) > _MOST_NAMES
    around = dict(zip(means.sort_values(other.name).index, cycle(_AROUND)))
    points = [
        _point(
            runs[runs["scheduler"] == name], (measure, other), place, around[name], name in leaders.index or not crowded
        )
        for place, name in enumerate(schedulers)
        if name in means.index
    ]
    name, against, where = label(spoken(measure.name)), label(spoken(other.name)), workload or "all workloads"
    text = f"{name} against {against} on {where}"
    spread = "; bars contain 95 % of the runs" if len(runs) > len(means) else ""
    return Figure(
        f"pareto-{measure.name}-{workload or 'all'}",
        f"{name}, {where}",
        f"{text[0].upper()}{text[1:]}, mean of each scheduler{spread}. Numbers are {places}"
        f"{', of those on the dotted line' if crowded else ''}. "
        f"Not dominated: {', '.join(map(str, leaders.index))}.{_saving(means, schedulers, other)}",
        [_front(leaders, measure, other), *points],
        {
            "xaxis": _axis(other, means, log=False),
            "yaxis": _axis(measure, means, log=True),
            "showlegend": not crowded,
            "hovermode": "closest",
        },
        height=460,
        when=f"{name}, {where}",
    )


def _saving(means: pd.DataFrame, schedulers: list[str], other: Measure) -> str:
    """Return how much lower the other measure can be than with the first scheduler, as a sentence."""
    values = means[other.name]
    first, least = next((name for name in schedulers if name in values.index), None), str(values.idxmin())
    if first is None or other.better != "less" or first == least or not values[first] > 0:
        return ""
    saved = 1 - float(values[least]) / float(values[first])
    return f" {label(least)} takes {saved:.2%} less {label(spoken(other.name))} than {label(first)}."


def _axis(measure: Measure, means: pd.DataFrame, *, log: bool) -> dict[str, Any]:
    low, high = float(means[measure.name].min()), float(means[measure.name].max())
    title = f"{spoken(measure.name)} [{measure.unit}]" if measure.unit else spoken(measure.name)
    # The axis begins at zero, so that small differences look small.
    return axis(title, **({"type": "log"} if log and 0 < 3 * low < high else {} if log else {"rangemode": "tozero"}))


def _front(leaders: pd.DataFrame, measure: Measure, other: Measure) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": leaders[other.name].to_list(),
        "y": leaders[measure.name].to_list(),
        "mode": "lines",
        "line": {"dash": "dot", "width": 1.2, "color": "#888"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _point(
    own: pd.DataFrame, measures: tuple[Measure, Measure], place: int, around: str, numbered: bool
) -> dict[str, Any]:
    measure, other = measures
    scheduler = label(own["scheduler"].iloc[0])
    shown = f"{label(spoken(measure.name))} %{{y:,.4g}} {label(measure.unit)}"
    second = f"%{{x:,.4g}} {label(other.unit or spoken(other.name))}"
    bars = {"error_x": _spread(own[other.name]), "error_y": _spread(own[measure.name])} if len(own) > 1 else {}
    return {
        "type": "scatter",
        "x": [float(own[other.name].mean())],
        "y": [float(own[measure.name].mean())],
        "mode": "markers+text",
        "text": [str(place + 1) if numbered else ""],
        "textposition": around,
        "customdata": [scheduler],
        "marker": marker_style(place) | ({} if numbered else {"size": 7}),
        "name": f"{place + 1}. {scheduler}",
        "hovertemplate": f"%{{customdata}}<br>{shown}<br>{second}<extra></extra>",
        "meta": {"policy": place},
        **bars,
    }


def _spread(values: "pd.Series[float]") -> Mapping[str, Any]:
    """Return bars that contain 95 % of the values."""
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
