"""What a tournament runs: workloads × variations × platforms × seeds × schedulers, less what is excluded."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from harness.errors import HarnessError
from harness.policy import Choice, Policy, Scheduler, choose, parse
from harness.tournament.page import Page

#: The parts of a scheduler, in the order in which they are written.
PARTS = tuple(part.name for part in fields(Scheduler))


@dataclass(frozen=True)
class Source:
    """A workload of a field: where it comes from, and how it is prepared."""

    source: str
    options: Mapping[str, Any]  # of `harness.prepare`
    name: str = ""  # to tell two preparations of one log apart


@dataclass(frozen=True)
class Exclusion:
    """What is not run: combinations that have one of the named values in each of the named places."""

    names: Mapping[str, tuple[str, ...]]  # "workload" or "platform" → as the field writes them
    policies: Mapping[str, tuple[Choice, ...]]  # part → policies, whose defaults stand for any value

    def covers(self, workload: Source, platform: str, chosen: Mapping[str, Choice]) -> bool:
        """Whether this combination is excluded."""
        named = {"workload": (workload.source, workload.name), "platform": (platform,)}
        return all(set(values) & set(named[key]) for key, values in self.names.items()) and all(
            any(_is(chosen[part], wanted) for wanted in choices) for part, choices in self.policies.items()
        )


def _is(choice: Choice, wanted: Choice) -> bool:
    """Whether a choice is of the wanted policy, and has the values that are wanted other than by default."""
    defaults = wanted.policy.parameters
    return choice.policy.name == wanted.policy.name and all(
        choice.values[name] == value for name, value in wanted.values.items() if value != defaults[name]
    )


@dataclass(frozen=True)
class Field:
    """A field as it was read; `harness.tournament.reading.read_field` makes one."""

    name: str
    about: str
    page: Page  # where it is written
    workloads: tuple[Source, ...]
    platforms: tuple[str, ...]  # names, paths, numbers of processors, or "log": as many as the log names
    schedulers: tuple[Scheduler, ...]
    seeds: tuple[int, ...] = (0,)
    resamples: int = 0  # variations of each workload besides itself
    excluded: frozenset[tuple[int, str, Scheduler]] = frozenset()  # number of the workload, platform, scheduler

    def combinations(self) -> Iterator[tuple[int, int, str, int, Scheduler]]:
        """(number of the workload, variation, platform, seed, scheduler), in the field's order."""
        for workload, variation, platform, seed, scheduler in itertools.product(
            range(len(self.workloads)), range(self.resamples + 1), self.platforms, self.seeds, self.schedulers
        ):
            if (workload, platform, scheduler) not in self.excluded:
                yield workload, variation, platform, seed, scheduler


def expand(spec: str, known: Mapping[str, Policy]) -> list[str]:
    """Every policy of a sweep: `fixed(rate=[0.5, 1])` is `fixed(rate=0.5)` and `fixed(rate=1)`.

    Points at which a parameter lies above another that it must not lie above are left out: of a sweep over `low` and
    `high`, say, those with low > high. `known`: the policies by name.
    """
    name, values = parse(spec)
    lists = {parameter: value if isinstance(value, list) else [value] for parameter, value in values.items()}
    if empty := [parameter for parameter, choices in lists.items() if not choices]:
        raise HarnessError(f"{spec!r}: nothing to choose from for {empty[0]!r}: expected at least one value")
    points = [dict(zip(lists, point, strict=True)) for point in itertools.product(*lists.values())]
    if len(points) > 1 and name in known:
        points = [point for point in points if _rises(known[name], point)]
        if not points:
            rule = " and ".join(f"{low} ≤ {high}" for low, high in known[name].rising)
            raise HarnessError(f"{spec!r}: nothing is left of this sweep: expected some with {rule}")
    if not values:
        return [name]
    return [f"{name}({', '.join(f'{parameter}={value}' for parameter, value in point.items())})" for point in points]


def _rises(policy: Policy, point: Mapping[str, Any]) -> bool:
    values = {**policy.parameters, **point}
    return all(values[low] <= values[high] for low, high in policy.rising)


def schedulers_of(
    group: Mapping[str, list[str]], policies: Mapping[str, Mapping[str, Policy]]
) -> dict[Scheduler, dict[str, Choice]]:
    """The product of a group's lists of policies: every scheduler, written one way however the group writes it."""
    found = {}
    parts = {part: [chosen(spec, part, policies) for spec in specs] for part, specs in group.items()}
    for point in itertools.product(*parts.values()):
        scheduler = Scheduler(**{part: str(choice) for part, choice in zip(parts, point, strict=True)})
        found[scheduler] = scheduler.choose(policies)
    return found


def chosen(spec: str, part: str, policies: Mapping[str, Mapping[str, Policy]]) -> Choice:
    """The policy that `spec` names for a part of a scheduler."""
    hook = Scheduler.HOOKS[part]
    choice = choose(spec, hook, policies[hook])
    if part == "start":  # another order that it names is checked too
        Scheduler(start=spec).choose(policies)
    return choice
