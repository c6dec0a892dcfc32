"""The curves of the infinite-server paper's Figures 3 and 4, as numbers and as a picture.

Both show how the probability that a request is completed grows with the mean limit its dispatcher sets,
for a mean service time of 1: Figure 3 for requests of one server, Figure 4 for requests of 1, 3 and 5.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError
from harness.files import replacing
from harness.theory.infinite_server import completion_curve
from harness.theory.inputs import positive

FIGURE_3 = (1,)
FIGURE_4 = (1, 3, 5)


def completion_curves(
    widths: Sequence[int] = FIGURE_4, mean_service: float = 1.0, longest: float = 10.0, points: int = 201
) -> pd.DataFrame:
    """Probability of completion, a column for each width, by mean limit (index) up to `longest` services."""
    limits = np.linspace(0, positive(longest, "longest limit") * mean_service, points)
    curves = {f"k = {width}": completion_curve(limits, width, mean_service) for width in widths}
    return pd.DataFrame(curves, index=pd.Index(limits, name="mean limit"))


def draw(curves: pd.DataFrame, path: Path, title: str = "Probability that a request is completed") -> None:
    """Write the curves as one HTML page that needs nothing else to be read; writing it needs plotly."""
    graph_objects = plotly("graph_objects", path)
    lines = [graph_objects.Scatter(x=curves.index, y=curves[name], name=name, mode="lines") for name in curves]
    figure = graph_objects.Figure(lines)
    figure.update_layout(
        title=title,
        xaxis_title=str(curves.index.name),
        yaxis_title="probability",
        yaxis_range=(0, 1),
        showlegend=True,
        template="simple_white",
    )
    write_page(figure, path)


def plotly(part: str, path: Path) -> Any:
    """A module of plotly, which is only needed to draw."""
    try:
        return import_module(f"plotly.{part}")
    except ImportError:
        raise HarnessError(f"cannot draw {path}: it needs plotly: pip install 'sched-harness[report]'") from None


def write_page(figure: Any, path: Path) -> None:
    """Write a figure of plotly's as one HTML page that needs nothing else to be read."""
    if path.suffix != ".html":
        raise HarnessError(f"cannot draw {path}: expected a name that ends in .html, for a page to open in a browser")
    with replacing(path) as temporary:
        figure.write_html(temporary, include_plotlyjs=True)
