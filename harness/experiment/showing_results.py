"""The results of a tournament in a notebook: a table, and a chart of one measure against another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError, did_you_mean
from harness.present.human_units import with_units
from harness.present.tables import prose, render
from harness.present.words import counted, readable, spoken
from harness.results.measures import MEASURES

if TYPE_CHECKING:
    import pandas as pd

    from harness.experiment.stored_results import Results

#: The measures of the table; those without values are left out.
_SHOWN = ("mean_bounded_slowdown", "mean_wait", "max_wait", "utilisation", "energy")


def results_html(results: "Results") -> str:
    """Return a table of the means of a few measures by scheduler, the lowest bounded slowdown first."""
    name, frame = str(results.about["field"]["name"]), results.frame()
    runs = _of_the_logs(frame)
    done = f"{len(frame):,} of {counted(results.planned, 'run')} tried"
    if runs.empty:
        return prose(f"Tournament {name}: {done}, no run of the original logs is done.", "html")
    names = [one for one in _SHOWN if runs[one].notna().any()]
    means = runs.groupby("scheduler", sort=False)[names].mean().sort_values(names[0], kind="stable")
    rows = [
        (scheduler, *(with_units(row[one], MEASURES[one].unit, share=MEASURES[one].share) for one in names))
        for scheduler, row in means.iterrows()
    ]
    caption = f"Tournament {name}: {done}. Means over {counted(len(runs), 'run')} of the original logs."
    return f"{prose(caption, 'html')}\n{render(('scheduler', *map(spoken, names)), rows, 'html')}"


def results_plot(results: "Results", measure: str, against: str) -> Any:
    """Return the chart of one measure against another as a Plotly figure."""
    from harness.results.charts.figures import for_a_notebook
    from harness.results.charts.trade_off import trade_off

    frame = results.frame()
    known = [name for name in MEASURES if name in frame]
    for name in (measure, against):
        if name not in known:
            raise HarnessError(f"there is no measure {name!r}; {did_you_mean(name, known)}")
    runs = _of_the_logs(frame)
    if against == "energy" and not np.isfinite(runs["energy"].astype(float)).any():
        against = "max_wait" if measure != "max_wait" else "mean_wait"
    for name in (measure, against):
        runs = runs[np.isfinite(runs[name].astype(float))]
    if runs.empty:
        raise HarnessError(f"{results.folder}: no run of the original logs has both {measure} and {against}")
    # A scheduler with failed runs is left out: it would be compared on other jobs than the others.
    counts = runs["scheduler"].value_counts()
    runs = runs[runs["scheduler"].isin(counts.index[counts == counts.max()])]
    means = runs.groupby("scheduler", sort=False)[measure].mean()
    ranked = means.sort_values(kind="stable", ascending=MEASURES[measure].better != "more")
    workload = readable(str(runs["workload"].iloc[0])) if runs["workload"].nunique() == 1 else ""
    places = f"places by {spoken(measure)}"
    return for_a_notebook(
        trade_off(runs, list(map(str, ranked.index)), MEASURES[measure], MEASURES[against], workload, places=places)
    )


def _of_the_logs(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the finished runs without variations: no mean is over both."""
    return frame[(frame["status"] == "done") & (frame["variation"] == 0)]
