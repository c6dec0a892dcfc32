"""The ranking section: leaderboard, ratios, all measures, and wins of each pair."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from harness.present.words import counted, readable, spoken
from harness.ranking.by_platform import refused_rows
from harness.ranking.conclusion import conclusion, covered, notes, scope
from harness.ranking.inference import ALPHA
from harness.ranking.leaderboard import COMPANIONS, interval
from harness.ranking.ranking import Ranking
from harness.report.page_subject import PageData, separate_variations
from harness.report.ratio_diagram import diagram
from harness.report.section import section
from harness.results.measures import Measure

#: With more rows, the table of all measures has rows for schedulers only, not for each of their workloads.
_MOST_ROWS = 600

_DIGITS = 4


@section("winners", "Who wins, and how sure are we?")
def winners(subject: PageData) -> dict[str, Any] | None:
    """Return the ranking of a tournament, or why there is none."""
    if subject.schedule is not None:
        return None
    ranking = subject.ranking
    if ranking is None:
        return {"why_not": subject.why_not}
    standings = ranking.standings
    means = standings[0].means
    shown = [name for name in dict.fromkeys((ranking.by, *COMPANIONS)) if name in means and means[name] == means[name]]
    return {
        "ranking": ranking,
        "by": spoken(ranking.by),
        "scope": scope(ranking),
        "conclusion": conclusion(ranking),
        "notes": list(notes(ranking)),
        "columns": [head(subject.measures[name], covered(ranking)) for name in shown],
        "figures": [[readable(s.means.get(name), _DIGITS) for name in shown] for s in standings],
        "ratios": [(readable(s.ratio, 3), interval(s) if row else "") for row, s in enumerate(standings)],
        "diagram": diagram(ranking),
        "matrix": _matrix(ranking),
        "where": subject.where,
        "others": [(where, _short(other)) for where, other in subject.others],
        "refused": list(refused_rows(subject.results.refused())) if subject.results else [],
        "pareto": any(s.on_front is not None for s in standings),
        **all_measures(subject.frame, subject.schedulers, subject.measures),
    }


def _short(ranking: Ranking) -> list[tuple[str, ...]]:
    return [
        (str(s.rank), s.scheduler, f"{s.mean_rank:.2f}", readable(s.ratio, 3), readable(s.mean, _DIGITS))
        for s in ranking.standings
    ]


def all_measures(frame: pd.DataFrame, schedulers: list[str], known: Mapping[str, Measure]) -> dict[str, Any]:
    """Return the means of all measures over the runs of each scheduler, over all workloads and on each."""
    done = separate_variations(frame[frame["status"] == "done"])
    variations = done["workload"].astype(str).str.endswith(", variations")
    names = [name for name in known if name in done and done[name].notna().any()]
    names.sort(key=lambda name: done.groupby("scheduler")[name].mean().nunique() == 1)  # constant measures come last
    workloads = list(map(str, done["workload"].unique()))
    place = {scheduler: number for number, scheduler in enumerate(schedulers)}
    logs = done if variations.all() else done[~variations]
    groups = [(("", str(scheduler)), part) for scheduler, part in logs.groupby("scheduler")]
    if len(workloads) > 1 and len(place) * len(workloads) <= _MOST_ROWS:
        groups += [((str(w), str(s)), part) for (w, s), part in done.groupby(["workload", "scheduler"])]
    rows = [
        {
            "workload": workload,
            "scheduler": scheduler,
            "policy": place[scheduler],
            "runs": len(part),
            "cells": [cell(part[name].mean(skipna=known[name].against_log)) for name in names],
        }
        for (workload, scheduler), part in groups
        if scheduler in place
    ]
    rows.sort(key=lambda row: (bool(row["workload"]), str(row["workload"]), row["policy"]))
    shown = {str(row["workload"]) for row in rows} - {""}
    return {
        "measures": [head(known[name], _logs_with(logs, name)) for name in names],
        "rows": rows,
        "workloads": [workload for workload in workloads if workload in shown],
    }


def _logs_with(runs: pd.DataFrame, measure: str) -> str:
    """Return for how many logs a measure is known: 2 of 3 logs."""
    known = runs.loc[runs[measure].notna(), "workload"].nunique()
    return f"{known} of {counted(runs['workload'].nunique(), 'log')}"


def cell(value: float) -> tuple[str, str]:
    """Return a value for readers, and for sorting."""
    return readable(value, _DIGITS), "" if value != value else f"{value:.9g}"


def head(measure: Measure, logs: str = "") -> dict[str, str]:
    """Return a measure as the head of a column, with its meaning; for one against the log, also how many it covers."""
    better = {"less": "Less is better.", "more": "More is better.", "neither": "Neither more nor less is better."}
    tip = f"{measure.meaning} {measure.formula}{f' [{measure.unit}]' if measure.unit else ''}. {better[measure.better]}"
    return {
        "name": spoken(measure.name),
        "covers": f", {logs}" if logs and measure.against_log else "",
        "unit": measure.unit,
        "meaning": measure.meaning,
        "formula": measure.formula,
        "better": measure.better,
        "tip": tip,
    }


def _matrix(ranking: Ranking) -> list[list[dict[str, Any] | None]]:
    """Return the wins, ties and losses of the row against the column, and whether they differ significantly."""
    count = len(ranking.standings)
    return [
        [
            None
            if row == column
            else {
                "wins": ranking.wins[row][column],
                "ties": ranking.ties[row][column],
                "losses": ranking.wins[column][row],
                "surely": _significance(ranking, row, column),
                "share": round(100 * (ranking.wins[row][column] + ranking.ties[row][column] / 2) / ranking.blocks),
            }
            for column in range(count)
        ]
        for row in range(count)
    ]


def _significance(ranking: Ranking, row: int, column: int) -> str:
    """Return "better" or "worse" if the row differs significantly from the column, else ""."""
    if ranking.p_values[row][column] > ALPHA:
        return ""
    return "better" if (ranking.ratios[row][column] < 1) == (ranking.better == "less") else "worse"
