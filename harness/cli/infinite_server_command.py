"""`harness theory infinite-server`: jobs on unlimited processors, under a time limit."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli import theory_arguments as arguments
from harness.cli.theory_arguments import Row, needed, not_both, only_one, reading_rows, show

if TYPE_CHECKING:
    import pandas as pd

    from harness.theory import InfiniteServer, Parameters


class Release(StrEnum):
    """How the processors of a request end."""

    independent = "independent"
    together = "together"


@options.spread
def infinite_server(
    workload: arguments.Workload = None,
    widths: arguments.Widths = None,
    arrival_rate: arguments.ArrivalRate = None,
    mean_service: arguments.MeanService = None,
    mean_limit: Annotated[
        float | None, typer.Option(help="Mean time limit of the dispatcher in seconds; none if not given.")
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="Jobs of the workload this long [s] were stopped at their limit.")
    ] = None,
    release: Annotated[
        Release | None,
        typer.Option(help="Processors of a job end together (those of a WORKLOAD, if nothing is said) or independent."),
    ] = None,
    completion: Annotated[float, typer.Option(help="Completion probability to find the critical limit for.")] = 0.95,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals of estimates.")] = 0.95,
    column: arguments.Column = None,
    out: Annotated[Path | None, typer.Option(help="Write the distribution of busy processors to this CSV.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw completion by mean limit for 1, 3 and 5 processors as an HTML page."),
    ] = None,
    *,
    given: options.Read,
) -> None:
    """How many processors are busy if there are always enough, and how many jobs outrun their time limit?"""
    from harness.theory import completion_curves, estimate_parameters

    given.known_format()
    only_one(workload, widths, given)
    rows: list[Row] = []
    if workload is None:
        model = _model(arrival_rate, mean_service, mean_limit, widths, release or Release.independent)
    else:
        rates = {"--arrival-rate": arrival_rate, "--mean-service": mean_service, "--mean-limit": mean_limit}
        not_both(workload, rates)
        jobs = arguments.jobs_of(workload, given, column, limit)
        found = estimate_parameters(
            jobs.interarrival, jobs.service, jobs.width, jobs.killed, jobs.completed, confidence
        )
        rows += [*reading_rows(jobs), *_parameter_rows(found)]
        model = found.model((release or Release.together).value)
    rows += _model_rows(model, completion)
    if out is not None:
        arguments.write({"probability": model.distribution()}, "busy", out)
    if picture is not None:
        draw_completion(completion_curves(mean_service=1 / model.service_rate), picture)
    show(rows, given.format)


def draw_completion(curves: "pd.DataFrame", path: Path) -> None:
    """Draw the paper's Figure 4: how the probability of completion grows with the mean limit."""
    from harness.present.drawing import plotly, write_page

    graph_objects = plotly("graph_objects", path)
    lines = [graph_objects.Scatter(x=curves.index, y=curves[name], name=name, mode="lines") for name in curves]
    figure = graph_objects.Figure(lines)
    figure.update_layout(
        title="Probability that a request is completed",
        xaxis_title=str(curves.index.name),
        yaxis_title="probability",
        yaxis_range=(0, 1),
        showlegend=True,
        template="simple_white",
    )
    write_page(figure, path)


def _model(
    arrival_rate: float | None,
    mean_service: float | None,
    mean_limit: float | None,
    widths: str | None,
    release: Release,
) -> "InfiniteServer":
    from harness.theory import InfiniteServer
    from harness.theory.inputs import positive

    return InfiniteServer(
        needed(arrival_rate, "--arrival-rate"),
        1 / positive(needed(mean_service, "--mean-service"), "--mean-service"),
        0.0 if mean_limit is None else 1 / positive(mean_limit, "--mean-limit"),
        arguments.distribution(widths),
        release.value,
    )


def _parameter_rows(found: "Parameters") -> list[Row]:
    interval = f"{100 * found.confidence:g} % interval"
    rows: list[Row] = []
    for name, letter in (("arrival_rate", "λ"), ("service_rate", "μ"), ("kill_rate", "ν")):
        estimate = getattr(found, name)
        rows.append((name, estimate.value, f"{letter}, per second"))
        rows.append((f"{name}_interval", [estimate.low, estimate.high], interval))
    counts = ((name, getattr(found, name), "jobs") for name in ("completed", "killed", "censored"))
    return [*rows, *counts, ("widths", found.widths.to_dict("records"), f"α_k, {interval}")]


def _model_rows(model: "InfiniteServer", completion: float) -> list[Row]:
    return [
        ("mean_busy", model.mean, "processors"),
        ("deviation_busy", model.variance**0.5, "standard deviation, processors"),
        *(
            (f"servers_p{100 * q:g}", model.procs_needed(q), f"processors that are enough {100 * q:g} % of the time")
            for q in (0.5, 0.95, 0.99, 0.999)
        ),
        ("completion_probability", model.completion_probability, "share of jobs not stopped by the limit"),
        (
            "critical_limit",
            model.critical_limit(completion),
            f"s, mean limit for {100 * completion:g} % completion",
        ),
    ]
