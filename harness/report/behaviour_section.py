"""Differences between schedulers: capacity, distributions, classes of jobs, the system over time."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from harness.present.words import lasting
from harness.report.page_subject import PageData
from harness.report.section import section
from harness.results.charts import run_figures
from harness.results.charts.figures import Figure, axis, label
from harness.results.charts.multiples import small_multiples
from harness.results.charts.run_details import LENGTHS, WIDTHS, RunDetails


@section("behaviour", "Where and when do they differ?", alone="Where and when?")
def behaviour(subject: PageData) -> dict[str, Any] | None:
    """Return the remarks on the choice of the runs that are shown in detail."""
    return {"remarks": subject.remarks} if subject.schedulers else None


def _by_workload(subject: PageData) -> Iterator[list[RunDetails]]:
    for _, runs in groupby(subject.close_ups, key=lambda run: run.workload):
        yield list(runs)


# ---------------------------------------------------------------- every workload


@behaviour.chart
def multiples(subject: PageData) -> Iterator[Figure]:
    """Draw the criterion on each workload, if there are too many for a chart each."""
    if subject.ranking is not None:
        found = small_multiples(subject.done, subject.schedulers, subject.measures[subject.by])
        yield from [found] if found else []


# ---------------------------------------------------------------- capacity


@behaviour.chart
def capacity(subject: PageData) -> Iterator[Figure]:
    """Draw the share of each machine that worked, and that was idle while jobs waited."""
    done = subject.done[subject.done["platform"].isin(subject.procs)]
    for workload, runs in done.groupby("workload", sort=False):
        procs = runs["platform"].map(subject.procs)
        shares = pd.DataFrame(
            {
                "scheduler": runs["scheduler"],
                "at work": runs["effective_load"] / procs,
                "idle while jobs waited (job wasting)": runs["job_wasting"] / procs,
            }
        )
        present = [name for name in subject.schedulers if name in set(runs["scheduler"])]
        means = shares.groupby("scheduler").mean().reindex(present)
        wasted = means.iloc[:, 1]
        worst, ranked = str(wasted.idxmax()), len(subject.schedulers) > 1
        yield Figure(
            f"capacity-{workload}",
            f"Capacity used and wasted: {workload}",
            "Share of the processors at full rate, averaged over time: at work, and idle although jobs were waiting"
            f"{'; numbers are places in the ranking' if ranked else ''}. "
            f"{worst} wastes {'the most, ' if len(means) > 1 else ''}{wasted[worst]:.1%} of the machine.",
            _bars(means, subject.schedulers),
            {
                "barmode": "stack",
                "uniformtext": {"minsize": 10, "mode": "hide"},
                "xaxis": axis("share of the machine", tickformat=".0%", nticks=6),
                "yaxis": {"automargin": True, "autorange": "reversed"},
                "showlegend": True,
                "legend": {"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            },
            height=150 + 26 * len(means),
            when=str(workload),
            wide=len(means) > 12,
        )


def _bars(means: pd.DataFrame, schedulers: list[str]) -> list[dict[str, Any]]:
    places = [schedulers.index(name) for name in means.index]
    names = [label(name) for name in means.index]
    if len(schedulers) > 1:
        names = [f"{place + 1}. {name}" for place, name in zip(places, names, strict=True)]
    over = {"fgcolor": "rgba(255, 255, 255, 0.35)", "fillmode": "overlay", "size": 6}
    return [
        {
            "type": "bar",
            "orientation": "h",
            "x": means[column].to_list(),
            "y": names,
            "name": column,
            "marker": {"color": colour, "pattern": {"shape": pattern, **over}},
            "texttemplate": "%{x:.1%}",
            "textposition": "inside",
            "textfont": {"color": "#fff"},
            "hovertemplate": "%{y}: %{x:.2%} %{fullData.name}<extra></extra>",
            "meta": {"policies": places},
        }
        for column, (colour, pattern) in zip(means.columns, (("#1c7ed6", ""), ("#d9480f", "/")), strict=True)
    ]


# ---------------------------------------------------------------- runs in detail


@behaviour.chart
def waits(subject: PageData) -> Iterator[Figure]:
    """Draw the distribution of waits."""
    return map(run_figures.waits, _by_workload(subject))


@behaviour.chart
def slowdowns(subject: PageData) -> Iterator[Figure]:
    """Draw the distribution of bounded slowdowns."""
    return map(run_figures.slowdowns, _by_workload(subject))


@behaviour.chart
def classes(subject: PageData) -> Iterator[Figure]:
    """Draw the mean wait of jobs of each width and length, for each run, on one scale."""
    for runs in _by_workload(subject):
        drawn = [run for run in runs if len(run.classes)]
        longest = max((float(run.classes["wait"].max()) for run in drawn), default=1.0)
        for run in drawn:
            waits = run.classes["wait"]
            width, length = (int(place) for place in waits.idxmax())  # type: ignore[attr-defined]
            yield Figure(
                f"classes-{run.workload}-{run.policy + 1}",
                f"Mean wait by class: {run.title}",
                f"Mean wait by width and length; a darker colour means longer. The longest, "
                f"{lasting(float(waits.max()))}, is that of jobs of {_width(width)} processors and {_length(length)}.",
                [_tiles(run, longest)],
                {"xaxis": axis("processors", type="category"), "yaxis": axis("length", type="category")},
                height=320,
                when=run.workload,
            )


def _tiles(run: RunDetails, longest: float) -> dict[str, Any]:
    widths = sorted(set(run.classes.index.get_level_values("width")))
    table = run.classes["wait"].unstack("width").reindex(index=range(len(LENGTHS)), columns=widths)
    counts = run.classes["jobs"].unstack("width").reindex_like(table).fillna(0).astype(int)
    return {
        "type": "heatmap",
        "x": [_width(place) for place in widths],
        "y": [_length(place) for place in range(len(LENGTHS))],
        "z": [[None if value != value else float(np.log10(1 + value)) for value in row] for row in table.to_numpy()],
        "zmin": 1,  # ten seconds
        "zmax": float(np.log10(1 + longest)),
        "text": [["" if value != value else lasting(value) for value in row] for row in table.to_numpy()],
        "customdata": counts.to_numpy().tolist(),
        "texttemplate": "%{text}",
        "hovertemplate": "%{x} processors, %{y}<br>mean wait %{text}<br>%{customdata:,} jobs<extra></extra>",
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
    }


def _width(place: int) -> str:
    low = int(WIDTHS[place - 1]) + 1 if place else 1
    return f"> {low - 1}" if np.isinf(WIDTHS[place]) else f"{low}" if low == WIDTHS[place] else f"{low}–{WIDTHS[place]}"


def _length(place: int) -> str:
    return f"> {lasting(LENGTHS[place - 1])}" if np.isinf(LENGTHS[place]) else f"≤ {lasting(LENGTHS[place])}"


@behaviour.chart
def over_time(subject: PageData) -> Iterator[Figure]:
    """Draw the queue, the busy processors and the power of the runs of each workload."""
    return map(run_figures.over_time, _by_workload(subject))
