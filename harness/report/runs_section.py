"""Run by run: Gantt charts, the two charts of the service-rate paper, rates and sleeping nodes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.report.page_subject import PageData
from harness.report.section import section
from harness.results.charts import run_figures
from harness.results.charts.figures import Figure, label, numbers, stacked_axes, steps
from harness.results.charts.gantt import Gantt
from harness.results.charts.run_details import RunDetails


@section("runs", "Run by run")
def runs(subject: PageData) -> dict[str, Any] | None:
    """Return the Gantt charts of the runs that are shown in detail."""
    if not subject.close_ups:
        return None
    return {"gantts": [_embedded(run.gantt, run) for run in subject.close_ups if run.gantt is not None]}


@runs.chart
def processors_and_jobs(subject: PageData) -> Iterator[Figure]:
    """Draw the busy processors above the running and waiting jobs."""
    return map(run_figures.processors_and_jobs, subject.close_ups)


@runs.chart
def rate_and_sleep(subject: PageData) -> Iterator[Figure]:
    """Draw the rate, and the nodes that sleep, switch or failed, if they change."""
    styles = {"rate": ("#ae3ec9", "solid"), "asleep": ("#1c7ed6", "solid"), "switching": ("#a07b00", "dot")}
    for run in subject.close_ups:
        times = run.timeline
        rate = [name for name in ("rate",) if name in times]
        nodes = [name for name in ("asleep", "switching", "down") if name in times]
        titles = [*rate, *(["nodes"] if nodes else [])]
        if not titles:
            continue
        data = []
        for name in (*rate, *nodes):
            colour, dash = styles.get(name, ("#d9480f", "dash"))
            panel = "y2" if rate and name != "rate" else "y"
            data.append(
                steps(times["day"], times[name], name, {"color": colour, "dash": dash, "width": 1.1}, yaxis=panel)
            )
        found = [f"the rate is between {times[name].min():.3g} and {times[name].max():.3g}" for name in rate]
        found += [f"at most {int(times[name].max()):,} of {run.nodes:,} nodes are {name}" for name in nodes]
        yield Figure(
            f"rates-{run.workload}-{run.policy + 1}",
            f"Rate and sleep: {run.title}",
            f"Rate and states of the nodes over time: {'; '.join(found)}.",
            data,
            {**stacked_axes(titles), "showlegend": True, "hovermode": "closest"},
            height=160 + 140 * len(titles),
            when=run.title,
        )


def _embedded(gantt: Gantt, run: RunDetails) -> dict[str, Any]:
    """Return the rectangles as `gantt.js` reads them: numbers as base64, jobs by place."""
    rectangles = gantt.rectangles
    places = {job: place for place, job in enumerate(gantt.jobs.index)}
    widest = gantt.jobs["procs"].max() if len(gantt.jobs) else 0
    return {
        "when": run.title,
        "begin": gantt.begin,
        "end": gantt.end,
        "whole": gantt.whole,
        "cores": run.procs,
        "nodes": numbers(gantt.first_cores, "i4") if run.nodes < run.procs else None,
        "count": len(gantt.jobs),
        "rectangles": {
            "job": numbers(rectangles["job"].map(places), "i4"),
            "core": numbers(rectangles["core"], "i4"),
            "cores": numbers(rectangles["cores"], "i4"),
            "begin": numbers(np.maximum(rectangles["begin"], gantt.begin) - gantt.begin),
            "end": numbers(np.minimum(rectangles["end"], gantt.end) - gantt.begin),
        },
        "jobs": {
            "number": numbers(gantt.jobs.index.to_numpy(), "i4"),
            "procs": numbers(gantt.jobs["procs"], "i4"),
            "wait": numbers(gantt.jobs["wait"]),
        },
        "busiest": f"{len(gantt.jobs):,} jobs, the widest of {int(widest):,} processors",
        "policy": run.policy,
        "label": label(run.title),
    }
