"""How far each replay is from the log: P with its reference, the growth table, residence simulated against logged."""

from typing import Any

import numpy as np

from harness.report.closeness import Closeness
from harness.report.details import Detail
from harness.report.figures import Figure, Section, axis
from harness.report.tables import readable

_TITLE = "How far is this from the real machine?"


def adequacies(details: list[Detail]) -> Section:
    """The section of adequacy: of the replays whose log has waits, and why the others have none."""
    known = [(d, d.closeness) for d in details if d.closeness.found is not None]
    undefined = {d.workload: d.closeness.undefined for d in details if d.closeness.undefined}
    rows = [_row(detail, found) for detail, found in known]
    growth = [_growth(*pair) for pair in known]
    data = {"rows": rows, "growth": growth, "undefined": list(undefined.items()), "choice": "run"}
    return Section("adequacy", _TITLE, "adequacy.html.j2", data, [_cells(*pair) for pair in known])


def _row(detail: Detail, closeness: Closeness) -> dict[str, Any]:
    found, reference = closeness.found, closeness.reference
    assert found is not None
    return {
        "run": detail.title,
        "policy": detail.policy,
        "jobs": f"{found.jobs:,}",
        "P": readable(found.P, 5),
        "median": readable(found.median, 5),
        "p95": readable(found.p95, 5),
        "reference": readable(reference.P, 5) if reference else "",
        "interval": f"{readable(reference.low, 4)}–{readable(reference.high, 4)}"
        if reference and len(reference.pairs) > 1
        else "",
        "pairs": len(reference.pairs) if reference else 0,
        "ratio": f"{found.P / reference.P:,.3g}" if reference and reference.P > 0 else "",
        "verdict": reference.verdict(found) if reference else "",
    }


def _growth(detail: Detail, closeness: Closeness) -> dict[str, Any]:
    found, reference = closeness.found, closeness.reference
    assert found is not None
    ideal = [readable(row.P, 5) for row in reference.growth] if reference else []
    return {
        "when": detail.title,
        "ideal": bool(ideal),
        "rows": [
            [f"{row.jobs:,}", readable(row.P, 5), f"{row.different:,.0f}", *ideal[number : number + 1]]
            for number, row in enumerate(found.growth)
        ],
    }


def _cells(detail: Detail, closeness: Closeness) -> Figure:
    found, edges, cells = closeness.found, closeness.edges, closeness.cells
    assert found is not None
    assert edges is not None
    assert cells is not None
    half, most = readable(found.median, 4), readable(found.p95, 4)
    middle = np.sqrt(edges[1:] * edges[:-1])
    tiles = {
        "type": "heatmap",
        "x": middle.tolist(),
        "y": middle.tolist(),
        "z": [[float(np.log10(1 + n)) if n else None for n in row] for row in cells],
        "customdata": cells.astype(int).tolist(),
        "hovertemplate": "logged %{x:,.3g} s, simulated %{y:,.3g} s<br>%{customdata:,} jobs<extra></extra>",
        "zmin": -0.6,  # one job is seen too
        "showscale": False,
    }
    ends = [float(edges[0]), float(edges[-1])]
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": ends,
        "line": {"dash": "dash", "width": 1, "color": "#888"},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return Figure(
        f"residence-{detail.workload}-{detail.policy + 1}",
        f"Residence time: {detail.title}",
        f"Residence times (wait and run) of {found.jobs:,} jobs, simulated against logged; a stronger colour is "
        f"more jobs. On the dashed line both are equal; half of the jobs are within {half} s of it, "
        f"95 % within {most} s.",
        [tiles, diagonal],
        {"xaxis": axis("logged [s]", type="log"), "yaxis": axis("simulated [s]", type="log")},
        height=420,
        when=detail.title,
    )
