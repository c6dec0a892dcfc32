"""Slurm's configuration file as it is written: settings, and the lines that describe nodes, partitions and the like."""

import hashlib
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.disk.stored import plain_lines, read_text, stored_bytes, text_of
from harness.errors import HarnessError, shortened

#: What the lines that describe something begin with; each may stand many times.
TABLES = ("NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontEndName", "SwitchName")

#: A configuration includes others at most so deep.
_DEEPEST = 10

_EXPECTED = "a slurm.conf"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SlurmConfiguration:
    """What a `slurm.conf` says. Keys are as they are written; Slurm does not look at their case."""

    path: Path
    settings: dict[str, str]  # the last one of each key counts
    tables: tuple[Pairs, ...]  # (key, value) of each line of `TABLES`, the key that names it first
    digest: str  # SHA-256 of the file, and of those that it includes

    def setting(self, key: str, otherwise: str = "") -> str:
        """Return what is set, whatever the case of its key."""
        return next((value for name, value in self.settings.items() if name.lower() == key.lower()), otherwise)

    def lines(self, table: str) -> list[dict[str, str]]:
        """Return the lines of one table, each as its pairs by lower-case key."""
        found = [{key.lower(): value for key, value in line} for line in self.tables]
        return [line for line in found if table.lower() in line]


def read_slurm(path: str | Path) -> SlurmConfiguration:
    """Read a `slurm.conf` and what it includes."""
    path = Path(path)
    settings: dict[str, tuple[str, str]] = {}  # by their keys in small letters
    tables: list[Pairs] = []
    stored = stored_bytes(path, _EXPECTED)
    digest = hashlib.sha256(stored)
    for where, text in _lines(text_of(plain_lines(stored)), path, 0, digest.update):
        pairs = _pairs(text, where)
        if any(pairs[0][0].lower() == table.lower() for table in TABLES):
            tables.append(pairs)
            continue
        for key, value in pairs:
            settings.pop(key.lower(), None)  # those that count keep the order of the file
            settings[key.lower()] = key, value
    found = SlurmConfiguration(path, dict(settings.values()), tuple(tables), digest.hexdigest())
    for table in ("NodeName", "PartitionName"):
        if not found.lines(table):
            raise HarnessError(f"{path}: there is no line {table}=…: expected a whole slurm.conf")
    return found


def _lines(text: str, path: Path, depth: int, told: Callable[[bytes], None]) -> Iterator[tuple[str, str]]:
    """Yield where each line that says something stands, and the line, with what it includes in its place.

    The text of what is included is `told`.
    """
    if depth > _DEEPEST:
        raise HarnessError(f"{path}: included more than {_DEEPEST} deep")
    begun = ""
    for number, line in enumerate(text.splitlines(), start=1):
        line = begun + line.partition("#")[0].strip()
        begun = ""
        if line.endswith("\\"):
            begun = line[:-1]
        elif line.lower().startswith("include "):
            included = path.parent / line.split(maxsplit=1)[1].strip()
            theirs = read_text(included, f"what {path.name} includes")
            told(theirs.encode())
            yield from _lines(theirs, included, depth + 1, told)
        elif line:
            yield f"{path}, line {number}", line


def _pairs(line: str, where: str) -> Pairs:
    """Return the `Key=Value` pairs of a line."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise HarnessError(f"{where}: {shortened(line)}: {error}") from error
    split = [word.partition("=") for word in words]
    if any(not key or not equals for key, equals, _ in split):
        raise HarnessError(f"{where}: {shortened(line)}: expected Key=Value")
    return tuple((key, value) for key, _, value in split)
