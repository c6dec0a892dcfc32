"""`harness adequacy`: how far a replay is from the log, and how far repetitions are apart."""

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import compiling_said, say, warnings_said
from harness.cli.run_command import circumstances, heading
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

#: What says something about two logs that are compared as they are written; the rest is about a replay.
_OF_LOGS = ("workload", "against", "lenient", "plugins", "format")

_OVERHEAD = "exponential(mean=5)"
_AT_ONCE = "constant(seconds=0)"


@options.spread
def adequacy(
    context: typer.Context,
    workload: options.Workload,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="log (if nothing is given), repetition (two replays only), or a FILE: an execution of WORKLOAD on a "
            "real machine, or another log; may be repeated"
        ),
    ] = None,
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    *,
    given: options.Replay,
    rules: SlurmRules,
    events: options.Events = None,
    interrupted: options.Interrupted = "requeue",
    launch: options.Launch = _OVERHEAD,
    completion: options.Completion = _OVERHEAD,
    overheads: options.Overheads = "inside",
    submission: options.Submission = _AT_ONCE,
    repetitions: Annotated[int, typer.Option(help="pairs of repetitions with such overheads", min=0, max=10_000)] = 20,
) -> None:
    """Replay WORKLOAD and say how far that is from what the log says happened.

    P is the root of the mean squared difference of the jobs' residence times. P_ideal is the same between two
    repetitions of the replay, in which every job's launch and completion take some time at random: `constant(seconds)`,
    `exponential(mean)`, `uniform(low, high)` or `lognormal(median, sigma)`. They lie inside a job's runtime. Outside
    of it, the launch is the end of its wait, and its processors are free only after its completion.

    Against a FILE, a WORKLOAD that says how long its jobs waited is compared as it is written; one that does not is
    replayed; with --slurm every one is, as Slurm would schedule it. Of several executions every pair is compared: P
    between them is a measured P_ideal.
    """
    files, repeated = _sides(against, repetitions)
    draws = repetitions if rules.slurm else 0  # of when Slurm's loops look
    with compiling_said(), warnings_said():
        from harness.results.adequacy import adequacy as compared
        from harness.results.adequacy import logged_stream
        from harness.results.breakdown import breakdown
        from harness.results.executions import with_executed_times

        given.known_format()
        rules.refuse_policies(context)
        happenings = options.happenings(events, interrupted)
        logs = [given.log(path) for path in files]
        log = given.log(workload)
        if logs and not rules.slurm and (log.jobs["wait"] >= 0).any():
            _refuse_replay(context)
            say(_as_written([log, *logs], given.format))
            return
        if not repeated:
            given.refuse_unknown_waits()
        prepared = given.jobs(workload)
        several = [with_executed_times(prepared, log, execution) for execution in logs]
        prepared = several[0] if several else prepared
        if not repeated:
            logged_stream(prepared)  # says what makes it undefined before anything is simulated
        replay = _replay_with(given, rules, log, prepared, given.scheduler(order, start), happenings)
        result = replay(prepared)
        if len(several) > 1:
            replays = [result, *map(replay, several[1:])]
            say(_against_executions(log, logs, replays, given.format, _phases(replay, several, draws)))
            return
        found, where = (None, None) if repeated else (compared(result), breakdown(result))
        drawn = {"launch": launch, "completion": completion, "overheads": overheads, "submission": submission}
        assumed, reference = _repeated(prepared, replay, drawn, repetitions, given.seed)
        phases = _phases(replay, [prepared], 0 if repeated else draws)
    about = [*rules.unmodelled(), *heading(result), *_incidents(logs, result, log)]
    say(_shown(circumstances(result) | assumed | phases, about, found, reference, given.format, where))


def _replay_with(
    given: options.Replay, rules: SlurmRules, log: "Log", prepared: "Workload", scheduler: Any, events: Any
) -> "Callable[[Workload], Any]":
    """Return what replays a workload made of `log`: under the scheduler, or under the rules of a Slurm."""
    from harness.experiment.simulation import simulate

    if rules.slurm:
        return rules.replay(log, given.seed, given.reservations)
    machine = given.machine(prepared)
    kept: Any = {"seed": given.seed, "plugins": given.folders, "events": events, "timing": given.timing}
    return lambda jobs: simulate(jobs, machine, scheduler, **kept)


def _sides(against: list[str] | None, repetitions: int) -> tuple[list[str], bool]:
    """Return the files that WORKLOAD is compared with, and whether only repetitions are compared."""
    files = [] if against in (None, ["log"], ["repetition"]) else list(against or ())
    if {"log", "repetition"} & {*files}:
        raise HarnessError("--against log or repetition, and a file: expected one of them, or files only")
    repeated = against == ["repetition"]
    if repeated and repetitions == 0:
        raise HarnessError("--against repetition --repetitions 0: expected at least one")
    return files, repeated


def _repeated(
    jobs: "Workload", replay: "Callable[[Workload], Any]", drawn: dict[str, Any], pairs: int, seed: int
) -> "tuple[dict[str, Any], Repeatability | None]":
    """Replay pairs of repetitions with overheads; return these, and how far the pairs are apart, if there are any."""
    from harness.present.progress import progress
    from harness.results.repeatability import repeatability

    if pairs == 0:
        return {}, None
    with progress("simulating", "replays") as advance:
        return drawn, repeatability(jobs, replay, **drawn, pairs=pairs, seed=seed, progress=advance)


def _phases(replay: "Callable[[Workload], Any]", sides: "list[Workload]", draws: int) -> dict[str, Any]:
    """Replay each side with other phases of Slurm's loops, and say how far that is from what its log says."""
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


def _told_of(phases: dict[str, Any]) -> str:
    """Say how far replays with other phases are."""
    return (
        f"When Slurm's loops look is chance: over {phases['replays']} more replays P is {phases['P']:,.1f} s in the "
        f"mean, {phases['least']:,.1f} s at least and {phases['most']:,.1f} s at most."
    )


def _as_written(logs: "list[Log]", format: str) -> str:
    """Compare executions, or two logs, as they are written."""
    from harness.cli.execution_tables import shown
    from harness.results.adequacy import compare, stream_of_log
    from harness.results.executions import compare_executions, matched, submission_differences
    from harness.results.overheads import fitted_overheads

    streams = [stream_of_log(log) for log in logs]
    differ = [found for pair in combinations(streams, 2) if (found := submission_differences(*pair))]
    facts = {"submissions": differ} if differ else {}
    if len(logs) == 2:
        heading = [f"{logs[0].name} against {logs[1].name}", *_incidents(logs)]
        return _shown(facts, heading, compare(*matched(*streams)), None, format)
    executions = compare_executions(logs)
    overheads = fitted_overheads(logs, max(one.busiest for one in executions.executions))
    return shown(executions, (), overheads, facts, [f"{len(logs)} executions"], format)


def _against_executions(
    log: "Log", logs: "list[Log]", replays: "list[Schedule]", format: str, phases: dict[str, Any]
) -> str:
    """Show replays of `log` against executions of it, one of each, and these against each other."""
    from dataclasses import replace

    from harness.cli.execution_tables import shown
    from harness.results.adequacy import adequacy as compared
    from harness.results.executions import compare_executions
    from harness.results.overheads import fitted_overheads

    result = replays[0]
    executions = compare_executions(logs, jobs=len(log.jobs), **_machine_of(result))
    usual = [each for each, one in zip(logs, executions.executions, strict=True) if not one.incidents]
    overheads = fitted_overheads(usual, result.platform.cores) if usual else {}
    named = [
        replace(compared(one), streams=(f"{log.name} replayed", each.name))
        for one, each in zip(replays, logs, strict=True)
    ]
    about = [*heading(result), *([_told_of(phases["phases"])] if phases else [])]
    return shown(executions, named, overheads, circumstances(result) | phases, about, format)


def _incidents(logs: "list[Log]", result: "Schedule | None" = None, planned: "Log | None" = None) -> list[str]:
    """Say what in each execution was not as it should be."""
    if not logs:
        return []
    from harness.cli.execution_tables import incidents_of
    from harness.results.executions import compare_executions

    machine = {} if result is None else _machine_of(result)
    found = compare_executions(logs, jobs=len(planned.jobs) if planned else None, **machine)
    return [told for one in found.executions for told in incidents_of(one)]


def _machine_of(result: "Schedule") -> dict[str, Any]:
    """Return how many processors there are, and whether they alone decided: under a Slurm features and licences do."""
    return {"procs": result.platform.cores, "alike": not result.policies.configured}


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
    where: "Breakdown | None" = None,
) -> str:
    """Return what was found, in the format the user wants."""
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
    """Return the growth of P and E with the number of jobs, as the paper's Table 1 lays it out."""
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
        sentences.append(_told_of(facts["phases"]))
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
    """Say what P is to be seen beside."""
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
