"""A ranking as text: its table, and its conclusion in words."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from harness.present.json_text import to_json
from harness.present.tables import Better, known_format, prose, render
from harness.present.words import readable, spoken
from harness.ranking.by_platform import Part, parts
from harness.ranking.conclusion import conclusion, covered, notes, preempts, scope
from harness.ranking.ranking import ENERGY, Ranking, Standing, rank
from harness.results.measures import Measure, known_measures

#: Measures shown next to the criterion.
COMPANIONS = ("mean_wait", "mean_response", "max_wait", "utilisation", ENERGY, "adequacy")

#: These ignore waits after a suspension, so no best is marked for them if any scheduler preempts.
_UNTIL_THE_FIRST_START = ("mean_wait", "median_wait", "p95_wait", "p99_wait", "max_wait")

#: Significant digits in tables for readers: further digits would differ with another sample of jobs.
_DIGITS = 4


@dataclass(frozen=True)
class _Column:
    name: str
    values: list[Any]
    unit: str = ""
    better: Better = "neither"


def leaderboard(
    frame: pd.DataFrame,
    by: str = "mean_bounded_slowdown",
    format: str = "table",
    *,
    unit: str | None = None,
    extra: Iterable[Measure] = (),
    parameters: Mapping[str, str] | None = None,
) -> str:
    """Rank the results of a field and return the ranking as text; see `harness.ranking.ranking.rank`.

    If some schedulers did not run on some platforms, there is one ranking on the platforms that all of them share, and
    one on each platform.

    The format csv is the table alone, json one object with all results, and the others are the table and its
    conclusion. `parameters` maps policies as named in the table to their form with all parameters.
    """
    known_format(format)
    extra = tuple(extra)
    ranked = [(part.where, rank(part.frame, by, unit=unit, extra=extra)) for part in _rankable(frame, by)]
    if len(ranked) == 1:
        return ranking_text(ranked[0][1], format, extra, parameters)
    texts = [ranking_text(ranking, format, extra, parameters) for _, ranking in ranked]
    if format == "json":
        every = zip(ranked, texts, strict=True)
        return to_json({"rankings": [{"where": where, **json.loads(text)} for (where, _), text in every]})
    if format == "csv":
        return _one_csv([where for where, _ in ranked], texts)
    return "\n\n".join(
        f"{prose(f'On {where}:', format)}\n\n{text}" for (where, _), text in zip(ranked, texts, strict=True)
    )


def _rankable(frame: pd.DataFrame, by: str) -> list[Part]:
    """Return the parts of a field that have something to rank; all, if none has."""
    found = parts(frame) if {"scheduler", "platform", "workload"} <= set(frame) else [Part("", frame)]
    done = [part for part in found if by in frame and part.frame[by].notna().any()]
    return done or [Part("", frame)]


def _one_csv(places: Sequence[str], texts: Sequence[str]) -> str:
    """Join tables as one, with the columns of all and a column for the platforms."""
    rows = [
        {"where": where, **row}
        for where, text in zip(places, texts, strict=True)
        for row in csv.DictReader(io.StringIO(text))
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return render(names, [[row.get(name) for name in names] for row in rows], "csv")


def ranking_text(
    ranking: Ranking, format: str, extra: Iterable[Measure] = (), parameters: Mapping[str, str] | None = None
) -> str:
    """Return a ranking as text."""
    known_format(format)
    named = {part for standing in ranking.standings for part in standing.scheduler.split(" + ")}
    full = {short: whole for short, whole in (parameters or {}).items() if short in named}
    if format == "json":
        return _json(ranking, full)
    columns = [*_standings(ranking, format), *_measures(ranking, extra, format), *_verdicts(ranking)]
    names = [column.name for column in columns]
    by = spoken(ranking.by)
    table = render(
        names if format == "csv" else [spoken(name) for name in names],
        zip(*(column.values for column in columns), strict=True),
        format,
        units=[column.unit for column in columns],
        better=[column.better for column in columns],
        caption=f"By {by} ({ranking.better} is better), over {scope(ranking)}; the best of each column is marked"
        + _means_remark(ranking),
        digits=_DIGITS,
    )
    if format == "csv":
        return table
    in_full = f"With all parameters: {', '.join(full.values())}." if full else ""
    words = (conclusion(ranking), " ".join(notes(ranking)), in_full)
    return "\n\n".join([table, *(prose(text, format) for text in words if text)])


def _means_remark(ranking: Ranking) -> str:
    """Return a remark that means are over the logs themselves, if there are variations."""
    apart = ranking.variations > len(ranking.workloads)
    return "; measures are means over the original logs unless marked otherwise" if apart else ""


def _standings(ranking: Ranking, format: str) -> list[_Column]:
    standings = ranking.standings
    low, high = zip(*(standing.interval for standing in standings), strict=True)
    columns = [
        _Column("rank", [standing.rank for standing in standings]),
        _Column("scheduler", [standing.scheduler for standing in standings]),
        _Column("mean_rank", [standing.mean_rank for standing in standings], better="less"),
    ]
    ratio = _Column("ratio to the first" if format != "csv" else "ratio", [standing.ratio for standing in standings])
    if format == "csv":
        p_values = _Column("p_value", [standing.p_value for standing in standings])
        return [*columns, ratio, _Column("low", list(low)), _Column("high", list(high)), p_values]
    if len(standings) < 2:
        return columns
    ranges = ["" if row == 0 else interval(standing) for row, standing in enumerate(standings)]
    return [*columns, ratio, *([_Column("95 % interval", ranges)] if any(ranges) else [])]


def interval(standing: Standing) -> str:
    """Return the interval of a ratio for readers; empty if there is none."""
    low, high = standing.interval
    return f"{readable(low, 3)}–{readable(high, 3)}" if low == low else ""


def _measures(ranking: Ranking, extra: Iterable[Measure], format: str) -> list[_Column]:
    """Return the columns of the criterion and its companions; those without values are left out."""
    standings = ranking.standings
    known = known_measures(extra)
    columns = []
    for name in dict.fromkeys((ranking.by, *COMPANIONS)):
        values = [standing.means.get(name) for standing in standings]
        if all(value is None or value != value for value in values):
            continue
        starred = name != ranking.by and name in _UNTIL_THE_FIRST_START and preempts(ranking)
        title = f"{name}, {covered(ranking)}" if known[name].against_log and format != "csv" else name
        columns.append(_Column(title, values, known[name].unit, "neither" if starred else known[name].better))
        if name == ranking.by and len(ranking.workloads) < ranking.variations:
            theirs = [standing.of_variations for standing in standings]
            columns.append(_Column(f"{name}, variations", theirs, known[name].unit, known[name].better))
        if known[name].against_log and format == "csv":
            columns.append(_Column(f"{name}_logs", [len(ranking.with_adequacy)] * len(standings)))
    return columns


def _verdicts(ranking: Ranking) -> list[_Column]:
    columns = [_Column("group", [standing.groups for standing in ranking.standings])] if ranking.groups else []
    front = [standing.on_front for standing in ranking.standings]
    return [*columns, _Column("Pareto", front)] if any(front) else columns


def _json(ranking: Ranking, parameters: Mapping[str, str]) -> str:
    words = {"conclusion": conclusion(ranking), "notes": list(notes(ranking)), "parameters": dict(parameters)}
    return to_json(words | asdict(ranking))
