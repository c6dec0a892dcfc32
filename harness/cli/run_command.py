"""`harness run`: replay one workload under one scheduler."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr
from harness.cli.report_command import ready_for, write_run
from harness.cli.slurm_rules import SlurmRules
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload


@options.expand_groups
def run(
    context: typer.Context,
    workload: options.Workload = "lublin",
    order: options.Order = "fcfs",
    start: options.Start = "easy",
    energy: options.Energy = "",
    *,
    given: options.SignalReplayOptions,
    rules: SlurmRules,
    state: options.StateFile = None,
    schedule: Annotated[
        Path | None, options.output(help="write the schedule to FILE.csv, .parquet, .arrow, .json, .swf or .swf.gz")
    ] = None,
    timeline: Annotated[
        Path | None,
        options.output(
            help="write the system over time, thinned, to FILE.csv, .parquet, .arrow or .json: time, queued and "
            "running jobs, busy, free and up processors, rate, work left, power, nodes asleep, switching and down, "
            "processors effective, potential and wasted"
        ),
    ] = None,
    events: options.Events = None,
    interrupted: options.Interrupted = "requeue",
    measures: Annotated[
        str, options.output(metavar="NAMES", help="all, or names and groups of measures: jobs, machine, energy, log")
    ] = "",
    fairness: Annotated[int, options.output(help="measure fairness on a sample of this many jobs (slow)", min=0)] = 0,
    report: Annotated[Path | None, options.output(metavar="FILE.html", help="also write a page with charts")] = None,
) -> None:
    """Replay WORKLOAD on a platform under a scheduler, and print measures of the schedule.

    With --state the machine begins in that state: running jobs keep their processors for the rest of their requested
    time, and waiting jobs have waited since their submission. Measures of jobs cover those that had not started. The
    jobs of WORKLOAD, if given, arrive afterwards.
    """
    if fairness and events is not None:
        raise HarnessError("--fairness and --events both given: expected one of them")
    with notices_on_stderr():
        # Refuse what would fail at the end before the work begins.
        given.known_format()
        rules.refuse_policies(context)
        _check_places(Path(workload), events, schedule, timeline, report)
        ready_for(report)
        external_events = options.read_external_events(events, interrupted)
        scheduler = given.scheduler(order, start, energy)
        drawn = timeline is not None or report is not None
        source = context.get_parameter_source("workload")
        named = state is None or (source is not None and source.name == "COMMANDLINE")
        jobs = given.jobs_after(state, workload if named else None)
        result = _replay(given, rules, workload, jobs, scheduler, external_events, drawn)
    if schedule is not None:
        result.export(schedule)
    if timeline is not None:
        result.export_timeline(timeline)
    write_run(result, report, given.folders)
    echo(_render(result, given, measures, rules))
    if fairness:
        echo(_fairness(result, fairness), file=sys.stderr)


def _replay(
    given: options.SignalReplayOptions,
    rules: SlurmRules,
    workload: str,
    jobs: "Workload",
    scheduler: Any,
    events: Any,
    timeline: bool,
) -> "Schedule":
    """Replay the workload under the scheduler, or under the rules of a Slurm."""
    from harness.experiment.simulation import simulate
    from harness.present.progress import progress

    if rules.slurm:
        replay = rules.replay(given.log(workload), given.seed, given.reservations)
        with progress("simulating", "jobs") as advance:
            return replay(jobs, progress=advance, timeline=timeline)
    machine = given.machine(jobs)
    with progress("simulating", "jobs") as advance:
        return simulate(
            jobs,
            machine,
            scheduler,
            seed=given.seed,
            plugins=given.folders,
            progress=advance,
            events=events,
            timing=given.timing,
            signal=given.signal or None,
            timeline=timeline,
        )


def _check_places(
    workload: Path, events: Path | None, schedule: Path | None, timeline: Path | None, report: Path | None
) -> None:
    """Refuse output files that cannot be written, or that would overwrite an input or another output."""
    from harness.results.export import schedule_writer, timeline_writer

    others = {"the workload itself": workload, "the --events": events}
    if schedule is not None:
        schedule_writer(schedule)
        _check_place("--schedule", schedule, others)
    if timeline is not None:
        timeline_writer(timeline)
        _check_place("--timeline", timeline, others | {"the --schedule": schedule})
    if report is not None:
        if report.suffix not in (".html", ".htm"):
            raise HarnessError(f"--report {report}: is written as a page: expected a name that ends in .html")
        _check_place("--report", report, others | {"the --schedule": schedule, "the --timeline": timeline})


def _check_place(option: str, path: Path, others: dict[str, Path | None]) -> None:
    """Refuse a file in a missing folder, or one that is also an input or another output."""
    if not path.parent.is_dir():
        raise HarnessError(f"{option} {path}: cannot be written: there is no folder {path.parent}")
    for what, other in others.items():
        if other is not None and path.resolve() == other.resolve():
            raise HarnessError(f"{option} {path}: is {what}; expected another file")


def _render(result: "Schedule", given: options.SignalReplayOptions, asked: str, rules: SlurmRules) -> str:
    """Return the measures of a run in the requested format. JSON contains all measures and the full provenance."""
    from harness.present.json_text import to_json
    from harness.present.tables import render
    from harness.results import run_summary
    from harness.results.measures import extra_measures, known_measures, measures_table

    unmodelled = rules.unmodelled()
    extra = extra_measures(given.folders)
    known = known_measures(extra)
    measures = result.measures(extra)
    names = run_summary.chosen_measures(asked if given.format == "table" else asked or "all", measures, known)
    measures = {name: measures[name] for name in names}
    if given.format == "json":
        summary = {
            **run_facts(result),
            **({"events": _events(result)} if result.events else {}),
            **({"unmodelled": unmodelled} if unmodelled else {}),
            "measures": measures,
            "seconds": result.outcome.seconds,
        }
        return to_json(summary)
    if given.format != "table":
        return render(("measure", "value", "unit"), measures_table(measures, extra), given.format)
    sentences = [run_summary.sentence(result), *map("Warning: {}.".format, run_summary.warnings(result))]
    table = render(run_summary.HEADS, run_summary.rows(measures, known), "table")
    about = [*heading(result), *_unaccepted_sentences(result), *_event_sentences(result), *unmodelled]
    return "\n".join([*sentences, "", table, "", *about])


def run_facts(result: "Schedule") -> dict[str, Any]:
    """Return workload, platform, policies and timing of a run, for JSON."""
    platform, ignored = result.platform, _ignored_by(result)
    return {
        **provenance(result.workload),
        "platform": {"name": platform.name, "nodes": platform.nodes, "procs": platform.cores},
        "scheduler": {**result.scheduler, "seed": result.seed, **result.timing.as_dict()},
        "parameters": result.policies.in_full,
        **({"ignored": ignored} if ignored else {}),
    }


def _ignored_by(result: "Schedule") -> list[str]:
    """Return a sentence for each kind of request that the platform does not model."""
    from harness.results.ignored_requests import ignored_requests

    return [] if result.policies.configured else ignored_requests(result.workload, result.platform)


def provenance(workload: "Workload") -> dict[str, Any]:
    """Return the workload of a run and its preparation, for JSON."""
    about = {"name": workload.name, "jobs": len(workload), "procs": workload.procs, "digest": workload.digest}
    return {"workload": about, "preparation": [vars(step) for step in workload.preparation]}


def heading(result: "Schedule") -> list[str]:
    """Return lines with workload, platform, policies and timing of a run."""
    policies = ", ".join(f"{part} {policy}" for part, policy in result.scheduler.items())
    signals = []
    if result.meter is not None:
        signal = result.meter.signal
        signals = [f"signal: {signal.name} [{signal.unit}]" + (f"; {signal.remark}" if signal.remark else "")]
    return [
        f"{result.workload.name}: {len(result.workload):,} jobs on {result.platform.name}",
        f"scheduler: {policies}, seed {result.seed}{result.timing.remark}",
        *(f"in full: {', '.join(full)}" for full in [result.policies.in_full.values()] if full),
        *signals,
        f"simulated in {result.outcome.seconds:.3f} s",
        "",
        *preparation(result.workload),
        *_ignored_by(result),
    ]


def preparation(workload: "Workload") -> list[str]:
    """Return a line for each step of the preparation."""
    steps = [
        f"  {step.name}: {step.jobs:,} jobs" + f" ({step.detail})" * bool(step.detail) for step in workload.preparation
    ]
    return ["preparation:", *steps]


def _unaccepted_sentences(result: "Schedule") -> list[str]:
    """Return a line for the jobs that are too large for the platform, and one for those that the policy rejected."""
    frame = result.frame[result.frame["status"] == "unaccepted"]
    rejected = frame["end"].notna()
    lines = []
    for reason, numbers in (
        ("more than the platform has", frame["job"][~rejected]),
        (f"rejected by {result.scheduler['start']}", frame["job"][rejected]),
    ):
        if len(numbers):
            names = ", ".join(map(str, numbers.head(10))) + (", …" if len(numbers) > 10 else "")
            lines.append(f"  unaccepted: {len(numbers):,} jobs ({reason}: jobs {names})")
    return lines


def _events(result: "Schedule") -> dict[str, Any] | None:
    """Return the number of external events, of those before the end of the run, and of those without effect."""
    if result.events is None:
        return None
    return {
        "path": result.events.source,
        "interrupted": result.events.interrupted,
        "events": len(result.events.frame),
        "happened": int(result.outcome.loop.next_event - result.outcome.loop.window_ends),
        "without_effect": int(result.outcome.sums.ignored_events),
    }


def _event_sentences(result: "Schedule") -> list[str]:
    events = _events(result)
    if events is None:
        return []
    return [
        f"events: {events['events']:,} in {events['path']}, {events['happened']:,} before the end of the run, "
        f"{events['without_effect']:,} of them without effect; jobs on failing nodes: {events['interrupted']}"
    ]


def _fairness(result: "Schedule", sample: int) -> str:
    from harness.results.fairness import fairness
    from harness.results.notebook import replayed_by

    return str(fairness(result, sample=sample, seed=result.seed, replay=replayed_by(result)))
