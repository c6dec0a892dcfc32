"""A breakdown in words, for the terminal and for pages: one table of the cells that matter, and a few sentences."""

import math
from dataclasses import asdict
from typing import Any

from harness.present.words import readable
from harness.results.breakdown import Breakdown
from harness.workload.wall_clock import DAYS

HEADERS = (
    *("jobs by", "cell", "jobs", "of all", "of the error"),
    *("mean of V − v", "waited though it fitted", "began mostly"),
)
UNITS = ("", "", "", "%", "%", "s", "%", "")

#: Of the waits that ended, this share in one hour of the day, or on one weekday, is worth telling.
_HOUR, _WEEKDAY = 0.15, 0.4


def rows(found: Breakdown, count: int = 12) -> list[tuple[Any, ...]]:
    """Return the cells that matter first, as `HEADERS` says."""
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
        for cell in found.telling(count).to_dict("records")
    ]


def sentences(found: Breakdown) -> list[str]:
    """Say where the replay departs first, and what of the log no queue explains."""
    told = []
    if found.peak > found.procs:
        told.append(
            f"The logged schedule is not feasible: up to {found.peak:,} of {found.procs:,} processors were busy "
            "together."
        )
    if found.fitting > 0:
        told.append(
            f"By the log, {found.fitting:.0%} of all waiting passed while the job would have fitted: the queue, or a "
            "rule of the site, held it."
        )
    if (first := found.departure) is not None:
        told.append(
            f"The first job to depart is {first.job} ({first.procs:,} processors for {first.estimate:,.0f} s, "
            f"submitted at {first.submit:,.0f} s): started at {first.logged:,.0f} s in the log, at "
            f"{first.replayed:,.0f} s in the replay; then {first.waiting:,} jobs waited on the real machine, "
            f"{first.ahead:,} ahead of it, and {first.free:,} of {found.procs:,} processors were free."
        )
    return told


def as_facts(found: Breakdown) -> dict[str, Any]:
    """Return all of it, every cell, for JSON."""
    return {
        "cells": found.cells.to_dict("records"),
        "departure": asdict(found.departure) if found.departure else None,
        "fitting": found.fitting,
        "peak": found.peak,
    }


def _began(cell: dict[Any, Any]) -> str:
    """Say when the jobs that waited began, if they did together."""
    words = []
    if (cell["weekday_share"] or 0) >= _WEEKDAY:
        words.append(f"{DAYS[int(cell['weekday'])]} ({cell['weekday_share']:.0%})")
    if (cell["hour_share"] or 0) >= _HOUR:
        words.append(f"{int(cell['hour'])}–{int(cell['hour']) + 1} h ({readable(100 * cell['hour_share'], 2)}%)")
    return ", ".join(words)
