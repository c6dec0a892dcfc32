"""Numbers, times and names as they are printed, without control characters."""

from collections.abc import Sequence
from typing import Any
from unicodedata import category

#: Printed for a missing number.
MISSING = "–"


def readable(value: Any, digits: int = 6) -> str:
    """Return a value as printed: numbers with about `digits` digits and thousands separators, text in one line."""
    if value is None or value != value:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return without_controls(" ".join(str(value).split()))
    size = abs(value)
    if size < 1e15 and (size >= 10 ** (digits - 1) or value == int(value)):
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def without_controls(text: str) -> str:
    """Return `text` with `�` for each character that controls a terminal, such as escapes and changes of direction.

    Line breaks, tabs and spaces stay. Names from logs, fields and plugins must pass here before they are printed.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" or category(letter) == "Zs" else "�" for letter in text
    )


def spoken(name: str) -> str:
    """Return a name of the code, such as a measure, in words."""
    return name.replace("_", " ")


def counted(count: int, noun: str) -> str:
    """Return a number of things: `1 run`, `1,200 runs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return a list of names for a sentence: a, b, c and 7 others."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} others"
    return ", ".join(names)


def share(part: float) -> str:
    """Return a share of a whole: `95 %`, or from ten times the whole on `12 times as much`."""
    return f"{readable(part, 3)} times as much" if part >= 10 else f"{100 * part:.0f} %"


def lasting(seconds: float) -> str:
    """Return a duration: 45 s, 12 min, 3.4 h, 2.1 d."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{readable(seconds / length, 3)} {unit}"
    return f"{seconds:.3g} s"
