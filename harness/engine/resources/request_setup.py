"""What jobs ask for besides cores, and what the platform has of it, as numbers: names become bits and places.

Only what the platform speaks of is heeded: on one without GPUs nobody waits for GPUs, on single processors nobody asks
for so many of one node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.engine.records.request_records import CLOSURE, KINDS, LICENCE, OFFER, WANT
from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.platform.validation import MOST_BITS
from harness.platform.windows import Window
from harness.workload.log import Workload
from harness.workload.names import number_of
from harness.workload.resource_columns import NEEDS, names_in
from harness.workload.wall_clock import WallClock

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Demands:
    """The arrays of `demand_state`, empty where no job asks for anything."""

    wants: Array
    offers: Array
    licences: Array
    closures: Array
    kinds: int

    def __bool__(self) -> bool:
        return len(self.wants) > 0


class _Asked:
    """The columns of the workload that ask for something, in the order of the jobs."""

    def __init__(self, workload: Workload, place: Array) -> None:
        self.workload = workload
        self.place = place

    def column(self, name: str) -> Array:
        """Return a column, zero where jobs ask for nothing."""
        if name not in self.workload.jobs:
            return np.zeros(len(self.place), np.int64)
        return np.maximum(np.ceil(self.workload.jobs[name].to_numpy()[self.place]), 0)

    def names(self, field: str) -> dict[int, str]:
        """Return what the numbers of a column stand for."""
        return names_in(self.workload.header, field)


def demands(workload: Workload, place: Array, platform: Platform) -> Demands:
    """Return what binds in this run besides cores, memory per processor and partitions that do not overlap."""
    asked = _Asked(workload, place)
    nothing = Demands(np.zeros(0, WANT), np.zeros(0, OFFER), np.zeros(0, LICENCE), np.zeros(0, CLOSURE), 0)
    if not _may_bind(workload, platform):
        return nothing  # what jobs want takes nearly as much memory as the jobs
    wants = np.zeros(len(place), WANT)
    offers = np.zeros(platform.nodes, OFFER)
    nodes = np.repeat(np.arange(len(platform.types)), [t.count for t in platform.types])
    kinds = _kinds(
        platform, {name for t in platform.types for name in dict(t.resources)}, "countable resources of nodes"
    )
    pools = _kinds(platform, set(dict(platform.licences)), "licences")
    for name in (name for name in pools if name in kinds and asked.column(NEEDS + name).any()):
        raise HarnessError(
            f"platform {platform.name!r}: {name} is a licence and a resource of nodes, and the column {NEEDS}{name} of "
            f"{workload.name} does not say which of them jobs need: expected two names"
        )
    for k, name in enumerate(kinds):
        wants["units"][:, k] = asked.column(NEEDS + name)
        offers["whole"][:, k] = np.array([dict(t.resources).get(name, 0) for t in platform.types])[nodes]
    for k, name in enumerate(pools):
        wants["licences"][:, k] = asked.column(NEEDS + name)
    _ask_for_features(asked, platform, wants, offers, nodes)
    _ask_for_whole_nodes(asked, platform, wants)
    anything = any(wants[name].any() for name in WANT.names or ())
    if anything or any(t.partitions for t in platform.types):
        _ask_for_partitions(asked, platform, wants, offers, nodes)
    closures = _close(asked, platform, wants, offers)
    if not anything and not wants["partition"].any() and not len(closures):
        return nothing
    offers["free"] = offers["whole"]
    licences = np.zeros(len(pools), LICENCE)
    licences["whole"] = licences["free"] = [dict(platform.licences)[name] for name in pools]
    return Demands(wants, offers, licences, closures, len(kinds))


def _may_bind(workload: Workload, platform: Platform) -> bool:
    """Return whether nodes differ in more than cores and memory, are kept for some, or a column asks for whole ones."""
    if platform.licences or platform.windows or any(t.features or t.resources or t.partitions for t in platform.types):
        return True
    return any(name in workload.jobs for name in ("nodes", "exclusive", "node_memory"))


def _kinds(platform: Platform, names: set[str], what: str) -> list[str]:
    if len(names) > KINDS:
        raise HarnessError(f"platform {platform.name!r}: {len(names)} kinds of {what}; expected at most {KINDS}")
    return sorted(names)


def _bits(platform: Platform, listed: Sequence[Any], what: str) -> dict[Any, int]:
    """Return the bit of everything that is listed; the bit above them all is for what no node has."""
    found = list(dict.fromkeys(listed))
    if len(found) > MOST_BITS - 1:
        raise HarnessError(f"platform {platform.name!r}: {len(found)} {what}; expected at most {MOST_BITS - 1}")
    return {name: 1 << k for k, name in enumerate(found)}


def _ask_for_features(asked: _Asked, platform: Platform, wants: Array, offers: Array, nodes: Array) -> None:
    """Translate the features of the workload, as it numbers them, into those of the platform."""
    bits = _bits(platform, [name for t in platform.types for name in t.features], "features")
    if not bits:
        return
    offers["features"] = np.array([sum(bits[name] for name in set(t.features)) for t in platform.types])[nodes]
    names = asked.names("Feature")
    for column, field in (("features", "features"), ("any_feature", "either")):
        masks, which = np.unique(asked.column(column).astype(np.int64), return_inverse=True)
        found = np.zeros(len(masks), np.int64)
        for number, name in names.items():
            found |= np.where(masks >> (number - 1) & 1, bits.get(name, 1 << MOST_BITS), 0)
        wants[field] = found[which]


def _ask_for_partitions(asked: _Asked, platform: Platform, wants: Array, offers: Array, nodes: Array) -> None:
    """Translate the partitions of the workload into bits of those that nodes belong to."""
    listed = [t.partitions or (t.partition,) for t in platform.types]
    if len({frozenset(names) for names in listed}) < 2:
        return  # every node is in every partition
    bits = _bits(platform, [name for names in listed for name in names], "partitions")
    offers["partitions"] = np.array([sum(bits[name] for name in set(names)) for names in listed])[nodes]
    names = asked.names("Partition")
    frame = asked.workload.jobs
    numbers, which = np.unique(frame["partition"].to_numpy()[asked.place], return_inverse=True)
    nowhere = 1 << MOST_BITS
    found = [0 if n < 0 else bits.get(int(n), bits.get(names.get(int(n), ""), nowhere)) for n in numbers]
    wants["partition"] = np.array(found, np.int64)[which]


def _ask_for_whole_nodes(asked: _Asked, platform: Platform, wants: Array) -> None:
    """Let jobs have so many nodes, or nodes to themselves, where nodes have cores to share; and memory of each."""
    if max(t.cores for t in platform.types) > 1:
        nodes = asked.column("nodes")
        procs = asked.workload.jobs["procs"].to_numpy()[asked.place]
        wants["portion"] = np.where(nodes > 0, np.ceil(procs / np.maximum(nodes, 1)), 0)
        wants["alone"] = asked.column("exclusive") > 0
    if any(np.isfinite(t.memory) for t in platform.types):
        wants["memory"] = asked.column("node_memory")


def _close(asked: _Asked, platform: Platform, wants: Array, offers: Array) -> Array:
    """Write down when each node is kept for whom, and who of the jobs that is."""
    windows = windows_of(platform, asked.workload)
    everybody = [window.who for window in windows if any(window.who)]
    bits = _bits(platform, everybody, "different users of windows")
    jobs = asked.workload.jobs
    for who, bit in bits.items():
        named = zip(("user", "group", "queue"), who, strict=True)
        admitted = np.any([np.isin(jobs[column].to_numpy()[asked.place], numbers) for column, numbers in named], axis=0)
        wants["admitted"] |= np.where(admitted, bit, 0)
    rows = sorted((node, w.begin, w.end, bits.get(w.who, 0)) for w in windows for node in w.on(platform))
    closures = np.zeros(len(rows), CLOSURE)
    nodes = np.array([row[0] for row in rows], np.int64)
    for place, name in enumerate(("begin", "end", "who"), start=1):
        closures[name] = [row[place] for row in rows]
    for one in np.split(closures, np.flatnonzero(np.diff(nodes)) + 1):
        one["until"] = np.maximum.accumulate(one["end"]) if len(one) else 0.0
    closures["opening"] = np.sort(closures["end"])
    offers["closures"] = np.bincount(nodes, minlength=platform.nodes)
    offers["first_closure"] = np.searchsorted(nodes, np.arange(platform.nodes))
    return closures


def windows_of(platform: Platform, workload: Workload) -> list[Window]:
    """Return the windows of the platform as a workload's header tells them: on its clock, for its numbers."""
    clock = WallClock.of(workload.header)
    if clock.start is None and any(window.dated for window in platform.windows):
        raise HarnessError(
            f"reservations of nodes with dates: {workload.name} does not say when it began (its header has no "
            "UnixStartTime): expected seconds by the clock of its submit times"
        )

    def number(column: str, name: str) -> int:
        return number_of(workload, column, name, "reservations of nodes")

    return [window.in_seconds(clock.time_of).with_numbers(number) for window in platform.windows]


def possible(asked: Demands, jobs: Array, machine: Array) -> Array:
    """Tell which jobs the empty machine could run."""
    answer = np.zeros(len(jobs), bool)
    keys = np.zeros(len(jobs), [("memory", "f8"), ("want", WANT)])
    keys["memory"], keys["want"] = jobs["memory"], asked.wants
    _, first, which = np.unique(keys.view(f"S{keys.itemsize}"), return_index=True, return_inverse=True)
    for k, job in enumerate(first):
        rows = which == k
        want = asked.wants[job]
        room = _rooms(want, float(jobs["memory"][job]), asked.offers, machine, asked.kinds)
        if all(want["licences"][: len(asked.licences)] <= asked.licences["whole"]):
            answer[rows] = jobs["procs"][rows] <= _usable(room, int(want["portion"]), jobs["procs"][rows])
    return answer


def _rooms(want: Any, memory: float, offers: Array, machine: Array, kinds: int) -> Array:
    """Return how many processors of each node, were it empty, a job could have."""
    left = machine["memory"] - want["memory"]
    room = machine["cores"].astype(float)
    if memory > 0:
        room = np.minimum(room, np.floor(left / memory))
    fitting = (left >= 0) & ((offers["features"] & want["features"]) == want["features"])
    if want["either"]:
        fitting &= (offers["features"] & want["either"]) != 0
    if want["partition"]:
        fitting &= (offers["partitions"] & want["partition"]) != 0
    for kind in range(kinds):
        fitting &= offers["whole"][:, kind] >= want["units"][kind]
    return np.where(fitting, np.maximum(room, 0), 0)


def _usable(room: Array, portion: int, procs: Array) -> Array:
    """Return how many processors of nodes with such room each job can use: equal shares, and fewer of its last node."""
    if portion == 0:
        return np.full(len(procs), room.sum())
    rest = (procs - 1) % portion + 1
    largest = np.max(room[room < portion], initial=0.0)
    return portion * np.count_nonzero(room >= portion) + np.where(largest >= rest, rest, 0)


def refuse_windows(state: Any, rate: str) -> None:
    """Refuse windows beside a rate of that name, unless plans are made by it."""
    if len(state.closures) > 0 and rate != "full":
        raise HarnessError(
            f"reservations of nodes beside the rate {rate!r}: expected rate full, by which plans are made"
        )
