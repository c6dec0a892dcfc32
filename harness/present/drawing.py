"""Figures that plotly draws, each one HTML page that needs nothing else to be read."""

from importlib import import_module
from pathlib import Path
from typing import Any

from harness.disk.atomic import replacing
from harness.errors import HarnessError


def plotly(part: str, what: object) -> Any:
    """Import a module of plotly, which is only needed to draw `what`."""
    try:
        return import_module(f"plotly.{part}")
    except ImportError:
        raise HarnessError(f"cannot draw {what}: it needs plotly: pip install 'sched-harness[report]'") from None


#: Without a mouse Plotly's toolbar never disappears, and covers the legend.
NO_TOOLBAR_WITHOUT_MOUSE = "@media (hover: none) { .modebar { display: none !important; } }"


def write_page(figure: Any, path: Path) -> None:
    """Write a figure of plotly's as a page."""
    if path.suffix != ".html":
        raise HarnessError(f"cannot draw {path}: expected a name that ends in .html, for a page to open in a browser")
    page = figure.to_html(include_plotlyjs=True)
    head = '<head><meta name="viewport" content="width=device-width"/>'  # else a telephone shows it as wide as a desk
    head += f"<style>{NO_TOOLBAR_WITHOUT_MOUSE}</style>"
    with replacing(path) as temporary:
        temporary.write_text(page.replace("<head>", head, 1), encoding="utf-8")
