"""`harness tune`: search better parameters, and judge them on data that the search has not seen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import completion, options
from harness.cli.console import echo, notices_on_stderr

if TYPE_CHECKING:
    from harness.tuning.judging import Judgement
    from harness.tuning.ranges import Search
    from harness.tuning.search import SearchResult, Trial


@options.expand_groups
def tune(
    field: Annotated[Path, typer.Argument(help="a TOML file: a field with ranges, as in easy(reservations=1..8)")],
    *,
    given: options.TableOptions,
    trials: Annotated[int, typer.Option(help="number of points to try, with those of earlier calls", min=1)] = 50,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="MEASURE",
            help="the measure to improve; repeatable",
            autocompletion=completion.measures,
        ),
    ] = None,
    out: Annotated[Path | None, options.output(help="the folder of the search (tunings/NAME)")] = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
) -> None:
    """Search the ranges of FIELD for better parameters, and judge the best on data that the search has not seen.

    The search uses the first halves of the field's workloads and their resamples. It minimises geometric means of
    ratios to the default. The best point, or with several objectives the Pareto front, is then compared with the
    default in a tournament on the second halves and on the field's held_out logs. The same command continues an
    interrupted search.
    """
    with notices_on_stderr():
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
        picture = _draw_front(search, found, folder)
    echo(_render(search, found, judgements, given.format))
    if given.format == "table":
        echo("\n".join([*_verdict_sentences(search, judgements, time, picture), *_edge_warnings(search, found)]))


def _render(search: "Search", found: "SearchResult", judgements: "list[Judgement]", format: str) -> str:
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


def _verdict_sentences(search: "Search", judgements: "list[Judgement]", time: int, picture: Path | None) -> list[str]:
    """Return the verdicts, to be printed below the table."""
    sentences = ["", "Numbers are ratios to the default, on the training data and on the held-out data."]
    for one in judgements:
        values = ", ".join(f"{label} {value:g}" for label, value in one.trial.values.items())
        sentences.append(f"{values}: {one.sentence}")
    if not judgements:
        sentences.append("The search found nothing better than the default: there is nothing to judge.")
    if time > 1:
        sentences.append(
            f"Warning: the held-out data have now judged {time} choices: the last judgement is weaker than the first."
        )
    return sentences + ([f"The front is drawn in {picture}."] if picture else [])


def _edge_warnings(search: "Search", found: "SearchResult") -> list[str]:
    """Return a warning for each best value at an end of its range."""
    warnings = {
        (one.label, end): f"{one.label} = {trial.values[one.label]:g} lies at the edge of its range "
        f"{one.low:g}..{one.high:g}: better values may lie beyond it."
        for trial in found.best
        for one in search.ranges
        if (end := one.edge(float(trial.values[one.label]))) is not None
    }
    return list(warnings.values())


def _draw_front(search: "Search", found: "SearchResult", folder: Path) -> Path | None:
    """Draw all trials and the Pareto front. Return None for one objective, or without plotly."""
    from importlib.util import find_spec

    if len(search.objectives) < 2 or find_spec("plotly") is None:
        return None
    from harness.present.drawing import write_page
    from harness.tuning.front import front

    path = folder / "front.html"
    write_page(front(search, found), path)
    return path
