"""A chart of the Pareto front of a search with several objectives."""

from dataclasses import replace
from typing import Any

import pandas as pd

from harness.results.charts.figures import for_a_notebook
from harness.results.charts.trade_off import trade_off
from harness.tuning.ranges import Search
from harness.tuning.search import SearchResult


def front(search: Search, found: SearchResult) -> Any:
    """Draw every trial by its first two objectives, as multiples of the default; a line joins the Pareto front."""
    rows = {str(place): trial for place, trial in enumerate(found.trials, 1)}
    measures = [replace(one, unit="× default", better="less") for one in search.objectives[:2]]
    names = [one.name for one in measures]
    frame = pd.DataFrame([trial.ratios[:2] for trial in rows.values()], columns=names)
    frame["scheduler"] = [", ".join(f"{label} {v:g}" for label, v in t.values.items()) for t in rows.values()]
    frame = frame.drop_duplicates("scheduler")
    drawn = trade_off(
        frame, list(frame["scheduler"]), measures[0], measures[1], "the training streams", places="trials"
    )
    picture = for_a_notebook(drawn)
    for axes in (picture.update_xaxes, picture.update_yaxes):
        axes(rangemode="normal")  # ratios lie around 1, so the axis need not begin at 0
    return picture
