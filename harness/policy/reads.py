"""The state that policies read: what they declare with `reads=`, or else all that their arguments give them.

The engine skips work whose result no policy reads. It goes by these names alone: fields of the records, as in
`node.status`; a record, which stands for all its fields; `queue`, the waiting jobs in their order; and `node_classes`,
which nodes are alike. A policy that declares nothing is taken to read everything that it can reach.
"""

from functools import cache
from typing import TYPE_CHECKING

from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.policy.kinds import Policy

QUEUE, NODE_CLASSES = "queue", "node_classes"


@cache
def fields_of_records() -> dict[str, frozenset[str]]:
    """Return the fields of each record that policies see."""
    from harness.policy import records  # numpy: the command line starts without it

    seen = (records.Job, records.Node, records.Clock, records.Slice, records.Pace, records.Nap)
    return {record.__name__.lower(): frozenset(vars(record)["__dataclass_fields__"]) for record in seen}


@cache
def all_fields() -> frozenset[str]:
    """Return the names of all fields of records, as in `node.status`."""
    fields = {f"{record}.{name}" for record, names in fields_of_records().items() for name in names}
    return frozenset(fields | {"job.reserved"})


@cache
def all_names() -> frozenset[str]:
    """Return all names that `reads=` may have."""
    return all_fields() | set(fields_of_records()) | {QUEUE, NODE_CLASSES}


#: Function of `harness` → what its result depends on; the others read only what policies may always know.
READ_BY = dict.fromkeys(("waiting", "ranked", "prefix", "unpromised"), QUEUE)
READ_BY |= {"work_left": "clock.demand", "unlike": NODE_CLASSES, "count_alike": NODE_CLASSES}
READ_BY |= dict.fromkeys(("longest_vacant", "put_to_sleep", "wake"), "node.status")


def record_with(fields: tuple[str, ...]) -> str:
    """Return the name of the record that has these fields; empty if policies have no such record."""
    return next((name for name, known in fields_of_records().items() if known <= set(fields)), "")


def covers(reads: tuple[str, ...], name: str) -> bool:
    """Return whether a declaration covers a field, or what a function reads."""
    return name in reads or name.partition(".")[0] in reads


def readable(policy: "Policy") -> tuple[str, ...]:
    """Return what a policy may read: its declaration, or what its arguments give it."""
    if policy.reads is not None:
        return policy.reads
    whole = {"plan", "queue", "state"} & set(policy.arguments) or (
        getattr(policy, "learn", None) and policy.part == "order"
    )
    return tuple(all_names()) if whole else tuple(name for name in policy.arguments if name in fields_of_records())


def may_read(policy: "Policy", *names: str) -> bool:
    """Return whether a policy may read one of these."""
    reads = readable(policy)
    return any(covers(reads, name) for name in names)


def reads_only(policy: "Policy", names: frozenset[str]) -> bool:
    """Return whether a policy reads nothing but these fields."""
    return set(readable(policy)) <= names


def check_reads(policy: "Policy") -> None:
    """Refuse a declaration with names that do not exist."""
    if policy.reads is None:
        return
    where = f"policy {policy.name!r}: reads={policy.reads!r:.60}"
    if not isinstance(policy.reads, tuple | list) or not all(isinstance(name, str) for name in policy.reads):
        raise HarnessError(f"{where}: expected several names, as in reads=('job.procs', 'clock.now')")
    for name in policy.reads:
        if name not in all_names():
            raise HarnessError(f"{where}: there is no {name!r:.40}; {did_you_mean(name, all_names())}")
