"""Platforms resized to a number of processors: `NAME(procs=256)`, or of a log: `NAME(procs=log)`."""

import math
import re
from dataclasses import replace

from harness.errors import HarnessError
from harness.platform.machine import Platform

#: The parameter `procs`, at any position, with an adjacent comma.
_PROCS = re.compile(r"(,\s*)?\bprocs\s*=\s*(\w+)\s*(?(1)(?=[,)])|,?\s*(?=[^,]*))")

#: The value of `procs` for the number of processors of the log.
OF_THE_LOG = "log"


def of_the_log(source: str, procs: int | None, log: str) -> str:
    """Return the source with the number of processors of the log, if it has the parameter `procs=log`."""
    found = _size(source)
    if found is None or found[2] != OF_THE_LOG:
        return source
    if procs is None:
        raise HarnessError(f"{source}: {log} does not state how many processors its machine had: expected procs=NUMBER")
    begin, end = found.span(2)
    return f"{source[:begin]}{procs}{source[end:]}"


def size_apart(source: str) -> tuple[str, int | None]:
    """Return a platform's name without its parameter `procs`, and the value of that; None without it."""
    found = _size(source)
    if found is None:
        return source, None
    if not found[2].isdecimal() or not 1 <= len(found[2]) <= 12 or int(found[2]) < 1:
        raise HarnessError(f"{source}: procs={found[2]}: expected a number of processors, or log for that of a log")
    rest = source[: found.start()] + source[found.end() :]
    return rest.removesuffix("()"), int(found[2])


def _size(source: str) -> "re.Match[str] | None":
    name, parenthesis, _ = source.partition("(")
    if not parenthesis or not source.endswith(")"):
        return None
    quoted = re.sub(r"\"[^\"]*\"|'[^']*'", lambda text: "_" * len(text[0]), source)  # hides quoted text
    return _PROCS.search(quoted, len(name))


def sized(platform: Platform, procs: int) -> Platform:
    """Return a platform of at least `procs` processors, with node types in the same proportions."""
    factor = procs / platform.cores
    types = tuple(replace(one, count=max(1, math.ceil(round(one.count * factor, 9)))) for one in platform.types)
    name = platform.name.removesuffix(")") + (", " if platform.name.endswith(")") else "(")
    return replace(platform, name=f"{name}procs={procs})", types=types)
