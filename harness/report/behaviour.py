"""Where and when each policy behaves differently: distributions, classes of jobs, the system over time."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from harness.report.details import LENGTHS, SHORTEST, WIDTHS, Detail
from harness.report.figures import Figure, Section, axis, label, lasting, line_style, numbers, rows
from harness.report.tables import readable

#: Panels of the system over time: column and title.
_PANELS = (("queued", "jobs waiting"), ("busy", "busy processors"), ("power", "power [W]"))


def behaviour(
    details: list[Detail], frame: pd.DataFrame, schedulers: list[str], procs: Mapping[str, int], remarks: list[str]
) -> Section:
    """The section of the runs that were looked at in detail, and of the capacity that all runs lost."""
    title = "Where and when do they differ?" if len(schedulers) > 1 else "Where and when?"
    figures = [*capacity(frame, schedulers, procs)]
    for _, part in groupby(details, key=lambda detail: detail.workload):
        runs = list(part)
        figures += [_waits(runs), _slowdowns(runs), *_classes(runs), _over_time(runs)]
    return Section("behaviour", title, "behaviour.html.j2", {"remarks": remarks, "choice": "workload"}, figures)


def _waits(runs: list[Detail]) -> Figure:
    halves = _listed((run, _waited(_median(run.waits))) for run in runs)
    longest = _listed((run, _waited(run.waits[0][-1])) for run in runs if len(run.waits[0]))
    return _distribution(
        runs,
        "waits",
        "Waiting times",
        "wait [s]",
        f"Share of jobs that waited at most so long (shorter waits are drawn at 1 s). Half of the jobs waited at most: "
        f"{halves}. The longest wait: {longest}.",
    )


def _waited(seconds: float) -> str:
    return lasting(seconds) if seconds > SHORTEST else f"{lasting(SHORTEST)} or less"


def _slowdowns(runs: list[Detail]) -> Figure:
    halves = _listed((run, readable(_median(run.slowdowns), 3)) for run in runs)
    return _distribution(
        runs,
        "slowdowns",
        "Bounded slowdowns",
        "bounded slowdown",
        f"Share of jobs with at most such a bounded slowdown. Half of the jobs have at most: {halves}.",
    )


def _distribution(runs: list[Detail], name: str, title: str, quantity: str, caption: str) -> Figure:
    data = []
    right = max([10.0, *(float(getattr(run, name)[0].max(initial=0)) for run in runs)])  # all end there
    for run in runs:
        x, y = getattr(run, name)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": numbers([*x, right]),
                "y": numbers([*y, 1]),
                "line": {**line_style(run.policy), "shape": "hv"},
                "name": label(run.scheduler),
                "meta": {"policy": run.policy},
            }
        )
    layout = {
        "xaxis": axis(quantity, type="log", dtick=1),
        "yaxis": axis("share of jobs", range=[0, 1.02], tickformat=".0%"),
        "showlegend": True,
        "hovermode": "x unified",
    }
    workload = runs[0].workload
    return Figure(f"{name}-{workload}", f"{title}: {workload}", caption, data, layout, when=workload)


def _median(distribution: Any) -> float:
    points, shares = distribution
    return float(points[np.searchsorted(shares, 0.5)]) if len(points) else float("nan")


def _listed(pairs: Any) -> str:
    return "; ".join(f"{run.scheduler} {text}" for run, text in pairs)


# ---------------------------------------------------------------- classes


def _classes(runs: list[Detail]) -> list[Figure]:
    """One picture each, of one scale."""
    longest = max((float(run.classes["wait"].max()) for run in runs if len(run.classes)), default=1.0)
    return [_heat(run, longest) for run in runs if len(run.classes)]


def _heat(run: Detail, longest: float) -> Figure:
    widths = sorted(set(run.classes.index.get_level_values("width")))
    table = run.classes["wait"].unstack("width").reindex(index=range(len(LENGTHS)), columns=widths)
    counts = run.classes["jobs"].unstack("width").reindex_like(table).fillna(0).astype(int)
    cells = [["" if value != value else lasting(value) for value in row] for row in table.to_numpy()]
    worst = run.classes["wait"].idxmax()
    worst_width, worst_length = int(worst[0]), int(worst[1])  # type: ignore[index]
    tiles = {
        "type": "heatmap",
        "x": [_width(place) for place in widths],
        "y": [_length(place) for place in range(len(LENGTHS))],
        "z": [[None if value != value else float(np.log10(1 + value)) for value in row] for row in table.to_numpy()],
        "zmin": 1,  # ten seconds
        "zmax": float(np.log10(1 + longest)),
        "text": cells,
        "customdata": counts.to_numpy().tolist(),
        "texttemplate": "%{text}",
        "hovertemplate": "%{x} processors, %{y}<br>mean wait %{text}<br>%{customdata:,} jobs<extra></extra>",
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
    }
    caption = (
        f"Mean wait by width and length; a stronger colour is longer. The longest, "
        f"{lasting(float(run.classes['wait'].max()))}, is that of jobs of {_width(worst_width)} processors "
        f"and {_length(worst_length)}."
    )
    layout = {"xaxis": axis("processors", type="category"), "yaxis": axis("length", type="category")}
    return Figure(
        f"classes-{run.workload}-{run.policy + 1}",
        f"Mean wait by class: {run.title}",
        caption,
        [tiles],
        layout,
        height=320,
        when=run.workload,
    )


def _width(place: int) -> str:
    low = int(WIDTHS[place - 1]) + 1 if place else 1
    return f"> {low - 1}" if np.isinf(WIDTHS[place]) else f"{low}" if low == WIDTHS[place] else f"{low}–{WIDTHS[place]}"


def _length(place: int) -> str:
    return f"> {lasting(LENGTHS[place - 1])}" if np.isinf(LENGTHS[place]) else f"≤ {lasting(LENGTHS[place])}"


# ---------------------------------------------------------------- time


def _over_time(runs: list[Detail]) -> Figure:
    panels = [panel for panel in _PANELS if any(panel[0] in run.timeline for run in runs)]
    data = []
    for run in runs:
        for place, (column, title) in enumerate(panels):
            table = run.timeline if column == "queued" else run.averages
            if column not in table:
                continue
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": numbers(table["day"]),
                    "y": numbers(table[column]),
                    "yaxis": f"y{place + 1}" if place else "y",
                    "line": {**line_style(run.policy), "shape": "hv", "width": 1.2},
                    "name": label(run.scheduler),
                    "legendgroup": str(run.policy),
                    "showlegend": place == 0,
                    "hovertemplate": f"%{{y:,.4g}} {title}<extra>%{{fullData.name}}</extra>",
                    "meta": {"policy": run.policy},
                }
            )
    queues = _listed((run, f"{int(run.timeline['queued'].max()):,}") for run in runs)
    layout = {
        **rows([title for _, title in panels]),
        "xaxis": axis("days since the first submit", anchor=f"y{len(panels)}" if len(panels) > 1 else "y"),
        "showlegend": True,
        "hovermode": "closest",
    }
    workload = runs[0].workload
    about = "" if all(run.exact for run in runs) else " (about: these runs have more instants than were kept)"
    return Figure(
        f"time-{workload}",
        f"The system over time: {workload}",
        f"Queue length, with every extreme, and busy processors{' and power' if len(panels) > 2 else ''}, averaged "
        f"over {lasting(86400 * _step(runs[0]))} each{about}; drag to zoom, double-click to return. "
        f"Longest queue: {queues} jobs.",
        data,
        layout,
        height=140 + 170 * len(panels),
        when=workload,
        wide=True,
    )


def _step(run: Detail) -> float:
    """The time of one average [d]."""
    return float(run.averages["day"].iloc[1] - run.averages["day"].iloc[0]) if len(run.averages) > 1 else 0.0


# ---------------------------------------------------------------- capacity


def capacity(frame: pd.DataFrame, schedulers: list[str], procs: Mapping[str, int]) -> list[Figure]:
    """How much of each machine worked, stood idle while jobs waited, and was not asked for; a picture per workload."""
    done = frame[(frame["status"] == "done") & frame["scheduler"].isin(schedulers) & frame["platform"].isin(procs)]
    figures = []
    for workload, runs in done.groupby("workload", sort=False):
        cores = runs["platform"].map(procs)
        shares = pd.DataFrame(
            {
                "scheduler": runs["scheduler"],
                "at work": runs["effective_load"] / cores,
                "idle while jobs waited (job wasting)": runs["job_wasting"] / cores,
            }
        )
        means = shares.groupby("scheduler").mean().reindex([s for s in schedulers if s in set(runs["scheduler"])])
        figures.append(_stacked(str(workload), means, schedulers))
    return figures


def _stacked(workload: str, means: pd.DataFrame, schedulers: list[str]) -> Figure:
    styles = (("#1c7ed6", ""), ("#d9480f", "/"))
    wasted = means.iloc[:, 1]
    worst, ranked = str(wasted.idxmax()), len(schedulers) > 1
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": means[column].to_list(),
            "y": [f"{schedulers.index(name) + 1}. {label(name)}" if ranked else label(name) for name in means.index],
            "name": column,
            "marker": {
                "color": colour,
                "pattern": {"shape": pattern, "fgcolor": "rgba(255, 255, 255, 0.35)", "fillmode": "overlay", "size": 6},
            },
            "texttemplate": "%{x:.1%}",
            "textposition": "inside",
            "textfont": {"color": "#fff"},
            "hovertemplate": "%{y}: %{x:.2%} %{fullData.name}<extra></extra>",
            "meta": {"policies": [schedulers.index(name) for name in means.index]},
        }
        for column, (colour, pattern) in zip(means.columns, styles, strict=True)
    ]
    caption = (
        "Share of the processors at full rate, averaged over time: at work, and idle although jobs were waiting"
        f"{'; numbers are places in the ranking' if ranked else ''}. "
        f"{worst} wastes {'most, ' if len(means) > 1 else ''}{wasted[worst]:.1%} of the machine."
    )
    return Figure(
        f"capacity-{workload}",
        f"Capacity used and wasted: {workload}",
        caption,
        data,
        {
            "barmode": "stack",
            "uniformtext": {"minsize": 10, "mode": "hide"},
            "xaxis": axis("share of the machine", tickformat=".0%", nticks=6),
            "yaxis": {"automargin": True, "autorange": "reversed"},
            "showlegend": True,
            "legend": {"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        },
        height=150 + 26 * len(means),
        when=workload,
        wide=len(means) > 12,
    )
