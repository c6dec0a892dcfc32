"""The distance of each replay from its log: P with its reference, the growth table, simulated against logged
residence.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.present.words import readable
from harness.report.page_subject import PageData
from harness.report.section import section
from harness.results import breakdown_words as words
from harness.results.charts.figures import Figure, axis, label, line_style, numbers
from harness.results.charts.log_comparison import Compared
from harness.results.charts.run_details import RunDetails


@section("adequacy", "How far is this from the real machine?")
def adequacy(subject: PageData) -> dict[str, Any] | None:
    """Return P of the replays of logs with waits, and why the others have none."""
    if not subject.close_ups:
        return None
    known = list(_compared(subject))
    undefined = {run.workload: run.against_log for run in subject.close_ups if isinstance(run.against_log, str)}
    return {
        "rows": [_row(*pair) for pair in known],
        "growth": [_growth(*pair) for pair in known],
        "where": [_where(*pair) for pair in known],
        "undefined": list(undefined.items()),
    }


def _compared(subject: PageData) -> Iterator[tuple[RunDetails, Compared]]:
    for run in subject.close_ups:
        if not isinstance(run.against_log, str):
            yield run, run.against_log


def _row(run: RunDetails, compared: Compared) -> dict[str, Any]:
    found, reference = compared.found, compared.reference
    row = {
        "run": run.title,
        "policy": run.policy,
        "jobs": f"{found.jobs:,}",
        "P": readable(found.P, 5),
        "median": readable(found.median, 5),
        "p95": readable(found.p95, 5),
        "null": readable(found.scale.mean_wait, 5),
        "skill": readable(found.scale.skill, 3),
        "bias": readable(found.scale.bias, 4),
        "correlation": readable(found.scale.rank_correlation, 3),
        "trimmed": readable(found.scale.P_without_worst, 5),
    }
    if reference is None:
        return row | dict.fromkeys(("reference", "upper", "ratio", "verdict"), "")
    return row | {
        "reference": readable(reference.P, 5),
        "upper": f"{readable(reference.upper, 5)} ({reference.level:.0%})",
        "ratio": f"{found.P / reference.P:,.3g}" if reference.P > 0 else "",
        "verdict": reference.verdict(found),
        "pairs": len(reference.pairs),
    }


def _growth(run: RunDetails, compared: Compared) -> dict[str, Any]:
    ideal = [readable(row.P, 5) for row in compared.reference.growth] if compared.reference else []
    return {
        "when": run.title,
        "ideal": bool(ideal),
        "rows": [
            [f"{row.jobs:,}", readable(row.P, 5), f"{row.different:,.0f}", *ideal[number : number + 1]]
            for number, row in enumerate(compared.found.growth)
        ],
    }


def _where(run: RunDetails, compared: Compared) -> dict[str, Any]:
    heads = [f"{name} [{unit}]" if unit else name for name, unit in zip(words.HEADERS, words.UNITS, strict=True)]
    return {
        "when": run.title,
        "sentences": words.sentences(compared.where),
        "heads": heads,
        "rows": [[readable(value) for value in row] for row in words.rows(compared.where)],
    }


@adequacy.chart
def residences(subject: PageData) -> Iterator[Figure]:
    """Draw the residence times of all jobs, simulated against logged."""
    for run, compared in _compared(subject):
        found, edges, cells = compared.found, compared.edges, compared.cells
        middle = np.sqrt(edges[1:] * edges[:-1]).tolist()
        ends = [float(edges[0]), float(edges[-1])]
        tiles = {
            "type": "heatmap",
            "x": middle,
            "y": middle,
            "z": [[float(np.log10(1 + n)) if n else None for n in row] for row in cells],
            "customdata": cells.astype(int).tolist(),
            "hovertemplate": "logged %{x:,.3g} s, simulated %{y:,.3g} s<br>%{customdata:,} jobs<extra></extra>",
            "zmin": -0.6,  # so that a single job is visible
            "showscale": False,
        }
        diagonal = {
            "type": "scatter",
            "mode": "lines",
            "x": ends,
            "y": ends,
            "line": {"dash": "dash", "width": 1, "color": "#888"},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        yield Figure(
            f"residence-{run.workload}-{run.policy + 1}",
            f"Residence time: {run.title}",
            f"Residence times (wait and run) of {found.jobs:,} jobs, simulated against logged; a darker colour means "
            f"more jobs. On the dashed line both are equal; half of the jobs are within {readable(found.median, 4)} s "
            f"of it, 95 % within {readable(found.p95, 4)} s.",
            [tiles, diagonal],
            {"xaxis": axis("logged [s]", type="log"), "yaxis": axis("simulated [s]", type="log")},
            height=420,
            when=run.title,
        )


@adequacy.chart
def waits_beside_logged(subject: PageData) -> Iterator[Figure]:
    """Draw the distribution of waits, simulated and logged."""
    for run, compared in _compared(subject):
        lines = [
            {
                "type": "scatter",
                "mode": "lines",
                "x": numbers(waits),
                "y": numbers(share),
                "name": name,
                "line": {**line_style(place), "shape": "hv"},
            }
            for place, (name, (waits, share)) in enumerate(zip(("simulated", "logged"), compared.waits, strict=True))
        ]
        scale = compared.found.scale
        yield Figure(
            f"logged-waits-{run.workload}-{run.policy + 1}",
            f"Waits, simulated and logged: {run.title}",
            f"Share of the jobs by their longest wait; waits under 1 s are drawn as 1 s. The jobs are "
            f"{readable(abs(scale.bias), 4)} s {'shorter' if scale.bias < 0 else 'longer'} in the simulated system on "
            f"average; the rank correlation of the waits is {readable(scale.rank_correlation, 3)}.",
            lines,
            {"xaxis": axis("wait [s]", type="log"), "yaxis": axis("share of the jobs", range=[0, 1.02])},
            when=run.title,
        )


@adequacy.chart
def error_by_class(subject: PageData) -> Iterator[Figure]:
    """Draw the share of the squared error of each class and month, next to its share of the jobs."""
    for run, compared in _compared(subject):
        for by, part in compared.where.cells.groupby("by", sort=False):
            if by in ("user", "group") or len(part) < 2:
                continue
            bars = [
                {
                    "type": "bar",
                    "x": [label(cell) for cell in part["cell"]],
                    "y": numbers(100 * part[column]),
                    "name": name,
                    "marker": {"color": line_style(place)["color"]},
                }
                for place, (column, name) in enumerate((("error", "of the squared error"), ("share", "of the jobs")))
            ]
            worst = part.iloc[int(part["error"].to_numpy().argmax())]
            yield Figure(
                f"error-{str(by).split()[0]}-{run.workload}-{run.policy + 1}",
                f"Error by {by}: {run.title}",
                f"{worst['cell']} has {readable(100 * worst['error'], 3)} % of the squared error in "
                f"{readable(100 * worst['share'], 3)} % of the jobs, which are {readable(abs(worst['bias']), 4)} s "
                f"{'shorter' if worst['bias'] < 0 else 'longer'} in the simulated system on average.",
                bars,
                {"xaxis": axis(str(by), type="category"), "yaxis": axis("share [%]", rangemode="tozero")},
                height=260,
                when=run.title,
            )
