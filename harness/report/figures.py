"""What a page is made of: sections, and pictures as Plotly's own JSON, without Plotly's Python."""

import base64
import html
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.report.tables import readable

#: Told apart by dash and marker too; the colours have a contrast of 3 or more on white and on black (Okabe and Ito's,
#: darkened or lightened for that).
_COLOURS = ("#1c7ed6", "#d9480f", "#0ca678", "#ae3ec9", "#a07b00", "#e64980", "#5c7cfa", "#748094")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "triangle-down", "pentagon")


@dataclass(frozen=True)
class Figure:
    """A picture, and what is seen in it in words."""

    name: str  # of its file, if it becomes one
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int = 380  # [px]
    when: str = ""  # what it shows one of, if the reader chooses: a workload, a run
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page: a template, what it shows, and its pictures."""

    name: str
    title: str
    template: str
    data: dict[str, Any]
    figures: list[Figure] = field(default_factory=list)


def label(text: object) -> str:
    """A name as Plotly shall show it: it takes some HTML in every text for an instruction."""
    return html.escape(readable(str(text)))


def numbers(values: npt.ArrayLike, kind: str = "f4") -> dict[str, str]:
    """An array as Plotly reads it fastest and smallest; kinds are f4, f8, i4, …"""
    array = np.ascontiguousarray(np.asarray(values), dtype=f"<{kind}")
    return {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode()}


def line_style(place: int) -> dict[str, Any]:
    """The line of the policy at a place of the ranking."""
    # The first, who are always shown, share their dash with nobody.
    dash = _DASHES[place if place < 3 else 3 + place % (len(_DASHES) - 3)]
    return {"color": _COLOURS[place % len(_COLOURS)], "dash": dash, "width": 1.8}


def marker_style(place: int) -> dict[str, Any]:
    """The marker of the policy at a place of the ranking."""
    return {"color": _COLOURS[place % len(_COLOURS)], "symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 11}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title that is not markup."""
    looks = {"automargin": True, "exponentformat": "none", "separatethousands": True}
    return {"title": {"text": label(title), "standoff": 10}, **looks, **more}


def rows(titles: list[str], gap: float = 0.06, **more: Any) -> dict[str, Any]:
    """The vertical axes of pictures one above the other, the first on top, over one horizontal axis."""
    share = (1 - gap * (len(titles) - 1)) / len(titles)
    axes = {}
    for place, title in enumerate(titles):
        top = 1 - place * (share + gap)
        domain = [max(0.0, top - share), top]
        axes[f"yaxis{place + 1 if place else ''}"] = axis(title, domain=domain, rangemode="tozero", **more)
    return axes


def lasting(seconds: float) -> str:
    """A time for people: 45 s, 12 min, 3.4 h, 2.1 d."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{readable(seconds / length, 3)} {unit}"
    return f"{seconds:.3g} s"
