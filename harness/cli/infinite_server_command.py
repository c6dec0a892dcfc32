"""`harness theory infinite-server`: jobs on unlimited processors, under a time limit."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli import theory_arguments as arguments
from harness.cli.theory_arguments import Row, reading_rows, refuse_rates, require_one_source, show
from harness.errors import HarnessError

if TYPE_CHECKING:
    import pandas as pd

    from harness.theory import InfiniteServer, JobStream, Parameters
    from harness.theory.inputs import FloatArray
    from harness.theory.limit_laws import LimitLaw


#: Distribution in the drawing → the first word of its rows, and its meaning.
_KEYS = {
    "the log": ("log", "by the log's own starts and ends"),
    "the log, had nobody waited": ("log_unqueued", "if every job had started when it was submitted"),
}


class Release(StrEnum):
    """How the processors of a job end."""

    independent = "independent"
    together = "together"


@options.expand_groups
def infinite_server(
    workload: arguments.Workload = None,
    widths: arguments.Widths = None,
    arrival_rate: arguments.ArrivalRate = None,
    mean_service: arguments.MeanService = None,
    mean_limit: Annotated[
        float | None, typer.Option(help="mean time limit of the dispatcher [s] (default: no limit)")
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="jobs of the workload that ran this long [s] were stopped at their limit")
    ] = None,
    release: Annotated[
        Release | None,
        typer.Option(help="processors of a job end together (default for a WORKLOAD), or independent of each other"),
    ] = None,
    limit_law: Annotated[
        str,
        typer.Option(
            help="distribution of the limits: exponential, deterministic, uniform, erlang(shape=2), "
            "lognormal(sigma=1), or logged: the requested times of the WORKLOAD"
        ),
    ] = "exponential",
    completion: Annotated[float, typer.Option(help="find the limit for this completion probability")] = 0.95,
    confidence: Annotated[float, typer.Option(help="confidence level of the estimates")] = 0.95,
    column: arguments.Column = None,
    out: Annotated[Path | None, options.output(help="write the distribution of busy processors to this CSV")] = None,
    picture: Annotated[
        Path | None,
        options.output(
            help="write an HTML page with completion by mean limit for 1, 3 and 5 processors, and for a WORKLOAD "
            "the busy processors of log and model"
        ),
    ] = None,
    *,
    given: options.WorkloadOptions,
) -> None:
    """Compute how many processors are busy if there are always enough, and how many jobs exceed their time limit."""
    from harness.theory import completion_curves, estimate_parameters
    from harness.theory.limit_laws import limit_law as law_named

    given.known_format()
    require_one_source(workload, widths, given)
    rows: list[Row] = []
    busy: dict[str, FloatArray] = {}
    if workload is None:
        law = law_named(limit_law)
        model = _model(arrival_rate, mean_service, mean_limit, widths, release or Release.independent, law)
    else:
        rates = {"--arrival-rate": arrival_rate, "--mean-service": mean_service, "--mean-limit": mean_limit}
        refuse_rates(workload, rates)
        jobs = arguments.jobs_of(workload, given, column, limit)
        found = estimate_parameters(
            jobs.interarrival, jobs.service, jobs.width, jobs.killed, jobs.completed, confidence
        )
        rows += [*reading_rows(jobs), *_parameter_rows(found)]
        law, mean = _limits_of(jobs, limit_law)
        model = found.model((release or Release.together).value, law, mean)
        busy = _of_the_log(jobs)
    rows += [*_model_rows(model, completion), *_log_rows(busy)]
    if out is not None:
        arguments.write(_side_by_side(model.distribution(), busy), "busy", out)
    if picture is not None:
        curves = completion_curves(mean_service=1 / model.service_rate)
        draw_completion(curves, picture, {"the model": model.distribution()} | busy if busy else {})
    show(rows, given.format)


def _limits_of(jobs: Any, name: str) -> tuple[Any, float | None]:
    """Return the distribution of the limits, and their mean if the jobs have it."""
    from harness.theory.limit_laws import limit_law, logged_limits

    if name != "logged":
        return limit_law(name), None
    known = jobs.limit[jobs.limit > 0]
    if not known.size:
        raise HarnessError(f"{jobs.name} has no requested times; expected another --limit-law")
    return logged_limits(known), float(known.mean())


def draw_completion(curves: "pd.DataFrame", path: Path, busy: "dict[str, FloatArray] | None" = None) -> None:
    """Draw Figure 4 of the paper: completion probability by mean limit.

    With `busy`, a chart above it shows how often at most n processors are busy, by the model and by the log.
    """
    from harness.present.drawing import plotly, write_page

    titles = [*(["Share of the time in which at most this many processors are busy"] if busy else [])]
    titles.append("Probability that a request is completed")
    figure = plotly("subplots", path).make_subplots(rows=len(titles), subplot_titles=titles, vertical_spacing=0.15)
    for name, shares in (busy or {}).items():
        figure.add_scatter(y=shares.cumsum(), name=name, mode="lines", line={"shape": "hv"}, row=1, col=1)
    for column in curves:
        figure.add_scatter(x=curves.index, y=curves[column], name=str(column), mode="lines", row=len(titles), col=1)
    if busy:
        figure.update_xaxes(title="busy processors", row=1, col=1)
    figure.update_xaxes(title=str(curves.index.name), row=len(titles), col=1)
    figure.update_yaxes(title="probability", range=(0, 1))
    figure.update_layout(showlegend=True, template="simple_white", height=420 * len(titles))
    write_page(figure, path)


def _of_the_log(jobs: "JobStream") -> "dict[str, FloatArray]":
    """Return the distributions of busy processors: by the log, and if no job had waited."""
    logged, unqueued = _KEYS
    found = {unqueued: jobs.occupation(queued=False).shares}
    return {logged: jobs.occupation(queued=True).shares} | found if (jobs.wait >= 0).any() else found


def _side_by_side(model: "FloatArray", busy: "dict[str, FloatArray]") -> "dict[str, FloatArray]":
    """Return the columns of the CSV, padded to one length."""
    import numpy as np

    columns = {"probability": model} | {_KEYS[name][0]: shares for name, shares in busy.items()}
    most = max(map(len, columns.values()))
    return {name: np.pad(shares, (0, most - len(shares))) for name, shares in columns.items()}


def _log_rows(busy: "dict[str, FloatArray]") -> list[Row]:
    import numpy as np

    rows: list[Row] = []
    for name, shares in busy.items():
        key, about = _KEYS[name]
        n = np.arange(len(shares))
        mean, upto = float(shares @ n), shares.cumsum()
        rows += [
            (f"{key}_mean_busy", mean, f"processors, {about}"),
            (f"{key}_deviation_busy", float(shares @ (n - mean) ** 2) ** 0.5, "standard deviation, processors"),
        ]
        for q in (0.5, 0.95, 0.99):
            rows.append(
                (f"{key}_servers_p{100 * q:g}", int(np.searchsorted(upto, q)), f"enough {100 * q:g} % of the time")
            )
    return rows


def _model(
    arrival_rate: float | None,
    mean_service: float | None,
    mean_limit: float | None,
    widths: str | None,
    release: Release,
    law: "LimitLaw",
) -> "InfiniteServer":
    from harness.theory import InfiniteServer
    from harness.theory.inputs import positive

    return InfiniteServer(
        arguments.required(arrival_rate, "--arrival-rate"),
        1 / positive(arguments.required(mean_service, "--mean-service"), "--mean-service"),
        0.0 if mean_limit is None else 1 / positive(mean_limit, "--mean-limit"),
        arguments.distribution(widths),
        release.value,
        law=law,
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
        ("critical_limit", model.critical_limit(completion), f"s, mean limit for {100 * completion:g} % completion"),
    ]
