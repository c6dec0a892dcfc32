"""The table at the end of a tournament, and its conclusion in words."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from harness.report.tables import known_format, prose, render
from harness.results.adequacy import ADEQUACY
from harness.results.metrics import MEASURES, Better, Measure
from harness.tournament.conclusion import conclusion, notes, scope
from harness.tournament.ranking import ENERGY, Ranking, rank

#: Shown beside the criterion.
COMPANIONS = ("mean_wait", "p95_wait", "utilisation", ENERGY)

#: Significant digits for people: more would not survive another sample of jobs.
_DIGITS = 4


@dataclass(frozen=True)
class _Column:
    """One column of the table."""

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
) -> str:
    """The ranking of a tournament's results as text: see `harness.tournament.ranking.rank`.

    People get the table and its conclusion, csv is the table alone, json one object with all that is known.
    """
    known_format(format)
    extra = tuple(extra)
    return show(rank(frame, by, unit=unit, extra=extra), format, extra)


def show(ranking: Ranking, format: str, extra: Iterable[Measure] = ()) -> str:
    """A ranking as text."""
    known_format(format)
    if format == "json":
        return _json(ranking)
    columns = [*_places(ranking, format), *_measures(ranking, extra), *_verdicts(ranking)]
    names = [column.name for column in columns]
    by = ranking.by.replace("_", " ")
    table = render(
        names if format == "csv" else [name.replace("_", " ") for name in names],
        zip(*(column.values for column in columns), strict=True),
        format,
        units=[column.unit for column in columns],
        better=[column.better for column in columns],
        caption=f"By {by} ({ranking.better} is better), over {scope(ranking)}; the best of each column is marked",
        digits=_DIGITS,
    )
    if format == "csv":
        return table
    words = (conclusion(ranking), " ".join(notes(ranking)))
    return "\n\n".join([table, *(prose(text, format) for text in words if text)])


def _places(ranking: Ranking, format: str) -> list[_Column]:
    standings = ranking.standings
    low, high = zip(*(standing.interval for standing in standings), strict=True)
    columns = [
        _Column("rank", [standing.rank for standing in standings]),
        _Column("scheduler", [standing.scheduler for standing in standings]),
        _Column("mean_rank", [standing.mean_rank for standing in standings], better="less"),
    ]
    if format == "csv":
        return [*columns, _Column("low", list(low)), _Column("high", list(high))]
    if ranking.units < 2:
        return columns
    return [*columns, _Column("95 % interval", [f"{a:.2f}–{b:.2f}" for a, b in zip(low, high, strict=True)])]


def _measures(ranking: Ranking, extra: Iterable[Measure]) -> list[_Column]:
    """The criterion, its companions, and how far the replay is from the log; what nobody has is not shown."""
    standings = ranking.standings
    known = MEASURES | {measure.name: measure for measure in extra}
    columns = []
    for name in dict.fromkeys((ranking.by, *COMPANIONS, ADEQUACY)):
        values = [standing.means.get(name) for standing in standings]
        if all(value is None or value != value for value in values):
            continue
        if name == ADEQUACY:
            columns.append(_Column(name, values, "s", "less"))
        else:
            columns.append(_Column(name, values, known[name].unit, known[name].better))
    return columns


def _verdicts(ranking: Ranking) -> list[_Column]:
    columns = [_Column("group", [standing.groups for standing in ranking.standings])]
    front = [standing.on_front for standing in ranking.standings]
    return [*columns, _Column("Pareto", front)] if any(front) else columns


def _json(ranking: Ranking) -> str:
    from pydantic import TypeAdapter

    everything = {"conclusion": conclusion(ranking), "notes": list(notes(ranking)), **asdict(ranking)}
    return TypeAdapter(dict[str, Any]).dump_json(everything, indent=2).decode()
