"""`--slurm`: replay under the rules of a Slurm configuration instead of policies."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.errors import HarnessError
from harness.policy.timing import TIMING_FIELDS

if TYPE_CHECKING:
    from harness.results.schedule import Schedule
    from harness.slurm.slurm_scheduler import SlurmScheduler
    from harness.workload.log import Log, Workload

#: Options that a replay under Slurm's rules does not use: policies, machine, timing, and features of our engine.
_OTHERS = (
    *(
        "signal",
        "hold",
        "order",
        "start",
        "queues",
        "select",
        "rate",
        "sleep",
        "energy",
        "predict",
        "platform",
        "procs",
    ),
    *(*TIMING_FIELDS, "state", "events", "interrupted", "fairness"),
)

_PANEL = "Slurm"


@dataclass(frozen=True, kw_only=True)
class SlurmRules:
    """Options of commands that can replay a workload as Slurm would schedule it."""

    slurm: Annotated[
        Path | None,
        typer.Option(
            metavar="slurm.conf", help="schedule as Slurm with this configuration, on its nodes", rich_help_panel=_PANEL
        ),
    ] = None
    associations: Annotated[
        Path | None,
        typer.Option(help="accounts, users, shares and QOS for --slurm, from `sacctmgr dump`", rich_help_panel=_PANEL),
    ] = None

    def __post_init__(self) -> None:
        if self.associations is not None and self.slurm is None:
            raise HarnessError("--associations: belong to a Slurm: expected --slurm slurm.conf too")

    def refuse_policies(self, context: typer.Context) -> None:
        """Refuse options that contradict the configuration."""
        for parameter in context.command.params:
            source = context.get_parameter_source(str(parameter.name))
            if self.slurm and parameter.name in _OTHERS and source is not None and source.name == "COMMANDLINE":
                from harness.slurm.slurm_scheduler import BEGINS_EMPTY

                why = "the configuration decides which jobs start, when and where"
                why = BEGINS_EMPTY if parameter.name == "state" else why
                raise HarnessError(f"--slurm and {parameter.opts[0]}: {why}; expected one")

    def replay(self, log: "Log", seed: int, reservations: Path | None = None) -> "Callable[..., Schedule]":
        """Return a function that replays workloads made of `log`. Each call draws new phases of Slurm's loops.

        Its other arguments are those of `harness.simulate` for progress and the timeline.
        """
        from harness.experiment.slurm_simulation import simulate_slurm
        from harness.platform.windows import reserved
        from harness.slurm.requests import said_of
        from harness.slurm.slurm_replay import SlurmPolicies

        scheduler = self._scheduler.of(said_of(log))
        nodes = None if reservations is None else reserved(scheduler.platform, reservations)
        seeds = iter(range(seed, 2**63))

        def replayed(jobs: "Workload", **kept: Any) -> "Schedule":
            found = simulate_slurm(jobs, nodes, scheduler, seed=next(seeds), **kept)
            return replace(found, policies=SlurmPolicies(scheduler.cluster))

        return replayed

    @cached_property
    def _scheduler(self) -> "SlurmScheduler":
        from harness.slurm.slurm_scheduler import slurm_scheduler

        assert self.slurm is not None
        return slurm_scheduler(self.slurm, self.associations)

    def unmodelled(self) -> list[str]:
        """Return a sentence for each part of the configuration that a replay does not model."""
        return self._scheduler.unmodelled if self.slurm else []
