"""A machine: its nodes, their speed, memory and power."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

from harness.errors import HarnessError
from harness.platform.validation import check_countables, check_curve, check_node, quoted
from harness.platform.windows import Window

#: More nodes than any machine has. An allocation takes time for each of its nodes: ten million took minutes.
MOST_NODES = 2_000_000
#: More different node types than any machine has: a selection that compares nodes looks at each of them for each node.
MOST_TYPES = 5_000
#: The same for cores: whatever is counted in them stays exact.
MOST_CORES = 10_000_000_000
#: Larger numbers are not written out.
_TOLD = 10**30

#: Countable resources: how many there are of each, as a mapping when given, in this order and hashable when kept.
Countables = Mapping[str, int] | tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PerformanceState:
    """What a node draws when all nodes run at `rate`. Between two states it is interpolated linearly."""

    rate: float  # 1 = full speed
    idle: float  # [W]
    peak: float  # [W]


@dataclass(frozen=True)
class SleepState:
    """One way for a node to sleep; deeper ones come later in a node type's list."""

    name: str
    watts: float  # while asleep [W]
    down: float = 0.0  # how long falling asleep takes [s] …
    up: float = 0.0  # … and waking [s]
    down_energy: float = 0.0  # what falling asleep takes in all [J] …
    up_energy: float = 0.0  # … and waking [J]


@dataclass(frozen=True)
class NodeType:
    """So many equal nodes, and all that is known of one."""

    count: int
    cores: int
    ops: float = 0.0  # operations per second of the whole node at full load; 0: all nodes alike
    memory: float = math.inf  # [KB]
    idle: float = math.nan  # [W]; not a number: unknown
    peak: float = math.nan  # [W]
    partition: int = 0
    name: str = ""
    curve: tuple[float, ...] = ()  # [W] at 0, 10, …, 100 % of the load; then idle and peak are its ends
    performance: tuple[PerformanceState, ...] = ()  # by rising rate; the state at rate 1 is idle and peak
    sleep: tuple[SleepState, ...] = ()  # from the lightest to the deepest
    features: tuple[str, ...] = ()  # by name, for jobs that ask for some
    resources: Countables = ()  # of one node, by name: {"gpu": 4}
    partitions: tuple[int | str, ...] = ()  # all that it belongs to, by number or name, where it is more than one

    def __post_init__(self) -> None:
        where = f"node type {quoted(self.name)}" if self.name else "a node type"
        for states in ("curve", "performance", "sleep"):
            object.__setattr__(self, states, tuple(getattr(self, states)))
        for names in ("features", "partitions"):
            object.__setattr__(self, names, _listed(getattr(self, names)))
        object.__setattr__(self, "resources", counted(self.resources))
        if self.curve:
            check_curve(where, self.curve)
            for end, watts in (("idle", self.curve[0]), ("peak", self.curve[-1])):
                if not math.isnan(given := getattr(self, end)) and given != watts:
                    raise HarnessError(
                        f"{where}: {end} = {given:g} W beside a load curve with {watts:g} W; expected one"
                    )
                object.__setattr__(self, end, float(watts))
        check_node(where, self)


@dataclass(frozen=True)
class Platform:
    """Nodes in the order in which they are numbered."""

    name: str
    types: tuple[NodeType, ...]
    about: str = ""  # in a sentence: where its figures come from
    whole: bool = False  # the mean speed is rounded down, and runtimes to whole seconds, as the PEAS paper does
    windows: tuple[Window, ...] = ()  # when some nodes are kept for somebody, or nobody
    licences: Countables = ()  # resources of the platform as a whole, by name: {"matlab": 5}

    def __post_init__(self) -> None:
        object.__setattr__(self, "licences", counted(self.licences))
        check_countables(f"platform {quoted(self.name)}: licences", self.licences)
        different = len(set(self.types)) if len(self.types) > MOST_TYPES else 0
        bounds = (
            ("nodes", self.nodes, MOST_NODES),
            ("cores", self.cores, MOST_CORES),
            ("different node types", different, MOST_TYPES),
        )
        for what, number, most in bounds:
            if number > most:
                told = f"{number:,}" if number < _TOLD else f"{_TOLD:,} or more"
                raise HarnessError(f"platform {quoted(self.name)}: {told} {what}; expected at most {most:,}")
        if not self.types:
            raise HarnessError(f"platform {self.name!r}: expected at least one node")
        without = [t.name or f"number {number}" for number, t in enumerate(self.types, 1) if t.ops == 0]
        if 0 < len(without) < len(self.types):
            raise HarnessError(
                f"platform {self.name!r}: operations per second (ops) given for some node types, but not for "
                f"{without[0]}; expected them for all or for none"
            )

        if not math.isfinite(sum(t.count * t.ops for t in self.types)):
            raise HarnessError(f"platform {quoted(self.name)}: more operations per second (ops) than can be added up")

    @property
    def cores(self) -> int:
        """Count all processors."""
        return sum(t.count * t.cores for t in self.types)

    @property
    def nodes(self) -> int:
        """Count all nodes."""
        return sum(t.count for t in self.types)

    @property
    def digest(self) -> str:
        """Return the identity of everything about the machine that can change a result."""
        facts = [_identity(t) for t in self.types] + ["whole"] * self.whole
        facts += [(name, getattr(self, name)) for name in ("licences", "windows") if getattr(self, name)]
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def knows(self, *figures: str) -> bool:
        """Tell whether `idle`, `peak`, `curve` are given for every node, and `performance`, `sleep` for some node."""
        for figure in figures:
            given = [getattr(t, figure) for t in self.types]
            known = [value != () and value == value for value in given]  # not a number differs from itself
            if not (any(known) if figure in ("performance", "sleep") else all(known)):
                return False
        return True

    def speed(self, node: NodeType) -> float:
        """Return the speed of one core of a node, relative to the mean over all cores (PEAS eq. 1)."""
        rates = {t.ops / t.cores for t in self.types}
        if len(rates) == 1:
            return 1.0  # exactly, so that whole numbers stay whole
        mean = sum(t.count * t.ops for t in self.types) / self.cores
        return (node.ops / node.cores) / (math.floor(mean) if self.whole else mean)


#: What was added to a node type since digests were published: part of them only where it is given.
_LATER = ("features", "resources", "partitions")


def _identity(node: NodeType) -> tuple[Any, ...]:
    """Return everything about a node type that can change a result."""
    later = tuple((name, getattr(node, name)) for name in _LATER if getattr(node, name))
    return astuple(node)[: -len(_LATER)] + later


def _listed(names: Iterable[Any]) -> tuple[Any, ...]:
    """Return names as a tuple, a single one too."""
    return (names,) if isinstance(names, str | int) else tuple(names)


def counted(countables: Any) -> tuple[tuple[str, int], ...]:
    """Return countable resources in the order of their names, however they were given."""
    return tuple(sorted(dict(countables).items()))


def described(platform: Platform) -> dict[str, Any]:
    """Return what pages and stores tell of a platform, by which it is known again."""
    return {
        "name": platform.name,
        "digest": platform.digest,
        "nodes": platform.nodes,
        "procs": platform.cores,
        "windows": len(platform.windows),
    }


def plain(procs: int) -> Platform:
    """Return a cluster of single-processor nodes, all alike, of unknown power."""
    if procs < 1:
        raise HarnessError(f"a platform of {procs} processors: expected at least 1")
    return Platform(f"{procs} processors", (NodeType(procs, 1),))
