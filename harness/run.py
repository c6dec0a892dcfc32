"""The main call: a workload, a platform and a scheduler in, a schedule out."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, did_you_mean
from harness.platform.finding import bundled_platforms
from harness.plugins import plugins as load_plugins
from harness.policy import Scheduler

if TYPE_CHECKING:
    from harness.engine.simulate import Progress
    from harness.platform.platform import Platform
    from harness.policy import Choice
    from harness.results.metrics import Measure
    from harness.results.recording import Placements
    from harness.results.schedule import Schedule
    from harness.workload.events import Events
    from harness.workload.log import Log, Workload

    Machine = Platform | int | str | Path


#: What policies may need to know about the nodes, in words.
NEEDED = {
    "idle": "the idle power of every node",
    "peak": "the peak power of every node",
    "curve": "the load curve of every node",
    "performance": "the performance states of a node",
    "sleep": "the sleep states of a node",
}


def simulate(
    workload: "Workload | Log | str | Path",
    platform: "Machine | None" = None,
    scheduler: Scheduler | None = None,
    *,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
    plain: bool = False,
    progress: "Progress | None" = None,
    events: "Events | None" = None,
    timeline: bool = False,
    placements: "bool | Placements" = False,
) -> "Schedule":
    """Replay `workload` on `platform` under `scheduler`.

    A workload that is not prepared yet (a path, a name, a `Log`) is prepared with the default options; without a
    platform it runs on as many processors as its log names. `plain` runs every policy as plain Python, which gives
    the same schedule, slowly. `progress(done, all)` is called a few times a second. `events` are failures of nodes
    and interventions that are replayed. `timeline` and `placements` keep the system at every instant, and which node
    served whom when, for `Schedule.timeline` and `Schedule.placements`; `Placements(begin, end)` keeps a window of it.
    """
    from harness.engine.setup import Extras
    from harness.engine.simulate import simulate as run
    from harness.results.recording import Placements, Timeline
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload
    from harness.workload.prepare import prepare

    if seed < 0:
        raise HarnessError(f"seed {seed}: expected a whole number of at least 0")
    if isinstance(plugins, str | Path):
        plugins = (plugins,)
    paths = tuple(str(path) for path in plugins)
    if not isinstance(scheduler, Scheduler | None):
        raise HarnessError(f"the scheduler {scheduler!r}: expected a harness.Scheduler, as in Scheduler(start='easy')")
    if isinstance(workload, str | Path):
        workload = read_workload(workload, plugins=paths)
    prepared = workload if isinstance(workload, Workload) else prepare(workload)
    machine = _machine(platform, prepared, paths)
    chosen = choose_policies(scheduler or Scheduler(), machine, paths)
    samples = Timeline() if timeline else None
    places = Placements() if placements is True else placements or None
    extras = Extras(events, samples.add if samples else None, places.add if places else None)
    outcome = run(prepared, machine, chosen, seed=seed, plain=plain, progress=progress, extras=extras)
    names = {part: str(choice) for part, choice in chosen.items() if part != "second"}
    return Schedule(prepared, machine, names, seed, outcome, events, samples, places)


def read_workload(source: str | Path, *, lenient: bool = False, plugins: Iterable[str | Path] = ()) -> "Log":
    """Read a log by path or short name, or generate one: `KTH-SP2`, `my.swf.gz`, `lublin(jobs=1000)`, …"""
    hook = load_plugins(*map(str, plugins)).manager.hook
    try:
        log = hook.read_workload(source=str(source), lenient=lenient)
    except Exception as error:
        if not isinstance(error, HarnessError):
            error.add_note(f"while a plugin read the workload {source}")
        raise
    if log is None:
        raise HarnessError(f"{source}: no plugin reads such a workload")
    return log  # type: ignore[no-any-return]


def read_platform(source: str | Path, *, plugins: Iterable[str | Path] = ()) -> "Platform":
    """Read a platform by path or bundled name: `peas-table2`, `my-cluster.toml`, or a number of processors."""
    hook = load_plugins(*map(str, plugins)).manager.hook
    platform = hook.read_platform(source=_spelled_out(str(source)))
    if platform is None:
        raise HarnessError(
            f"{source}: no plugin reads such a platform; {did_you_mean(str(source), bundled_platforms())}"
        )
    return platform  # type: ignore[no-any-return]


def extra_measures(plugins: Iterable[str | Path] = ()) -> "list[Measure]":
    """The measures that plugins offer; a name that is already taken is refused."""
    from harness.results.adequacy import ADEQUACY
    from harness.results.metrics import MEASURES, Measure

    offered = []
    taken = {*MEASURES, ADEQUACY}
    for measure, origin in load_plugins(*map(str, plugins)).offered("score_schedule", Measure):
        if measure.name in taken:
            raise HarnessError(f"the measure {measure.name!r} of {origin} is already taken: expected another name")
        taken.add(measure.name)
        offered.append(measure)
    return offered


def call(function: Callable[..., Any], values: dict[str, Any], source: str, *arguments: Any) -> Any:
    """Call `function` with parameters that a user wrote in `source`; unknown ones are refused by name."""
    known = list(inspect.signature(function).parameters)[len(arguments) :]
    for name in values:
        if name not in known:
            raise HarnessError(f"{source}: there is no parameter {name!r}; {did_you_mean(name, known)}")
    return function(*arguments, **values)


def choose_policies(scheduler: Scheduler, machine: "Platform", plugins: Iterable[str] = ()) -> "dict[str, Choice]":
    """The policies that `scheduler` names, as they run on this machine; refused where its figures do not suffice."""
    chosen = _with_energy(scheduler, machine).choose(load_plugins(*plugins).policies)
    for choice in chosen.values():
        _refuse_unknown_power(choice.policy, machine)
    return chosen


def _spelled_out(source: str) -> str:
    """A bundled platform's name becomes its path; its parameters stay."""
    name, parenthesis, parameters = source.partition("(")
    known = bundled_platforms()
    return f"{known[name]}{parenthesis}{parameters}" if name in known else source


def _machine(
    platform: "Platform | int | str | Path | None", workload: "Workload", paths: tuple[str, ...]
) -> "Platform":
    from harness.platform.platform import Platform, plain

    if platform is None:
        if workload.procs is None:
            raise HarnessError(f"{workload.name} does not say how many processors its machine had: give --procs N")
        return plain(workload.procs)
    if isinstance(platform, int):
        return plain(platform)
    if isinstance(platform, str | Path):
        return read_platform(platform, plugins=paths)
    if not isinstance(platform, Platform):
        raise HarnessError(
            f"the platform {platform!r}: expected a harness.Platform, its name, or a number of processors"
        )
    return platform


def _with_energy(scheduler: Scheduler, machine: "Platform") -> Scheduler:
    """The richest energy policy that the platform's figures allow, if none is named."""
    from dataclasses import replace

    if scheduler.energy:
        return scheduler
    needs = {"spec": ("curve",), "cores": ("idle", "peak"), "peas": ("peak",), "none": ()}
    best = next(energy for energy, figures in needs.items() if machine.knows(*figures))
    return replace(scheduler, energy=best)


def _refuse_unknown_power(policy: Any, machine: "Platform") -> None:
    missing = [power for power in policy.needs if not machine.knows(power)]
    if missing:
        raise HarnessError(
            f"the policy {policy.name!r} ({policy.hook}) needs {NEEDED[missing[0]]}, which the platform "
            f"{machine.name!r} does not give: expected another policy, or a platform that does"
        )
