"""Charts of runs in detail, several runs in a chart for the report or one for a notebook."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from harness.present.words import lasting, readable
from harness.results.charts.figures import Figure, axis, label, line_style, numbers, stacked_axes, steps
from harness.results.charts.gantt import Gantt
from harness.results.charts.run_details import SHORTEST, RunDetails

#: Panels of the system over time: column and title.
_PANELS = (("queued", "jobs waiting"), ("busy", "busy processors"), ("power", "power [W]"))


def each(runs: Iterable[RunDetails], says: Callable[[RunDetails], str]) -> str:
    """Return a phrase about each run, after the name of its scheduler."""
    return "; ".join(f"{run.scheduler} {says(run)}" for run in runs)


# ---------------------------------------------------------------- distributions


def waits(runs: list[RunDetails]) -> Figure:
    """Draw the distribution of waiting times."""

    def waited(seconds: float) -> str:
        return lasting(seconds) if seconds > SHORTEST else f"{lasting(SHORTEST)} or less"

    halves = each(runs, lambda run: waited(_median(run.waits)))
    longest = each((run for run in runs if len(run.waits[0])), lambda run: waited(run.waits[0][-1]))
    return _distribution(
        runs,
        "waits",
        "Waiting times",
        "wait [s]",
        "Share of jobs by their longest wait (waits below 1 s are drawn at 1 s). Median wait: "
        f"{halves}. Longest wait: {longest}.",
    )


def slowdowns(runs: list[RunDetails]) -> Figure:
    """Draw the distribution of bounded slowdowns."""
    halves = each(runs, lambda run: readable(_median(run.slowdowns), 3))
    return _distribution(
        runs,
        "slowdowns",
        "Bounded slowdowns",
        "bounded slowdown",
        f"Share of jobs by their highest bounded slowdown. Median: {halves}.",
    )


def _distribution(runs: list[RunDetails], name: str, title: str, quantity: str, caption: str) -> Figure:
    curves = [getattr(run, name) for run in runs]
    right = max([10.0, *(float(x.max(initial=0)) for x, _ in curves)])  # all end there
    return Figure(
        f"{name}-{runs[0].workload}",
        f"{title}: {runs[0].workload}",
        caption,
        [
            steps([*x, right], [*y, 1], run.scheduler, line_style(run.policy), meta={"policy": run.policy})
            for run, (x, y) in zip(runs, curves, strict=True)
        ],
        {
            "xaxis": axis(quantity, type="log", dtick=1),
            "yaxis": axis("share of jobs", range=[0, 1.02], tickformat=".0%"),
            "showlegend": True,
            "hovermode": "x unified",
        },
        when=runs[0].workload,
    )


def _median(distribution: Any) -> float:
    points, shares = distribution
    return float(points[np.searchsorted(shares, 0.5)]) if len(points) else float("nan")


# ---------------------------------------------------------------- time


def over_time(runs: list[RunDetails]) -> Figure:
    """Draw the queue, the busy processors and the power of runs of one workload."""
    panels = [panel for panel in _PANELS if any(panel[0] in run.timeline for run in runs)]
    workload, days = runs[0].workload, runs[0].averages["day"]
    length = lasting(86400 * float(days.iloc[1] - days.iloc[0]) if len(days) > 1 else 0.0)
    about = "" if all(run.exact for run in runs) else " (approximately: not all instants of these runs were kept)"
    queues = each(runs, lambda run: f"{int(run.timeline['queued'].max()):,}")
    return Figure(
        f"time-{workload}",
        f"The system over time: {workload}",
        f"Queue length, with every extreme, and busy processors{' and power' if len(panels) > 2 else ''}, averaged "
        f"over {length} each{about}; drag to zoom, double-click to return. Longest queue: {queues} jobs.",
        [trace for run in runs for trace in _panels(run, panels)],
        {**stacked_axes([title for _, title in panels]), "showlegend": True, "hovermode": "closest"},
        height=140 + 170 * len(panels),
        when=workload,
        wide=True,
    )


def _panels(run: RunDetails, panels: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for place, (column, title) in enumerate(panels):
        table = run.timeline if column == "queued" else run.averages
        if column in table:
            yield steps(
                table["day"],
                table[column],
                run.scheduler,
                line_style(run.policy) | {"width": 1.2},
                yaxis=f"y{place + 1}" if place else "y",
                legendgroup=str(run.policy),
                showlegend=place == 0,
                hovertemplate=f"%{{y:,.4g}} {title}<extra>%{{fullData.name}}</extra>",
                meta={"policy": run.policy},
            )


def processors_and_jobs(run: RunDetails) -> Figure:
    """Draw the busy processors above the running and waiting jobs."""
    times = run.timeline
    full = float((times["busy"] >= run.procs).mean())
    return Figure(
        f"states-{run.workload}-{run.policy + 1}",
        f"Processors and jobs: {run.title}",
        f"Above, busy processors of {run.procs:,}; below, running jobs, with the waiting jobs on top. At most "
        f"{int(times['busy'].max()):,} processors are busy (all of them at {full:.0%} of the instants shown) and "
        f"{int(times['queued'].max()):,} jobs waiting.",
        [
            _states(times, "busy", "busy processors", "#1c7ed6"),
            _states(times, "running", "running", "#0ca678", fill="tozeroy", fillpattern={"shape": "", "size": 5}),
            _states(times, "queued", "waiting", "#d9480f", fill="tonexty", fillpattern={"shape": "/", "size": 5}),
        ],
        {**stacked_axes(["busy processors", "jobs"]), "hovermode": "closest", "showlegend": True},
        height=440,
        when=run.title,
    )


def _states(times: pd.DataFrame, column: str, name: str, colour: str, **fill: Any) -> dict[str, Any]:
    """Return a column over time; waiting jobs are drawn on top of the running ones."""
    waiting = {"customdata": numbers(times["queued"])} if column == "queued" else {}
    return steps(
        times["day"],
        times["running"] + times["queued"] if waiting else times[column],
        name,
        {"color": colour, "width": 1.1, "dash": "dot" if waiting else "solid"},
        yaxis="y" if column == "busy" else "y2",
        hovertemplate=f"%{{{'customdata' if waiting else 'y'}:,}} {name}<extra></extra>",
        **waiting,
        **fill,
    )


# ---------------------------------------------------------------- places


def places(window: Gantt, title: str) -> Figure:
    """Draw the processors of each job over time: the rectangles of a window."""
    boxes, jobs = window.rectangles, window.jobs.loc[window.rectangles["job"]]
    begin, end = boxes["begin"].clip(lower=window.begin), boxes["end"].clip(upper=window.end)
    told = zip(boxes["job"], jobs["procs"], map(lasting, jobs["wait"]), strict=True)
    return Figure(
        "gantt",
        f"Jobs on processors: {title}",
        f"{len(window.jobs):,} jobs, {'the whole run' if window.whole else 'around the longest queue'}; a darker "
        "colour means a longer wait.",
        [
            {
                "type": "bar",
                "orientation": "h",
                "base": numbers(begin / 86400, "f8"),
                "x": numbers((end - begin) / 86400, "f8"),
                "y": numbers(boxes["core"] + boxes["cores"] / 2, "f8"),
                "width": numbers(boxes["cores"], "f8"),
                "marker": {
                    "color": numbers(np.log10(1 + jobs["wait"].to_numpy())),
                    "colorscale": [[0, "#d0e3f5"], [1, "#1862a6"]],
                    "line": {"color": "#fff", "width": 0.5},
                },
                "customdata": [list(map(str, one)) for one in told],
                "hovertemplate": "job %{customdata[0]} on %{customdata[1]} processors<br>waited %{customdata[2]}"
                "<extra></extra>",
            }
        ],
        {
            "xaxis": axis("days since the first submit"),
            "yaxis": axis(label("processors"), rangemode="tozero"),
            "showlegend": False,
            "hovermode": "closest",
            "bargap": 0,
        },
        height=460,
    )
