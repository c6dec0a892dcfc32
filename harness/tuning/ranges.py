"""Fields with ranges: `easy(reservations=1..8)` says what a parameter may be, for a search to choose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.disk.stored import toml_of
from harness.errors import HarnessError, did_you_mean
from harness.experiment.field import PARTS, Field
from harness.experiment.field_reading import field_of
from harness.experiment.source_text import SourceText
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Scheduler
from harness.results.measures import MEASURES, Measure

_NUMBER = r"-?(?:\d+\.\d+|\d+)(?:[eE]-?\d+)?"
_RANGE = re.compile(rf"(\w+)\s*=\s*({_NUMBER})\.\.({_NUMBER})")

#: Above this ratio of its ends a range is searched by its logarithm.
_WIDE = 100.0

#: The keys of a field that only a search reads.
_OWN = ("held_out", "objectives")


@dataclass(frozen=True)
class Range:
    """What a parameter of a policy may be."""

    part: str  # of the scheduler
    name: str
    low: float
    high: float
    whole: bool
    default: float

    @property
    def label(self) -> str:
        """Name the parameter among all of the scheduler."""
        return f"{self.part}.{self.name}"

    @property
    def logarithmic(self) -> bool:
        """Whether it is searched by its logarithm."""
        return self.low > 0 and self.high / self.low >= _WIDE


@dataclass(frozen=True)
class Search:
    """A field whose one scheduler has ranges: what is tuned, on what, by what, and what judges."""

    field: Field  # with the defaults in the place of ranges
    parts: Mapping[str, str]  # as they are written, ranges and all
    ranges: tuple[Range, ...]
    objectives: tuple[Measure, ...]
    held_out: tuple[str, ...]  # logs that judge besides the later weeks of the field's own

    def scheduler(self, values: Mapping[str, float]) -> Scheduler:
        """Return the scheduler with these values, by label, in the place of its ranges."""
        written = {part: _replaced(text, part, values) for part, text in self.parts.items()}
        return Scheduler(**written)

    @property
    def default(self) -> Scheduler:
        """The scheduler with what its policies take if nobody says otherwise."""
        return self.scheduler({one.label: one.default for one in self.ranges})


def read_search(path: Path, plugins: tuple[str, ...] = (), objectives: tuple[str, ...] = ()) -> Search:
    """Read a field with ranges; `objectives` take the place of its own."""
    if not path.is_file():
        raise HarnessError(
            f"{path}: there is no such file: expected a field with ranges, as in easy(reservations=1..8)"
        )
    written = SourceText(path, path.read_text(encoding="utf-8"))
    table = toml_of(written.text, path, "a field")
    own = {key: table.pop(key) for key in _OWN if key in table}
    groups = table.get("scheduler", [])
    if not isinstance(groups, list) or len(groups) != 1 or not all(isinstance(v, str) for v in groups[0].values()):
        raise HarnessError(f"{path}: expected one [[scheduler]] with one policy for each of its parts")
    for part in groups[0]:
        if part not in PARTS:
            raise HarnessError(f"{path}: there is no part {part!r} of a scheduler; {did_you_mean(part, PARTS)}")
    ranges = tuple(one for part, text in groups[0].items() for one in _ranges(part, text, path, plugins))
    if not ranges:
        raise HarnessError(f"{path}: no parameter has a range: expected at least one, as in easy(reservations=1..8)")
    defaults = {one.label: one.default for one in ranges}
    table["scheduler"] = [{part: _replaced(text, part, defaults) for part, text in groups[0].items()}]
    field = field_of(table, written, plugins=plugins)
    names = objectives or tuple(_texts(own.get("objectives", "mean_bounded_slowdown"), "objectives", path))
    held_out = tuple(_texts(own.get("held_out", []), "held_out", path))
    found = Search(field, groups[0], ranges, tuple(map(_objective, names)), held_out)
    for end in ("low", "high"):  # a policy refuses what it cannot be before hours of work
        found.scheduler({one.label: getattr(one, end) for one in ranges}).choose(load_plugins(*plugins).policies)
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
        raise HarnessError(f"objective {name!r}: neither more nor less of it is better; expected another measure")
    return MEASURES[name]


def _ranges(part: str, text: str, path: Path, plugins: tuple[str, ...]) -> list[Range]:
    known = load_plugins(*plugins).policies[Scheduler.HOOKS[part]]
    policy = text.partition("(")[0].strip()
    found = []
    for name, low, high in _RANGE.findall(text):
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


def _replaced(text: str, part: str, values: Mapping[str, float]) -> str:
    """Return a policy with values in the place of its ranges."""

    def value(match: re.Match[str]) -> str:
        number = float(values[f"{part}.{match[1]}"])
        return f"{match[1]}={int(number) if number.is_integer() else repr(number)}"

    return _RANGE.sub(value, text)
