"""From a field to its runs: workloads prepared, platforms read, policies bound to them, every run identified."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import harness
from harness.errors import HarnessError
from harness.platform.platform import Platform, plain
from harness.policy import Scheduler
from harness.run import choose_policies, read_platform, read_workload
from harness.tournament.field import PARTS, Field, Source
from harness.tournament.identity import identity, made_with
from harness.tournament.page import Page
from harness.workload.catalogue import catalogue
from harness.workload.log import Workload
from harness.workload.prepare import prepare

#: The platform that has as many processors as the workload's log names.
OF_THE_LOG = "log"


@dataclass(frozen=True)
class Run:
    """One combination of a field."""

    identity: str
    workload: Workload  # as it is; of a variation, what it will be drawn from
    variation: int
    platform: Platform
    seed: int
    scheduler: Scheduler
    policies: dict[str, str]  # part → policy with its parameters, as tables show it
    versions: dict[str, Any]  # what it must be made with
    preemptive: bool

    @property
    def jobs(self) -> int:
        """How many jobs it will simulate, about."""
        return len(self.workload)

    @property
    def length(self) -> tuple[bool, int]:
        """Larger for those that will probably take longer: preemption looks at everybody at every event."""
        return self.preemptive, self.jobs


@dataclass(frozen=True)
class Plan:
    """All runs of a field, and what they need."""

    field: Field
    runs: tuple[Run, ...]
    workloads: tuple[Workload, ...]
    platforms: tuple[Platform, ...]
    plugins: tuple[str, ...]

    @property
    def jobs(self) -> int:
        """Of all runs together."""
        return sum(run.jobs for run in self.runs)

    def provenance(self) -> dict[str, Any]:
        """The workloads and the platforms, and where they come from: for the store, and for people."""
        return {
            "workloads": [
                {
                    "name": workload.name,
                    "source": source.source,
                    "digest": workload.digest,
                    "jobs": len(workload),
                    "procs": workload.procs,
                    "users": int(workload.jobs.loc[workload.jobs["user"] >= 0, "user"].nunique()),
                    "preparation": [asdict(step) for step in workload.preparation],
                }
                for workload, source in zip(self.workloads, self.field.workloads, strict=True)
            ],
            "platforms": [
                {"name": p.name, "digest": p.digest, "nodes": p.nodes, "procs": p.cores} for p in self.platforms
            ],
        }


def make_plan(field: Field, plugins: Iterable[str] = ()) -> Plan:
    """Prepare what a field needs, and list its runs. What cannot run is refused here, before anything does."""
    plugins = tuple(plugins)
    page = field.page
    workloads = []
    for source in field.workloads:
        with page.saying(source.source):
            workload = _workload(source, plugins)
            if field.resamples:
                harness.resample(workload, 1)  # refused here if it cannot be
            workloads.append(workload)
    _refuse_one_name_for_two(
        page, "workload", [(w.name, source) for w, source in zip(workloads, field.workloads, strict=True)]
    )
    machines: dict[tuple[int, str], Platform] = {}
    for name in field.platforms:
        with page.saying(name):
            named = None if name == OF_THE_LOG else read_platform(name, plugins=plugins)
            machines |= {(k, name): named or _of_the_log(workload) for k, workload in enumerate(workloads)}
    digests = {id(machine): machine.digest for machine in machines.values()}
    platforms = tuple({digests[id(machine)]: machine for machine in machines.values()}.values())
    _refuse_one_name_for_two(page, "platform", [(p.name, digests[id(p)]) for p in platforms])
    bound: dict[tuple[int, Scheduler], tuple[dict[str, str], dict[str, Any], bool]] = {}
    runs: dict[str, Run] = {}
    for k, variation, name, seed, scheduler in field.combinations():
        machine = machines[k, name]
        if (id(machine), scheduler) not in bound:
            with page.saying("scheduler"):
                chosen = choose_policies(scheduler, machine, plugins)
            shown = {part: str(chosen[part]) for part in PARTS}
            bound[id(machine), scheduler] = shown, made_with(chosen, plugins), chosen["start"].policy.preemptive
        versions = bound[id(machine), scheduler][1]
        key = identity(workloads[k].digest, variation, digests[id(machine)], seed, versions)
        runs.setdefault(
            key, Run(key, workloads[k], variation, machine, seed, scheduler, *bound[id(machine), scheduler])
        )
    return Plan(field, tuple(runs.values()), tuple(workloads), platforms, plugins)


def _workload(source: Source, plugins: tuple[str, ...]) -> Workload:
    """A workload as it will be replayed, under the name that tables show."""
    workload = prepare(read_workload(source.source, plugins=plugins), **source.options)
    known = {short.lower(): short for short in catalogue()}.get(source.source.lower(), workload.name)
    options = ", ".join(f"{name}={value}" for name, value in source.options.items())
    return replace(workload, name=source.name or known + (f" ({options})" if options else ""))


def _of_the_log(workload: Workload) -> Platform:
    if workload.procs is None:
        raise HarnessError(f"{workload.name} does not say how many processors its machine had: expected their number")
    return plain(workload.procs)


def _refuse_one_name_for_two(page: Page, what: str, named: Iterable[tuple[str, Any]]) -> None:
    """Tables tell workloads and platforms apart by name."""
    known: dict[str, Any] = {}
    for name, content in named:
        if known.setdefault(name, content) != content:
            hint = ', as in {source = "…", name = "…"}' if what == "workload" else ""
            raise page.refusal(f"two {what}s are called {name!r}: expected different names{hint}", f"{what}s")
