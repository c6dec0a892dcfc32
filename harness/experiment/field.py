"""A field: workloads × variations × platforms × seeds × schedulers, less what is excluded."""

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
from harness.policy.scheduler import Chosen, Scheduler, choose_all, own_choices, second_order
from harness.policy.spec import Choice, choose, first_table, parse, summands, written
from harness.policy.table import Table
from harness.policy.timing import Timing
from harness.workload.signals import Signal

if TYPE_CHECKING:
    from harness.slurm.slurm_scheduler import SlurmScheduler

#: More runs of a field than that cannot be meant, and a list of them would not fit into memory.
MOST_RUNS = 1_000_000

#: The platform of a field with Slurms that names none: the nodes that their configurations describe.
AS_CONFIGURED = "as configured"

#: The parts of a scheduler, in the order in which they are written.
PARTS = tuple(part.name for part in fields(Scheduler))


@dataclass(frozen=True)
class Source:
    """A workload of a field: where it comes from, and how it is prepared."""

    source: str
    options: Mapping[str, Any]  # of `harness.prepare`
    name: str = ""  # to tell two preparations of one log apart
    procs: int | None = None  # processors of its machine, where it does not say
    state: str = ""  # the file of a state that it follows; without a source, that alone is replayed


@dataclass(frozen=True)
class Exclusion:
    """What is not run: combinations that have one of the values named for every key."""

    names: Mapping[str, tuple[str, ...]]  # "workload" or "platform" → as the field writes them
    policies: Mapping[str, tuple[Choice, ...]]  # part → policies, whose defaults stand for any value

    def covers(self, workload: Source, platform: str, chosen: Chosen) -> bool:
        """Return whether this combination is excluded."""
        if chosen.configured and self.policies:
            return False
        named = {"workload": (workload.source, workload.name), "platform": (platform,), "slurm": (chosen.configured,)}
        return all(set(values) & set(named[key]) for key, values in self.names.items()) and all(
            any(_is(chosen[part], wanted) for wanted in choices) for part, choices in self.policies.items()
        )


def _is(choice: Choice, wanted: Choice) -> bool:
    """Return whether a choice is of the wanted policy, and has the values that are wanted other than by default.

    Of holds, whether all that are wanted are among those chosen.
    """
    if choice.policy.part != "hold":
        return _is_one(choice, wanted)
    return all(any(_is_one(one, another) for one in choice.chain) for another in wanted.chain)


def _is_one(choice: Choice, wanted: Choice) -> bool:
    defaults = wanted.policy.parameters
    if wanted.queues and wanted.queues != choice.queues:
        return False
    return choice.policy.name == wanted.policy.name and all(
        choice.values[name] == value for name, value in wanted.values.items() if value != defaults[name]
    )


@dataclass(frozen=True)
class Field:
    """A field as it was read; `harness.experiment.field_reading.read_field` makes one."""

    name: str
    about: str
    written: SourceText  # where it is written
    workloads: tuple[Source, ...]
    platforms: tuple[str, ...]  # names, paths, numbers of processors, or "log": as many as the log names
    schedulers: Mapping[Scheduler, Chosen]  # as it is written, and its policies
    seeds: tuple[int, ...] = (0,)
    timing: Timing = dataclass_field(default_factory=Timing)  # when starts are decided, in all runs
    signal: Signal | None = None  # what policies are told from outside, in all runs
    reservations: str = ""  # a table of nodes that are kept for some, on all platforms
    jobs: int | None = None  # the first so many of each workload only, if they were asked for besides
    state: str | None = None  # what all workloads follow, if that was asked for besides
    resamples: int = 0  # variations of each workload besides itself
    excluded: frozenset[tuple[int, str, Scheduler]] = frozenset()  # number of the workload, platform, scheduler

    @property
    def slurms(self) -> "tuple[SlurmScheduler, ...]":
        """The Slurms among the schedulers."""
        return tuple(cast("SlurmScheduler", one) for one in self.schedulers.values() if one.configured)

    @property
    def mixed(self) -> bool:
        """Whether policies compete with Slurms: on machines of the same size, then."""
        return 0 < len(self.slurms) < len(self.schedulers)

    @property
    def size(self) -> int:
        """How many runs it stands for, those that are excluded too."""
        parts = (self.workloads, self.platforms, self.seeds, self.schedulers)
        return math.prod(map(len, parts), start=self.resamples + 1)

    def combinations(self) -> Iterator[tuple[int, int, str, int, Scheduler]]:
        """Yield (number of the workload, variation, platform, seed, scheduler), in the field's order."""
        for workload, variation, platform, seed, scheduler in itertools.product(
            range(len(self.workloads)), range(self.resamples + 1), self.platforms, self.seeds, self.schedulers
        ):
            if (workload, platform, scheduler) not in self.excluded:
                yield workload, variation, platform, seed, scheduler


def shortened(field: Field, jobs: int | None) -> Field:
    """Return a field of the first so many jobs of each workload, or of all that it says."""
    if jobs is None:
        return field
    if jobs < 1:
        raise HarnessError(f"jobs = {jobs}: expected at least 1")
    workloads = tuple(replace(one, options={**one.options, "jobs": jobs}) for one in field.workloads)
    return replace(field, workloads=workloads, jobs=jobs)


def beginning_with(field: Field, state: str | Path | None) -> Field:
    """Return a field whose workloads all begin with the state of a file, or as they say."""
    if state is None:
        return field
    named = str(state)
    return replace(field, workloads=tuple(replace(one, state=named) for one in field.workloads), state=named)


def expand(spec: str, known: Mapping[str, Policy]) -> list[str]:
    """List every policy of a sweep: `fixed(rate=[0.5, 1])` is `fixed(rate=0.5)` and `fixed(rate=1)`.

    Points at which a parameter lies above another that it must not lie above are left out: of a sweep over `low` and
    `high`, say, those with low > high. `known`: the policies by name.
    """
    if len(parts := summands(spec)) > 1:
        return [" + ".join(point) for point in itertools.product(*(expand(part, known) for part in parts))]
    name, values = parse(spec, first_table(spec, known))
    lists = {parameter: _swept(value, known.get(name), parameter) for parameter, value in values.items()}
    if empty := [parameter for parameter, choices in lists.items() if not choices]:
        raise HarnessError(f"{spec!r}: nothing to choose from for {empty[0]!r}: expected at least one value")
    if (size := math.prod(map(len, lists.values()))) > MOST_RUNS:
        raise HarnessError(f"a sweep over {size:,} points of {name!r}: expected at most {MOST_RUNS:,}")
    points = [dict(zip(lists, point, strict=True)) for point in itertools.product(*lists.values())]
    if len(points) > 1 and name in known:
        points = [point for point in points if _rises(known[name], point)]
        if not points:
            rule = " and ".join(f"{low} ≤ {high}" for low, high in known[name].rising)
            raise HarnessError(f"{spec!r}: nothing is left of this sweep: expected some with {rule}")
    if not values:
        return [name]
    return [f"{name}({', '.join(f'{key}={written(value)}' for key, value in point.items())})" for point in points]


def _swept(value: Any, policy: Policy | None, parameter: str) -> list[Any]:
    """Return the values that a sweep takes for a parameter: those of a list, or the tables of a list of tables.

    What says whose a queue of its own is may be a list as well.
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
    """Multiply a group's lists of policies out: every scheduler, written one way however the group writes it."""
    if (size := math.prod(map(len, group.values()))) > MOST_RUNS:
        raise HarnessError(f"{size:,} schedulers: expected at most {MOST_RUNS:,}")
    found = {}
    for point in itertools.product(*group.values()):
        choices = dict(zip(group, point, strict=True))
        found[Scheduler(**{part: str(choice) for part, choice in choices.items()})] = choose_all(choices, policies)
    return found


def chosen(spec: str, part: str, policies: Mapping[str, Mapping[str, Policy]]) -> Choice:
    """Return the policy that `spec` names for a part of a scheduler."""
    hook = Scheduler.HOOKS[part]
    choice = choose(spec, hook, policies[hook])
    second_order(choice, policies)  # refused here if there is none of that name …
    own_choices(choice, policies)  # … or for a queue of its own
    return choice
