"""Options that commands share: what is replayed, where and by whom, and how its jobs are prepared.

A command takes a group of options as one parameter, and `spread` shows typer what is in it: an option of all commands
that have a group is one field of the group.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from keyword import iskeyword
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from harness.cli import completion
from harness.disk.size_limit import set_max_size
from harness.errors import HarnessError
from harness.policy import kinds
from harness.policy.timing import Timing
from harness.workload.preparation import Option, Preparation, words_of

if TYPE_CHECKING:
    import harness


#: What the options of a command's help are grouped by.
_POLICIES, _JOBS, _MACHINE = "Policies", "Jobs", "Machine"


def _policy(kind: type[kinds.Policy], *flags: str, otherwise: str = "") -> Any:
    question = kind.question()
    words = f"{question[0].lower()}{question[1:]}{otherwise} see `harness list {kind.plural}`"
    complete = completion.policies(kind.hook)
    return typer.Option(*flags, metavar="POLICY", help=words, rich_help_panel=_POLICIES, autocompletion=complete)


Workload = Annotated[
    str, typer.Argument(help="a log by path or short name, or lublin(jobs=…)", autocompletion=completion.workloads)
]
Platform = Annotated[
    str | None,
    typer.Option(help="a platform by name or path", rich_help_panel=_MACHINE, autocompletion=completion.platforms),
]
Procs = Annotated[
    int | None,
    typer.Option("--procs", "-p", help="a plain cluster of so many processors", min=1, rich_help_panel=_MACHINE),
]
Order = Annotated[str, _policy(kinds.Order, "--order", "-o")]
Start = Annotated[str, _policy(kinds.Start, "--start", "-s")]
Select = Annotated[str, _policy(kinds.Select)]
Rate = Annotated[str, _policy(kinds.Rate)]
Sleep = Annotated[str, _policy(kinds.Sleep)]
Energy = Annotated[str, _policy(kinds.Energy, otherwise=" (the richest the platform allows)")]
Predict = Annotated[str, _policy(kinds.Predict)]
Hold = Annotated[str, _policy(kinds.Hold, otherwise=" (several with a + between)")]
Instants = Annotated[
    str,
    typer.Option(metavar="together|each|ends", help="decide once for all of an instant, or after each of its events"),
]
Pass = Annotated[
    str,
    typer.Option(
        "--pass",
        metavar="SECONDS|WORDS",
        help="decide starts only so often: 60, or 'backfill=60, main=0, depth=100, window=86400'",
    ),
]
Lenient = Annotated[bool, typer.Option("--lenient", help="skip malformed lines, and count them", rich_help_panel=_JOBS)]
Seed = Annotated[int, typer.Option(help="of the policies that flip coins", min=0)]
PluginPaths = Annotated[
    list[str] | None,
    typer.Option("--plugins", help="a plugin file or folder, or one of `harness list examples`; may be repeated"),
]
Events = Annotated[
    Path | None, typer.Option(help="replay failures and interventions: a CSV of time, event (`list events`), subject")
]
Interrupted = Annotated[str, typer.Option(help="jobs on a node that fails: requeue or kill")]
StateFile = Annotated[
    Path | None,
    typer.Option("--state", metavar="FILE", help="go on from what squeue or sacct -P printed: who runs, who waits"),
]
Launch = Annotated[str, typer.Option(help="overhead of a job's launch in s, a distribution")]
Completion = Annotated[str, typer.Option(help="overhead of a job's completion in s, a distribution")]
Submission = Annotated[str, typer.Option(help="how late the scheduler sees a job in s, a distribution")]
Overheads = Annotated[
    str, typer.Option(metavar="inside|outside", help="whether a job's runtime holds its launch and its completion")
]
Format = Annotated[
    str,
    typer.Option("--format", "-f", help="table, json, csv, markdown, latex or html", autocompletion=completion.formats),
]
By = Annotated[str, typer.Option(metavar="MEASURE", help="what decides", autocompletion=completion.measures)]
MaxSize = Annotated[
    str | None,
    typer.Option(
        "--max-size", metavar="SIZE", callback=set_max_size, help="the most that an input may hold, unpacked (512MB)"
    ),
]
InferenceUnit = Annotated[
    str | None,
    typer.Option("--unit", help="what is one observation (workload; variation, if there is one workload only)"),
]
Workers = Annotated[int | None, typer.Option(help="threads (as many as there are cores)", min=1, max=1024)]


def happenings(events: Path | None, interrupted: str) -> "harness.Events | None":
    """Return what befalls nodes and jobs, if a file says so."""
    from harness.workload.events import read_events

    return None if events is None else read_events(events, interrupted=interrupted)


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all commands take that run something."""

    plugins: PluginPaths = None
    max_size: MaxSize = None

    @property
    def folders(self) -> tuple[str, ...]:
        """The files and folders of plugins."""
        return tuple(self.plugins or ())


@dataclass(frozen=True, kw_only=True)
class Shown(Shared):
    """What all commands take that run something and show a table of it."""

    format: Format = "table"

    def known_format(self) -> None:
        """Refuse a format that there is not."""
        from harness.present.tables import known_format

        known_format(self.format)


@dataclass(frozen=True, kw_only=True)
class Read(Shown):
    """What commands take that read one workload, and how its jobs are prepared."""

    preparation: Preparation
    lenient: Lenient = False

    def log(self, source: str) -> "harness.Log":
        """Read a workload as it is written."""
        from harness.workload.log_reading import read_workload

        return read_workload(source, lenient=self.lenient, plugins=self.folders)


@dataclass(frozen=True, kw_only=True)
class Jobs(Read):
    """What commands take that need the jobs of one workload."""

    variation: Annotated[
        int | None, typer.Option(help="redraw the users' streams by this seed", min=0, rich_help_panel=_JOBS)
    ] = None

    def jobs(self, source: str) -> "harness.Workload":
        """Read a workload and prepare it."""
        from harness.workload.prepare import prepare
        from harness.workload.resampling import resample

        jobs = prepare(self.log(source), **vars(self.preparation))
        return jobs if self.variation is None else resample(jobs, self.variation)

    def jobs_after(self, state: Path | None, source: str | None) -> "harness.Workload":
        """Return the jobs of a workload, those of a state, or the ones after the others."""
        from harness.workload.snapshot import followed_by
        from harness.workload.state_file import read_state

        if state is None:
            return self.jobs(str(source))
        there = read_state(state, lenient=self.lenient).workload()
        return there if source is None else followed_by(there, self.jobs(source))


#: The parts of a scheduler that all commands take which replay one workload.
COMMON = ("select", "rate", "sleep", "predict", "hold")


@dataclass(frozen=True, kw_only=True)
class Where(Shown):
    """What commands take that replay jobs: where, and what all schedulers have in common."""

    platform: Platform = None
    procs: Procs = None
    reservations: Annotated[
        Path | None,
        typer.Option(help="nodes kept for some or nobody at times: a CSV of begin, end, nodes, users …"),
    ] = None
    select: Select = "first-fit"
    rate: Rate = "full"
    sleep: Sleep = "never"
    predict: Predict = "requested"
    hold: Hold = "none"
    queues: Annotated[
        Path | None,
        typer.Option(
            help="queues with an order and a start of their own, tables of a TOML file", rich_help_panel=_POLICIES
        ),
    ] = None
    instants: Instants = "together"
    passing: Pass = ""
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.platform is not None and self.procs is not None:
            raise HarnessError("--platform and --procs both given: expected one of them")
        _ = self.timing  # refused before the work

    def scheduler(self, order: str, start: str, energy: str = "none") -> "harness.Scheduler":
        """Return the scheduler of these options and the order, start and energy policy of a command's own."""
        from harness.policy.scheduler import Scheduler

        common = {name: getattr(self, name) for name in COMMON}
        if self.queues is not None:
            from harness.policy.own_queues import read_queues, with_queues

            start = with_queues(start, read_queues(self.queues))
        return Scheduler(order=order, start=start, energy=energy, **common)

    @property
    def timing(self) -> Timing:
        """When starts are decided."""
        return Timing(self.instants, self.passing)

    def machine(self, jobs: "harness.Workload") -> "harness.Platform | int | None":
        """Read the platform that `jobs` are replayed on, if there is another than their log's own machine."""
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
class Replay(Where, Jobs):
    """What commands take that replay one workload."""

    def refuse_unknown_waits(self) -> None:
        """Refuse options that make another stream of the log's jobs, where a replay is compared with the log."""
        changing = [_flag(name, option) for name, option in self.preparation.without_waits]
        for flag in changing + ["--variation"] * (self.variation is not None):
            raise HarnessError(
                f"{flag}: makes another stream of jobs, of which the log knows no waits: nothing to compare a replay "
                "with; expected no such option"
            )


@dataclass(frozen=True, kw_only=True)
class Heard(Replay):
    """What commands take besides that tell policies what energy emits or costs."""

    signal: Annotated[
        str,
        typer.Option(
            metavar="FILE|SHAPE",
            help="carbon intensity or price over time: a table, or daily(low=50, high=300)",
            rich_help_panel=_MACHINE,
        ),
    ] = ""


T = TypeVar("T")


def spread(command: Callable[..., T]) -> Callable[..., T]:
    """Let typer see the options in the groups that `command` takes, and give it the groups made of their values."""
    kinds = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    shown = [one for name in given for one in _parameters(name, kinds[name], given[name].default)]

    @wraps(command)
    def called(**values: Any) -> T:
        return command(**{name: _gathered(name, kinds[name], values) for name in given})

    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in shown}
    return called


def _parameters(name: str, kind: Any, default: Any) -> list[inspect.Parameter]:
    """Return what typer sees of a parameter: itself, or the options in the group."""
    if is_dataclass(kind):
        kinds = get_type_hints(kind, include_extras=True)
        return [one for field in fields(kind) for one in _parameters(field.name, kinds[field.name], field.default)]
    default = inspect.Parameter.empty if default is MISSING else default
    name, kind = _for_typer(name, kind)
    return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)]


def _gathered(name: str, kind: Any, values: dict[str, Any]) -> Any:
    """Return the value of a parameter: typer's own, or the group made of them."""
    if isinstance(kind, type) and is_dataclass(kind):
        kinds = get_type_hints(kind, include_extras=True)
        return kind(**{field.name: _gathered(field.name, kinds[field.name], values) for field in fields(kind)})
    return values[_for_typer(name, kind)[0]]


def _for_typer(name: str, kind: Any) -> tuple[str, Any]:
    """Return the name and type by which typer knows a parameter; ours are what an `Option` of the preparation says."""
    option = next((said for said in getattr(kind, "__metadata__", ()) if isinstance(said, Option)), None)
    if option is None:
        return name, kind
    flag = _flag(name, option)
    name = flag.strip("-").replace("-", "_")
    least = None if option.above is None or kind.__origin__ != int | None else int(option.above) + 1
    told = typer.Option(flag, help=option.help, metavar=option.metavar, min=least, rich_help_panel=_JOBS)
    plain = kind.__origin__
    if (
        words_of(plain) or plain == float | str | None
    ):  # our sentences name the nearest word; typer knows no such choice
        plain = str | None if NoneType in get_args(plain) else str
    return name + "_" * iskeyword(name), Annotated[plain, told]


def _flag(name: str, option: Option) -> str:
    return option.flag or f"--{name.replace('_', '-')}"
