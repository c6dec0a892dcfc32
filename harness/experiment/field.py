"""A field: workloads × variations × platforms × seeds × schedulers, without the excluded combinations."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness.errors import HarnessError
from harness.experiment.source_text import SourceText
from harness.policy.kinds import Policy
from harness.policy.own_queues import CONDITIONS
from harness.policy.scheduler import Chosen, Scheduler, choose_all, queue_choices, second_order
from harness.policy.spec import Choice, choose, first_table, parse, summands, value_text
from harness.policy.table import Table
from harness.policy.timing import DecisionTiming
from harness.workload.signals import Signal

if TYPE_CHECKING:
    from harness.slurm.slurm_scheduler import SlurmScheduler

#: The largest number of runs: a longer list would not fit into memory, and is probably a mistake.
MAX_RUNS = 1_000_000

#: The default platform of a field with Slurm configurations: the nodes that these describe.
AS_CONFIGURED = "as configured"

#: The parts of a scheduler, in the order in which they are written.
PARTS = tuple(part.name for part in fields(Scheduler))


@dataclass(frozen=True)
class Source:
    """A workload of a field: its origin and its preparation."""

    source: str
    options: Mapping[str, Any]  # of `harness.prepare`
    name: str = ""  # distinguishes two preparations of one log
    procs: int | None = None  # processors of its machine, if the log does not name them
    state: str = ""  # the file of a snapshot that it follows; without a source, the snapshot alone is replayed


@dataclass(frozen=True)
class Exclusion:
    """Combinations that are not run: those with one of the named values for every key."""

    names: Mapping[str, tuple[str, ...]]  # "workload", "platform" or "slurm" → values as written in the field
    policies: Mapping[str, tuple[Choice, ...]]  # part → policies; their default parameters match any value

    def covers(self, workload: Source, platform: str, chosen: Chosen) -> bool:
        """Return whether this combination is excluded."""
        if chosen.configured and self.policies:
            return False
        named = {"workload": (workload.source, workload.name), "platform": (platform,), "slurm": (chosen.configured,)}
        return all(set(values) & set(named[key]) for key, values in self.names.items()) and all(
            any(_matches(chosen[part], wanted) for wanted in choices) for part, choices in self.policies.items()
        )


def _matches(choice: Choice, wanted: Choice) -> bool:
    """Return whether `choice` is the `wanted` policy, with the values of `wanted` that differ from the defaults.

    For holds, return whether all that are wanted are among those chosen.
    """
    if choice.policy.part != "hold":
        return _matches_one(choice, wanted)
    return all(any(_matches_one(one, another) for one in choice.chain) for another in wanted.chain)


def _matches_one(choice: Choice, wanted: Choice) -> bool:
    defaults = wanted.policy.parameters
    if wanted.queues and wanted.queues != choice.queues:
        return False
    return choice.policy.name == wanted.policy.name and all(
        choice.values[name] == value for name, value in wanted.values.items() if value != defaults[name]
    )


@dataclass(frozen=True)
class Field:
    """A field as read by `harness.experiment.field_reading.read_field`."""

    name: str
    about: str
    written: SourceText  # where it is written
    workloads: tuple[Source, ...]
    platforms: tuple[str, ...]  # names, paths, numbers of processors, or "log": the log's number
    schedulers: Mapping[Scheduler, Chosen]  # as written → its policies
    seeds: tuple[int, ...] = (0,)
    timing: DecisionTiming = dataclass_field(default_factory=DecisionTiming)  # when starts are decided, in all runs
    signal: Signal | None = None  # the external signal that policies read, in all runs
    reservations: str = ""  # a table of advance reservations, on all platforms
    jobs: int | None = None  # replay only this many first jobs of each workload
    state: str | None = None  # a snapshot that all workloads follow
    resamples: int = 0  # variations of each workload, in addition to the log itself
    excluded: frozenset[tuple[int, str, Scheduler]] = frozenset()  # number of the workload, platform, scheduler

    @property
    def slurms(self) -> "tuple[SlurmScheduler, ...]":
        """The schedulers that are Slurm configurations."""
        return tuple(cast("SlurmScheduler", one) for one in self.schedulers.values() if one.configured)

    @property
    def mixed(self) -> bool:
        """Whether both policies and Slurm configurations compete. Their machines then have the same size."""
        return 0 < len(self.slurms) < len(self.schedulers)

    @property
    def size(self) -> int:
        """The number of runs, including those that are excluded."""
        parts = (self.workloads, self.platforms, self.seeds, self.schedulers)
        return math.prod(map(len, parts), start=self.resamples + 1)

    def combinations(self) -> Iterator[tuple[int, int, str, int, Scheduler]]:
        """Yield (number of the workload, variation, platform, seed, scheduler), in the field's order."""
        for workload, variation, platform, seed, scheduler in itertools.product(
            range(len(self.workloads)), range(self.resamples + 1), self.platforms, self.seeds, self.schedulers
        ):
            if (workload, platform, scheduler) not in self.excluded:
                yield workload, variation, platform, seed, scheduler


def with_first_jobs(field: Field, jobs: int | None) -> Field:
    """Return `field` with only the first `jobs` jobs of each workload; unchanged if None."""
    if jobs is None:
        return field
    if jobs < 1:
        raise HarnessError(f"jobs = {jobs}: expected at least 1")
    workloads = tuple(replace(one, options={**one.options, "jobs": jobs}) for one in field.workloads)
    return replace(field, workloads=workloads, jobs=jobs)


def with_snapshot(field: Field, state: str | Path | None) -> Field:
    """Return `field` with all workloads beginning with the snapshot in a file; unchanged if None."""
    if state is None:
        return field
    named = str(state)
    return replace(field, workloads=tuple(replace(one, state=named) for one in field.workloads), state=named)


def expand(spec: str, known: Mapping[str, Policy]) -> list[str]:
    """Return every policy of a sweep: `fixed(rate=[0.5, 1])` is `fixed(rate=0.5)` and `fixed(rate=1)`.

    If a policy declares that one parameter must not exceed another, points that violate this are left out. `known`: the
    policies by name.
    """
    if len(parts := summands(spec)) > 1:
        return [" + ".join(point) for point in itertools.product(*(expand(part, known) for part in parts))]
    name, values = parse(spec, first_table(spec, known))
    lists = {parameter: _swept(value, known.get(name), parameter) for parameter, value in values.items()}
    if empty := [parameter for parameter, choices in lists.items() if not choices]:
        raise HarnessError(f"{spec!r}: nothing to choose from for {empty[0]!r}: expected at least one value")
    if (size := math.prod(map(len, lists.values()))) > MAX_RUNS:
        raise HarnessError(f"a sweep over {size:,} points of {name!r}: expected at most {MAX_RUNS:,}")
    points = [dict(zip(lists, point, strict=True)) for point in itertools.product(*lists.values())]
    if len(points) > 1 and name in known:
        points = [point for point in points if _rises(known[name], point)]
        if not points:
            rule = " and ".join(f"{low} ≤ {high}" for low, high in known[name].rising)
            raise HarnessError(f"{spec!r}: no point of this sweep is valid: expected some with {rule}")
    if not values:
        return [name]
    return [f"{name}({', '.join(f'{key}={value_text(value)}' for key, value in point.items())})" for point in points]


def _swept(value: Any, policy: Policy | None, parameter: str) -> list[Any]:
    """Return the values that a sweep takes for a parameter: those of a list, or the tables of a list of tables.

    A list in the condition of a queue with its own policies is one value.
    """
    many = isinstance(value, list) and (policy is not None or parameter not in CONDITIONS)
    if many and policy and parameter in policy.parameters and policy.kind(parameter) is Table:
        many = any(isinstance(one, list | str) for one in value)
    return value if many else [value]


def _rises(policy: Policy, point: Mapping[str, Any]) -> bool:
    values = {**policy.parameters, **point}
    return all(values[low] <= values[high] for low, high in policy.rising)


def schedulers_of(
    group: Mapping[str, list[Choice]], policies: Mapping[str, Mapping[str, Policy]]
) -> dict[Scheduler, Chosen]:
    """Return every combination of a group's lists of policies, each in its normal form."""
    if (size := math.prod(map(len, group.values()))) > MAX_RUNS:
        raise HarnessError(f"{size:,} schedulers: expected at most {MAX_RUNS:,}")
    found = {}
    for point in itertools.product(*group.values()):
        choices = dict(zip(group, point, strict=True))
        found[Scheduler(**{part: str(choice) for part, choice in choices.items()})] = choose_all(choices, policies)
    return found


def chosen(spec: str, part: str, policies: Mapping[str, Mapping[str, Policy]]) -> Choice:
    """Return the policy that `spec` names for a part of a scheduler."""
    hook = Scheduler.HOOKS[part]
    choice = choose(spec, hook, policies[hook])
    second_order(choice, policies)  # raises if its second order does not exist
    queue_choices(choice, policies)  # raises if a policy of a queue does not exist
    return choice
