"""Render a page as one HTML file: all names are escaped, and the browser runs no script but the page's own."""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.present.drawing import NO_TOOLBAR_WITHOUT_MOUSE
from harness.present.json_text import finite
from harness.present.words import readable, without_controls
from harness.report.ratio_diagram import Diagram

if TYPE_CHECKING:
    from jinja2 import Environment

    from harness.report.page import Page

#: Plotly's options for all charts.
_CONFIG = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def require(*, images: bool = False) -> None:
    """Raise an error if a library is missing that a page or its images need, before the work for it begins."""
    needed = {"jinja2": "report", "plotly": "report"} | ({"kaleido": "images"} if images else {})
    for name, extra in needed.items():
        if find_spec(name) is None:
            raise HarnessError(f"a report needs {name}, which is not installed: pip install 'sched-harness[{extra}]'")


def render(page: "Page") -> str:
    """Return the page as one HTML file."""
    require()
    from plotly.offline import get_plotlyjs

    scripts = [get_plotlyjs(), _asset("report.js"), _asset("gantt.js")]
    numbered = {id(figure): f"figure-{number}" for number, figure in enumerate(page.figures)}
    drawings = {
        numbered[id(figure)]: {"data": figure.data, "layout": figure.layout | {"height": figure.height}}
        for figure in page.figures
    }
    # The browser runs only these scripts, even if a name from a file contains another.
    allowed = " ".join(map(_hash, scripts))
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            page=page,
            numbered=lambda figure: numbered[id(figure)],
            drawings=drawings,
            config=_CONFIG,
            style=_asset("report.css") + NO_TOOLBAR_WITHOUT_MOUSE,
            scripts=scripts,
            policy=policy,
        )
    )


def drawing(diagram: Diagram) -> str:
    """Return the diagram of a ranking as an SVG file."""
    return _templates().get_template("diagram.svg.j2").render(diagram=diagram)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            value if hasattr(value, "__html__") or not isinstance(value, str) else without_controls(value)
        ),
    )
    environment.filters |= {"embedded": embedded, "readable": readable}
    return environment


def embedded(value: Any) -> Any:
    """Return a value as JSON that is safe in a <script>: nothing in it can end the element."""
    from markupsafe import Markup

    text = json.dumps(finite(value), separators=(",", ":"))  # ASCII, so without JavaScript's line separators
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (files("harness.report") / "templates" / name).read_text(encoding="utf-8")
