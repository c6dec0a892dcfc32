"""Slurm's configuration files as they are written: settings, and lines that describe nodes, partitions and the like.

The grammar is that of Slurm (`parse_config.c`), and so are comments, escapes, continued lines and `Include`.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.disk.stored import read_text, stored_bytes, text_of
from harness.errors import HarnessError
from harness.slurm.slurm_names import checked_name

#: The first keys of lines that describe something; each may be given many times.
TABLES = ("NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontEndName", "SwitchName")

#: How deep files may include others, how many files that may be, and how large all are together [characters].
_DEEPEST, _MOST_FILES, _LARGEST = 10, 1000, 16_000_000

#: Slurm knows fewer keys.
_MOST_SETTINGS = 2000

_EXPECTED = "a slurm.conf"

#: One `Key=Value`, and the rest of the line. Slurm reads `Key+=Value` and the like as `Key=Value`, too.
_PAIR = re.compile(r'[ \t]*([A-Za-z0-9_.]+)[ \t]*[-*+/]?=[ \t]*(?:"([^"]*)"|([^ \t"\'][^ \t"]*))(?=[ \t]|$)', re.ASCII)
_INCLUDE = re.compile(r"include[ \t]+([^ \t]+)[ \t]*", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SlurmConfiguration:
    """The content of a `slurm.conf`. Keys are as they are written; Slurm ignores their case."""

    path: Path
    settings: dict[str, str]  # the last one of each key counts
    tables: tuple[Pairs, ...]  # (key, value) of each line of `TABLES`, the key that names it first
    digest: str  # SHA-256 of the file, and of those that it includes

    def setting(self, key: str, otherwise: str = "") -> str:
        """Return the value of a setting, whatever the case of its key."""
        return next((value for name, value in self.settings.items() if name.lower() == key.lower()), otherwise)

    def lines(self, table: str) -> list[dict[str, str]]:
        """Return the lines of one table, each as its pairs by lower-case key."""
        found = (line for line in self.tables if line[0][0].lower() == table.lower())
        return [{key.lower(): value for key, value in line} for line in found]


def read_slurm(path: str | Path) -> SlurmConfiguration:
    """Read a `slurm.conf` and what it includes."""
    path = Path(path)
    settings: dict[str, tuple[str, str]] = {}  # by their keys in small letters
    tables: list[Pairs] = []
    digest = hashlib.sha256()
    known = {table.lower() for table in TABLES}
    for where, pairs in lines_of(path, _EXPECTED, digest.update):
        if inside := next((key for key, _ in pairs[1:] if key.lower() in known), None):
            raise HarnessError(f"{where}: {inside}= inside a line: expected a line of its own")
        if pairs[0][0].lower() in known:
            tables.append(pairs)
            continue
        for key, value in pairs:
            settings.pop(key.lower(), None)  # those that count keep the order of the file
            settings[key.lower()] = key, value
    if len(settings) > _MOST_SETTINGS:
        raise HarnessError(f"{path}: {len(settings):,} settings: expected at most {_MOST_SETTINGS:,}")
    found = SlurmConfiguration(path, dict(settings.values()), tuple(tables), digest.hexdigest())
    for table in ("NodeName", "PartitionName"):
        if not found.lines(table):
            raise HarnessError(f"{path}: there is no line {table}=…: expected a whole slurm.conf")
    if name := found.setting("ClusterName"):
        checked_name(name, "the cluster", path)
    return found


def lines_of(
    path: Path, expected: str, digest: Callable[[bytes], None] = lambda content: None
) -> Iterator[tuple[str, Pairs]]:
    """Yield the place and the pairs of each line of a configuration file of Slurm's, and of the files it includes.

    `digest` is called with the content of each file.
    """
    stored = stored_bytes(path, expected)
    digest(stored)
    return _Reading(digest).lines(text_of(stored), path, 0)


class _Reading:
    """Reads one file with those that it includes, within bounds."""

    def __init__(self, digest: Callable[[bytes], None]) -> None:
        self.digest = digest
        self.files = self.size = 0

    def lines(self, text: str, path: Path, depth: int) -> Iterator[tuple[str, Pairs]]:
        """Yield the place and the pairs of each line."""
        self.files += 1
        self.size += len(text)
        for what, found, most in (
            ("levels of files that include each other", depth, _DEEPEST),
            ("files", self.files, _MOST_FILES),
            ("characters", self.size, _LARGEST),
        ):
            if found > most:
                raise HarnessError(f"{path}: the configuration has more than {most:,} {what}: expected fewer")
        for number, line in _continued(text.removeprefix("\ufeff")):
            where = f"{path}, line {number}"
            if odd := _CONTROL.search(line):
                raise HarnessError(f"{where}: a control character ({ord(odd[0]):#04x}): expected text")
            if match := _INCLUDE.fullmatch(line):
                included = path.parent / match[1]
                theirs = read_text(included, f"what {path.name} includes")
                self.digest(theirs.encode())
                yield from self.lines(theirs, included, depth + 1)
            elif pairs := _pairs(line, where):
                yield where, pairs


def _continued(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield each line without its comment and escapes, joined with the next where it ends with a backslash.

    Backslashes escape each other and `#`. The number is that of its last line.
    """
    begun = ""
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        line = re.sub(r"^((?:[^\\#]++|\\.)*+)#.*", r"\1", line.removesuffix("\r"))
        stripped = line.rstrip(" \t")
        if (len(stripped) - len(stripped.rstrip("\\"))) % 2:
            begun += stripped[:-1]
            continue
        yield number, re.sub(r"\\(.?)", r"\1", begun + line)
        begun = ""
    if begun:
        yield number, re.sub(r"\\(.?)", r"\1", begun)


def _pairs(line: str, where: str) -> Pairs:
    """Return the `Key=Value` pairs of a line; none of an empty one. The line is not quoted: it may be any file's."""
    found = []
    rest = line.rstrip(" \t")
    begin = 0
    while begin < len(rest):
        match = _PAIR.match(rest, begin)
        if match is None:
            raise HarnessError(f"{where}: expected Key=Value, in double quotes if there are blanks in the value")
        found.append((match[1], match[2] if match[3] is None else match[3]))
        begin = match.end()
    return tuple(found)
