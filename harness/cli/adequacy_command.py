"""`harness adequacy`: how far a replay is from its log, and how far repetitions are from each other."""

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr
from harness.cli.run_command import heading, run_facts
from harness.cli.slurm_rules import SlurmRules
from harness.errors import HarnessError
from harness.present.words import readable

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.results.adequacy import Adequacy
    from harness.results.breakdown import Breakdown
    from harness.results.repeatability import Repeatability
    from harness.results.schedule import Schedule
    from harness.workload.log import Log, Workload

#: The options that apply when two logs are compared as they are written. All others are about a replay.
_OF_LOGS = ("workload", "against", "lenient", "plugins", "format")

_OVERHEAD = "exponential(mean=5)"
_AT_ONCE = "constant(seconds=0)"


@options.expand_groups
def adequacy(
    context: typer.Context,
    workload: options.Workload,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="log (the default), repetition (two replays only), or FILE: an execution of WORKLOAD on a real "
            "machine, or another log; repeatable"
        ),
    ] = None,
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    *,
    given: options.ReplayOptions,
    rules: SlurmRules,
    events: options.Events = None,
    interrupted: options.Interrupted = "requeue",
    launch: options.Launch = _OVERHEAD,
    completion: options.Completion = _OVERHEAD,
    overheads: options.Overheads = "inside",
    submission: options.Submission = _AT_ONCE,
    repetitions: Annotated[
        int, options.statistics(help="pairs of repetitions with random overheads", min=0, max=10_000)
    ] = 20,
) -> None:
    """Replay WORKLOAD and measure how far the replay is from its log.

    P is the root mean square difference of the jobs' residence times. P_ideal is the same between two repetitions of
    the replay. In a repetition the launch and completion of every job take a random time: `constant(seconds)`,
    `exponential(mean)`, `uniform(low, high)` or `lognormal(median, sigma)`. By default these overheads are part of the
    runtime. With --overheads outside, the launch prolongs the wait, and processors are free after the completion.

    Against a FILE, a WORKLOAD with logged waits is compared as it is written, and one without waits is replayed. With
    --slurm every WORKLOAD is replayed as Slurm would schedule it. Of several executions every pair is compared: P
    between them is a measured P_ideal.
    """
    files, repeated = _sides(against, repetitions)
    draws = repetitions if rules.slurm else 0  # replays with other phases of Slurm's loops
    with notices_on_stderr():
        from harness.results.adequacy import adequacy as compared
        from harness.results.adequacy import logged_stream
        from harness.results.breakdown import breakdown
        from harness.results.executions import with_executed_times

        given.known_format()
        rules.refuse_policies(context)
        external_events = options.read_external_events(events, interrupted)
        logs = [given.log(path) for path in files]
        log = given.log(workload)
        if logs and not rules.slurm and (log.jobs["wait"] >= 0).any():
            _refuse_replay(context)
            echo(_compare_logs([log, *logs], given.format))
            return
        if not repeated:
            given.refuse_unknown_waits()
        prepared = given.jobs(workload)
        several = [with_executed_times(prepared, log, execution) for execution in logs]
        prepared = several[0] if several else prepared
        if not repeated:
            logged_stream(prepared)  # raises what makes P undefined before anything is simulated
        replay = _replay_with(given, rules, log, prepared, given.scheduler(order, start), external_events)
        result = replay(prepared)
        if len(several) > 1:
            replays = [result, *map(replay, several[1:])]
            echo(_against_executions(log, logs, replays, given.format, _replay_phases(replay, several, draws)))
            return
        found, where = (None, None) if repeated else (compared(result), breakdown(result))
        drawn = {"launch": launch, "completion": completion, "overheads": overheads, "submission": submission}
        assumed, reference = _replay_repetitions(prepared, replay, drawn, repetitions, given.seed)
        phases = _replay_phases(replay, [prepared], 0 if repeated else draws)
    about = [*rules.unmodelled(), *heading(result), *_incidents(logs, result, log)]
    echo(_render(run_facts(result) | assumed | phases, about, found, reference, given.format, where))


def _replay_with(
    given: options.ReplayOptions, rules: SlurmRules, log: "Log", prepared: "Workload", scheduler: Any, events: Any
) -> "Callable[[Workload], Any]":
    """Return a function that replays a workload made of `log`, under the scheduler or the rules of a Slurm."""
    from harness.experiment.simulation import simulate

    if rules.slurm:
        return rules.replay(log, given.seed, given.reservations)
    machine = given.machine(prepared)
    kept: Any = {"seed": given.seed, "plugins": given.folders, "events": events, "timing": given.timing}
    return lambda jobs: simulate(jobs, machine, scheduler, **kept)


def _sides(against: list[str] | None, repetitions: int) -> tuple[list[str], bool]:
    """Return the files of --against, and whether only repetitions are compared."""
    files = [] if against in (None, ["log"], ["repetition"]) else list(against or ())
    if {"log", "repetition"} & {*files}:
        raise HarnessError("--against log or repetition, and a file: expected one of them, or files only")
    repeated = against == ["repetition"]
    if repeated and repetitions == 0:
        raise HarnessError("--against repetition --repetitions 0: expected at least one")
    return files, repeated


def _replay_repetitions(
    jobs: "Workload", replay: "Callable[[Workload], Any]", drawn: dict[str, Any], pairs: int, seed: int
) -> "tuple[dict[str, Any], Repeatability | None]":
    """Replay pairs of repetitions with overheads. Return the overheads and the distances of the pairs, if any."""
    from harness.present.progress import progress
    from harness.results.repeatability import repeatability

    if pairs == 0:
        return {}, None
    with progress("simulating", "replays") as advance:
        return drawn, repeatability(jobs, replay, **drawn, pairs=pairs, seed=seed, progress=advance)


def _replay_phases(replay: "Callable[[Workload], Any]", sides: "list[Workload]", draws: int) -> dict[str, Any]:
    """Replay with other phases of Slurm's loops. Return the distances from the logs."""
    from harness.present.progress import progress
    from harness.results.adequacy import adequacy as compared

    if not draws:
        return {}
    with progress("simulating", "replays") as advance:
        found = []
        for number in range(draws):
            found.append(compared(replay(sides[number % len(sides)])).P)
            advance(number + 1, draws)
    return {"phases": {"replays": draws, "P": sum(found) / draws, "least": min(found), "most": max(found)}}


def _phase_sentence(phases: dict[str, Any]) -> str:
    return (
        f"The phases of Slurm's loops are random: over {phases['replays']} more replays the mean of P is "
        f"{phases['P']:,.1f} s, the smallest {phases['least']:,.1f} s and the largest {phases['most']:,.1f} s."
    )


def _compare_logs(logs: "list[Log]", format: str) -> str:
    """Compare executions, or two logs, as they are written."""
    from harness.cli.execution_tables import render_executions
    from harness.results.adequacy import compare, stream_of_log
    from harness.results.executions import compare_executions, matched, submission_differences
    from harness.results.overheads import fitted_overheads

    streams = [stream_of_log(log) for log in logs]
    differ = [found for pair in combinations(streams, 2) if (found := submission_differences(*pair))]
    facts = {"submissions": differ} if differ else {}
    if len(logs) == 2:
        heading = [f"{logs[0].name} against {logs[1].name}", *_incidents(logs)]
        return _render(facts, heading, compare(*matched(*streams)), None, format)
    executions = compare_executions(logs)
    overheads = fitted_overheads(logs, max(one.busiest for one in executions.executions))
    return render_executions(executions, (), overheads, facts, [f"{len(logs)} executions"], format)


def _against_executions(
    log: "Log", logs: "list[Log]", replays: "list[Schedule]", format: str, phases: dict[str, Any]
) -> str:
    """Show one replay of `log` against each execution of it, and the executions against each other."""
    from dataclasses import replace

    from harness.cli.execution_tables import render_executions
    from harness.results.adequacy import adequacy as compared
    from harness.results.executions import compare_executions
    from harness.results.overheads import fitted_overheads

    result = replays[0]
    executions = compare_executions(logs, jobs=len(log.jobs), **_machine_facts(result))
    usual = [each for each, one in zip(logs, executions.executions, strict=True) if not one.incidents]
    overheads = fitted_overheads(usual, result.platform.cores) if usual else {}
    named = [
        replace(compared(one), streams=(f"{log.name} replayed", each.name))
        for one, each in zip(replays, logs, strict=True)
    ]
    about = [*heading(result), *([_phase_sentence(phases["phases"])] if phases else [])]
    return render_executions(executions, named, overheads, run_facts(result) | phases, about, format)


def _incidents(logs: "list[Log]", result: "Schedule | None" = None, planned: "Log | None" = None) -> list[str]:
    """Return a sentence for each anomaly in an execution."""
    if not logs:
        return []
    from harness.cli.execution_tables import describe_incidents
    from harness.results.executions import compare_executions

    machine = {} if result is None else _machine_facts(result)
    found = compare_executions(logs, jobs=len(planned.jobs) if planned else None, **machine)
    return [sentence for one in found.executions for sentence in describe_incidents(one)]


def _machine_facts(result: "Schedule") -> dict[str, Any]:
    """Return the number of processors, and whether they alone decided: under a Slurm features and licences do too."""
    return {"procs": result.platform.cores, "alike": not result.policies.configured}


def _refuse_replay(context: typer.Context) -> None:
    """Refuse options about a replay where logs are compared as they are written."""
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name not in _OF_LOGS and source is not None and source.name == "COMMANDLINE":
            raise HarnessError(f"{parameter.opts[0]}: logs are compared as they are written; expected no such option")


def _render(
    facts: dict[str, Any],
    heading: list[str],
    found: "Adequacy | None",
    reference: "Repeatability | None",
    format: str,
    where: "Breakdown | None" = None,
) -> str:
    from harness.present.json_text import to_json
    from harness.present.tables import render
    from harness.results import breakdown_words

    verdict = reference.verdict(found) if found and reference else ""
    if format == "json":
        summary = facts | {
            "adequacy": asdict(found) if found else None,
            "reference": asdict(reference) if reference else None,
            "ratio": found.P / reference.P if found and reference and reference.P > 0 else None,
            "verdict": verdict or None,
            "breakdown": breakdown_words.as_object(where) if where else None,
        }
        return to_json(summary)
    headers, units, rows = _table(found, reference)
    sentences = [*_sentences(found, reference, facts), *([verdict] if verdict else [])]
    if format != "table":
        return render(headers, rows, format, units=units, caption=" ".join(sentences))
    shown = [*heading, "", render(headers, rows, format, units=units), "", *sentences]
    if where is not None and (cells := breakdown_words.rows(where)):
        table = render(breakdown_words.HEADERS, cells, format, units=breakdown_words.UNITS)
        shown += ["", *breakdown_words.sentences(where), "", "where much of the squared error lies in few jobs:", table]
    return "\n".join(shown)


def _table(found: "Adequacy | None", reference: "Repeatability | None") -> tuple[list[str], list[str], list[list[Any]]]:
    """Return P and E for growing numbers of jobs, in the layout of the paper's Table 1."""
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
        sentences += scale_sentences(found)
    sentences += facts.get("submissions", [])
    if "phases" in facts:
        sentences.append(_phase_sentence(facts["phases"]))
    if reference:
        pairs = len(reference.pairs)
        interval = f", 95 % interval {reference.low:,.1f} to {reference.high:,.1f} s" if pairs > 1 else ""
        sentences.append(
            f"P_ideal = {reference.P:,.1f} s{interval}, of {pairs} pairs of repetitions, {reference.level:.0%} of them "
            f"below {reference.upper:,.1f} s; launch {facts['launch']}, completion {facts['completion']}"
            f"{', outside the runtime' * (facts['overheads'] == 'outside')}"
            f"{', submission ' + facts['submission'] if facts['submission'] != _AT_ONCE else ''}."
        )
    return sentences


def scale_sentences(found: "Adequacy") -> list[str]:
    """Return sentences that relate P to simple predictions and to the distribution of errors."""
    scale = found.scale
    return [
        f"Skill 1 − P / P_null: {readable(scale.skill, 3)} against one wait for all ({scale.mean_wait:,.1f} s), "
        f"{readable(scale.skill_nobody_waits, 3)} against none at all ({scale.nobody_waits:,.1f} s), "
        f"{readable(scale.skill_by_class, 3)} against the log's mean wait for each width and requested time "
        f"({scale.mean_wait_by_class:,.1f} s).",
        f"|V − v|: median {found.median:,.1f} s, 95th percentile {found.p95:,.1f} s; "
        f"mean of V − v {scale.bias:,.1f} s; "
        f"rank correlation of waits {readable(scale.rank_correlation, 3)}. The worst 1 % of the jobs hold "
        f"{readable(100 * scale.worst_share, 3)} % of the squared error; "
        f"without them P = {scale.P_without_worst:,.1f} s.",
    ]
