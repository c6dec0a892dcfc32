"""`harness tune`: a search for better parameters, and whether they are better where nothing was tuned."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import completion, options
from harness.cli.console import compiling_said, say, warnings_said

if TYPE_CHECKING:
    from harness.tuning.judging import Judgement
    from harness.tuning.ranges import Search
    from harness.tuning.search import SearchResult, Trial


@options.spread
def tune(
    field: Annotated[Path, typer.Argument(help="a TOML file: a field with ranges, as in easy(reservations=1..8)")],
    *,
    given: options.Shown,
    trials: Annotated[int, typer.Option(help="try so many points, those of earlier calls included", min=1)] = 50,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="MEASURE",
            help="what shall be better; may be repeated",
            autocompletion=completion.measures,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="the folder of the search (tunings/NAME)")] = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
) -> None:
    """Search the ranges of FIELD for better parameters, and judge the best where nothing was tuned.

    It trains on the first halves of the field's workloads and as many variations as the field's resamples say, by
    geometric means of ratios to the default. The best, or with several objectives those that none beats in all, are
    judged by a tournament with the default, on the second halves and on the logs of the field's held_out. The same
    command goes on where an earlier one was interrupted.
    """
    with compiling_said(), warnings_said():
        from harness.present.progress import progress
        from harness.tuning.judging import judge
        from harness.tuning.ranges import read_search
        from harness.tuning.search import search_for

        given.known_format()
        search = read_search(field, given.folders, tuple(objective or ()))
        folder = out or Path("tunings") / search.field.name
        with progress("searching", "trials") as watch:
            found = search_for(
                search, folder, trials=trials, seed=seed, plugins=given.folders, workers=workers, watch=watch
            )
        judgements, time = judge(search, found.best, folder, plugins=given.folders, workers=workers)
        picture = _drawn(search, found, folder)
    say(_shown(search, found, judgements, given.format))
    if given.format == "table":
        say("\n".join([*_told(search, judgements, time, picture), *_edges(search, found)]))


def _shown(search: "Search", found: "SearchResult", judgements: "list[Judgement]", format: str) -> str:
    """Return the best trials and how they were judged, a row each."""
    from harness.present.tables import render
    from harness.present.words import spoken

    names = [spoken(one.name) if format == "table" else one.name for one in search.objectives]
    heads = (*(one.label for one in search.ranges), *(f"{name}, training" for name in names))
    rows = [_row(search, trial, judgements) for trial in found.best]
    return render((*heads, *(f"{name}, held out" for name in names)), rows, format, digits=4)


def _row(search: "Search", trial: "Trial", judgements: "list[Judgement]") -> list[Any]:
    judged = {one.measure.name: one.ratio for one in judgements if one.trial == trial}
    training = [
        1 / ratio if one.better == "more" else ratio for one, ratio in zip(search.objectives, trial.ratios, strict=True)
    ]
    return [
        *(trial.values[one.label] for one in search.ranges),
        *training,
        *(judged.get(one.name) for one in search.objectives),
    ]


def _told(search: "Search", judgements: "list[Judgement]", time: int, picture: Path | None) -> list[str]:
    """Return the verdicts in words, below the table."""
    told = ["", "Numbers are ratios to the default: training is what was searched on, held out what was not."]
    for one in judgements:
        values = ", ".join(f"{label} {value:g}" for label, value in one.trial.values.items())
        told.append(f"{values}: {one.sentence}")
    if not judgements:
        told.append("The search found nothing better than the default: there is nothing to judge.")
    if time > 1:
        told.append(
            f"Warning: the held-out data have now judged {time} choices: the last is not as untouched as the first."
        )
    return told + ([f"The front is drawn in {picture}."] if picture else [])


def _edges(search: "Search", found: "SearchResult") -> list[str]:
    """Return which of the best values lie at the end of their range: better ones may lie beyond."""
    ends = {
        (
            one.label,
            end,
        ): f"{one.label} = {trial.values[one.label]:g} lies at the edge of its range {one.low:g}..{one.high:g}"
        for trial in found.best
        for one in search.ranges
        if (end := one.edge(float(trial.values[one.label]))) is not None
    }
    return [f"{words}: better values may lie beyond it." for words in ends.values()]


def _drawn(search: "Search", found: "SearchResult", folder: Path) -> Path | None:
    """Draw the trials of a search for several objectives, and who is on the front; None if there is nothing to draw."""
    from importlib.util import find_spec

    if len(search.objectives) < 2 or find_spec("plotly") is None:
        return None
    from harness.present.drawing import write_page
    from harness.tuning.front import front

    path = folder / "front.html"
    write_page(front(search, found), path)
    return path
