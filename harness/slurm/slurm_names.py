"""Names in inputs of Slurm, and lists of nodes as Slurm writes them: checked where they are read, and bounded."""

import re
from itertools import chain, product

from harness.errors import HarnessError, shortened

#: A name of a node, partition, user, account, QOS or file.
NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"

#: A name of a feature, which sites write as in `CPU_FRQ:2.60GHz`; it is never part of a path.
FEATURE = r"[A-Za-z0-9_][A-Za-z0-9_.:=+@-]*"

#: The largest number of nodes of one machine.
MOST_NODES = 200_000

#: How many names all lists of one file may stand for, and as how many each list counts at least.
_MOST_LISTED, _LEAST = 5_000_000, 500

#: The longest name [characters].
_LONGEST = 250

#: The largest number of brackets in the name of one list of nodes.
_MOST_BRACKETS = 8

_BRACKETS = r"\[\d{1,7}(?:-\d{1,7})?(?:,\d{1,7}(?:-\d{1,7})?)*\]"
_ITEM = re.compile(rf"(?:[A-Za-z0-9_]|{_BRACKETS})(?:[A-Za-z0-9_.-]|{_BRACKETS})*", re.ASCII)


def checked_name(text: str, what: str, where: object, pattern: str = NAME) -> str:
    """Return a name of the input; refuse one that could be a path, an option, or a list."""
    if len(text) > _LONGEST or not re.fullmatch(pattern, text):
        raise HarnessError(
            f"{where}: the name {shortened(text)} of {what}: expected letters, figures, dots, hyphens and underscores, "
            "with a letter or figure first"
        )
    return text


class NodeLists:
    """The lists of nodes of one file, which are bounded together."""

    def __init__(self, where: object) -> None:
        self.where = where
        self.left = _MOST_LISTED

    def expanded(self, names: str) -> list[str]:
        """Return the names that one list stands for."""
        if self.left < 0:
            raise HarnessError(
                f"{self.where}: its lists of nodes are too long: expected at most {_MOST_LISTED:,} names"
            )
        found = expanded(names, self.where)
        self.left -= max(_LEAST, len(found))
        return found


def expanded(names: str, where: object = "a list of nodes", most: int = MOST_NODES) -> list[str]:
    """Return the names that `n[1-3,7],m` stands for, at most so many."""
    found: list[str] = []
    for item in items_of(names, where):
        found += _item(item, where, most - len(found))
    return found


def items_of(names: str, where: object) -> list[str]:
    """Return the items of a list of nodes, checked but not expanded."""
    found: list[str] = []
    begin = 0
    while begin < len(names) or not found:
        if begin and names.startswith(",", begin):  # Slurm skips empty items
            begin += 1
            continue
        match = _ITEM.match(names, begin)
        end = match.end() if match else begin
        if match is None or names[end : end + 1] not in ("", ",") or match[0].count("[") > _MOST_BRACKETS:
            raise _odd(names[begin : begin + 200], where)
        found.append(match[0])
        begin = end + 1
    return found


def _item(item: str, where: object, most: int) -> list[str]:
    """Return the names of one item of a list."""
    parts = re.split(r"\[([^\]]*)\]", item)
    ranges = [[_range(one, item, where) for one in inner.split(",")] for inner in parts[1::2]]
    if sum(map(len, parts[::2])) > _LONGEST:
        raise _odd(item, where)
    numbers = 1
    for one in ranges:
        numbers *= sum(high - low + 1 for low, high, _ in one)
    if numbers > most:
        raise HarnessError(f"{where}: the nodes {shortened(item)}: expected at most {MOST_NODES:,} nodes")
    choices: list[list[str]] = [[parts[0]]]
    for one, after in zip(ranges, parts[2::2], strict=True):
        written = chain.from_iterable(
            (f"{k:0{digits}d}{after}" for k in range(low, high + 1)) for low, high, digits in one
        )
        choices.append(list(written))
    return ["".join(name) for name in product(*choices)]


def _range(text: str, item: str, where: object) -> tuple[int, int, int]:
    """Return the first and last number of a range, and how many digits they have at least."""
    low, _, high = text.partition("-")
    if int(low) > int(high or low):
        raise _odd(item, where)
    return int(low), int(high or low), len(low)


def _odd(item: str, where: object) -> HarnessError:
    return HarnessError(f"{where}: the nodes {shortened(item)}: expected names and numbers, as in n[1-4,7]")
