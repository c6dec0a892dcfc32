"""Windows: times at which nodes are kept for some users, or for nobody, as maintenance and advance reservations do.

A CSV with the columns `begin` and `end` (seconds by the clock of the submit times, or dates by that of the log's site),
and, where they are wanted, `nodes` (`0-15 20`, counted from 0), or `procs` (those of the last nodes, so many at least),
and `users`, `groups`, `queues`: the numbers or names that the log gives those who may use them, with blanks between.
Without `nodes` and `procs` it is the whole platform; without anybody who may use it, nobody may.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.policy.csv_rows import is_name, rows_of
from harness.present.dates import moment

if TYPE_CHECKING:
    from harness.platform.machine import Platform

_WHO = ("users", "groups", "queues")
_COLUMNS = ("begin", "end", "nodes", "procs", *_WHO)

#: The largest number of reservations in a table.
MOST_WINDOWS = 5_000

#: How many numbers a cell may stand for: more nodes than any machine has.
MOST_NUMBERS = 1_000_000


@dataclass(frozen=True)
class Window:
    """From `begin` until `end` only those who are named may use the nodes."""

    begin: float | str  # [s], or a date, as in 1997-01-31T18:00, which the log of a run makes seconds of
    end: float | str
    nodes: tuple[int, ...] = ()  # counted from 0; none and no `procs`: all
    procs: int = 0  # so many at least: those of the last nodes
    users: tuple[int | str, ...] = ()  # numbers, or names, which the log of a run makes numbers of
    groups: tuple[int | str, ...] = ()
    queues: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("nodes", *_WHO):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("begin", "end"):
            object.__setattr__(self, name, _moment(getattr(self, name)))
        ends = (self.begin, self.end)
        if not self.dated and not ends[0] < ends[1]:  # type: ignore[operator]
            raise HarnessError(f"a window from {ends[0]:g} to {ends[1]:g} s: expected its begin before its end")
        if self.nodes and self.procs:
            raise HarnessError("a window with nodes and procs: expected one of them")
        if self.procs < 0:
            raise HarnessError(f"a window of {self.procs} processors: expected at least 1, or 0 for all nodes")

    @property
    def dated(self) -> bool:
        """Whether a date says when it begins or ends."""
        return isinstance(self.begin, str) or isinstance(self.end, str)

    def in_seconds(self, time_of: Callable[[str], float]) -> "Window":
        """Return it with seconds in the place of dates, by the clock that tells them."""
        if not self.dated:
            return self
        begin, end = (time_of(told) if isinstance(told, str) else told for told in (self.begin, self.end))
        if not begin < end:
            raise HarnessError(f"a window from {self.begin} to {self.end}: expected its begin before its end")
        return replace(self, begin=begin, end=end)

    def with_numbers(self, number_of: Callable[[str, str], int]) -> "Window":
        """Return it with numbers in the place of names, by column of a job and name."""
        told: dict[str, Any] = {}
        for name in _WHO:
            column = name.removesuffix("s")
            told[name] = tuple(number_of(column, one) if isinstance(one, str) else one for one in getattr(self, name))
        return replace(self, **told)

    @property
    def who(self) -> tuple[tuple[int | str, ...], ...]:
        """Return who may use it: users, groups and queues."""
        return self.users, self.groups, self.queues

    def on(self, platform: "Platform") -> tuple[int, ...]:
        """Return the nodes of the platform that it keeps."""
        if self.nodes:
            nodes = platform.nodes  # counted once: it adds up the types
            odd = next((node for node in self.nodes if not 0 <= node < nodes), None)
            if odd is not None:
                raise HarnessError(f"a window keeps node {odd}, which is not there: expected 0 to {nodes - 1}")
            return self.nodes
        if self.procs > platform.cores:
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


def reserved(platform: "Platform", table: str | Path) -> "Platform":
    """Return the platform with the windows of a table, and named after it, too."""
    return kept(platform, read_windows(table), Path(table).name)


def read_windows(path: str | Path) -> tuple[Window, ...]:
    """Read a CSV of windows."""
    found: list[Window] = []
    for where, cells in rows_of(path, "a table of reservations", _COLUMNS, needed=_COLUMNS[:2]):
        if len(found) == MOST_WINDOWS:
            raise HarnessError(f"{where}: more than {MOST_WINDOWS:,} reservations: expected fewer")
        try:
            found.append(_window(cells))
        except HarnessError as error:
            raise HarnessError(f"{where}: {error}") from None
    return tuple(found)


def _window(cells: dict[str, str]) -> Window:
    return Window(
        cells.get("begin", ""),
        cells.get("end", ""),
        procs=_procs(cells["procs"]) if "procs" in cells else 0,
        nodes=_numbers(cells.get("nodes", "")),
        **{name: _whose(cells[name]) for name in _WHO if name in cells},
    )


def _moment(value: float | str) -> float | str:
    """Return when a window begins or ends."""
    found = moment(value)
    if found is None or (isinstance(found, float) and not math.isfinite(found)):
        raise HarnessError(f"{value!r}: expected a number of seconds, or a date as in 1997-01-31T18:00")
    return found


def _procs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise HarnessError(f"{text!r}: expected a whole number of processors of at least 1, or nothing for all nodes")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers: `0-3 7` is 0, 1, 2, 3, 7."""
    found: list[int] = []
    for part in text.split():
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part, re.ASCII)
        if not ends or int(ends[2] or ends[1]) < int(ends[1]):
            raise HarnessError(f"{part!r}: expected whole numbers, the lower one first, as in 0-3 7")
        listed = range(int(ends[1]), int(ends[2] or ends[1]) + 1)
        if len(found) + len(listed) > MOST_NUMBERS:
            raise HarnessError(f"{part!r}: expected at most {MOST_NUMBERS:,} numbers in a cell")
        found += listed
    return tuple(found)


def _whose(text: str) -> tuple[int | str, ...]:
    """Return whole numbers, as `_numbers` does, and names."""
    found: list[int | str] = []
    for part in text.split():
        found += (part,) if is_name(part) else _numbers(part)
    return tuple(found)
