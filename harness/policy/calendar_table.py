"""Calendars: which jobs may start in which hours of the week, read from TOML or CSV into numbers for a hold."""

import itertools
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.disk import bundled
from harness.disk.stored import stored_bytes, toml_of
from harness.errors import HarnessError, did_you_mean
from harness.policy.calendar_rules import WEEK, refuse_conflicting_rules
from harness.policy.csv_rows import rows_of
from harness.policy.table import Named

HOUR, DAY = 3600.0, 86400.0
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

#: The first number of a calendar in the local time of the log's site, instead of an offset from UTC [s].
BY_THE_SITE = 1e9

#: The conditions that select the jobs of a window, and the values that mean no condition.
CONDITIONS: dict[str, float] = {
    "longer": -1.0,  # requested time above this [h]
    "at_most": float("inf"),  # requested time not above this [h]
    "wider": -1.0,  # more processors than this
    "at_most_procs": float("inf"),  # not more processors than this
    "queue": -1.0,  # submitted to the queue of this number or name, −1: any
    "user": -1.0,
    "group": -1.0,
}

#: Conditions that may be names of the log.
_NAMED = ("queue", "user", "group")

#: The number of numbers in a window: its rule, its conditions, its begin, its end, and whether jobs must end within it.
WIDTH = len(CONDITIONS) + 4

_KEYS = (*CONDITIONS, "days", "from", "to", "within")


def bundled_calendars() -> dict[str, Path]:
    """Return the bundled calendars by name."""
    return {path.stem: path for path in sorted((bundled.folder("policies") / "calendars").glob("*.toml"))}


def read_calendar(source: str) -> list[float]:
    """Read a calendar, by path or bundled name; return its clock and `WIDTH` numbers for each of its windows.

    Windows with the same conditions are one rule: a job that meets these may start in any of its windows, and at no
    other time of the week. A job that meets the conditions of several rules must be allowed by all. Rules that leave a
    job just above their limits no time to start are refused; a run warns about other such jobs at its end.
    """
    path = bundled_calendars().get(source, Path(source))
    if not path.is_file():
        raise HarnessError(f"{source}: no such calendar; {did_you_mean(source, bundled_calendars())}")
    table = _from_csv(path) if path.suffix.lower() == ".csv" else _from_toml(path)
    _refuse_unknown(path, table, ("about", "utc", "begin"))
    offset = table.get("utc", 0)
    if not _number(offset) or abs(offset) > 14:
        raise HarnessError(f"{path}: utc = {offset!r}: expected the offset of its clocks from UTC in hours")
    windows = table.get("begin")
    if not isinstance(windows, list) or not windows or not all(isinstance(window, dict) for window in windows):
        raise HarnessError(f"{path}: no windows: expected tables [[begin]], at least one")
    rules: dict[tuple[float, ...], int] = {}
    found: list[tuple[float, ...]] = []
    for count, window in enumerate(windows, 1):
        where = f"{path}, window {count}"
        _refuse_unknown(where, window, _KEYS)
        conditions = _conditions(where, window)
        rule = float(rules.setdefault(conditions, len(rules)))
        within = window.get("within", False)
        if not isinstance(within, bool):
            raise HarnessError(f"{where}: within = {within!r}: expected true or false")
        for begin, end in _times(where, window):
            found.append((rule, *conditions, begin, end, float(within)))
    refuse_conflicting_rules(str(path), found)
    return [offset * HOUR if "utc" in table else BY_THE_SITE, *itertools.chain(*found)]


def _from_toml(path: Path) -> dict[str, Any]:
    try:
        text = stored_bytes(path, "a calendar").decode()
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path}: cannot be read as a calendar: {error}; expected TOML") from error
    return toml_of(text, path, "a calendar")


def _from_csv(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file with the same windows; each row of a CSV is a window, in the local time of the
    site.
    """
    words = {"true": True, "false": False}
    windows = []
    for where, row in rows_of(path, "a calendar", _KEYS):
        window: dict[str, Any] = dict(row)
        for name in row.keys() & CONDITIONS.keys() - set(_NAMED):
            try:
                window[name] = float(row[name])
            except ValueError:
                raise HarnessError(f"{where}: {name} = {row[name]!r}: expected a number of at least 0") from None
        if "within" in row:
            window["within"] = words.get(row["within"].lower(), row["within"])
        windows.append(window)
    return {"begin": windows}


def _refuse_unknown(where: Any, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise HarnessError(f"{where}: there is no key {key!r}; {did_you_mean(key, known)}")


def _number(value: Any) -> bool:
    """Return whether the value is a number that fits into a float."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return known and (value in (math.inf, -math.inf) or abs(value) <= sys.float_info.max)


def _conditions(where: str, window: Mapping[str, Any]) -> tuple[float, ...]:
    found = {name: _condition(where, window, name) for name in CONDITIONS}
    for above, at_most in (("longer", "at_most"), ("wider", "at_most_procs")):
        if not found[above] < found[at_most]:
            raise HarnessError(
                f"{where}: {above} = {window[above]} and {at_most} = {window.get(at_most, 'inf')}, which fits no job: "
                f"expected {above} below {at_most}"
            )
    return tuple(found.values())


def _condition(where: str, window: Mapping[str, Any], name: str) -> float:
    value = window.get(name, CONDITIONS[name])
    if name in _NAMED and isinstance(value, str):
        return Named.of(name, value, where)
    whole = name in _NAMED and isinstance(value, float) and not value.is_integer()
    if not _number(value) or whole or (name in window and value < 0):
        expected = "a whole number of at least 0, or a name of the log" if name in _NAMED else "a number of at least 0"
        raise HarnessError(f"{where}: {name} = {value!r}: expected {expected}")
    return float(value) * (HOUR if name in ("longer", "at_most") and name in window else 1.0)


def _times(where: str, window: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return the times at which a window opens and closes in each week, in seconds after the beginning of its
    Monday.
    """
    for key in ("days", "from", "to"):
        if not isinstance(window.get(key), str):
            raise HarnessError(
                f'{where}: {key} = {window.get(key)!r}: expected days = "Mon-Thu", from = "17:00" and '
                'to = "08:00", or "Mon 08:00"'
            )
    opens = _of_day(where, "from", window["from"])
    day, _, hour = window["to"].rpartition(" ")
    closes = _of_day(where, "to", hour)
    found = []
    for first in _days(where, window["days"]):
        begin = first * DAY + opens
        if day:
            end = _day(where, "to", day) * DAY + closes
            end += WEEK if end <= begin else 0.0
        else:
            end = first * DAY + closes + (DAY if closes <= opens else 0.0)
        found.append((begin, end))
    return found


def _of_day(where: str, key: str, text: str) -> float:
    match = re.fullmatch(r"(\d\d?):(\d\d)", text)
    if not match or int(match[2]) > 59 or int(match[1]) * 60 + int(match[2]) > 24 * 60:
        raise HarnessError(f"{where}: {key} = {text!r}: expected a time of the day, as in 17:00")
    return int(match[1]) * HOUR + int(match[2]) * 60.0


def _day(where: str, key: str, name: str) -> int:
    if name not in DAYS:
        raise HarnessError(f"{where}: {key} = {name!r}: {did_you_mean(name, DAYS)}")
    return DAYS.index(name)


def _days(where: str, text: str) -> list[int]:
    found = []
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        begin = _day(where, "days", first)
        end = _day(where, "days", last) if dash else begin
        found += [(begin + k) % 7 for k in range((end - begin) % 7 + 1)]
    return found
