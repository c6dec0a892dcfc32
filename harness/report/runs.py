"""Per run: who was where when, the pair of pictures of the service-rate paper, rates and sleeping nodes."""

from typing import Any

import numpy as np

from harness.report.details import Detail
from harness.report.figures import Figure, Section, axis, label, numbers, rows
from harness.report.gantt import Gantt

_TITLE = "Run by run"


def runs(details: list[Detail]) -> Section:
    """The section of single runs; the reader chooses one."""
    figures, gantts = [], []
    for detail in details:
        figures.append(_pair(detail))
        if (states := _states(detail)) is not None:
            figures.append(states)
        if detail.gantt is not None:
            gantts.append({"when": detail.title, "title": detail.title, **_embedded(detail.gantt, detail)})
    return Section("runs", _TITLE, "runs.html.j2", {"choice": "run", "gantts": gantts}, figures)


def _pair(run: Detail) -> Figure:
    timeline = run.timeline
    day = numbers(timeline["day"])
    ahead = timeline["running"] + timeline["queued"]
    panels = [
        ("busy servers", timeline["busy"], "y", "#1c7ed6", None, None),
        ("computing", timeline["running"], "y2", "#0ca678", "tozeroy", ""),
        ("waiting", ahead, "y2", "#d9480f", "tonexty", "/"),
    ]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": day,
            "y": numbers(values),
            "yaxis": where,
            "name": name,
            "line": {"color": colour, "width": 1.1, "shape": "hv", "dash": "dot" if name == "waiting" else "solid"},
            **({"fill": fill, "fillpattern": {"shape": pattern, "size": 5}} if fill else {}),
            **({"customdata": numbers(timeline["queued"])} if name == "waiting" else {}),
            "hovertemplate": f"%{{{'customdata' if name == 'waiting' else 'y'}:,}} {name}<extra></extra>",
        }
        for name, values, where, colour, fill, pattern in panels
    ]
    full = float((timeline["busy"] >= run.procs).mean())
    return Figure(
        f"states-{run.workload}-{run.policy + 1}",
        f"Servers and customers: {run.title}",
        f"Above, busy servers of {run.procs:,}; below, customers computing, and on top of them those waiting. At most "
        f"{int(timeline['busy'].max()):,} servers are busy (all of them at {full:.0%} of the instants shown) and "
        f"{int(timeline['queued'].max()):,} customers waiting.",
        data,
        {
            **rows(["busy servers", "customers"]),
            "xaxis": axis("days since the first submit", anchor="y2"),
            "hovermode": "closest",
            "showlegend": True,
        },
        height=440,
        when=run.title,
    )


def _states(run: Detail) -> Figure | None:
    """Rate and nodes that sleep, switch or failed, where they change at all."""
    timeline = run.timeline
    nodes = [name for name in ("asleep", "switching", "down") if name in timeline]
    if "rate" not in timeline and not nodes:
        return None
    titles = [*(["rate"] if "rate" in timeline else []), *(["nodes"] if nodes else [])]
    styles = {"rate": ("#ae3ec9", "solid"), "asleep": ("#1c7ed6", "solid"), "switching": ("#a07b00", "dot")}
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": numbers(timeline["day"]),
            "y": numbers(timeline[name]),
            "yaxis": "y2" if len(titles) == 2 and name != "rate" else "y",
            "name": name,
            "line": dict(zip(("color", "dash"), styles.get(name, ("#d9480f", "dash")), strict=True))
            | {"width": 1.1, "shape": "hv"},
        }
        for name in (*(["rate"] if "rate" in timeline else []), *nodes)
    ]
    said = []
    if "rate" in timeline:
        said.append(f"the rate is between {timeline['rate'].min():.3g} and {timeline['rate'].max():.3g}")
    said += [f"at most {int(timeline[name].max()):,} of {run.nodes:,} nodes are {name}" for name in nodes]
    return Figure(
        f"rates-{run.workload}-{run.policy + 1}",
        f"Rate and sleep: {run.title}",
        f"Rate and states of the nodes over time: {'; '.join(said)}.",
        data,
        {
            **rows(titles),
            "xaxis": axis("days since the first submit", anchor="y2" if len(titles) == 2 else "y"),
            "showlegend": True,
            "hovermode": "closest",
        },
        height=160 + 140 * len(titles),
        when=run.title,
    )


def _embedded(gantt: Gantt, run: Detail) -> dict[str, Any]:
    """The rectangles as `gantt.js` reads them: numbers as base64, jobs by place."""
    rectangles = gantt.rectangles
    places = {job: place for place, job in enumerate(gantt.jobs.index)}
    return {
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
        "busiest": _busiest(gantt),
        "policy": run.policy,
        "label": label(run.title),
    }


def _busiest(gantt: Gantt) -> str:
    widest = gantt.jobs["procs"].max() if len(gantt.jobs) else 0
    return f"{len(gantt.jobs):,} jobs, the widest of {int(widest):,} processors"
