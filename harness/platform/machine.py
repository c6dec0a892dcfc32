"""Machines: nodes, with their speed, memory and power."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from harness.errors import HarnessError
from harness.platform.validation import check_countables, check_curve, check_node, quoted
from harness.platform.windows import Window

#: More nodes than any machine has. With ten million, one allocation would take minutes.
MOST_NODES = 2_000_000
#: More node types than any machine has. A selection may compare all of them for each node.
MOST_TYPES = 5_000
#: More cores than any machine has. Below this, sums of cores are exact.
MOST_CORES = 10_000_000_000
#: Larger numbers are not printed.
_LARGEST_PRINTED = 10**30

#: Countable resources and their numbers: a mapping as an argument, stored as sorted pairs, which are hashable.
Countables = Mapping[str, int] | tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PerformanceState:
    """The power of a node at a rate. Between two states it is interpolated linearly."""

    rate: float  # 1 = full speed
    idle: float  # [W]
    peak: float  # [W]


@dataclass(frozen=True)
class SleepState:
    """One sleep state of a node. Deeper states come later in the list of a node type."""

    name: str
    watts: float  # while asleep [W]
    down: float = 0.0  # time to fall asleep [s]
    up: float = 0.0  # time to wake [s]
    down_energy: float = 0.0  # energy to fall asleep [J]
    up_energy: float = 0.0  # energy to wake [J]


@dataclass(frozen=True)
class NodeType:
    """A number of equal nodes, and their properties."""

    count: int
    cores: int
    ops: float = 0.0  # operations per second of the whole node at full load; 0: all nodes are equally fast
    memory: float = math.inf  # [KB]
    idle: float = math.nan  # [W]; NaN: unknown
    peak: float = math.nan  # [W]
    partition: int = 0
    name: str = ""
    curve: tuple[float, ...] = ()  # [W] at 0, 10, …, 100 % of the load; its ends are idle and peak
    performance: tuple[PerformanceState, ...] = ()  # by increasing rate; the state at rate 1 is idle and peak
    sleep: tuple[SleepState, ...] = ()  # from the lightest to the deepest
    features: tuple[str, ...] = ()  # names that jobs can request
    resources: Countables = ()  # of one node, by name: {"gpu": 4}
    partitions: tuple[int | str, ...] = ()  # by number or name, if it belongs to several

    def __post_init__(self) -> None:
        where = f"node type {quoted(self.name)}" if self.name else "a node type"
        for states in ("curve", "performance", "sleep"):
            object.__setattr__(self, states, tuple(getattr(self, states)))
        for names in ("features", "partitions"):
            value = getattr(self, names)
            object.__setattr__(self, names, (value,) if isinstance(value, str | int) else tuple(value))
        object.__setattr__(self, "resources", counted(self.resources))
        if self.curve:
            check_curve(where, self.curve)
            for end, watts in (("idle", self.curve[0]), ("peak", self.curve[-1])):
                if not math.isnan(given := getattr(self, end)) and given != watts:
                    raise HarnessError(f"{where}: {end} = {given:g} W, but {watts:g} W in its load curve; expected one")
                object.__setattr__(self, end, float(watts))
        check_node(where, self)


@dataclass(frozen=True)
class Platform:
    """A machine: its nodes, in the order in which they are numbered."""

    name: str
    types: tuple[NodeType, ...]
    about: str = ""  # the source of its figures, in a sentence
    whole: bool = False  # round the mean speed down, and runtimes to whole seconds, as the PEAS paper does
    windows: tuple[Window, ...] = ()  # times at which some nodes are reserved
    licences: Countables = ()  # resources of the whole platform, by name: {"matlab": 5}

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
                shown = f"{number:,}" if number < _LARGEST_PRINTED else f"{_LARGEST_PRINTED:,} or more"
                raise HarnessError(f"platform {quoted(self.name)}: {shown} {what}; expected at most {most:,}")
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
        """The number of processors."""
        return sum(t.count * t.cores for t in self.types)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return sum(t.count for t in self.types)

    @property
    def digest(self) -> str:
        """The digest of everything about the machine that can change a result."""
        facts = [_identity(t) for t in self.types] + ["whole"] * self.whole
        facts += [(name, getattr(self, name)) for name in ("licences", "windows") if getattr(self, name)]
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def knows(self, *figures: str) -> bool:
        """Return whether every node has `idle`, `peak`, `curve`, and some node has `performance`, `sleep`."""
        for figure in figures:
            given = [getattr(t, figure) for t in self.types]
            known = [value != () and value == value for value in given]  # NaN differs from itself
            if not (any(known) if figure in ("performance", "sleep") else all(known)):
                return False
        return True

    def speed(self, node: NodeType) -> float:
        """Return the speed of one core of a node, relative to the mean over all cores (PEAS eq. 1)."""
        rates = {t.ops / t.cores for t in self.types}
        if len(rates) == 1:
            return 1.0  # exactly, so that whole runtimes stay whole
        mean = sum(t.count * t.ops for t in self.types) / self.cores
        return (node.ops / node.cores) / (math.floor(mean) if self.whole else mean)


#: Fields added after digests were published. They are part of a digest only where they have a value.
_LATER = ("features", "resources", "partitions")


def _identity(node: NodeType) -> tuple[Any, ...]:
    later = tuple((name, getattr(node, name)) for name in _LATER if getattr(node, name))
    return astuple(node)[: -len(_LATER)] + later


def counted(countables: Any) -> tuple[tuple[str, int], ...]:
    """Return countable resources as pairs, sorted by name."""
    return tuple(sorted(dict(countables).items()))


def described(platform: Platform) -> dict[str, Any]:
    """Return the facts that identify a platform on pages and in stores."""
    return {
        "name": platform.name,
        "digest": platform.digest,
        "nodes": platform.nodes,
        "procs": platform.cores,
        "windows": len(platform.windows),
    }


def plain(procs: int) -> Platform:
    """Return a cluster of identical single-processor nodes, without power figures."""
    if procs < 1:
        raise HarnessError(f"a platform of {procs} processors: expected at least 1")
    return Platform(f"{procs} processors", (NodeType(procs, 1),))
