"""`harness adequacy`: how far a replay is from the log, and how far repetitions are apart."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import compiling_said, progress_bar, warnings_said
from harness.cli.run import circumstances, heading
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.results.adequacy import Adequacy
    from harness.results.repeatability import Repeatability

#: What says something about two logs that are compared as they are written; the rest is about a replay.
_OF_LOGS = ("workload", "against", "lenient", "plugins", "format")

_OVERHEAD = "exponential(mean=5)"


def adequacy(
    context: typer.Context,
    workload: options.Workload,
    against: Annotated[
        str, typer.Option(help="log, repetition (two replays only), or another log: both as written, not replayed")
    ] = "log",
    platform: options.Platform = None,
    procs: options.Procs = None,
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    select: options.Select = "first-fit",
    procs_from: options.ProcsFrom = "requested",
    estimates: options.Estimates = "requested",
    overrun: options.Overrun = "raise",
    unknown: options.Unknown = "drop",
    memory: options.Memory = "requested",
    jobs: options.Jobs = None,
    from_: options.From = None,
    to: options.To = None,
    filter: options.Filter = None,
    launch: Annotated[str, typer.Option(help="overhead of a job's launch [s], a distribution")] = _OVERHEAD,
    completion: Annotated[str, typer.Option(help="overhead of a job's completion [s], a distribution")] = _OVERHEAD,
    repetitions: Annotated[int, typer.Option(help="pairs of repetitions with such overheads", min=0)] = 10,
    lenient: options.Lenient = False,
    seed: options.Seed = 0,
    plugins: options.PluginPaths = None,
    format: options.Format = "table",
) -> None:
    """Replay WORKLOAD and say how far that is from what the log says happened.

    P is the root of the mean squared difference of the jobs' residence times. P_ideal is the same between two
    repetitions of the replay, in which every job's launch and completion take some time at random: `constant(seconds)`,
    `exponential(mean)`, `uniform(low, high)` or `lognormal(median, sigma)`.
    """
    if platform is not None and procs is not None:
        raise HarnessError("--platform and --procs both given: expected one of them")
    if against == "repetition" and repetitions == 0:
        raise HarnessError("--against repetition --repetitions 0: expected at least one")
    with compiling_said(), warnings_said():
        from harness.policy import Scheduler
        from harness.report.tables import known_format
        from harness.results.adequacy import adequacy as compared
        from harness.results.adequacy import logged
        from harness.results.repeatability import repeatability
        from harness.run import read_platform, read_workload, simulate
        from harness.workload.log import Workload
        from harness.workload.prepare import prepare

        known_format(format)
        folders = tuple(plugins or ())
        log = read_workload(workload, lenient=lenient, plugins=folders)
        if against not in ("log", "repetition"):
            _refuse_replay(context)
            other = read_workload(against, lenient=lenient, plugins=folders)
            print(_shown({}, [f"{log.name} against {other.name}"], compared(log, other), None, format))
            return
        prepared = prepare(
            log,
            procs_from=procs_from,
            estimates=estimates,
            overrun=overrun,
            unknown=unknown,
            memory=memory,
            jobs=jobs,
            start=from_,
            stop=to,
            filter=filter,
        )
        if against == "log":
            logged(prepared)  # says what makes it undefined before anything is simulated
        machine = procs if platform is None else read_platform(platform, plugins=folders)
        scheduler = Scheduler(order, start, select, energy="none")

        def replay(jobs: Workload) -> Any:
            return simulate(jobs, machine, scheduler, seed=seed, plugins=folders)

        result = replay(prepared)
        found = compared(result) if against == "log" else None
        reference = None
        if repetitions:
            with progress_bar(2 * repetitions) as progress:
                reference = repeatability(
                    prepared, replay, launch=launch, completion=completion, pairs=repetitions, seed=seed,
                    progress=progress,
                )  # fmt: skip
    overheads = {"launch": launch, "completion": completion} if reference else {}
    print(_shown(circumstances(result) | overheads, heading(result), found, reference, format))


def _refuse_replay(context: typer.Context) -> None:
    """Refuse options about a replay where there is none."""
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name not in _OF_LOGS and source is not None and source.name == "COMMANDLINE":
            raise HarnessError(f"{parameter.opts[0]}: logs are compared as they are written; expected no such option")


def _shown(
    facts: dict[str, Any],
    heading: list[str],
    found: "Adequacy | None",
    reference: "Repeatability | None",
    format: str,
) -> str:
    """What was found, in the format the user wants."""
    from harness.report.objects import to_json
    from harness.report.tables import render

    verdict = reference.verdict(found) if found and reference else ""
    if format == "json":
        summary = facts | {
            "adequacy": asdict(found) if found else None,
            "reference": asdict(reference) if reference else None,
            "ratio": found.P / reference.P if found and reference and reference.P > 0 else None,
            "verdict": verdict or None,
        }
        return to_json(summary)
    headers, units, rows = _table(found, reference)
    sentences = [*_sentences(found, reference, facts), *([verdict] if verdict else [])]
    if format != "table":
        return render(headers, rows, format, units=units, caption=" ".join(sentences))
    return "\n".join([*heading, "", render(headers, rows, format, units=units), "", *sentences])


def _table(found: "Adequacy | None", reference: "Repeatability | None") -> tuple[list[str], list[str], list[list[Any]]]:
    """The growth of what there is, as the paper's Table 1 lays it out."""
    headers, units = ["jobs"], [""]
    parts = []
    if found:
        headers += ["P", "E", "different waits"]
        parts.append(found.growth)
    if reference:
        headers += ["P_ideal", "E_ideal", "different waits, ideal"]
        parts.append(reference.growth)
    units += ["s", "s", ""] * len(parts)
    rows = [[of[0].jobs, *(v for g in of for v in (g.P, g.E, g.different))] for of in zip(*parts, strict=True)]
    return headers, units, rows


def _sentences(found: "Adequacy | None", reference: "Repeatability | None", facts: dict[str, Any]) -> list[str]:
    sentences = []
    if found:
        sentences.append(f"|V − v|: median {found.median:,.1f} s, 95th percentile {found.p95:,.1f} s.")
    if reference:
        pairs = len(reference.pairs)
        interval = f", 95 % interval {reference.low:,.1f} to {reference.high:,.1f} s" if pairs > 1 else ""
        sentences.append(
            f"P_ideal = {reference.P:,.1f} s{interval}, of {pairs} pairs of repetitions; "
            f"launch {facts['launch']}, completion {facts['completion']}."
        )
    return sentences
