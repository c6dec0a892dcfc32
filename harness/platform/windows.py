"""Windows: times at which nodes are kept for some users, or for nobody, as maintenance and advance reservations do.

A CSV with the columns `begin` and `end` [s, by the clock of the submit times], and, where they are wanted, `nodes`
(`0-15 20`, counted from 0), or `procs` (those of the last nodes, so many at least), and `users`, `groups`, `queues`:
the numbers of those who may use them, with blanks between. Without `nodes` and `procs` it is the whole platform;
without anybody who may use it, nobody may.
"""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.disk.stored import read_text
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.platform.machine import Platform

_NUMBERS = ("nodes", "users", "groups", "queues")
_COLUMNS = ("begin", "end", "procs", *_NUMBERS)


@dataclass(frozen=True)
class Window:
    """From `begin` until `end` only those who are named may use the nodes."""

    begin: float  # [s]
    end: float  # [s]
    nodes: tuple[int, ...] = ()  # counted from 0; none and no `procs`: all
    procs: int = 0  # so many at least: those of the last nodes
    users: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    queues: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not -math.inf < self.begin < self.end < math.inf:
            raise HarnessError(f"a window from {self.begin:g} to {self.end:g} s: expected its begin before its end")
        if self.nodes and self.procs:
            raise HarnessError("a window with nodes and procs: expected one of them")

    @property
    def who(self) -> tuple[tuple[int, ...], ...]:
        """Return who may use it: users, groups and queues."""
        return self.users, self.groups, self.queues

    def on(self, platform: "Platform") -> tuple[int, ...]:
        """Return the nodes of the platform that it keeps."""
        if any(not 0 <= node < platform.nodes for node in self.nodes):
            odd = next(node for node in self.nodes if not 0 <= node < platform.nodes)
            raise HarnessError(f"a window keeps node {odd}, which is not there: expected 0 to {platform.nodes - 1}")
        if self.nodes:
            return self.nodes
        if not 0 <= self.procs <= platform.cores:
            raise HarnessError(f"a window keeps {self.procs:,} processors: expected at most {platform.cores:,}")
        cores = [t.cores for t in platform.types for _ in range(t.count)]
        first = len(cores) if self.procs else 0
        while self.procs > sum(cores[first:]):
            first -= 1
        return tuple(range(first, len(cores)))


def kept(platform: "Platform", windows: Iterable[Window], name: str = "") -> "Platform":
    """Return the platform with these windows, besides those that it has."""
    together = (*platform.windows, *windows)
    for window in together:
        window.on(platform)
    return replace(platform, windows=together, name=platform.name + (name and f", kept by {name}"))


def read_windows(path: str | Path) -> tuple[Window, ...]:
    """Read a CSV of windows."""
    text = read_text(Path(path), "a table of reservations")
    lines = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    for column in lines.fieldnames or ():
        if column not in _COLUMNS:
            raise HarnessError(f"{path}: there is no column {column!r}; {did_you_mean(column, _COLUMNS)}")
    for column in _COLUMNS[:2]:
        if column not in (lines.fieldnames or ()):
            raise HarnessError(f"{path}: expected a column {column!r}")
    found = []
    for row in lines:
        try:
            found.append(_window(row))
        except (HarnessError, ValueError, TypeError) as error:
            raise HarnessError(f"{path}, line {lines.line_num}: {error}") from None
    if not found:
        raise HarnessError(f"{path}: holds no reservations; expected one a line below {', '.join(_COLUMNS)}")
    return tuple(found)


def _window(row: dict[str, str | None]) -> Window:
    cells = {name: (row.get(name) or "").strip() for name in _COLUMNS}
    return Window(
        _number(cells["begin"]),
        _number(cells["end"]),
        procs=int(_number(cells["procs"])) if cells["procs"] else 0,
        **{name: _numbers(cells[name]) for name in _NUMBERS},
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r}: expected a number of seconds or processors") from None


def _numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers: `0-3 7` is 0, 1, 2, 3, 7."""
    found: list[int] = []
    for part in text.split():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise ValueError(f"{part!r}: expected whole numbers, as in 0-3 7")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
