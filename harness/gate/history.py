"""The history of replaced baselines, as a small table of measures."""

import datetime
import math
from collections.abc import Iterable

from harness.errors import HarnessError
from harness.gate.baseline import Baseline, BaselineRun, ReplacedBaseline
from harness.gate.comparison import DEFAULT_TOLERANCES
from harness.present.tables import render

#: The largest number of former baselines.
KEPT = 50

_BARS = "▁▂▃▄▅▆▇█"


def former_baselines(old: Baseline, made: Baseline) -> tuple[ReplacedBaseline, ...]:
    """Return the former baselines of a new one, including `old` unless its results are the same."""
    if {past.key: past for past in old.runs} == {past.key: past for past in made.runs}:
        return old.former
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return (*old.former, ReplacedBaseline(replaced=today, harness=old.versions.harness, measures=means(old.runs)))[
        -KEPT:
    ]


def means(runs: Iterable[BaselineRun]) -> dict[str, float]:
    """Return the mean of each measure in `DEFAULT_TOLERANCES` over the runs that have a value."""
    found: dict[str, list[float]] = {}
    for past in runs:
        for name in DEFAULT_TOLERANCES:
            if (value := past.measures.get(name)) is not None:
                found.setdefault(name, []).append(value)
    return {name: math.fsum(values) / len(values) for name, values in found.items()}


def history_table(baseline: Baseline, count: int, format: str) -> str:
    """Return a table of the measures in `DEFAULT_TOLERANCES` for the last `count` baselines, the present one last."""
    if not baseline.former:
        raise HarnessError("the baseline has no former one: expected one that --update wrote with other results")
    past = [
        *baseline.former,
        ReplacedBaseline(replaced="now", harness=baseline.versions.harness, measures=means(baseline.runs)),
    ]
    past = past[-count:]
    names = [name for name in DEFAULT_TOLERANCES if any(name in one.measures for one in past)]
    rows = [_row(name, [one.measures.get(name, math.nan) for one in past]) for name in names]
    # A list, as two may have been replaced on one day.
    heads = [f"until {one.replaced}" if one.replaced != "now" else "now" for one in past]
    return render(("mean over the runs", *heads, "change", ""), rows, format, digits=4)


def _row(name: str, values: list[float]) -> tuple[str | float, ...]:
    first, last = values[0], values[-1]
    change = f"{100 * (last - first) / abs(first):+.3g} %" if first and not math.isnan(last - first) else ""
    return name, *values, change, bars(values)


def bars(values: list[float]) -> str:
    """Return numbers as bars between the least and the greatest; a blank for not a number."""
    known = [value for value in values if not math.isnan(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(" " if math.isnan(value) else _BARS[round((value - low) * scale)] for value in values)
