"""Options that several commands share, in groups.

A command takes a group as one parameter. `expand_groups` shows typer the options in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import completion
from harness.cli.option_groups import JOBS, flag_of
from harness.cli.option_groups import expand_groups as expand_groups
from harness.disk.size_limit import set_max_size
from harness.errors import HarnessError
from harness.policy import kinds
from harness.policy.timing import DecisionTiming
from harness.workload.preparation import Preparation

if TYPE_CHECKING:
    import harness


def _in_panel(panel: str) -> Callable[..., Any]:
    """Return `typer.Option` for a panel of the help."""
    return partial(typer.Option, rich_help_panel=panel)


policies, about_jobs, about_machine = _in_panel("Policies"), _in_panel(JOBS), _in_panel("Machine")
about_timing, failures = _in_panel("Timing of decisions"), _in_panel("Failures")
statistics, output = _in_panel("Statistics"), _in_panel("Output")


def _policy(kind: type[kinds.Policy], *flags: str, remark: str = "") -> Any:
    question = kind.question()
    words = f"{question[0].lower()}{question[1:]}{remark} see `harness list {kind.plural}`"
    complete = completion.policies(kind.hook)
    return policies(*flags, metavar="POLICY", help=words, autocompletion=complete)


Workload = Annotated[
    str,
    typer.Argument(help="a log by path or short name, or a model: lublin(jobs=…)", autocompletion=completion.workloads),
]
Platform = Annotated[str | None, about_machine(help="a platform by name or path", autocompletion=completion.platforms)]
Procs = Annotated[int | None, about_machine("--procs", "-p", help="a cluster of this many identical processors", min=1)]
Order = Annotated[str, _policy(kinds.Order, "--order", "-o")]
Start = Annotated[str, _policy(kinds.Start, "--start", "-s")]
Select = Annotated[str, _policy(kinds.Select)]
Rate = Annotated[str, _policy(kinds.Rate)]
Sleep = Annotated[str, _policy(kinds.Sleep)]
Energy = Annotated[str, _policy(kinds.Energy, remark=" (default: the most detailed model the platform has data for)")]
Predict = Annotated[str, _policy(kinds.Predict)]
Hold = Annotated[str, _policy(kinds.Hold, remark=" (join several with +)")]
Lenient = Annotated[bool, about_jobs("--lenient", help="skip malformed lines, and count them")]
Seed = Annotated[int, typer.Option(help="seed of random decisions", min=0)]
PluginPaths = Annotated[
    list[str] | None,
    typer.Option("--plugins", help="a plugin file or folder, or one of `harness list examples`; repeatable"),
]
Events = Annotated[
    Path | None,
    failures(help="failures and interventions to replay: a CSV of time, event, subject; see `harness list events`"),
]
Interrupted = Annotated[str, failures(help="requeue or kill the jobs on a node that fails")]
StateFile = Annotated[
    Path | None,
    about_jobs(
        "--state", metavar="FILE", help="begin with the running and waiting jobs that squeue or sacct -P printed"
    ),
]
Launch = Annotated[str, statistics(help="distribution of a job's launch overhead [s]")]
Completion = Annotated[str, statistics(help="distribution of a job's completion overhead [s]")]
Submission = Annotated[str, statistics(help="distribution of the delay until the scheduler sees a job [s]")]
Overheads = Annotated[
    str, statistics(metavar="inside|outside", help="whether a job's runtime includes its launch and its completion")
]
Format = Annotated[
    str, output("--format", "-f", help="table, json, csv, markdown, latex or html", autocompletion=completion.formats)
]
By = Annotated[str, typer.Option(metavar="MEASURE", help="rank by this measure", autocompletion=completion.measures)]
MaxSize = Annotated[
    str | None,
    typer.Option("--max-size", metavar="SIZE", callback=set_max_size, help="size limit of an unpacked input (512MB)"),
]
InferenceUnit = Annotated[
    str | None,
    statistics("--unit", help="one observation is a workload, or a variation (the default for a single workload)"),
]
Workers = Annotated[int | None, typer.Option(help="threads (default: the number of cores)", min=1, max=1024)]


def read_external_events(events: Path | None, interrupted: str) -> "harness.Events | None":
    """Read the file of --events, if there is one."""
    from harness.workload.events import read_events

    return None if events is None else read_events(events, interrupted=interrupted)


@dataclass(frozen=True, kw_only=True)
class PluginOptions:
    """Options of every command that runs policies."""

    plugins: PluginPaths = None
    max_size: MaxSize = None

    @property
    def folders(self) -> tuple[str, ...]:
        """The files and folders of plugins."""
        return tuple(self.plugins or ())


@dataclass(frozen=True, kw_only=True)
class TableOptions(PluginOptions):
    """Options of commands that also print a table."""

    format: Format = "table"

    def known_format(self) -> None:
        """Refuse an unknown --format."""
        from harness.present.tables import known_format

        known_format(self.format)


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions(TableOptions):
    """Options of commands that read one workload, and how its jobs are prepared."""

    preparation: Preparation
    lenient: Lenient = False

    def log(self, source: str) -> "harness.Log":
        """Read a workload without preparing it."""
        from harness.workload.log_reading import read_workload

        return read_workload(source, lenient=self.lenient, plugins=self.folders)


@dataclass(frozen=True, kw_only=True)
class JobOptions(WorkloadOptions):
    """Options of commands that need the prepared jobs of one workload."""

    variation: Annotated[
        int | None, about_jobs(help="resample the log with this seed, week by week per user", min=0)
    ] = None

    def jobs(self, source: str) -> "harness.Workload":
        """Read a workload and prepare it."""
        from harness.workload.prepare import prepare
        from harness.workload.resampling import resample

        jobs = prepare(self.log(source), **vars(self.preparation))
        return jobs if self.variation is None else resample(jobs, self.variation)

    def jobs_after(self, state: Path | None, source: str | None) -> "harness.Workload":
        """Return the jobs of the state, followed by those of the workload; either may be missing."""
        from harness.workload.snapshot import followed_by
        from harness.workload.state_file import read_state

        if state is None:
            return self.jobs(str(source))
        present = read_state(state, lenient=self.lenient).workload()
        return present if source is None else followed_by(present, self.jobs(source))


#: The parts of a scheduler that every command takes that replays one workload.
COMMON = ("select", "rate", "sleep", "predict", "hold")


@dataclass(frozen=True, kw_only=True)
class SchedulerOptions(TableOptions):
    """Options of commands that replay jobs: the machine, and the policies that all their schedulers share."""

    platform: Platform = None
    procs: Procs = None
    reservations: Annotated[
        Path | None, about_machine(help="advance reservations and maintenance: a CSV of begin, end, nodes, users …")
    ] = None
    select: Select = "first-fit"
    rate: Rate = "full"
    sleep: Sleep = "never"
    predict: Predict = "requested"
    hold: Hold = "none"
    queues: Annotated[Path | None, policies(help="a TOML file of queues, each with its own order and start policy")] = (
        None
    )
    event_semantics: Annotated[
        str,
        about_timing(
            metavar="WORD",
            help="batch: decide once for all events of an instant; per-event: after each event, submissions before "
            "completions; per-event-completions-first: the same, completions before submissions",
        ),
    ] = "batch"
    backfill_interval: Annotated[
        float | None,
        about_timing(
            metavar="SECONDS", help="call the start policy only at multiples of this time, like Slurm's bf_interval"
        ),
    ] = None
    main_interval: Annotated[
        float | None,
        about_timing(
            metavar="SECONDS",
            help="between backfill passes, start jobs in order at multiples of this time, 0: at every event",
        ),
    ] = None
    backfill_depth: Annotated[
        int | None,
        about_timing(metavar="JOBS", help="waiting jobs that a backfill pass considers, like Slurm's bf_max_job_test"),
    ] = None
    plan_horizon: Annotated[
        float | None,
        about_timing(metavar="SECONDS", help="reserve no start later than this from now, like Slurm's bf_window"),
    ] = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.platform is not None and self.procs is not None:
            raise HarnessError("--platform and --procs both given: expected one of them")
        _ = self.timing  # refuses impossible values before anything is read

    def scheduler(self, order: str, start: str, energy: str = "none") -> "harness.Scheduler":
        """Return a scheduler of the shared policies and these."""
        from harness.policy.scheduler import Scheduler

        common = {name: getattr(self, name) for name in COMMON}
        if self.queues is not None:
            from harness.policy.own_queues import read_queues, with_queues

            start = with_queues(start, read_queues(self.queues))
        return Scheduler(order=order, start=start, energy=energy, **common)

    @property
    def timing(self) -> DecisionTiming:
        """When starts are decided."""
        return DecisionTiming(**{field.name: getattr(self, field.name) for field in fields(DecisionTiming)})

    def machine(self, jobs: "harness.Workload") -> "harness.Platform | int | None":
        """Read the platform on which `jobs` are replayed; None stands for the machine of their log."""
        from harness.experiment.simulation import machine_of
        from harness.platform.platform_reading import read_platform
        from harness.platform.sizing import of_the_log
        from harness.platform.windows import reserved

        found: Any = self.procs
        if self.platform is not None:
            found = read_platform(of_the_log(self.platform, jobs.procs, jobs.name), plugins=self.folders)
        if self.reservations is None:
            return found  # type: ignore[no-any-return]
        return reserved(machine_of(found, jobs), self.reservations)


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(SchedulerOptions, JobOptions):
    """Options of commands that replay one workload."""

    def refuse_unknown_waits(self) -> None:
        """Refuse options that change the stream of jobs, where a replay is compared with the waits of the log."""
        changing = [flag_of(name, option) for name, option in self.preparation.without_waits]
        for flag in changing + ["--variation"] * (self.variation is not None):
            raise HarnessError(
                f"{flag}: changes the stream of jobs, so the waits in the log do not apply and a replay cannot be "
                "compared with them; expected no such option"
            )


@dataclass(frozen=True, kw_only=True)
class SignalReplayOptions(ReplayOptions):
    """Options of commands that also give policies the carbon intensity or price of energy."""

    signal: Annotated[
        str,
        about_machine(
            metavar="FILE|SHAPE", help="carbon intensity or price over time: a table, or daily(low=50, high=300)"
        ),
    ] = ""
