"""A breakdown as a table of its important cells and a few sentences, for the terminal and for pages."""

import math
from dataclasses import asdict
from typing import Any

from harness.present.words import readable
from harness.results.breakdown import Breakdown
from harness.workload.wall_clock import DAYS

HEADERS = (
    *("jobs by", "cell", "jobs", "of all", "of the error"),
    *("mean of V − v", "waited though it fit", "usual start"),
)
UNITS = ("", "", "", "%", "%", "s", "%", "")

#: The hour of the day or the weekday is shown if at least this share of the waiting jobs started in it.
_HOUR, _WEEKDAY = 0.15, 0.4


def rows(found: Breakdown, count: int = 12) -> list[tuple[Any, ...]]:
    """Return the most important cells as rows for `HEADERS`."""
    return [
        (
            cell["by"],
            cell["cell"],
            cell["jobs"],
            round(100 * cell["share"], 1),
            round(100 * cell["error"], 1),
            round(cell["bias"]),
            None if math.isnan(cell["fitting"]) else round(100 * cell["fitting"]),
            _began(cell),
        )
        for cell in found.most_important(count).to_dict("records")
    ]


def sentences(found: Breakdown) -> list[str]:
    """Return sentences about the first difference from the log, and about waiting that no queue explains."""
    told = []
    if found.peak > found.procs:
        told.append(
            f"The logged schedule is not feasible: up to {found.peak:,} of {found.procs:,} processors were busy "
            "at once."
        )
    if found.fitting > 0:
        told.append(
            f"By the log, {found.fitting:.0%} of all waiting passed while the job would have fit: the queue order or a "
            "rule of the site delayed it."
        )
    if (first := found.departure) is not None:
        told.append(
            f"The first job to differ is {first.job} ({first.procs:,} processors for {first.estimate:,.0f} s, "
            f"submitted at {first.submit:,.0f} s): started at {first.logged:,.0f} s in the log, at "
            f"{first.replayed:,.0f} s in the replay; then {first.waiting:,} jobs waited on the real machine, "
            f"{first.ahead:,} ahead of it, and {first.free:,} of {found.procs:,} processors were free."
        )
    return told


def as_object(found: Breakdown) -> dict[str, Any]:
    """Return the whole breakdown, with every cell, for JSON."""
    return {
        "cells": found.cells.to_dict("records"),
        "departure": asdict(found.departure) if found.departure else None,
        "fitting": found.fitting,
        "peak": found.peak,
    }


def _began(cell: dict[Any, Any]) -> str:
    """Return the weekday and the hour at which many of the jobs that waited started; empty if there is none."""
    words = []
    if (cell["weekday_share"] or 0) >= _WEEKDAY:
        words.append(f"{DAYS[int(cell['weekday'])]} ({cell['weekday_share']:.0%})")
    if (cell["hour_share"] or 0) >= _HOUR:
        words.append(f"{int(cell['hour'])}–{int(cell['hour']) + 1} h ({readable(100 * cell['hour_share'], 2)}%)")
    return ", ".join(words)
