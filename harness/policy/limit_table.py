"""Limits of certain users, groups, queues and partitions, read from a CSV into numbers for a hold."""

from harness.errors import HarnessError
from harness.policy.csv_rows import rows_of
from harness.policy.table import Named

#: The subjects of a row, and its limits, in the order of its numbers.
WHOM = ("user", "group", "queue", "partition")
WHAT = ("jobs", "procs", "nodes")


def read_limits(source: str) -> list[float]:
    """Read a CSV of limits; return for each row the kind of its subject, the number of the subject, and its limits, −1
    if empty.

    A row has a number or a name in one of the columns `user`, `group`, `queue` and `partition`, and its limits in
    `jobs`, `procs` and `nodes`: 0 for none allowed. For empty cells the general limits apply.
    """
    numbers: list[float] = []
    seen: dict[tuple[str, float], str] = {}
    for where, row in rows_of(source, "a table of limits", (*WHOM, *WHAT)):
        named = [name for name in WHOM if name in row]
        if len(named) != 1:
            raise HarnessError(f"{where}: expected a number or a name in one of the columns {', '.join(WHOM)}")
        whose = (named[0], Named.of(named[0], row[named[0]], where))
        if whose in seen:
            raise HarnessError(f"{where}: {whose[0]} {row[named[0]]} has its limits in {seen[whose]}: expected one row")
        seen[whose] = where.rpartition(", ")[2]
        limits = [_number(where, name, row[name]) if name in row else -1.0 for name in WHAT]
        if max(limits) < 0:
            raise HarnessError(f"{where}: no limit: expected a number in {', '.join(WHAT)}")
        numbers += [float(WHOM.index(whose[0])), whose[1], *limits]
    return numbers


def _number(where: str, name: str, text: str) -> float:
    if not text.isdecimal():
        raise HarnessError(f"{where}: {name} = {text!r}: expected a whole number of at least 0")
    return float(text)
