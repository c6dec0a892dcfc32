"""Small multiples: a small panel for each workload, all on one scale, which show where a ranking holds."""

import math
from typing import Any

import numpy as np
import pandas as pd

from harness.present.words import counted, spoken
from harness.results.charts.figures import Figure, label, numbers
from harness.results.measures import Measure

#: Panels in a row; the height of one with its title [px]; the share of its height that is left free.
_COLUMNS, _HEIGHT, _GAP = 4, 120, 0.16

#: The fewest workloads with small multiples; the other charts show fewer workloads one by one.
FEWEST = 7


def small_multiples(runs: pd.DataFrame, schedulers: list[str], measure: Measure) -> Figure | None:
    """Draw each scheduler's ratio to the first, by its place in the ranking, in a panel for every workload."""
    table = runs.pivot_table(index="workload", columns="scheduler", values=measure.name, sort=False, observed=True)
    table = table.reindex(columns=[name for name in schedulers if name in table])
    first = table.iloc[:, 0]
    ratios = table.where(table > 0).div(first.where(first > 0), axis=0).apply(np.log10).dropna(how="all")
    if len(ratios) < FEWEST or len(ratios.columns) < 2:
        return None
    low, high = (float(end) for end in np.nanquantile(ratios.to_numpy(), [0.002, 0.998]))
    ends = min(low, 0.0) - 0.1, max(high, 0.0) + 0.1
    rows = math.ceil(len(ratios) / _COLUMNS)
    name = spoken(measure.name)
    turned = sum(float(row.min()) < -0.01 for row in ratios.to_numpy())
    layout: dict[str, Any] = {"showlegend": False, "hovermode": "closest", "annotations": []}
    data = []
    for place, (workload, row) in enumerate(ratios.iterrows()):
        layout |= _axes(place, rows, ends)
        layout["annotations"].append(_title(place, rows, str(workload)))
        data.append(_points(place, row.to_numpy(), [str(column) for column in ratios.columns]))
    return Figure(
        f"multiples-{measure.name}",
        f"{label(name)} on each workload, as a ratio to the first, from rank to rank",
        f"Ratio of each scheduler's {name} to that of the first, {schedulers[0]}, in the order of the ranking from "
        f"left to right, on one logarithmic scale; below the line it is less. On {counted(turned, 'workload')} of "
        f"{len(ratios)} some scheduler has less than the first.",
        data,
        layout,
        height=40 + _HEIGHT * rows,
        when="all workloads",
        wide=True,
    )


def _axes(place: int, rows: int, ends: tuple[float, float]) -> dict[str, Any]:
    row, column = divmod(place, _COLUMNS)
    number = str(place + 1) if place else ""
    wide, tall = 1 / _COLUMNS, 1 / rows
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    ticks = [tick for tick in range(-9, 10) if ends[0] <= tick <= ends[1]]
    ticks = ticks if len(ticks) < 5 else [tick for tick in ticks if tick % 2 == 0]
    return {
        f"xaxis{number}": {
            "domain": [column * wide + 0.04, (column + 1) * wide],
            "anchor": f"y{number}",
            "showticklabels": False,
            **bare,
        },
        f"yaxis{number}": {
            "domain": [1 - (row + 1) * tall, 1 - (row + _GAP * 1.6) * tall],
            "anchor": f"x{number}",
            "range": list(ends),
            "tickvals": ticks,
            "ticktext": [f"{10.0**tick:g}" for tick in ticks],
            "tickfont": {"size": 9},
            **bare,
            "zeroline": True,
        },
    }


def _title(place: int, rows: int, workload: str) -> dict[str, Any]:
    row, column = divmod(place, _COLUMNS)
    return {
        "text": label(workload),
        "x": column / _COLUMNS + 0.04,
        "y": 1 - row / rows,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 10},
    }


def _points(place: int, ratios: Any, schedulers: list[str]) -> dict[str, Any]:
    number = str(place + 1) if place else ""
    named = zip(schedulers, ratios, strict=True)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(np.arange(1, len(ratios) + 1)),
        "y": numbers(ratios),
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "marker": {"size": 3.5, "color": "#1c7ed6"},
        "text": [f"{rank}. {label(name)}: {10.0**ratio:.3g}" for rank, (name, ratio) in enumerate(named, 1)],
        "hovertemplate": "%{text}<extra></extra>",
    }
