"""`harness theory …`: what a simulation of a workload must agree with, without simulating it."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.other_simulators import other_simulators
from harness.cli.service_rate import service_rate
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.theory import Customers, InfiniteServer, Parameters
    from harness.theory.inputs import FloatArray

app = typer.Typer(help="Closed forms and exact recursions.", no_args_is_help=True)
app.command("service-rate")(service_rate)
app.command("other-simulators")(other_simulators)

#: One line of an answer: its name, its value, what it means.
Row = tuple[str, Any, str]


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    json = "json"


class ProcsFrom(StrEnum):
    """Which width of an SWF job counts."""

    requested = "requested"
    used = "used"


class Release(StrEnum):
    """How the servers of a request end."""

    independent = "independent"
    together = "together"


WorkloadArgument = Annotated[
    str | None,
    typer.Argument(help="A trace (file or catalogue name), or a CSV of interarrival and service times."),
]
WidthsOption = Annotated[
    str | None, typer.Option(help="Probabilities p1,p2,… that a job needs 1, 2, … servers; or k:p,k:p,…")
]
ServersOption = Annotated[int | None, typer.Option(help="Servers (processors) of the machine.")]
ArrivalRateOption = Annotated[float | None, typer.Option(help="Jobs per second.")]
MeanServiceOption = Annotated[float | None, typer.Option(help="Mean service time in seconds.")]
ColumnOption = Annotated[str | None, typer.Option(help="The column of a CSV that holds the widths.")]
ProcsFromOption = Annotated[ProcsFrom, typer.Option(help="Which width of an SWF job counts.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the answer.")]


@app.command()
def stability(
    workload: WorkloadArgument = None,
    widths: WidthsOption = None,
    servers: ServersOption = None,
    arrival_rate: ArrivalRateOption = None,
    mean_service: MeanServiceOption = None,
    column: ColumnOption = None,
    procs_from: ProcsFromOption = ProcsFrom.requested,
    form: FormatOption = Format.table,
) -> None:
    """Can first come, first served keep up with a workload, or with a stream of jobs of these widths?"""
    from harness.theory import stability_constant, stability_of_log, stability_of_stream

    _only_one(workload, widths)
    reading: list[Row] = []
    if workload is not None:
        _not_both(workload, {"--arrival-rate": arrival_rate, "--mean-service": mean_service})
        jobs, servers = _read(workload, servers, column, procs_from)
        reading = _reading_rows(jobs)
        answer = stability_of_log(jobs.interarrival, jobs.service, jobs.width, servers)
    else:
        p = _distribution(widths)
        servers = len(p) if servers is None else servers
        if arrival_rate is None and mean_service is None:
            constant = stability_constant(p, servers)
            _show([("servers", servers, ""), *_constant_rows(constant)], form)
            return
        answer = stability_of_stream(
            p, servers, _needed(arrival_rate, "--arrival-rate"), _needed(mean_service, "--mean-service")
        )
    rows: list[Row] = [
        ("answer", str(answer), ""),
        ("stable", answer.stable, "does the queue stay finite?"),
        ("load", answer.load, "ρ = λ·C·E[S]"),
        ("servers", answer.servers, ""),
        *_constant_rows(answer.constant),
        ("mean_width", answer.mean_width, "E[N], servers"),
        ("mean_service", answer.mean_service, "E[S], s"),
        ("arrival_rate", answer.arrival_rate, "λ, jobs per second"),
        ("max_arrival_rate", answer.max_arrival_rate, "jobs per second at which the queue grows for ever"),
        ("critical_factor", answer.critical_factor, "how much denser the arrivals may become"),
        ("utilisation", answer.utilisation, "share of the servers' time that is asked for"),
        ("critical_utilisation", answer.critical_utilisation, "the most that can be served with such widths"),
        ("unaccepted", answer.unaccepted, "jobs wider than the machine, left out"),
        *reading,
    ]
    _show(rows, form)


@app.command()
def delays(
    workload: WorkloadArgument = None,
    servers: ServersOption = None,
    arrival_rate: ArrivalRateOption = None,
    mean_service: MeanServiceOption = None,
    service_variance: Annotated[
        float | None, typer.Option(help="Variance of the service time [s²], on one server; else exponential.")
    ] = None,
    column: ColumnOption = None,
    procs_from: ProcsFromOption = ProcsFrom.requested,
    out: Annotated[Path | None, typer.Option(help="Write every job's delay to this CSV.")] = None,
    form: FormatOption = Format.table,
) -> None:
    """How long do jobs wait, first come, first served?

    Each job of a WORKLOAD, exactly; or, without one, the mean of a Poisson stream of jobs of one server each.
    """
    if workload is None:
        _show(_textbook_delay(servers, arrival_rate, mean_service, service_variance), form)
        return
    from harness.theory import delays_of_arrivals

    rates = {
        "--arrival-rate": arrival_rate,
        "--mean-service": mean_service,
        "--service-variance": service_variance,
    }
    _not_both(workload, rates)
    jobs, servers = _read(workload, servers, column, procs_from)
    fitting = jobs.fitting(servers)
    delay = delays_of_arrivals(fitting.arrival, fitting.service, fitting.width, servers)
    if out is not None:
        _write_delays(fitting, delay, out)
    rows: list[Row] = [
        ("workload", jobs.name, ""),
        ("servers", servers, ""),
        ("jobs", len(fitting), ""),
        ("unaccepted", len(jobs) - len(fitting), "jobs wider than the machine, left out"),
        ("mean_delay", float(delay.mean()), "s"),
        *_quantiles(delay),
        ("max_delay", float(delay.max()), "s"),
        ("delayed", float((delay > 0).mean()), "share of the jobs that wait at all"),
        *_reading_rows(jobs),
    ]
    _show(rows, form)


@app.command("infinite-server")
def infinite_server(
    workload: WorkloadArgument = None,
    widths: WidthsOption = None,
    arrival_rate: ArrivalRateOption = None,
    mean_service: MeanServiceOption = None,
    mean_limit: Annotated[
        float | None, typer.Option(help="Mean time limit of the dispatcher in seconds; none if not given.")
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="Jobs of the workload this long [s] were stopped at their limit.")
    ] = None,
    release: Annotated[
        Release, typer.Option(help="Servers of a job end by themselves (as in the paper) or together.")
    ] = Release.independent,
    completion: Annotated[float, typer.Option(help="Completion probability to find the critical limit for.")] = 0.95,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals of estimates.")] = 0.95,
    column: ColumnOption = None,
    procs_from: ProcsFromOption = ProcsFrom.requested,
    out: Annotated[Path | None, typer.Option(help="Write the distribution of busy servers to this CSV.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw completion by mean limit for 1, 3 and 5 servers as an HTML page."),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """How many servers are busy if there are always enough, and how many jobs outrun their time limit?"""
    from harness.theory import InfiniteServer, estimate_parameters, read_customers

    _only_one(workload, widths)
    rows: list[Row] = []
    if workload is not None:
        rates = {"--arrival-rate": arrival_rate, "--mean-service": mean_service, "--mean-limit": mean_limit}
        _not_both(workload, rates)
        jobs = read_customers(workload, column, procs_from.value, limit)
        found = estimate_parameters(
            jobs.interarrival, jobs.service, jobs.width, jobs.killed, jobs.completed, confidence
        )
        rows += [*_reading_rows(jobs), *_parameter_rows(found)]
        model = found.model(release.value)
    else:
        model = InfiniteServer(
            _needed(arrival_rate, "--arrival-rate"),
            _rate_of(_needed(mean_service, "--mean-service"), "--mean-service"),
            0.0 if mean_limit is None else _rate_of(mean_limit, "--mean-limit"),
            _distribution(widths),
            release.value,
        )
    rows += _model_rows(model, completion)
    if out is not None:
        _write_distribution(model, out)
    if picture is not None:
        _draw_completion(model, picture)
    _show(rows, form)


@app.command()
def compare(
    form: Annotated[str, typer.Option("--format", help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Does the simulator agree with the closed forms? Takes about half a minute; exit status 1 if it does not."""
    from harness.report.tables import known_format
    from harness.theory import compare_all, comparison_table

    known_format(form)
    compared = compare_all()
    typer.echo(comparison_table(compared, form))
    if not all(comparison.agrees for comparison in compared):
        raise typer.Exit(1)


# Input


def _only_one(workload: str | None, widths: str | None) -> None:
    if (workload is None) == (widths is None):
        raise HarnessError("give either a WORKLOAD or --widths")


def _not_both(workload: str, options: dict[str, float | None]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise HarnessError(f"{given[0]} is taken from {workload}; give one or the other")


def _needed(value: float | None, option: str) -> float:
    if value is None:
        raise HarnessError(f"{option} is missing")
    return value


def _rate_of(mean: float, option: str) -> float:
    from harness.theory.inputs import positive

    return 1 / positive(mean, option)


def _distribution(text: str | None) -> "FloatArray":
    """p1,p2,… or k:p,k:p,… as probabilities, the first for width 1."""
    import numpy as np

    from harness.theory.inputs import server_count

    p: list[float] = []
    try:
        for place, entry in enumerate(_needed_text(text).split(","), start=1):
            width, _, share = entry.rpartition(":")
            k = server_count(int(width)) if width else place
            p += [0.0] * (k - len(p))
            p[k - 1] += float(share)
    except ValueError:
        raise HarnessError(f"--widths {text!r} is not p1,p2,… nor k:p,k:p,… with numbers p and k") from None
    return np.array(p)


def _needed_text(text: str | None) -> str:
    if not text:
        raise HarnessError("--widths is empty")
    return text


def _read(workload: str, servers: int | None, column: str | None, procs_from: ProcsFrom) -> tuple["Customers", int]:
    """The customers of a workload, and how many servers there are for them."""
    from harness.theory import read_customers

    jobs = read_customers(workload, column, procs_from.value)
    servers = jobs.servers if servers is None else servers
    if servers is None:
        raise HarnessError(f"{jobs.name} does not say how many processors its machine has; give --servers")
    return jobs, servers


# Answers


def _constant_rows(constant: float) -> list[Row]:
    return [
        ("constant", constant, "C = E[1/‖m‖]"),
        ("jobs_in_service", 1 / constant, "1/C, mean number in service when the queue never empties"),
    ]


def _reading_rows(jobs: "Customers") -> list[Row]:
    return [(step.name.replace(" ", "_"), step.jobs, step.detail) for step in jobs.reading]


def _textbook_delay(
    servers: int | None, arrival_rate: float | None, mean_service: float | None, variance: float | None
) -> list[Row]:
    from harness.theory import mg1_mean_wait, mmc_mean_wait

    rate, mean = _needed(arrival_rate, "--arrival-rate"), _needed(mean_service, "--mean-service")
    count = int(_needed(servers, "--servers"))
    if variance is None:
        return [("mean_delay", mmc_mean_wait(rate, mean, count), f"s, M/M/{count} (Erlang C)")]
    if count != 1:
        raise HarnessError(f"--service-variance is for one server, not {count}")
    return [("mean_delay", mg1_mean_wait(rate, mean, variance), "s, M/G/1 (Pollaczek–Khinchine)")]


def _quantiles(delay: Any) -> list[Row]:
    import numpy as np

    names = {"median_delay": 0.5, "p95_delay": 0.95, "p99_delay": 0.99}
    return [(name, float(np.quantile(delay, q)), "s") for name, q in names.items()]


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
    needed = [(f"servers_p{100 * q:g}", model.servers_needed(q), f"enough {100 * q:g} % of the time")
              for q in (0.5, 0.95, 0.99, 0.999)]  # fmt: skip
    return [
        ("mean_busy", model.mean, "servers"),
        ("deviation_busy", model.variance**0.5, "standard deviation, servers"),
        *needed,
        ("completion_probability", model.completion_probability, "share of jobs not stopped by the limit"),
        (
            "critical_limit",
            model.critical_limit(completion),
            f"s, mean limit for {100 * completion:g} % completion",
        ),
    ]


def _show(rows: list[Row], form: Format) -> None:
    if form is Format.json:
        typer.echo(json.dumps({name: value for name, value, _ in rows}, ensure_ascii=False))
        return
    from tabulate import tabulate

    typer.echo(
        tabulate(
            [(name, _cell(value), meaning) for name, value, meaning in rows],
            tablefmt="plain",
            disable_numparse=True,
        )
    )


def _cell(value: Any) -> str:
    """A value as a person reads it; lists of widths stay short."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"{len(value)} different ones (--format json lists them)"
    if isinstance(value, list):
        return " … ".join(map(_cell, value))
    return str(value)


def _write_delays(jobs: "Customers", delay: Any, out: Path) -> None:
    import pandas as pd

    columns = {"arrival": jobs.arrival, "service": jobs.service, "width": jobs.width, "delay": delay}
    _write(pd.DataFrame(columns).rename_axis("customer").reset_index(), out)


def _write_distribution(model: "InfiniteServer", out: Path) -> None:
    import pandas as pd

    p = pd.Series(model.distribution(), name="probability")
    _write(p.rename_axis("busy").reset_index(), out)


def _write(table: Any, out: Path) -> None:
    try:
        table.to_csv(out, index=False, float_format="%.17g")
    except OSError as error:
        raise HarnessError(f"cannot write {out}: {error.strerror}") from error


def _draw_completion(model: "InfiniteServer", picture: Path) -> None:
    from harness.theory import completion_curves, draw

    draw(completion_curves(mean_service=1 / model.service_rate), picture)
