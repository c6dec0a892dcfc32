"""Who wins, and how sure are we: leaderboard, critical differences, every measure, who beats whom."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from harness.errors import HarnessError
from harness.report.figures import Section
from harness.report.ranks import diagram
from harness.report.tables import MISSING, readable
from harness.results.metrics import MEASURES, Measure
from harness.tournament.conclusion import conclusion, notes, scope
from harness.tournament.leaderboard import COMPANIONS
from harness.tournament.ranking import Ranking, criterion_of, rank

#: Above so many rows the table of all measures has one row per scheduler, not one for each of its workloads too.
_MOST_ROWS = 600

_DIGITS = 4


def ranked(frame: pd.DataFrame, by: str, extra: Iterable[Measure]) -> tuple[Ranking | None, str]:
    """The ranking, or why there is none; a measure that nobody can rank by is refused."""
    criterion_of(by, MEASURES | {measure.name: measure for measure in extra})
    if not (frame["status"] == "done").any():
        return None, "no run is done yet." if frame.empty else "no run is done, all that were tried failed."
    try:
        return rank(frame, by, extra=extra), ""
    except HarnessError as error:
        return None, f"{error}."


def winners(frame: pd.DataFrame, ranking: Ranking | None, why_not: str, extra: Iterable[Measure]) -> Section:
    """The first section of a tournament's page."""
    known = MEASURES | {measure.name: measure for measure in extra}
    if ranking is None:
        return Section("winners", "Who wins, and how sure are we?", "winners.html.j2", {"why_not": why_not})
    standings = ranking.standings
    shown = [name for name in dict.fromkeys((ranking.by, *COMPANIONS)) if _known(standings[0].means.get(name))]
    count = len(standings)
    data = {
        "ranking": ranking,
        "by": measure_name(ranking.by),
        "scope": scope(ranking),
        "conclusion": conclusion(ranking),
        "notes": list(notes(ranking)),
        "columns": [column(name, known) for name in shown],
        "figures": [[readable(s.means.get(name), _DIGITS) for name in shown] for s in standings],
        "ranges": [_range(*s.interval, s.mean_rank, count) for s in standings],
        "diagram": diagram(ranking),
        "matrix": _matrix(ranking),
        "pareto": any(s.on_front is not None for s in standings),
        **measures_table(frame, [s.scheduler for s in standings], known),
    }
    return Section("winners", "Who wins, and how sure are we?", "winners.html.j2", data)


def measures_table(frame: pd.DataFrame, schedulers: list[str], known: Mapping[str, Measure]) -> dict[str, Any]:
    """Means of all measures over the runs of each scheduler, in all and on each workload."""
    done = frame[frame["status"] == "done"]
    names = [name for name in known if name in done and done[name].notna().any()]
    names.sort(key=lambda name: done.groupby("scheduler")[name].mean().nunique() == 1)  # what says nothing comes last
    workloads = list(map(str, done["workload"].unique()))
    place = {scheduler: number for number, scheduler in enumerate(schedulers)}
    groups = [(("", str(scheduler)), part) for scheduler, part in done.groupby("scheduler")]
    if len(workloads) > 1 and len(place) * len(workloads) <= _MOST_ROWS:
        groups += [((str(w), str(s)), part) for (w, s), part in done.groupby(["workload", "scheduler"])]
    rows = [
        {
            "workload": workload,
            "scheduler": scheduler,
            "policy": place[scheduler],
            "runs": len(part),
            "cells": [cell(value) for value in part[names].mean(skipna=False)],
        }
        for (workload, scheduler), part in groups
        if scheduler in place
    ]
    rows.sort(key=lambda row: (bool(row["workload"]), str(row["workload"]), row["policy"]))
    shown = {str(row["workload"]) for row in rows} - {""}
    return {
        "measures": [column(name, known) for name in names],
        "rows": rows,
        "workloads": [workload for workload in workloads if workload in shown],
    }


def cell(value: float) -> tuple[str, str]:
    """A value for people, and for sorting."""
    return readable(value, _DIGITS), "" if value != value else f"{value:.9g}"


def column(name: str, known: Mapping[str, Measure]) -> dict[str, str]:
    """A measure as the head of a column, with what it means."""
    measure = known[name]
    better = {"less": "Less is better.", "more": "More is better.", "neither": "Neither more nor less is better."}
    tip = f"{measure.meaning} {measure.formula}{f' [{measure.unit}]' if measure.unit else ''}. {better[measure.better]}"
    return {
        "name": measure_name(name),
        "unit": measure.unit,
        "meaning": measure.meaning,
        "formula": measure.formula,
        "better": measure.better,
        "tip": tip,
    }


def measure_name(name: str) -> str:
    """As people say it."""
    return name.replace("_", " ")


def _known(value: float | None) -> bool:
    return value is not None and value == value


def _range(low: float, high: float, middle: float, count: int) -> dict[str, Any]:
    """Where the marks of an interval of ranks are, in percent of their axis."""
    scale = 100 / max(1, count - 1)
    if low != low:
        return {"left": 0, "width": 0, "at": round((middle - 1) * scale, 2), "text": MISSING}
    return {
        "left": round((low - 1) * scale, 2),
        "width": round((high - low) * scale, 2),
        "at": round((middle - 1) * scale, 2),
        "text": f"{low:.2f}–{high:.2f}",
    }


def _matrix(ranking: Ranking) -> list[list[dict[str, Any] | None]]:
    """Wins, ties and losses of the row against the column."""
    count = len(ranking.standings)
    return [
        [
            None
            if row == column
            else {
                "wins": ranking.wins[row][column],
                "ties": ranking.ties[row][column],
                "losses": ranking.wins[column][row],
                "share": round(100 * (ranking.wins[row][column] + ranking.ties[row][column] / 2) / ranking.blocks),
            }
            for column in range(count)
        ]
        for row in range(count)
    ]
