"""Figures of plotly as self-contained HTML pages."""

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


#: Without a mouse, plotly's toolbar would always cover the legend.
NO_TOOLBAR_WITHOUT_MOUSE = "@media (hover: none) { .modebar { display: none !important; } }"


def write_page(figure: Any, path: Path) -> None:
    """Write a figure of plotly as a page."""
    if path.suffix != ".html":
        raise HarnessError(f"cannot draw {path}: expected a name that ends in .html, for a page to open in a browser")
    page = figure.to_html(include_plotlyjs=True)
    head = '<head><meta name="viewport" content="width=device-width"/>'  # otherwise too small on telephones
    head += f"<style>{NO_TOOLBAR_WITHOUT_MOUSE}</style>"
    with replacing(path) as temporary:
        temporary.write_text(page.replace("<head>", head, 1), encoding="utf-8")
