"""`harness theory …`: exact results that a simulation of a workload must agree with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli import theory_arguments as arguments
from harness.cli.infinite_server_command import infinite_server
from harness.cli.study_command import PASSED_ON, study
from harness.cli.theory_arguments import Row, reading_rows, refuse_rates, require_one_source, show
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.theory import Stability
    from harness.theory.inputs import FloatArray

app = typer.Typer(help="Closed forms and exact recursions from queueing theory.", no_args_is_help=True)

#: Command → its script in `reports`, and its help.
STUDIES = {
    "compare": ("theory", "Compare the simulator with the closed forms: the table of reports/theory.md."),
    "service-rate": ("service_rate", "A cluster with a rate that follows its workload: reports/service-rate.md."),
    "other-simulators": (
        "other_simulators",
        "Compare with Batsim and SPARS on sleeping nodes: reports/other-simulators.md.",
    ),
    "oar-executions": ("oar_executions", "Compare executions on real nodes with replays: reports/oar-executions.md."),
    "kth-calendar": ("kth_calendar", "Fit a site's calendar on half of a log: reports/kth-calendar.md."),
    "identify": ("identify_study", "Test `harness identify` on logs of known policies: reports/identify-study.md."),
    "peas": ("peas_table3", "Reproduce Table 3 of the PEAS paper: reports/peas-table3.md."),
}


@app.command()
@options.expand_groups
def stability(
    workload: arguments.Workload = None,
    widths: arguments.Widths = None,
    procs: arguments.Procs = None,
    arrival_rate: arguments.ArrivalRate = None,
    mean_service: arguments.MeanService = None,
    column: arguments.Column = None,
    service_law: Annotated[
        str | None,
        typer.Option(
            help="with --widths: also 1/C by simulation, for exponential, deterministic, uniform, lognormal or "
            "hyperexponential service times"
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="also compute C by a sum from its paper: enumeration (to 7 processors), partitions (to 50) or sampling"
        ),
    ] = None,
    *,
    given: options.WorkloadOptions,
) -> None:
    """Compute whether first come, first served can keep up with a workload, or with a stream of such widths.

    The closed form assumes exponential service times that do not depend on the width. A WORKLOAD has its own saturated
    throughput: the time to serve its jobs in order if all are present at time 0.
    """
    from harness.theory import (
        saturated_load,
        stability_constant,
        stability_of_log,
        stability_of_stream,
        width_distribution,
    )
    from harness.theory.inputs import proc_count

    given.known_format()
    require_one_source(workload, widths, given)
    if workload is not None:
        refuse_rates(workload, {"--arrival-rate": arrival_rate, "--mean-service": mean_service})
        jobs, procs = arguments.read(workload, given, procs, column)
        if service_law is not None:
            raise HarnessError("--service-law: a workload has its own service times; expected it with --widths")
        answer = stability_of_log(jobs.interarrival, jobs.service, jobs.width, procs)
        fits = jobs.fitting(procs)
        own = saturated_load(fits.arrival, fits.service, fits.width, procs)
        shares, _ = width_distribution(fits.width, procs)
        rows = [*_own_rows(own), *_closed_rows(answer), *_rows_by(by, shares, procs)]
        show([*rows, *reading_rows(jobs)], given.format)
        return
    p = arguments.distribution(widths)
    procs = proc_count(len(p) if procs is None else procs)
    if arrival_rate is None and mean_service is None:
        by_law = [*_rows_by(by, p, procs), *([] if service_law is None else _law_rows(p, procs, service_law))]
        show([("servers", procs, "processors"), *_constant_rows(stability_constant(p, procs)), *by_law], given.format)
        return
    if service_law is not None:
        raise HarnessError("--service-law: gives 1/C, without rates; expected no --arrival-rate and --mean-service")
    rate = arguments.required(arrival_rate, "--arrival-rate")
    answer = stability_of_stream(p, procs, rate, arguments.required(mean_service, "--mean-service"))
    show([*_stability_rows(answer), *_rows_by(by, p, procs)], given.format)


@app.command()
@options.expand_groups
def delays(
    workload: arguments.Workload = None,
    procs: arguments.Procs = None,
    arrival_rate: arguments.ArrivalRate = None,
    mean_service: arguments.MeanService = None,
    service_variance: Annotated[
        float | None, typer.Option(help="variance of the service time [s²], on one processor (default: exponential)")
    ] = None,
    column: arguments.Column = None,
    out: Annotated[Path | None, options.output(help="write every job's delay to this CSV")] = None,
    *,
    given: options.WorkloadOptions,
) -> None:
    """Compute how long jobs wait, first come, first served.

    The delays of a WORKLOAD are exact. Without one, the answer is the mean delay of a Poisson stream of
    one-processor jobs.
    """
    import numpy as np

    from harness.theory import delays_of_arrivals

    given.known_format()
    if workload is None:
        show([_textbook_delay(procs, arrival_rate, mean_service, service_variance)], given.format)
        return
    rates = {"--arrival-rate": arrival_rate, "--mean-service": mean_service, "--service-variance": service_variance}
    refuse_rates(workload, rates)
    jobs, procs = arguments.read(workload, given, procs, column)
    fitting = jobs.fitting(procs)
    delay = delays_of_arrivals(fitting.arrival, fitting.service, fitting.width, procs)
    if out is not None:
        columns = {"arrival": fitting.arrival, "service": fitting.service, "width": fitting.width, "delay": delay}
        arguments.write(columns, "customer", out)
    quantiles = {"median_delay": 0.5, "p95_delay": 0.95, "p99_delay": 0.99}
    rows: list[Row] = [
        ("workload", jobs.name, ""),
        ("servers", procs, "processors"),
        ("jobs", len(fitting), ""),
        ("unaccepted", len(jobs) - len(fitting), "jobs wider than the machine, left out"),
        ("mean_delay", float(delay.mean()), "s"),
        *((name, float(np.quantile(delay, q)), "s") for name, q in quantiles.items()),
        ("max_delay", float(delay.max()), "s"),
        ("delayed", float((delay > 0).mean()), "share of the jobs that wait at all"),
        *reading_rows(jobs),
    ]
    show(rows, given.format)


app.command("infinite-server")(infinite_server)
for _name, (_script, _about) in STUDIES.items():
    app.command(_name, help=_about, add_help_option=False, context_settings=PASSED_ON)(
        study(_script, f"theory {_name}")
    )


def _own_rows(load: float) -> list[Row]:
    """Return rows that show by its saturated throughput whether a log can be served."""
    answer = f"{'stable' if load < 1 else 'unstable'}: served in {load:.3f} of the time in which the jobs came"
    return [
        ("answer", answer, "by the log itself: its jobs in order, all present at time 0"),
        ("stable", load < 1, "does the queue stay finite?"),
        ("saturated_load", load, "time to serve all, by the time in which they came"),
    ]


def _closed_rows(answer: "Stability") -> list[Row]:
    """Return the rows of the closed form. Two are renamed, so that they do not replace the log's own answer."""
    renamed = {
        "answer": ("closed_form", "for exponential service times independent of width"),
        "stable": ("closed_form_stable", "by the closed form"),
    }
    rows = _stability_rows(answer)
    return [
        (renamed[name][0], value, renamed[name][1]) if name in renamed else (name, value, m) for name, value, m in rows
    ]


def _rows_by(forms: list[str] | None, widths: "FloatArray", procs: int) -> list[Row]:
    """Return C by the sums of its paper, which are slow and confirm the closed form."""
    import numpy as np

    from harness.theory import constant_by_enumeration, constant_by_partitions, constant_by_sampling

    rows: list[Row] = []
    padded = np.pad(widths, (0, max(0, procs - len(widths)))).tolist()
    for form in dict.fromkeys(forms or ()):
        if form == "enumeration":
            rows.append(("constant_by_enumeration", constant_by_enumeration(padded), "C by (4), over all sequences"))
        elif form == "partitions":
            rows.append(("constant_by_partitions", constant_by_partitions(padded), "C by (9), over partitions"))
        elif form == "sampling":
            found = constant_by_sampling(widths, procs)
            rows.append(("constant_by_sampling", found.value, "C by (10), the mean of 100,000 random queues"))
            rows.append(("constant_by_sampling_error", found.standard_error, "standard error of that"))
        else:
            raise HarnessError(f"--by {form}: {did_you_mean(form, ('enumeration', 'partitions', 'sampling'))}")
    return rows


def _law_rows(widths: "FloatArray", procs: int, law: str) -> list[Row]:
    from harness.theory import saturated_constant

    found = saturated_constant(widths, procs, law)
    return [
        (f"jobs_in_service_{law}", found.jobs_in_service, f"1/C for {law} service times, simulated"),
        (f"jobs_in_service_{law}_interval", [found.low, found.high], "95 % interval"),
    ]


def _stability_rows(answer: "Stability") -> list[Row]:
    return [
        ("answer", str(answer), ""),
        ("stable", answer.stable, "does the queue stay finite?"),
        ("load", answer.load, "ρ = λ·C·E[S]"),
        ("servers", answer.procs, "processors"),
        *_constant_rows(answer.constant),
        ("mean_width", answer.mean_width, "E[N], processors"),
        ("mean_service", answer.mean_service, "E[S], s"),
        ("arrival_rate", answer.arrival_rate, "λ, jobs per second"),
        ("max_arrival_rate", answer.max_arrival_rate, "jobs per second at which the queue grows for ever"),
        ("critical_factor", answer.critical_factor, "how much denser the arrivals may become"),
        ("utilisation", answer.utilisation, "share of the processors' time that is requested"),
        ("critical_utilisation", answer.critical_utilisation, "the most that can be served with such widths"),
        ("unaccepted", answer.unaccepted, "jobs wider than the machine, left out"),
    ]


def _constant_rows(constant: float) -> list[Row]:
    return [
        ("constant", constant, "C = E[1/‖m‖]"),
        ("jobs_in_service", 1 / constant, "1/C, mean number in service when the queue never empties"),
    ]


def _textbook_delay(
    procs: int | None, arrival_rate: float | None, mean_service: float | None, variance: float | None
) -> Row:
    from harness.theory import mg1_mean_wait, mmc_mean_wait

    rate, mean = arguments.required(arrival_rate, "--arrival-rate"), arguments.required(mean_service, "--mean-service")
    count = int(arguments.required(procs, "--procs"))
    if variance is None:
        return "mean_delay", mmc_mean_wait(rate, mean, count), f"s, M/M/{count} (Erlang C)"
    if count != 1:
        raise HarnessError(f"--service-variance is for one processor, not {count}")
    return "mean_delay", mg1_mean_wait(rate, mean, variance), "s, M/G/1 (Pollaczek–Khinchine)"
