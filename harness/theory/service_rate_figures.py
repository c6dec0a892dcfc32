"""Figures 1 to 3 of the service-rate paper, drawn by plotly from `harness.theory.service_rate`."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.results.schedule import Schedule
from harness.theory.figures import plotly, write_page
from harness.theory.service_rate import HIGH, K_HIGH, K_LOW, LOW, trajectory

DAY = 86_400.0
BLACK, GREY, PALE = "#111111", "#9a9a9a", "#e8e8e8"
FAST = "rgba(228, 120, 40, 0.30)"  # behind the times at the high rate
BLUE, ORANGE = "#1f5fa8", "#d9691e"

#: Figure 1 shows these days unless told otherwise: many customers at once, the thresholds crossed often.
DAYS = (197.0, 204.0)
#: Figure 2 shows these customers unless told otherwise, as the paper does.
FIRST, COUNT = 7000, 500

#: How all three look.
LAYOUT = {
    "template": "simple_white",
    "font_size": 14,
    "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    "margin": {"t": 110},
}


def draw_workload(schedule: Schedule, path: Path, days: tuple[float, float] = DAYS) -> None:
    """Figure 1: workload and customers in service at key epochs, with the times at the high rate marked."""
    go = plotly("graph_objects", path)
    whole = trajectory(schedule)
    epochs = whole[whole["time"].between(days[0] * DAY, days[1] * DAY)]
    figure = go.Figure()
    figure.add_scatter(
        x=epochs["time"] / DAY, y=epochs["served"], name="customers in service", yaxis="y2",
        line={"color": GREY, "width": 1, "shape": "hv"}, hovertemplate="day %{x:.3f}: %{y} in service<extra></extra>",
    )  # fmt: skip
    # Arrivals make the workload jump; between epochs it falls in a straight line.
    figure.add_scatter(
        x=np.repeat(epochs["time"] / DAY, 2), y=epochs[["before", "workload"]].to_numpy().ravel(),
        name="workload W", line={"color": BLACK, "width": 1.6},
        hovertemplate="day %{x:.3f}: W = %{y:.4s}<extra></extra>",
    )  # fmt: skip
    for begin, end in fast_spells(epochs):
        figure.add_vrect(begin / DAY, end / DAY, fillcolor=FAST, line_width=0, layer="below")
    figure.add_bar(x=[None], y=[None], name=f"high rate, {HIGH}", marker={"color": FAST})  # what the shade means
    for level, name in ((K_LOW, "k_L"), (K_HIGH, "k_H")):
        figure.add_hline(
            level,
            line={"color": ORANGE, "width": 1.5, "dash": "dash"},
            annotation_text=name,
            annotation_bgcolor="white",
        )
    figure.update_layout(
        **LAYOUT,
        height=650,
        title=f"Workload and number of customers served; rate {LOW} ⇄ {HIGH} by the workload",
        xaxis={"title": "time since the first arrival [days]", "range": days},
        yaxis={"title": "workload W [units of work = s at rate 1]", "rangemode": "tozero", "exponentformat": "SI"},
        yaxis2={"title": "customers in service", "overlaying": "y", "side": "right", "rangemode": "tozero",
                "color": "#6f6f6f", "tickmode": "auto"},
    )  # fmt: skip
    write_page(figure, path)


def fast_spells(epochs: pd.DataFrame) -> list[tuple[float, float]]:
    """From when to when the rate was the high one [s]."""
    fast = (epochs["rate"] > (LOW + HIGH) / 2).to_numpy()
    edges = np.flatnonzero(np.diff(fast, prepend=False, append=False))
    times = epochs["time"].to_numpy()
    return [(times[begin], times[min(end, len(times) - 1)]) for begin, end in edges.reshape(-1, 2)]


def draw_schedule(schedule: Schedule, path: Path, first: int = FIRST, count: int = COUNT) -> None:
    """Figure 2: servers held by `count` customers from number `first` on (above), and what each was doing (below)."""
    shown = schedule.frame[schedule.frame["job"].between(first, first + count - 1)]
    blocks = held_servers(schedule.placements)
    span = (shown["submit"].min(), shown["end"].max())
    others = blocks[~blocks["job"].isin(shown["job"]) & (blocks["end"] > span[0]) & (blocks["begin"] < span[1])]
    theirs = blocks[blocks["job"].isin(shown["job"])]
    figure = plotly("subplots", path).make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.06)
    shades = [f"rgb({grey}, {grey}, {grey})" for grey in (40, 75, 110, 145, 180)]
    for part, name, colour in (
        (others, "other customers' servers", PALE),
        (theirs, "servers of these customers (a grey each)", [shades[job % len(shades)] for job in theirs["job"]]),
    ):
        figure.add_bar(
            orientation="h", y=part["server"] + part["servers"] / 2, width=part["servers"], name=name,
            customdata=part[["job", "servers"]],
            hovertemplate="customer %{customdata[0]} on %{customdata[1]} servers<extra></extra>",
            marker={"color": colour, "line": {"color": "white", "width": 0.3}}, row=1, col=1,
            **_from_to(part["begin"], part["end"]),
        )  # fmt: skip
    for name, begin, end, colour in (
        ("waiting", shown["submit"], shown["start"], GREY),
        ("computing", shown["start"], shown["end"], BLACK),
    ):
        figure.add_bar(
            orientation="h", y=shown["job"], width=1.0, name=name, customdata=(end - begin) / 3600,
            hovertemplate=f"customer %{{y}}: {name} %{{customdata:.2f}} h<extra></extra>",
            marker={"color": colour, "line": {"width": 0}}, row=2, col=1, **_from_to(begin, end),
        )  # fmt: skip
    figure.update_layout(
        **LAYOUT, barmode="overlay", height=900,
        title=f"{len(shown)} customers from number {first} on, first come first served",
    )  # fmt: skip
    figure.update_xaxes(range=[time / DAY for time in span])
    figure.update_xaxes(title="time since the first arrival [days]", row=2)
    figure.update_yaxes(title="server", range=(0, schedule.platform.cores), row=1)
    figure.update_yaxes(title="customer (number in the file)", range=(first + count, first - 1), row=2)
    write_page(figure, path)


def held_servers(placements: pd.DataFrame) -> pd.DataFrame:
    """Neighbouring servers of a customer as one block: `job`, first `server`, count `servers`, `begin`, `end` [s]."""
    places = placements.sort_values(["job", "begin", "node"])
    apart = (places["job"].diff() != 0) | (places["begin"].diff() != 0) | (places["node"].diff() != 1)
    blocks = places.groupby(apart.cumsum())
    return blocks.agg(
        job=("job", "first"), server=("node", "first"), servers=("node", "size"),
        begin=("begin", "first"), end=("end", "first"),
    )  # fmt: skip


def _from_to(begin: "pd.Series[float]", end: "pd.Series[float]") -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Where a bar lies on an axis of days."""
    return {"base": begin.to_numpy() / DAY, "x": (end - begin).to_numpy() / DAY}


def draw_trade_off(swept: pd.DataFrame, path: Path) -> None:
    """Figure 3: mean power in both readings and mean workload against the threshold, and the one against the other."""
    figure: Any = plotly("subplots", path).make_subplots(
        cols=2, specs=[[{"secondary_y": True}, {}]], horizontal_spacing=0.2, column_widths=[0.58, 0.42],
        subplot_titles=("against the threshold k", "the one against the other"),
    )  # fmt: skip
    workload = swept["mean workload"]
    figure.add_scatter(
        x=swept.index, y=workload, name="mean workload", secondary_y=True, row=1, col=1,
        line={"color": BLACK, "dash": "dot"}, hovertemplate="k = %{x:.2s}: W = %{y:.4s}<extra></extra>",
    )  # fmt: skip
    for reading, colour in (("as printed", ORANGE), ("exchanged", BLUE)):
        power = swept[f"mean power {reading}"]
        style = {"mode": "lines+markers", "line": {"color": colour}, "marker": {"size": 5}}
        figure.add_scatter(
            x=swept.index, y=power, name=f"mean power, busy powers {reading}", row=1, col=1,
            hovertemplate="k = %{x:.2s}: %{y:.1f} W<extra></extra>", **style,
        )  # fmt: skip
        figure.add_scatter(
            x=workload, y=power, showlegend=False, customdata=swept.index, row=1, col=2,
            hovertemplate="k = %{customdata:.2s}: W = %{x:.4s}, %{y:.1f} W<extra></extra>", **style,
        )  # fmt: skip
    figure.update_layout(**LAYOUT, height=650, title="Energy and workload under a single threshold")
    figure.update_layout(legend_y=1.07, margin_t=150)  # above the titles of the two parts
    figure.update_xaxes(title="threshold k [units of work]", exponentformat="SI", col=1)
    figure.update_xaxes(title="mean workload [units of work]", exponentformat="SI", col=2)
    figure.update_yaxes(title="mean power [W]", secondary_y=False)
    figure.update_yaxes(
        title="mean workload [units of work]", tickmode="auto", tickformat=".3s", secondary_y=True, col=1
    )
    write_page(figure, path)
