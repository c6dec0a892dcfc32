"""Queues with their own order and start policy: `easy + night(queue=3, order=spf, start=none)`.

They are written after the start policy of all other jobs, or in tables of a file, which have the same meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness.disk.stored import stored_bytes, toml_of
from harness.errors import HarnessError, did_you_mean, shown_name
from harness.policy.spec import Choice, parse, value_text

_EXAMPLE = "night(queue=3, order=spf, start=easy)"


@dataclass(frozen=True)
class OwnQueue:
    """The jobs that meet both conditions, and their policies; an empty condition is met by all."""

    name: str
    queue: tuple[int | str, ...] = ()  # the queues of submission, numbers or names of the log
    partition: tuple[int | str, ...] = ()  # the partitions in which they must run
    order: str = "fcfs"
    start: str = "easy"

    def __str__(self) -> str:
        given = {key: getattr(self, key) for key in _KEYS if getattr(self, key)}
        for key in given.keys() & set(CONDITIONS):
            given[key] = given[key][0] if len(given[key]) == 1 else list(given[key])
        return f"{self.name}({', '.join(f'{key}={value_text(value)}' for key, value in given.items())})"


_KEYS = tuple(field.name for field in fields(OwnQueue)[1:])

#: Conditions; a list as their value is not a sweep.
CONDITIONS = ("queue", "partition")
#: The policies that a queue may have.
OWN = ("order", "start")


def own_queue(spec: str) -> OwnQueue:
    """Read a queue as written after a start policy."""
    name, given = parse(spec)
    return _queue(name, given, repr(spec))


def _queue(name: str, given: Mapping[str, Any], where: str) -> OwnQueue:
    for key in given:
        if key not in _KEYS:
            raise HarnessError(f"{where}: a queue has no {key!r}; {did_you_mean(key, _KEYS)}")
    values: dict[str, Any] = {}
    for key, value in given.items():
        many = value if isinstance(value, list) else [value]
        kinds = (int, str) if key in CONDITIONS else (str,)
        if not many or not all(type(one) in kinds for one in many) or (key not in CONDITIONS and len(many) > 1):
            expected = "numbers or names of the log" if key in CONDITIONS else f"the name of one policy for {key}"
            raise HarnessError(f"{where}: {key}={value_text(value)}: expected {expected}")
        values[key] = tuple(many) if key in CONDITIONS else many[0]
    if not any(values.get(key) for key in CONDITIONS):
        raise HarnessError(f"{where}: the queue has no condition: expected queue=… or partition=…, as in {_EXAMPLE}")
    return OwnQueue(name, **values)


def queues_of(table: Mapping[str, Any], where: str) -> list[OwnQueue]:
    """Read queues from tables by their names, in the order in which they are considered."""
    for name, given in table.items():
        if not isinstance(given, dict):
            raise HarnessError(f"{where}: {shown_name(name)} is no table: expected a table for each queue, as [name]")
    return [own_queue(str(_queue(name, given, f"{where}, queue {name!r}"))) for name, given in table.items()]


def read_queues(source: str | Path) -> list[OwnQueue]:
    """Read a file of queues, with a TOML table for each."""
    return queues_of(queue_tables(source), str(source))


def queue_tables(source: str | Path) -> dict[str, Any]:
    """Return the tables of a file of queues as written."""
    path = Path(source)
    table = toml_of(stored_bytes(path, "a table of queues"), path, "a table of queues")
    if not table:
        raise HarnessError(f"{path}: no queues: expected a table for each, with queue or partition, order and start")
    return table


def with_queues(start: str, queues: list[OwnQueue]) -> str:
    """Return the text of a start policy with queues that have their own policies."""
    return " + ".join([start, *map(str, queues)])


def refuse_queues(start: Choice) -> None:
    """Refuse queues with their own policies if a program decides instead of policies."""
    if start.queues:
        raise HarnessError(f"start={str(start)!r}: expected one policy for all jobs, without queues of their own")
