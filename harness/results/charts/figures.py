"""What charts are made of: Plotly's own JSON, without Plotly's Python, in colours and dashes that are told apart."""

import base64
import html
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.present.drawing import plotly
from harness.present.words import readable

#: Told apart by dash and marker too; the colours have a contrast of 3 or more on white and on black (Okabe and Ito's,
#: darkened or lightened for that).
_COLOURS = ("#1c7ed6", "#d9480f", "#0ca678", "#ae3ec9", "#a07b00", "#e64980", "#5c7cfa", "#748094")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "triangle-down", "pentagon")


#: Of charts that stand alone, on paper or in a notebook.
_INK = "#1b1f24"
_TILES = {"colorscale": [[0, "#eef5fb"], [1, "#559fe6"]], "textfont": {"color": _INK}}


@dataclass(frozen=True)
class Figure:
    """A chart, and what is seen in it in words."""

    name: str  # of its file, if it becomes one
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int = 380  # [px]
    when: str = ""  # what it shows one of, if the reader chooses: a workload, a run
    wide: bool = False


def label(text: object) -> str:
    """Return a name as Plotly shall show it: it takes some HTML in every text for an instruction."""
    return html.escape(readable(str(text)))


def numbers(values: npt.ArrayLike, kind: str = "f4") -> dict[str, str]:
    """Return an array as Plotly reads it fastest and smallest; kinds are f4, f8, i4, …"""
    array = np.ascontiguousarray(np.asarray(values), dtype=f"<{kind}")
    return {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode()}


def steps(x: npt.ArrayLike, y: npt.ArrayLike, name: str, line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the trace of what keeps each value until the next."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(x),
        "y": numbers(y),
        "name": label(name),
        "line": {**line, "shape": "hv"},
        **more,
    }


def line_style(place: int) -> dict[str, Any]:
    """Return the line of the scheduler at a place of the ranking."""
    # The first, who are always shown, share their dash with nobody.
    dash = _DASHES[place if place < 3 else 3 + place % (len(_DASHES) - 3)]
    return {"color": _COLOURS[place % len(_COLOURS)], "dash": dash, "width": 1.8}


def marker_style(place: int) -> dict[str, Any]:
    """Return the marker of the scheduler at a place of the ranking."""
    return {"color": _COLOURS[place % len(_COLOURS)], "symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 11}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis with a title that is not markup."""
    looks = {"automargin": True, "exponentformat": "none", "separatethousands": True}
    return {"title": {"text": label(title), "standoff": 10}, **looks, **more}


def stacked_axes(titles: list[str]) -> dict[str, Any]:
    """Return the vertical axes of panels one above the other, the first on top, over one axis of days."""
    gap = 0.06
    share = (1 - gap * (len(titles) - 1)) / len(titles)
    names = [f"yaxis{place + 1 if place else ''}" for place in range(len(titles))]
    axes = {}
    for place, (name, title) in enumerate(zip(names, titles, strict=True)):
        top = 1 - place * (share + gap)
        axes[name] = axis(title, domain=[max(0.0, top - share), top], rangemode="tozero")
    return axes | {"xaxis": axis("days since the first submit", anchor=names[-1].replace("axis", ""))}


def printed(figure: Figure) -> dict[str, Any]:
    """Return a figure as it stands alone on paper, with its title."""
    layout = {
        "template": {"layout": {"colorway": ["#1c7ed6"]}},
        "font": {"family": "sans-serif", "size": 13, "color": _INK},
        "title": {"text": label(figure.title), "x": 0.01, "font": {"size": 17}},
        "margin": {"l": 10, "r": 15, "t": 54, "b": 10},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        # At the foot, where it may grow: above it would grow into the title on a narrow page.
        "legend": {"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom", "x": 0},
        **figure.layout,
    }
    for name in layout:
        if re.match("[xy]axis", name):
            layout[name] = {"gridcolor": "#e3e8ec", "linecolor": "#d5dbe1", **layout[name]}
    data = [trace | (_TILES if trace["type"] == "heatmap" else {}) for trace in figure.data]
    return {"data": data, "layout": layout}


def for_a_notebook(figure: Figure) -> Any:
    """Return a figure as Plotly's own, which shows itself in a notebook; its caption is in `layout.meta`."""
    chart = printed(figure)
    layout = chart["layout"] | {"height": figure.height, "meta": {"caption": figure.caption}}
    return plotly("graph_objects", repr(figure.title)).Figure(data=chart["data"], layout=layout)
