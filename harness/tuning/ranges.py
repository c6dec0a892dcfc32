"""Fields with ranges: `easy(reservations=1..8)` gives the range of a parameter, from which a search chooses."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.disk.stored import read_text, toml_of
from harness.errors import HarnessError, did_you_mean
from harness.experiment.field import PARTS, Field
from harness.experiment.field_reading import field_of
from harness.experiment.source_text import SourceText
from harness.policy.own_queues import OWN, queue_tables, queues_of, with_queues
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Scheduler
from harness.policy.spec import summands
from harness.results.measures import MEASURES, Measure

_NUMBER = r"-?(?:\d+\.\d+|\d+)(?:[eE]-?\d+)?"
_RANGE = re.compile(rf"(\w+)\s*=\s*({_NUMBER})\.\.({_NUMBER})")

#: From this ratio of its ends on, a range is searched on a logarithmic scale.
_WIDE = 100.0

#: A value at most this share of the range from an end lies at the edge.
_EDGE = 0.01

#: Keys of a field that only a search reads.
_OWN = ("held_out", "objectives")

#: Keys of a field that are copied to the field of the judgement.
_AROUND = ("reservations", "signal")


@dataclass(frozen=True)
class Range:
    """The range of a parameter of a policy."""

    part: str  # of the scheduler, or of a queue with its own policies: `night.start`
    name: str
    low: float
    high: float
    whole: bool
    default: float

    @property
    def label(self) -> str:
        """The name of the parameter, unique in the scheduler."""
        return f"{self.part}.{self.name}"

    @property
    def logarithmic(self) -> bool:
        """Whether it is searched on a logarithmic scale."""
        return self.low > 0 and self.high / self.low >= _WIDE

    def edge(self, value: float) -> float | None:
        """Return the end of the range at which a value lies, within a hundredth of the range; None in between."""
        scale = math.log if self.logarithmic else float
        low, here, high = map(scale, (self.low, value, self.high))
        near = 0.0 if self.whole else _EDGE * (high - low)
        return self.low if here <= low + near else self.high if here >= high - near else None


@dataclass(frozen=True)
class Search:
    """A field with one scheduler that has ranges, with the objectives and the data that judge the result."""

    field: Field  # with the defaults instead of ranges
    parts: Mapping[str, str]  # as written, with ranges
    queues: Mapping[str, Any]  # queues with their own order and start, as written, with ranges
    ranges: tuple[Range, ...]
    objectives: tuple[Measure, ...]
    held_out: tuple[str, ...]  # logs that judge, in addition to the later weeks of the field's logs
    surroundings: Mapping[str, str]  # files that the field names for all its runs

    def scheduler(self, values: Mapping[str, float]) -> Scheduler:
        """Return the scheduler with these values, by label, instead of its ranges."""
        return Scheduler(**_written(self.parts, self.queues, values))

    @property
    def default(self) -> Scheduler:
        """The scheduler with the defaults of its policies."""
        return self.scheduler({one.label: one.default for one in self.ranges})


def read_search(path: Path, plugins: tuple[str, ...] = (), objectives: tuple[str, ...] = ()) -> Search:
    """Read a field with ranges; `objectives` replace its own."""
    if not path.is_file():
        raise HarnessError(
            f"{path}: there is no such file: expected a field with ranges, as in easy(reservations=1..8)"
        )
    written = SourceText(path, read_text(path, "a field"))
    table = toml_of(written.text, path, "a field")
    own = {key: table.pop(key) for key in _OWN if key in table}
    groups = table.get("scheduler", [])
    if not isinstance(groups, list) or len(groups) != 1 or not isinstance(groups[0], dict):
        raise HarnessError(f"{path}: expected one [[scheduler]] with one policy for each of its parts")
    parts = {part: text for part, text in groups[0].items() if part != "queues"}
    for part, text in parts.items():
        if part not in PARTS:
            known = (*PARTS, "queues")
            raise HarnessError(f"{path}: there is no part {part!r} of a scheduler; {did_you_mean(part, known)}")
        if not isinstance(text, str):
            raise HarnessError(f"{path}: expected one [[scheduler]] with one policy for each of its parts")
    queues = _queues(groups[0].get("queues", {}), path)
    ranges = tuple(one for part, text in _every(parts, queues) for one in _ranges(part, text, path, plugins))
    if not ranges:
        raise HarnessError(f"{path}: no parameter has a range: expected at least one, as in easy(reservations=1..8)")
    defaults = {one.label: one.default for one in ranges}
    table["scheduler"] = [_written(parts, queues, defaults)]
    field = field_of(table, written, plugins=plugins)
    names = objectives or tuple(_texts(own.get("objectives", "mean_bounded_slowdown"), "objectives", path))
    held_out = tuple(_texts(own.get("held_out", []), "held_out", path))
    around = {key: str(table[key]) for key in _AROUND if key in table}
    found = Search(field, parts, queues, ranges, tuple(map(_objective, names)), held_out, around)
    for end in ("low", "high"):  # policies refuse invalid ends before hours of work
        found.scheduler({one.label: getattr(one, end) for one in ranges}).choose(load_plugins(*plugins).policies)
    return found


def _queues(given: Any, path: Path) -> dict[str, Any]:
    """Return the tables of queues with their own order and start: written in the field, or in a file that it names."""
    tables = queue_tables(given) if isinstance(given, str) else given
    if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in tables.values()):
        raise HarnessError(f"{path}: queues = {given!r}: expected a table for each, [scheduler.queues.NAME], or a file")
    for name, queue in tables.items():
        for part in OWN:
            if not isinstance(queue.get(part, ""), str):
                problem = f"queue {name!r}: {part} = {queue[part]!r}"
                raise HarnessError(f"{path}: {problem}: expected one policy; its parameters may have ranges")
    return tables


def _every(parts: Mapping[str, str], queues: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each part of the scheduler and of the queues with their own policies, with its text."""
    yield from parts.items()
    for name, queue in queues.items():
        yield from ((f"{name}.{part}", queue[part]) for part in OWN if part in queue)


def _written(parts: Mapping[str, str], queues: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, str]:
    """Return the parts of a scheduler with values, by label, instead of ranges."""
    found = {part: _replaced(text, part, values) for part, text in parts.items()}
    if queues:
        told = {part: _replaced(text, part, values) for part, text in _every({}, queues)}
        own = {
            name: {key: told.get(f"{name}.{key}", given) for key, given in queue.items()}
            for name, queue in queues.items()
        }
        found["start"] = with_queues(found.get("start", Scheduler().start), queues_of(own, "queues"))
    return found


def _texts(value: Any, key: str, path: Path) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise HarnessError(f"{path}: {key} = {value!r}: expected names")
    return values


def _objective(name: str) -> Measure:
    if name not in MEASURES:
        raise HarnessError(f"there is no measure {name!r}; {did_you_mean(name, MEASURES)}")
    if MEASURES[name].better == "neither":
        raise HarnessError(f"objective {name!r}: neither more nor less of it is better: expected another measure")
    return MEASURES[name]


def _ranges(part: str, text: str, path: Path, plugins: tuple[str, ...]) -> list[Range]:
    known = load_plugins(*plugins).policies[Scheduler.HOOKS[part.rpartition(".")[2]]]
    found = []
    for policy, name, low, high in _found(text):
        where = f"{path}: {policy}({name}={low}..{high})"
        if policy not in known:
            raise HarnessError(f"{where}: there is no such policy; {did_you_mean(policy, known)}")
        parameters = known[policy].parameters
        if name not in parameters:
            raise HarnessError(f"{where}: there is no parameter {name!r}; {did_you_mean(name, parameters)}")
        kind = known[policy].kind(name)
        if kind not in (int, float):
            raise HarnessError(f"{where}: expected the range of a number")
        if not float(low) < float(high):
            raise HarnessError(f"{where}: expected the lower end first")
        found.append(Range(part, name, float(low), float(high), kind is int, float(parameters[name])))
    return found


def _found(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield each range in a text: policy, parameter, and its ends."""
    for one in summands(text):
        for ends in _RANGE.findall(one):
            yield (one.partition("(")[0].strip(), *ends)


def _replaced(text: str, part: str, values: Mapping[str, float]) -> str:
    def value(match: re.Match[str]) -> str:
        number = float(values[f"{part}.{match[1]}"])
        return f"{match[1]}={int(number) if number.is_integer() else repr(number)}"

    return _RANGE.sub(value, text)
