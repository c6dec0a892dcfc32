"""Memory by key: records of a policy's own, one for each job, user, group, queue or node."""

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError

if TYPE_CHECKING:
    import numpy as np

#: The keys of memory. A job's user, group and queue are −1 if the log does not name them; −1 is a key too.
KEYS = ("job", "user", "group", "queue", "node")


@dataclass(frozen=True)
class Keyed:
    """One record for each key, of named floats that begin with zeros; a function uses it with an argument such as
    `per_user`.
    """

    key: str  # out of KEYS
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [name for name in self.fields if isinstance(name, str) and name.isidentifier()]
        if not names or len(set(names)) < len(self.fields) or any(map(keyword.iskeyword, names)):
            raise HarnessError(
                f"harness.per_{self.key}({self.fields!r:.60}): expected different names of fields, as in "
                f'harness.per_{self.key}(("last", "previous"))'
            )

    @property
    def name(self) -> str:
        """The argument by which a function gets it."""
        return f"per_{self.key}"

    @cached_property
    def layout(self) -> "np.dtype[Any]":
        """The layout of one record; its fields are attributes in plain Python too."""
        import numpy as np

        return np.dtype((_kept(), [(name, "f8") for name in self.fields]))


@cache
def _kept() -> Any:
    """Return the class of a record in plain Python: its fields take precedence over numpy's attributes of the same
    name.
    """
    import numpy as np

    class Kept(np.record):  # type: ignore[misc] # final only in numpy's stubs
        def __getattribute__(self, name: str) -> Any:
            fields = np.void.__getattribute__(self, "dtype").names
            return np.void.__getitem__(self, name) if name in fields else super().__getattribute__(name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in np.void.__getattribute__(self, "dtype").names:
                raise AttributeError(f"record has no attribute {name!r}")
            np.void.__setitem__(self, name, value)

    return Kept


def keyed(memory: Any) -> tuple[Keyed, ...]:
    """Return the keyed parts of a policy's declared memory."""
    return tuple(part for part in _parts(memory) if isinstance(part, Keyed))


def floats(memory: Any) -> int:
    """Return the number of floats in a policy's declared memory."""
    return sum(part for part in _parts(memory) if isinstance(part, int))


def _parts(memory: Any) -> Sequence[Any]:
    """Return the parts of a policy's declared memory, which may be a single one."""
    return memory if isinstance(memory, tuple | list) else (memory,)


def refuse_memory(where: str, memory: Any, asked: Iterable[str]) -> None:
    """Refuse an invalid declaration, and a function with an argument that is not declared."""
    parts = _parts(memory)
    whole = [part for part in parts if isinstance(part, int) and not isinstance(part, bool) and part >= 0]
    if len(whole) + len(keyed(memory)) < len(parts) or len(whole) > 1:
        raise HarnessError(
            f"{where}: memory={memory!r:.60}: expected a number of floats, harness.per_user(…) or another key, or "
            "several of these"
        )
    names = [part.name for part in keyed(memory)]
    if len(set(names)) < len(names):
        raise HarnessError(f"{where}: memory names a key twice: expected all its fields in one harness.{names[0]}(…)")
    for name in asked:
        if name == "memory" and floats(memory) < 1:
            raise HarnessError(
                f"{where}: its function names memory, and it declares none: expected the number of floats, as in "
                "memory=2"
            )
        if name.startswith("per_") and name not in names:
            raise HarnessError(
                f"{where}: its function names {name}, and its memory has no such part: expected "
                f'memory=harness.{name}(("…", "…")) with the names of its fields'
            )


def sizes(jobs: Any, nodes: int) -> Mapping[str, int]:
    """Return the number of records for each key: the greatest number plus two, as the last record is for −1."""
    most = {key: int(jobs[key].max(initial=-1)) + 2 for key in ("user", "group", "queue")}
    return {"job": len(jobs), "node": nodes, **most}


def per_job(fields: Iterable[str]) -> Keyed:
    """Declare memory for each job: `per_job[job]` by index, `per_job[job.index]` by record."""
    return _per("job", fields)


def per_user(fields: Iterable[str]) -> Keyed:
    """Declare memory for each user: `per_user[job.user].last`."""
    return _per("user", fields)


def per_group(fields: Iterable[str]) -> Keyed:
    """Declare memory for each group: `per_group[job.group].last`."""
    return _per("group", fields)


def per_queue(fields: Iterable[str]) -> Keyed:
    """Declare memory for each queue: `per_queue[job.queue].last`."""
    return _per("queue", fields)


def per_node(fields: Iterable[str]) -> Keyed:
    """Declare memory for each node: `per_node[node].last`."""
    return _per("node", fields)


def _per(key: str, fields: Iterable[str]) -> Keyed:
    return Keyed(key, (fields,) if isinstance(fields, str) else tuple(fields))
