"""Platforms made as large as somebody needs: `NAME(procs=256)`, or as a log names: `NAME(procs=log)`."""

import math
import re
from dataclasses import replace

from harness.errors import HarnessError
from harness.platform.machine import Platform

#: The parameter of any platform, last or not, with the comma beside it.
_PROCS = re.compile(r"(,\s*)?\bprocs\s*=\s*(\w+)\s*(?(1)(?=[,)])|,?\s*(?=[^,]*))")

#: As many as the log of the workload names.
OF_THE_LOG = "log"


def of_the_log(source: str, procs: int | None, log: str) -> str:
    """Write in the number of processors that a log names where a platform shall be as large as that."""
    found = _size(source)
    if found is None or found[2] != OF_THE_LOG:
        return source
    if procs is None:
        raise HarnessError(f"{source}: {log} does not say how many processors its machine had: expected their number")
    begin, end = found.span(2)
    return f"{source[:begin]}{procs}{source[end:]}"


def size_apart(source: str) -> tuple[str, int | None]:
    """Take the size that is asked for from a platform's name; None where none is."""
    found = _size(source)
    if found is None:
        return source, None
    if not found[2].isdecimal() or not 1 <= len(found[2]) <= 12 or int(found[2]) < 1:
        raise HarnessError(f"{source}: procs={found[2]}: expected a number of processors, or log where a log says it")
    rest = source[: found.start()] + source[found.end() :]
    return rest.removesuffix("()"), int(found[2])


def _size(source: str) -> "re.Match[str] | None":
    name, parenthesis, _ = source.partition("(")
    if not parenthesis or not source.endswith(")"):
        return None
    quoted = re.sub(r"\"[^\"]*\"|'[^']*'", lambda text: "_" * len(text[0]), source)  # what stands in quotes is no name
    return _PROCS.search(quoted, len(name))


def sized(platform: Platform, procs: int) -> Platform:
    """Take as many nodes of each type as make at least `procs` processors, in the proportions that the platform has."""
    factor = procs / platform.cores
    types = tuple(replace(one, count=max(1, math.ceil(round(one.count * factor, 9)))) for one in platform.types)
    name = platform.name.removesuffix(")") + (", " if platform.name.endswith(")") else "(")
    return replace(platform, name=f"{name}procs={procs})", types=types)
