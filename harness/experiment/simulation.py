"""The main call, `simulate`: it takes a workload, a platform and a scheduler, and returns a schedule."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness.errors import HarnessError
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Chosen, Scheduler
from harness.policy.timing import DecisionTiming

if TYPE_CHECKING:
    from harness.engine.prepared_run import Outcome
    from harness.engine.setup import Extras
    from harness.engine.simulate import Progress
    from harness.platform.machine import Platform
    from harness.policy.spec import Choice
    from harness.results.power_cap import CapWatch
    from harness.results.schedule import Schedule
    from harness.results.signal_meter import Meter
    from harness.results.timeline import Placements, Timeline
    from harness.slurm.slurm_scheduler import SlurmScheduler
    from harness.workload.events import Events
    from harness.workload.log import Log, Workload
    from harness.workload.signals import Signal

    Machine = Platform | int | str | Path


def simulate(
    workload: "Workload | Log | str | Path",
    platform: "Machine | None" = None,
    scheduler: Scheduler | Chosen | None = None,
    *,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
    plain: bool = False,
    progress: "Progress | None" = None,
    events: "Events | None" = None,
    timing: DecisionTiming | None = None,
    signal: "Signal | str | Path | None" = None,
    timeline: bool = False,
    placements: "bool | Placements" = False,
) -> "Schedule":
    """Replay `workload` on `platform` under `scheduler`: policies, or a Slurm (`harness.read_slurm_scheduler`).

    A workload that is not prepared (a path, a name, a `Log`) is prepared with the default options. Without a platform
    it runs on the number of processors that its log names.

    `plain` runs every policy as plain Python: the same schedule, slowly. `progress(done, all)` is called a few times a
    second. `events` are failures of nodes and interventions that are replayed. `timing` defines when starts are
    decided. With `DecisionTiming("per-event")` a decision follows every single event, instead of one decision for all
    events at an instant. With `DecisionTiming(backfill_interval=60)` the start policy runs only every 60 s. `signal` is
    the emissions or the price of energy over time, from `harness.read_signal`: policies read it, and it is integrated
    with the power.

    `timeline` records the system at every instant for `Schedule.timeline`. `placements` records the nodes of each job
    for `Schedule.placements`; `Placements(begin, end)` records an interval only.
    """
    from harness.engine.simulate import simulate as run

    kept: dict[str, Any] = {"seed": seed, "plugins": plugins, "events": events, "timing": timing, "signal": signal}
    if isinstance(scheduler, Chosen) and scheduler.configured:
        from harness.experiment.slurm_simulation import simulate_slurm

        told: Any = {**kept, "progress": progress, "timeline": timeline, "placements": placements}
        return simulate_slurm(workload, platform, cast("SlurmScheduler", scheduler), **told)
    what = run_inputs(workload, platform, scheduler, **kept, timeline=timeline, placements=placements)
    outcome = run(
        what.workload, what.machine, what.chosen, seed=seed, plain=plain, progress=progress, extras=what.extras
    )
    return what.schedule(outcome, partial(simulate, platform=what.machine, scheduler=what.chosen, **kept, plain=plain))


@dataclass(frozen=True)
class RunInputs:
    """The inputs of a run, read, prepared and checked."""

    workload: "Workload"
    machine: "Platform"
    chosen: Chosen
    seed: int
    timing: DecisionTiming
    events: "Events | None"
    samples: "Timeline | None"
    places: "Placements | None"
    meter: "Meter | None"
    caps: "list[CapWatch]"

    @property
    def extras(self) -> "Extras":
        """The inputs of the run other than jobs and policies."""
        from harness.engine.setup import Extras

        written = [one.add for one in (self.samples, self.meter, *self.caps) if one is not None]

        def write(records: Any) -> None:
            for add in written:
                add(records)

        heard = self.meter.signal if self.meter else None
        keep = self.places.add if self.places else None
        return Extras(self.events, write if written else None, keep, self.timing, heard)

    def schedule(self, outcome: "Outcome", again: "Callable[..., Schedule] | None" = None) -> "Schedule":
        """Return the schedule of an outcome; `again` replays another workload in the same way."""
        from harness.results.schedule import Schedule

        for cap in self.caps:
            cap.warn()
        made = (self.workload, self.machine, self.chosen, self.seed, outcome)
        return Schedule(*made, self.events, self.samples, self.places, self.timing, again, self.meter)


def run_inputs(
    workload: "Workload | Log | str | Path",
    platform: "Machine | None",
    scheduler: Scheduler | Chosen | None,
    *,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
    events: "Events | None" = None,
    timing: DecisionTiming | None = None,
    signal: "Signal | str | Path | None" = None,
    timeline: bool = False,
    placements: "bool | Placements" = False,
) -> RunInputs:
    """Read, prepare and check the inputs of a run; the arguments are those of `simulate`."""
    from harness.results.power_cap import cap_watches
    from harness.results.timeline import Placements, Timeline
    from harness.workload.log import Workload
    from harness.workload.log_reading import read_workload
    from harness.workload.prepare import prepare

    if seed < 0:
        raise HarnessError(f"seed {seed}: expected a whole number of at least 0")
    if isinstance(plugins, str | Path):
        plugins = (plugins,)
    paths = tuple(str(path) for path in plugins)
    if not isinstance(scheduler, Scheduler | Chosen | None):
        raise HarnessError(f"the scheduler {scheduler!r}: expected a harness.Scheduler, as in Scheduler(start='easy')")
    if isinstance(workload, str | Path):
        workload = read_workload(workload, plugins=paths)
    prepared = workload if isinstance(workload, Workload) else prepare(workload)
    machine = machine_of(platform, prepared, paths)
    chosen = choose_policies(scheduler or Scheduler(), machine, paths, told=signal is not None)
    samples = Timeline() if timeline else None
    places = Placements() if placements is True else placements or None
    meter, caps = _meter(signal, prepared), cap_watches(chosen)
    return RunInputs(prepared, machine, chosen, seed, timing or DecisionTiming(), events, samples, places, meter, caps)


def _meter(signal: "Signal | str | Path | None", workload: "Workload") -> "Meter | None":
    """Return the meter that integrates a signal, in the time of the workload's log."""
    from harness.results.signal_meter import Meter
    from harness.workload.signals import Signal, read_signal

    if signal is None:
        return None
    heard = signal if isinstance(signal, Signal) else read_signal(signal)
    return Meter(heard.at(workload.header, float(workload.jobs["submit"].min())))


def choose_policies(
    scheduler: Scheduler | Chosen, machine: "Platform", plugins: Iterable[str] = (), *, told: bool = False
) -> Chosen:
    """Return the policies of `scheduler` for this machine; raise an error if the machine lacks data that they need.

    `told`: whether there is a signal.
    """
    policies = load_plugins(*plugins).policies
    chosen = scheduler.choose(policies) if isinstance(scheduler, Scheduler) else scheduler
    if not chosen.configured:
        _warn_of_frozen_scores(chosen["order"])
    return chosen.on(machine.name, machine.knows, policies, told=told)


class FrozenScoreWarning(UserWarning):
    """Warns about an order that reads the time in its score without varies=True."""


def _warn_of_frozen_scores(order: "Choice") -> None:
    if order.says("varies"):
        return
    from harness.policy_api.policy_diagnostics import reads_the_time

    for one in order.chain:
        if reads_the_time(one.policy):
            warnings.warn(
                f"the policy {one.policy.name!r} (order_queue) reads clock.now without varies=True: its score is "
                "computed once, when a job joins the queue, and does not change while the job waits",
                FrozenScoreWarning,
                stacklevel=2,
            )


def machine_of(
    platform: "Platform | int | str | Path | None", workload: "Workload", paths: tuple[str, ...] = ()
) -> "Platform":
    """Return the platform: as given, read by name, or made of a number of processors."""
    from harness.platform.machine import Platform, plain
    from harness.platform.platform_reading import read_platform

    if platform is None:
        if workload.procs is None:
            raise HarnessError(f"{workload.name} does not state how many processors its machine had: give --procs N")
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
