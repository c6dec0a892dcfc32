"""Check whether the rules of a calendar conflict: each may have its hours, but several together none."""

import itertools
import math
from collections.abc import Iterator, Sequence

from harness.errors import HarnessError
from harness.policy.table import Named

WEEK = 7 * 86400.0

#: The largest number of kinds of jobs to check; calendars with rules for hundreds of users are checked in part.
MOST_KINDS = 20_000

_ANYBODY = -1.0

#: A window: its rule, its conditions (`calendar_table.CONDITIONS`), its begin, its end, whether jobs must end in it.
Window = Sequence[float]


def refuse_conflicting_rules(where: str, windows: Sequence[Window]) -> None:
    """Refuse windows that leave some kind of job no hour of the week to start."""
    for kind in itertools.islice(_kinds(windows), MOST_KINDS):
        mine = [window for window in windows if _concerns(window, kind)]
        rules = sorted({window[0] for window in mine})
        if rules and not any(_all_open(mine, rules, window[8], kind[0]) for window in mine):
            problem = "it must end within a window, and all are shorter: expected one that is long enough"
            if len(rules) > 1:
                problem = f"it meets the conditions of {len(rules)} rules: expected an hour at which all let it start"
            raise HarnessError(f"{where}: a job of {_told(kind)} could never start: {problem}")


def _kinds(windows: Sequence[Window]) -> Iterator[tuple[float, ...]]:
    """Yield a job of each kind that the rules distinguish: just longer and wider than their limits, for each owner."""
    lengths = sorted({max(0.0, window[1]) for window in windows})
    widths = sorted({max(0.0, window[3]) for window in windows})
    owners = [list(dict.fromkeys([_ANYBODY, *(window[k] for window in windows)])) for k in (5, 6, 7)]
    yield from itertools.product(
        (math.nextafter(length, math.inf) for length in lengths), (math.floor(width) + 1.0 for width in widths), *owners
    )


def _concerns(window: Window, kind: Sequence[float]) -> bool:
    requested, procs, *whose = kind
    _, longer, at_most, wider, at_most_procs, *owners = window[:8]
    met = all(owner in (_ANYBODY, one) for owner, one in zip(owners, whose, strict=True))
    return met and longer < requested <= at_most and wider < procs <= at_most_procs


def _all_open(windows: Sequence[Window], rules: Sequence[float], now: float, requested: float) -> bool:
    """Return whether each rule has a window in which a job of this requested time may start at that time of the
    week.
    """
    return all(any(window[0] == rule and _open(window, now, requested) for window in windows) for rule in rules)


def _open(window: Window, now: float, requested: float) -> bool:
    begin, end, within = window[8:]
    left = end - begin - (now - begin) % WEEK
    return left > 0 and (not within or requested <= left)


def _told(kind: Sequence[float]) -> str:
    requested, procs, *whose = kind
    told = [f"a little over {requested / 3600:g} h"] if requested >= 1 else ["any length"]
    told += [f"{procs:g} processors"] if procs > 1 else []
    for word, one in zip(("queue", "user", "group"), whose, strict=True):
        if one != _ANYBODY:
            told.append(f"{word} {one.name if isinstance(one, Named) else format(one, 'g')}")
    return ", ".join(told)
