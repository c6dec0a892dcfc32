"""Numbers as Slurm writes them: times, memory, counts of things."""

import math
import re

from harness.errors import HarnessError, shortened
from harness.workload.sacct_requests import count_of

#: What is written where there is no limit.
INFINITE = ("", "infinite", "unlimited", "none", "-1")

_KILOBYTES = {"K": 1.0, "": 1024.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3}


def whole(said: dict[str, str], key: str, where: object, otherwise: int) -> int:
    """Return a whole number of a line of a configuration."""
    value = said.get(key, "")
    if value == "":
        return otherwise
    if not value.isdecimal() or len(value) > 9:
        raise HarnessError(f"{where}: {key}={shortened(value)}: expected a whole number")
    return int(value)


def kilobytes(value: str, where: object) -> float:
    """Return KB of a number of MB, or of `4G`."""
    match = re.fullmatch(r"(\d{1,12})([KMGT]?)B?", value.upper())
    if match is None:
        raise HarnessError(f"{where}: the memory {shortened(value)}: expected a number of MB")
    return int(match[1]) * _KILOBYTES[match[2]]


def seconds(value: str, where: object) -> float:
    """Return seconds of `30`, minutes, `1:30:00`, or `2-12`, days and hours."""
    if value.lower() in INFINITE:
        return math.inf
    match = re.fullmatch(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,2}))?(?::(\d{1,2}))?", value)
    if match is None:
        raise HarnessError(f"{where}: the time {shortened(value)}: expected minutes, h:mm:ss or d-hh:mm:ss")
    days, first, second, third = (int(part or 0) for part in match.groups())
    if match[1] is not None:
        return 86400.0 * days + 3600 * first + 60 * second + third
    return 3600.0 * first + 60 * second + third if match[4] is not None else 60.0 * first + second


def counts(value: str, where: object, between: str = ":") -> dict[str, int]:
    """Return how many there are of each, of `gpu:2,bandwidth:lustre:4`; the types of a kind are added up."""
    found: dict[str, int] = {}
    for item in filter(None, (part.strip() for part in value.split(","))):
        name, *rest = re.split(f"[{between}]", re.sub(r"\(.*?\)", "", item))
        count = count_of(rest)
        if not name or not count < 1e9:
            raise HarnessError(f"{where}: {shortened(item)}: expected a name and a number, as in gpu:2")
        found[name] = found.get(name, 0) + int(count)
    return found
