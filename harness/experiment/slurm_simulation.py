"""Replay a workload under the rules of a Slurm configuration: `simulate` for such a scheduler."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.experiment.simulation import machine_of
from harness.policy.timing import DecisionTiming
from harness.results.timeline import Placements, Timeline
from harness.slurm.requests import said_of
from harness.slurm.shared_machine import with_partitions
from harness.slurm.slurm_scheduler import SlurmScheduler
from harness.workload.log import Log, Workload
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule


def simulate_slurm(
    workload: "Workload | Log | str | Path",
    platform: "Platform | int | str | Path | None",
    scheduler: SlurmScheduler,
    *,
    seed: int = 0,
    progress: Any = None,
    timeline: bool = False,
    placements: bool | Placements = False,
    **others: Any,
) -> "Schedule":
    """Replay `workload` as Slurm would. A `platform` gives its name, and must have the same number of processors.

    `others` are arguments of `simulate` that concern policies: they must not be set.
    """
    timing = others.pop("timing", None) or DecisionTiming()
    for name, value in (*others.items(), ("timing", None if timing.is_default else timing)):
        if value is not None and name not in ("plugins", "plain"):
            raise HarnessError(f"{name}: {scheduler.names['start']} decides by its configuration alone: expected none")
    if isinstance(workload, str | Path):
        workload = read_workload(workload, plugins=tuple(map(str, others.get("plugins") or ())))
    if isinstance(workload, Log):
        scheduler, workload = scheduler.of(said_of(workload)), prepare(workload)
    machine = nodes_of(scheduler, machine_of(platform, workload)) if platform is not None else scheduler.platform
    if machine.windows:
        scheduler = scheduler.keeping(machine.windows)
    samples = Timeline() if timeline else None
    places = Placements() if placements is True else placements or None
    found = scheduler.replay(workload, seed=seed, progress=progress, timeline=samples, placements=places)
    again = partial(simulate_slurm, platform=platform, scheduler=scheduler, seed=seed)
    return replace(found, platform=machine, again=again)


def machine_of_policies(scheduler: SlurmScheduler, machine: "Platform | None" = None) -> "Platform":
    """Return the nodes and partitions of a Slurm for the policies that compete with it, under a platform's name."""
    found = with_partitions(scheduler.cluster)
    if machine is None:
        return found
    nodes = nodes_of(scheduler, machine)
    return replace(found, name=nodes.name, windows=nodes.windows)


def nodes_of(scheduler: SlurmScheduler, machine: "Platform") -> "Platform":
    """Return the nodes of a Slurm under the name of a platform; refuse a platform of another size."""
    if machine.cores != scheduler.cluster.cpus:
        raise HarnessError(
            f"{scheduler.written_as} has {scheduler.cluster.cpus:,} processors, the platform {machine.name!r} "
            f"{machine.cores:,}: expected the same number"
        )
    nodes = scheduler.platform.nodes
    if machine.nodes != nodes and any(window.nodes for window in machine.windows):
        raise HarnessError(
            f"reservations name nodes of {machine.name!r}, which has {machine.nodes:,}, and {scheduler.written_as} "
            f"{nodes:,}: expected procs in their place, or a platform with as many nodes"
        )
    return replace(scheduler.platform, name=machine.name, windows=machine.windows)
