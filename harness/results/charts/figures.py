"""Building blocks of charts: Plotly's JSON, made without Plotly's Python package, in distinguishable colours and
dashes.
"""

import base64
import html
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.present.drawing import plotly
from harness.present.words import readable

#: The colours have a contrast of at least 3 on white and on black (after Okabe and Ito). Dashes and markers
#: distinguish lines further.
_COLOURS = ("#1c7ed6", "#d9480f", "#0ca678", "#ae3ec9", "#a07b00", "#e64980", "#5c7cfa", "#748094")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "triangle-down", "pentagon")


#: For single charts, on paper or in a notebook.
_INK = "#1b1f24"
_TILES = {"colorscale": [[0, "#eef5fb"], [1, "#559fe6"]], "textfont": {"color": _INK}}


@dataclass(frozen=True)
class Figure:
    """A chart, with a caption that describes it in words."""

    name: str  # of its file
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int = 380  # [px]
    when: str = ""  # the choice of the reader under which it is shown: a workload, a run
    wide: bool = False


def label(text: object) -> str:
    """Return a name with escaped HTML, which Plotly would otherwise interpret."""
    return html.escape(readable(str(text)))


def numbers(values: npt.ArrayLike, kind: str = "f4") -> dict[str, str]:
    """Return an array in the form that Plotly reads fastest; kinds are f4, f8, i4, …"""
    array = np.ascontiguousarray(np.asarray(values), dtype=f"<{kind}")
    return {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode()}


def steps(x: npt.ArrayLike, y: npt.ArrayLike, name: str, line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the trace of a step function."""
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
    """Return the line style of the scheduler at a place of the ranking."""
    # The first three are always shown and have a dash of their own.
    dash = _DASHES[place if place < 3 else 3 + place % (len(_DASHES) - 3)]
    return {"color": _COLOURS[place % len(_COLOURS)], "dash": dash, "width": 1.8}


def marker_style(place: int) -> dict[str, Any]:
    """Return the marker of the scheduler at a place of the ranking."""
    return {"color": _COLOURS[place % len(_COLOURS)], "symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 11}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis with an escaped title."""
    looks = {"automargin": True, "exponentformat": "none", "separatethousands": True}
    return {"title": {"text": label(title), "standoff": 10}, **looks, **more}


def stacked_axes(titles: list[str]) -> dict[str, Any]:
    """Return the vertical axes of stacked panels, the first on top, over one axis of days."""
    gap = 0.06
    share = (1 - gap * (len(titles) - 1)) / len(titles)
    names = [f"yaxis{place + 1 if place else ''}" for place in range(len(titles))]
    axes = {}
    for place, (name, title) in enumerate(zip(names, titles, strict=True)):
        top = 1 - place * (share + gap)
        axes[name] = axis(title, domain=[max(0.0, top - share), top], rangemode="tozero")
    return axes | {"xaxis": axis("days since the first submit", anchor=names[-1].replace("axis", ""))}


def printed(figure: Figure) -> dict[str, Any]:
    """Return a figure as a single chart with its title."""
    layout = {
        "template": {"layout": {"colorway": ["#1c7ed6"]}},
        "font": {"family": "sans-serif", "size": 13, "color": _INK},
        "title": {"text": label(figure.title), "x": 0.01, "font": {"size": 17}},
        "margin": {"l": 10, "r": 15, "t": 54, "b": 10},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        # At the bottom, where it may grow: at the top it would cover the title on a narrow page.
        "legend": {"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom", "x": 0},
        **figure.layout,
    }
    for name in layout:
        if re.match("[xy]axis", name):
            layout[name] = {"gridcolor": "#e3e8ec", "linecolor": "#d5dbe1", **layout[name]}
    data = [trace | (_TILES if trace["type"] == "heatmap" else {}) for trace in figure.data]
    return {"data": data, "layout": layout}


def for_a_notebook(figure: Figure) -> Any:
    """Return a Plotly figure, which a notebook displays; its caption is in `layout.meta`."""
    chart = printed(figure)
    layout = chart["layout"] | {"height": figure.height, "meta": {"caption": figure.caption}}
    return plotly("graph_objects", repr(figure.title)).Figure(data=chart["data"], layout=layout)
