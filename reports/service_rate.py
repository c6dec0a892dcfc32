"""Makes the figures and tables of service-rate.md: a cluster with a rate that follows its load, on the paper's data.

Rumyantsev, Morozova and Basmadjian, "Discrete-Event Modeling of a High-Performance Computing Cluster with Service Rate
Control" (2018), section IV: 80 processors, first come first served, rates 2.0 and 2.66, and the tasks of a year that
come with the R package `hpcwld`. The recorded service time of a task is its amount of work S, as in the paper: at
rate R it takes S / R seconds. Work here is in these units; the engine's is in seconds at full speed, 2.66 times less.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import typer
from service_rate_runs import averaged, windows

from harness import HarnessError, Schedule, Scheduler, Workload, prepare, simulate
from harness.cli import main
from harness.disk.data_search import find_data
from harness.present.drawing import plotly, write_page
from harness.present.tables import known_format, render
from harness.theory.inputs import nonnegative
from harness.workload.hpcwld import read_hpcwld

LOW, HIGH = 2.0, 2.66  # the two rates: work done in a second
K_LOW, K_HIGH = 1e5, 3e5  # the thresholds on the workload, in units of work
THRESHOLDS = tuple(1e5 * k for k in range(31))

#: Reading of the paper's busy powers → its platform.
READINGS = {"as printed": "service-rate-80", "exchanged": "service-rate-80-exchanged"}

DAY = 86_400.0
BLACK, GREY, PALE = "#111111", "#9a9a9a", "#e8e8e8"
FAST = "rgba(228, 120, 40, 0.30)"  # behind the times at the high rate
BLUE, ORANGE = "#1f5fa8", "#d9691e"

#: Default days of figure 1: many jobs at once, with frequent crossings of the thresholds.
DAYS = (197.0, 204.0)
#: Default jobs of figure 2, as in the paper.
FIRST, COUNT = 7000, 500

#: How all three look.
LAYOUT = {
    "template": "simple_white",
    "font_size": 14,
    "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    "margin": {"t": 110},
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def service_rate(
    tasks: Annotated[
        str, typer.Argument(help="The tasks of hpcwld's HPC_KRC2, a path below HARNESS_DATA or here.")
    ] = "hpcwld/HPC_KRC2.csv",
    figure: Annotated[int, typer.Option(help="Which of the paper's figures.", min=1, max=3)] = 3,
    out: Annotated[Path | None, typer.Option(help="Draw the figure as an HTML page.")] = None,
    low: Annotated[
        float | None, typer.Option(help="k_L in units of work, for figures 1 and 2; 1e5 if not given.")
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="k_H in units of work, for figures 1 and 2; 3e5 if not given.")
    ] = None,
    days: Annotated[str, typer.Option(help="From which day to which figure 1 looks.")] = "197:204",
    first: Annotated[int, typer.Option(help="The first job of figure 2.", min=1)] = 7000,
    count: Annotated[int, typer.Option(help="How many jobs figure 2 shows, and a randomised run has.", min=1)] = COUNT,
    window: Annotated[int | None, typer.Option(help="Figure 3 in windows of this number of tasks.", min=1)] = None,
    runs: Annotated[int | None, typer.Option(help="Figure 3 as the mean of some randomised runs.", min=1)] = None,
    gap: Annotated[str, typer.Option(help="A task's interarrival time lies before or after it.")] = "after",
    seconds_at: Annotated[
        float, typer.Option(help="The rate at which tasks took their recorded seconds: S is seconds × this.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the random milliseconds between jobs submitted together.", min=0)] = 1,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Draw figures 1 to 3 of Rumyantsev, Morozova and Basmadjian (2018): a rate that follows the load.

    Figure 1 is workload and jobs in service, figure 2 which job held which processors when, figure 3 energy and
    workload against a single threshold. Prints the figure's numbers, and draws it where --out says.
    """
    known_format(format)
    workload = read_tasks(find_data(tasks), seed, gap, seconds_at)
    if figure == 3:
        if low is not None or high is not None:
            raise HarnessError(
                "figure 3 goes through its own thresholds; expected --low and --high with figures 1 and 2"
            )
        if window is not None:
            if out is not None or runs is not None:
                raise HarnessError("--window: prints a table of windows; expected no --out and no --runs")
            ends = (THRESHOLDS[0], THRESHOLDS[-1])
            _print(windows(workload, single_threshold, window, ends), ("", "work", "work", "W", "W", ""), format)
            return
        swept = averaged(workload, single_threshold, THRESHOLDS, runs, count, seed) if runs else sweep(workload)
        if out is not None:
            draw_trade_off(swept, out)
        _print(swept, ("work", "work", *["W"] * (swept.shape[1] - 1)), format)
        return
    if window is not None or runs is not None:
        raise HarnessError(f"figure {figure} is of one run; expected --window and --runs with figure 3")
    schedule = controlled(workload, K_LOW if low is None else low, K_HIGH if high is None else high)
    if out is not None:
        if figure == 1:
            draw_workload(schedule, out, _days(days))
        else:
            draw_schedule(schedule, out, first, count)
    typer.echo(
        render(("of the whole run", "value"), list((summary(schedule) | shown(schedule, first, count)).items()), format)
    )


def _print(table: pd.DataFrame, units: tuple[str, ...], format: str) -> None:
    headers = (str(table.index.name), *table)
    typer.echo(render(headers, list(table.itertuples(name=None)), format, units=units))


def _days(text: str) -> tuple[float, float]:
    begin, _, end = text.partition(":")
    try:
        days = float(begin), float(end)
    except ValueError:
        days = (0.0, 0.0)
    if not days[0] < days[1]:
        raise HarnessError(f"--days {text}: expected two days, the earlier one first, as in 197:204")
    return days


def shown(schedule: Schedule, first: int, count: int) -> dict[str, float]:
    """Return how `count` tasks waited, from number `first` on; they are numbered as in the file."""
    frame = schedule.frame
    waits = frame["wait"][(frame["job"] >= first) & (frame["job"] < first + count)]
    name = f"of tasks {first} to {first + count - 1}"
    return {f"{name}: waiting": int((waits > 0).sum()), f"{name}: mean delay [s]": float(waits.mean())}


def read_tasks(path: str | Path, seed: int = 1, gap: str = "after", seconds_at: float = 1.0) -> Workload:
    """Read the tasks of `HPC_KRC2.csv`, numbered as in the file, cleaned as in the paper.

    Interarrival times that are not positive become a few random milliseconds, drawn from `seed`; then tasks without
    processors are left out. Tasks that took no whole second stay: they need theirs too, if only for an instant.

    The time between arrivals on a task's line passes after it, as hpcwld has it, or before it (`gap`). The recorded
    seconds are the amount of work, or were measured at the rate `seconds_at`.
    """
    if not 0 < seconds_at < np.inf:
        raise HarnessError(f"--seconds-at {seconds_at:g}: expected a rate above 0")
    log = read_hpcwld(path, width="cores_used", seed=seed)
    return prepare(replace(log, procs=80), gap=gap, zeros="keep", seconds_at=seconds_at / HIGH)  # type: ignore[arg-type]


def controlled(
    tasks: Workload, low: float = K_LOW, high: float = K_HIGH, reading: str = "as printed", record: bool = True
) -> Schedule:
    """Simulate the cluster that goes fast when the workload rises above `high` and slow when it has fallen to `low`."""
    thresholds = {"low": nonnegative(low, "the lower threshold") / HIGH, "high": nonnegative(high, "the upper") / HIGH}
    rate = f"workload(low={thresholds['low']!r}, high={thresholds['high']!r}, slow={LOW / HIGH!r}, fast=1.0)"
    scheduler = Scheduler(order="fcfs", start="none", rate=rate, energy="cores")
    return simulate(tasks, READINGS[reading], scheduler, timeline=record, placements=record)


def trajectory(schedule: Schedule) -> pd.DataFrame:
    """List the key epochs: `time` [s], `workload` just before and at it, jobs `served`, and the `rate` from it on."""
    timeline = schedule.timeline
    elapsed = timeline["time"].diff().fillna(0.0)
    done = (elapsed * timeline["rate"].shift() * timeline["running"].shift()).fillna(0.0)  # work is served at R each
    before = (timeline["work"].shift() - done).fillna(0.0).clip(lower=0.0)
    return pd.DataFrame(
        {
            "time": timeline["time"],
            "before": before * HIGH,
            "workload": timeline["work"].clip(lower=0.0) * HIGH,
            "served": timeline["running"],
            "rate": timeline["rate"] * HIGH,
        }
    )


def sweep(tasks: Workload, thresholds: Iterable[float] = THRESHOLDS) -> pd.DataFrame:
    """Find the mean workload, and the mean power [W] in each reading, by the single threshold k = k_L = k_H (index)."""

    def row(k: float) -> dict[str, float]:
        found = {name: controlled(tasks, k, k, name, record=False).measures() for name in READINGS}
        return {
            "mean workload": found["as printed"]["mean_workload"] * HIGH,
            **{f"mean power {name}": measures["mean_power"] for name, measures in found.items()},
        }

    values = list(thresholds)
    with ThreadPoolExecutor() as threads:
        return pd.DataFrame(threads.map(row, values), index=pd.Index(values, name="threshold"))


def single_threshold(tasks: Workload, k: float) -> tuple[float, float]:
    """Return the mean workload [work] and the mean power [W] as printed under the single threshold `k`."""
    measures = controlled(tasks, k, k, record=False).measures()
    return measures["mean_workload"] * HIGH, measures["mean_power"]


def summary(schedule: Schedule) -> dict[str, float]:
    """Return what figures 1 and 2 show, in numbers."""
    epochs = trajectory(schedule)
    measures = schedule.measures()
    fast = np.average(epochs["rate"][:-1] > LOW, weights=np.diff(epochs["time"]))
    return {
        "jobs": measures["jobs"],
        "switches of the rate": float(np.count_nonzero(np.diff(epochs["rate"]))),
        "share of time at the high rate": float(fast),
        "largest workload [work]": float(epochs["workload"].max()),
        "mean workload [work]": measures["mean_workload"] * HIGH,
        "mean workload by the sum of eq. 12 [work]": by_epochs(epochs),
        "most jobs in service": float(epochs["served"].max()),
        "jobs that wait": float((schedule.ran["wait"] > 0).sum()),
        "mean delay [s]": measures["mean_wait"],
        "mean power [W]": measures["mean_power"],
    }


def by_epochs(epochs: pd.DataFrame) -> float:
    """Return the mean workload as eq. 12 sums it: W at each epoch, though it falls until the next."""
    return float(np.average(epochs["workload"][:-1], weights=np.diff(epochs["time"])))


# ---------------------------------------------------------------- drawn by plotly


def draw_workload(schedule: Schedule, path: Path, days: tuple[float, float] = DAYS) -> None:
    """Draw figure 1: workload and jobs in service at key epochs, with the times at the high rate marked."""
    go = plotly("graph_objects", path)
    whole = trajectory(schedule)
    epochs = whole[whole["time"].between(days[0] * DAY, days[1] * DAY)]
    figure = go.Figure()
    figure.add_scatter(
        x=epochs["time"] / DAY, y=epochs["served"], name="jobs in service", yaxis="y2",
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
        title=f"Workload and number of jobs served; rate {LOW} ⇄ {HIGH} by the workload",
        xaxis={"title": "time since the first arrival [days]", "range": days},
        yaxis={"title": "workload W [units of work = s at rate 1]", "rangemode": "tozero", "exponentformat": "SI"},
        yaxis2={"title": "jobs in service", "overlaying": "y", "side": "right", "rangemode": "tozero",
                "color": "#6f6f6f", "tickmode": "auto"},
    )  # fmt: skip
    write_page(figure, path)


def fast_spells(epochs: pd.DataFrame) -> list[tuple[float, float]]:
    """List from when to when the rate was the high one [s]."""
    fast = (epochs["rate"] > (LOW + HIGH) / 2).to_numpy()
    edges = np.flatnonzero(np.diff(fast, prepend=False, append=False))
    times = epochs["time"].to_numpy()
    return [(times[begin], times[min(end, len(times) - 1)]) for begin, end in edges.reshape(-1, 2)]


def draw_schedule(schedule: Schedule, path: Path, first: int = FIRST, count: int = COUNT) -> None:
    """Draw figure 2: the processors of `count` jobs from number `first` on (above), and the state of each (below)."""
    shown = schedule.frame[schedule.frame["job"].between(first, first + count - 1)]
    blocks = held_processors(schedule.placements)
    span = (shown["submit"].min(), shown["end"].max())
    others = blocks[~blocks["job"].isin(shown["job"]) & (blocks["end"] > span[0]) & (blocks["begin"] < span[1])]
    theirs = blocks[blocks["job"].isin(shown["job"])]
    figure = plotly("subplots", path).make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.06)
    shades = [f"rgb({grey}, {grey}, {grey})" for grey in (40, 75, 110, 145, 180)]
    for part, name, colour in (
        (others, "other jobs' processors", PALE),
        (theirs, "processors of these jobs (a grey each)", [shades[job % len(shades)] for job in theirs["job"]]),
    ):
        figure.add_bar(
            orientation="h", y=part["processor"] + part["processors"] / 2, width=part["processors"], name=name,
            customdata=part[["job", "processors"]],
            hovertemplate="job %{customdata[0]} on %{customdata[1]} processors<extra></extra>",
            marker={"color": colour, "line": {"color": "white", "width": 0.3}}, row=1, col=1,
            **_from_to(part["begin"], part["end"]),
        )  # fmt: skip
    for name, begin, end, colour in (
        ("waiting", shown["submit"], shown["start"], GREY),
        ("computing", shown["start"], shown["end"], BLACK),
    ):
        figure.add_bar(
            orientation="h", y=shown["job"], width=1.0, name=name, customdata=(end - begin) / 3600,
            hovertemplate=f"job %{{y}}: {name} %{{customdata:.2f}} h<extra></extra>",
            marker={"color": colour, "line": {"width": 0}}, row=2, col=1, **_from_to(begin, end),
        )  # fmt: skip
    figure.update_layout(
        **LAYOUT, barmode="overlay", height=900,
        title=f"{len(shown)} jobs from number {first} on, first come first served",
    )  # fmt: skip
    figure.update_xaxes(range=[time / DAY for time in span])
    figure.update_xaxes(title="time since the first arrival [days]", row=2)
    figure.update_yaxes(title="processor", range=(0, schedule.platform.cores), row=1)
    figure.update_yaxes(title="job (number in the file)", range=(first + count, first - 1), row=2)
    write_page(figure, path)


def held_processors(placements: pd.DataFrame) -> pd.DataFrame:
    """Join neighbouring processors of a job: `job`, first `processor`, how many `processors`, `begin`, `end` [s]."""
    places = placements.sort_values(["job", "begin", "node"])
    apart = (places["job"].diff() != 0) | (places["begin"].diff() != 0) | (places["node"].diff() != 1)
    blocks = places.groupby(apart.cumsum())
    return blocks.agg(
        job=("job", "first"), processor=("node", "first"), processors=("node", "size"),
        begin=("begin", "first"), end=("end", "first"),
    )  # fmt: skip


def _from_to(begin: "pd.Series[float]", end: "pd.Series[float]") -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Return where a bar lies on an axis of days."""
    return {"base": begin.to_numpy() / DAY, "x": (end - begin).to_numpy() / DAY}


def draw_trade_off(swept: pd.DataFrame, path: Path) -> None:
    """Draw figure 3: mean power in both readings and mean workload against the threshold, and against each other."""
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
        if f"mean power {reading}" not in swept:
            continue
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


if __name__ == "__main__":
    main(app)
