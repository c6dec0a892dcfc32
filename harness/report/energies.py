"""At what energy: every scheduler's measure against the energy it took, all workloads together and each alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures import Figure, Section, axis, label, marker_style
from harness.report.winners import measure_name
from harness.results.metrics import Measure
from harness.tournament import pareto
from harness.tournament.ranking import ENERGY

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
    return Section("energy", _TITLE, "energies.html.j2", {"known": True, "choice": "picture"}, figures)


def _picture(done: pd.DataFrame, schedulers: list[str], measure: Measure, workload: str) -> Figure | None:
    runs = done[done["workload"].astype(str) == workload] if workload else done
    runs = runs[np.isfinite(runs[measure.name].astype(float))]
    # Who failed somewhere would be compared on other jobs than the others.
    counts = runs["scheduler"].value_counts()
    runs = runs[runs["scheduler"].isin(counts.index[counts == counts.max()])]
    if runs.empty:
        return None
    means = runs.groupby("scheduler")[[measure.name, ENERGY]].mean()
    sign = -1 if measure.better == "more" else 1
    front = pareto.front(means.to_numpy() * (sign, 1))
    leaders = means[front].sort_values(ENERGY)
    ends = runs.groupby("scheduler")[[measure.name, ENERGY]].quantile([0.025, 0.975]).unstack()
    name, where = measure_name(measure.name), workload or "all workloads"
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
        x, y = float(means.loc[scheduler, ENERGY]), float(means.loc[scheduler, measure.name])
        bars = {}
        if len(runs) > len(means):  # one run has no spread
            bars = {
                f"error_{direction}": {
                    "type": "data",
                    "symmetric": False,
                    "array": [float(ends.loc[scheduler, (column, 0.975)]) - value],
                    "arrayminus": [value - float(ends.loc[scheduler, (column, 0.025)])],
                    "thickness": 1,
                    "width": 3,
                }
                for direction, column, value in (("x", ENERGY, x), ("y", measure.name, y))
            }
        data.append(
            {
                "type": "scatter",
                "x": [x],
                "y": [y],
                "mode": "markers+text" if scheduler in leaders.index else "markers",
                "text": [label(scheduler)],
                "textposition": "top right",
                "marker": marker_style(place),
                "name": label(scheduler),
                "hovertemplate": f"%{{text}}<br>{name} %{{y:,.4g}} {measure.unit}<br>energy %{{x:,.4g}} kWh<extra></extra>",
                "meta": {"policy": place},
                **bars,
            }
        )
    text = f"{name} against energy on {where}"
    listed = ", ".join(map(str, leaders.index))
    spread = "; bars hold 95 % of the runs" if len(runs) > len(means) else ""
    return Figure(
        f"pareto-{len(data)}-{measure.name}-{workload or 'all'}",
        f"{name}, {where}",
        f"{text[0].upper()}{text[1:]}, mean of each scheduler{spread}. Nobody is better in both than: {listed}.",
        data,
        {
            "xaxis": axis("energy [kWh]"),
            "yaxis": axis(f"{name} [{measure.unit}]" if measure.unit else name),
            "hovermode": "closest",
        },
        height=460,
        when=f"{name}, {where}",
    )


