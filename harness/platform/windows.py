"""Reservation windows: times at which only some users, or none, may use nodes (advance reservations and maintenance).

They come from a CSV with these columns:

- `begin` and `end`: seconds on the clock of the submit times, or dates at the log's site.
- `nodes` (`0-15 20`, counted from 0), or `procs` (the last nodes with at least this many). Default: all nodes.
- `users`, `groups`, `queues`: numbers or names in the log, separated by blanks. Default: no job may use the nodes.
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

#: The most reservations in a table.
MOST_WINDOWS = 5_000

#: The most numbers in a cell: more nodes than any machine has.
MOST_NUMBERS = 1_000_000


@dataclass(frozen=True)
class Window:
    """From `begin` until `end` only the named users, groups and queues may use the nodes."""

    begin: float | str  # [s], or a date as in 1997-01-31T18:00, converted with the log of a run
    end: float | str
    nodes: tuple[int, ...] = ()  # counted from 0; empty, with procs = 0: all
    procs: int = 0  # the last nodes with at least this many
    users: tuple[int | str, ...] = ()  # numbers, or names, converted with the log of a run
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
        """Whether it begins or ends at a date."""
        return isinstance(self.begin, str) or isinstance(self.end, str)

    def in_seconds(self, time_of: Callable[[str], float]) -> "Window":
        """Return the window with seconds instead of dates."""
        if not self.dated:
            return self
        begin, end = (time_of(one) if isinstance(one, str) else one for one in (self.begin, self.end))
        if not begin < end:
            raise HarnessError(f"a window from {self.begin} to {self.end}: expected its begin before its end")
        return replace(self, begin=begin, end=end)

    def with_numbers(self, number_of: Callable[[str, str], int]) -> "Window":
        """Return the window with numbers instead of names; `number_of` takes a column of a job and a name."""
        numbers: dict[str, Any] = {}
        for name in _WHO:
            column = name.removesuffix("s")
            numbers[name] = tuple(number_of(column, n) if isinstance(n, str) else n for n in getattr(self, name))
        return replace(self, **numbers)

    @property
    def who(self) -> tuple[tuple[int | str, ...], ...]:
        """The users, groups and queues that may use the nodes."""
        return self.users, self.groups, self.queues

    def on(self, platform: "Platform") -> tuple[int, ...]:
        """Return the reserved nodes of the platform."""
        if self.nodes:
            nodes = platform.nodes  # a sum over the types, computed once
            odd = next((node for node in self.nodes if not 0 <= node < nodes), None)
            if odd is not None:
                raise HarnessError(f"a window reserves node {odd}, which does not exist: expected 0 to {nodes - 1}")
            return self.nodes
        if self.procs > platform.cores:
            raise HarnessError(f"a window reserves {self.procs:,} processors: expected at most {platform.cores:,}")
        cores = [t.cores for t in platform.types for _ in range(t.count)]
        first = len(cores) if self.procs else 0
        while self.procs > sum(cores[first:]):
            first -= 1
        return tuple(range(first, len(cores)))


def with_windows(platform: "Platform", windows: Iterable[Window], name: str = "") -> "Platform":
    """Return the platform with these windows added, and `name` added to its name."""
    together = (*platform.windows, *windows)
    for window in together:
        window.on(platform)
    return replace(platform, windows=together, name=platform.name + (name and f", reserved by {name}"))


def reserved(platform: "Platform", table: str | Path) -> "Platform":
    """Return the platform with the windows of a table, and the table's name added to its name."""
    return with_windows(platform, read_windows(table), Path(table).name)


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
    found = moment(value)
    if found is None or (isinstance(found, float) and not math.isfinite(found)):
        raise HarnessError(f"{value!r}: expected a number of seconds, or a date as in 1997-01-31T18:00")
    return found


def _procs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise HarnessError(f"{text!r}: expected a whole number of processors of at least 1, or nothing for all nodes")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers: 0, 1, 2, 3, 7 for `0-3 7`."""
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
