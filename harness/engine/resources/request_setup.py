"""The requests of jobs and the resources that serve them, as numbers: names become bits and indices.

Only resources that the platform has are heeded. On a platform without GPUs no job waits for GPUs, and on single
processors no job requests several of one node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.engine.records.public import PENDING, UNACCEPTED
from harness.engine.records.request_records import (
    AVAILABLE,
    COUNT,
    EMPTY,
    KINDS,
    NOW,
    PROPERTIES,
    REQUEST,
    RESERVATION,
    SCRATCH,
)
from harness.engine.resources.capacity import capacity, licensed, placeable, procs_per_node, usable
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
class Requests:
    """The arrays of `request_records`; those of jobs and properties are empty where no job requests anything."""

    requests: Array
    properties: Array
    reservations: Array
    units: Array  # of each countable resource on each node, and of each licence in the last row
    resource_kinds: int = 0
    licence_kinds: int = 0

    def __bool__(self) -> bool:
        return len(self.requests) > 0


class _Columns:
    """The columns of the workload with requests, in the order of the jobs."""

    def __init__(self, workload: Workload, place: Array) -> None:
        self.workload = workload
        self.place = place

    def column(self, name: str) -> Array:
        """Return a column, zero where jobs request nothing."""
        if name not in self.workload.jobs:
            return np.zeros(len(self.place), np.int64)
        return np.maximum(np.ceil(self.workload.jobs[name].to_numpy()[self.place]), 0)

    def names(self, field: str) -> dict[int, str]:
        """Return the names of the numbers of a column."""
        return names_in(self.workload.header, field)


def requests_of(workload: Workload, place: Array, platform: Platform) -> Requests:
    """Return the requests that bind in this run, besides cores, their memory and partitions that do not overlap."""
    columns = _Columns(workload, place)
    units = np.zeros((platform.nodes + 1, KINDS), np.int64)
    nothing = Requests(np.zeros(0, REQUEST), np.zeros(0, PROPERTIES), np.zeros(0, RESERVATION), units)
    if not _may_bind(workload, platform):
        return nothing  # requests take nearly as much memory as jobs
    requests = np.zeros(len(place), REQUEST)
    properties = np.zeros(platform.nodes, PROPERTIES)
    nodes = np.repeat(np.arange(len(platform.types)), [t.count for t in platform.types])
    names = {name for t in platform.types for name in dict(t.resources)}
    kinds = _kinds(platform, names, "countable resources of nodes")
    pools = _kinds(platform, set(dict(platform.licences)), "licences")
    for name in (name for name in pools if name in kinds and columns.column(NEEDS + name).any()):
        raise HarnessError(
            f"platform {platform.name!r}: {name} is a licence and a resource of nodes, and the column {NEEDS}{name} of "
            f"{workload.name} does not say which of them jobs need: expected two names"
        )
    for k, name in enumerate(kinds):
        requests["units"][:, k] = columns.column(NEEDS + name)
        units[:-1, k] = np.array([dict(t.resources).get(name, 0) for t in platform.types])[nodes]
    for k, name in enumerate(pools):
        requests["licences"][:, k] = columns.column(NEEDS + name)
        units[-1, k] = dict(platform.licences)[name]
    _request_features(columns, platform, requests, properties, nodes)
    _request_whole_nodes(columns, platform, requests)
    anything = any(requests[name].any() for name in REQUEST.names or ())
    if anything or any(t.partitions for t in platform.types):
        _request_partitions(columns, platform, requests, properties, nodes)
    reservations = _reserve(columns, platform, requests, properties)
    if not anything and not requests["partition"].any() and not len(reservations):
        return nothing
    return Requests(requests, properties, reservations, units, len(kinds), len(pools))


def available(units: Array, platform: Platform) -> Array:
    """Return the records of the free resources of the nodes of a platform with these units, none of them in use."""
    made = np.zeros((SCRATCH + 1, len(units)), AVAILABLE)
    types, counts = platform.types, [t.count for t in platform.types]
    for moment in (NOW, EMPTY):
        made["units"][moment] = units
        made["memory"][moment, :-1] = np.repeat([t.memory for t in types], counts)
    return made.ravel()


def accept(view: Any) -> None:
    """Set the status of each job: unaccepted if the empty machine cannot run it."""
    view.clock.next = len(view.jobs)  # `capacity` refuses jobs that are not submitted yet
    view.jobs["status"] = np.where(_acceptable(view), PENDING, UNACCEPTED)
    view.clock.next = 0


def _acceptable(view: Any) -> Array:
    """Return which jobs the empty machine can run: the rule is applied once to jobs and to nodes that are alike."""
    jobs = view.jobs
    if view.clock.constrained == COUNT:
        return np.asarray(jobs["procs"] <= view.clock.cores)
    _, nodes, counts = np.unique(_node_keys(view), return_index=True, return_counts=True)
    _, alike, which = np.unique(_job_keys(view), return_index=True, return_inverse=True)
    total = np.array([_capacity_of_all(view, int(job), nodes, counts) for job in alike])
    pairs = which.ravel() * (int(jobs["procs"].max(initial=0)) + 1) + jobs["procs"]
    _, rows, back = np.unique(pairs, return_index=True, return_inverse=True)
    answer = [placeable(view, int(job), int(total[which[job]])) for job in rows]
    return np.array(answer, bool)[back.ravel()]


def _node_keys(view: Any) -> Array:
    """Return a number for each node, the same for nodes that are alike when empty."""
    nodes = view.nodes
    parts = [nodes["cores"], nodes["partition"], view.available["memory"][: len(nodes)]]
    parts += [view.properties[name] for name in PROPERTIES.names or ()] if len(view.properties) else []
    parts += list(view.available["units"][: len(nodes)].T)
    key = np.zeros(len(nodes), np.int64)
    for part in parts:
        _, number = np.unique(part, return_inverse=True)
        _, key = np.unique(key * (int(number.max()) + 1) + number.ravel(), return_inverse=True)
    return key.ravel()


def _job_keys(view: Any) -> Array:
    """Return a key for each job, the same for jobs that can use as much of each node."""
    jobs = view.jobs
    keys = np.zeros(len(jobs), [("procs", "i8"), ("memory", "f8"), ("partition", "i4"), ("request", REQUEST)])
    keys["memory"], keys["partition"] = jobs["memory"], jobs["partition"]
    if len(view.requests) > 0:
        keys["request"] = view.requests
        keys["procs"] = np.where(view.requests["procs_per_node"] > 0, jobs["procs"], 0)  # the last node serves the rest
    return keys.view(f"S{keys.itemsize}")


def _capacity_of_all(view: Any, job: int, nodes: Array, counts: Array) -> int:
    """Return how many processors of the empty machine the job can use, with `counts` nodes alike to each of `nodes`."""
    if not licensed(view, job, EMPTY):
        return 0
    found = 0
    for node, count in zip(nodes, counts, strict=True):
        cores = capacity(view, job, int(node), int(view.nodes[node].cores), EMPTY)
        once = cores % max(procs_per_node(view, job), 1) > 0
        found += usable(view, job, found, cores) * (1 if once else int(count))
    return int(found)


def _may_bind(workload: Workload, platform: Platform) -> bool:
    """Return whether nodes differ in more than cores and memory or have reservations, or a column requests nodes."""
    if platform.licences or platform.windows or any(t.features or t.resources or t.partitions for t in platform.types):
        return True
    return any(name in workload.jobs for name in ("nodes", "exclusive", "node_memory"))


def _kinds(platform: Platform, names: set[str], what: str) -> list[str]:
    if len(names) > KINDS:
        raise HarnessError(f"platform {platform.name!r}: {len(names)} kinds of {what}; expected at most {KINDS}")
    return sorted(names)


def _bits(platform: Platform, listed: Sequence[Any], what: str) -> dict[Any, int]:
    """Return a bit for each listed thing; the bit above all of them stands for things that no node has."""
    found = list(dict.fromkeys(listed))
    if len(found) > MOST_BITS - 1:
        raise HarnessError(f"platform {platform.name!r}: {len(found)} {what}; expected at most {MOST_BITS - 1}")
    return {name: 1 << k for k, name in enumerate(found)}


def _request_features(columns: _Columns, platform: Platform, requests: Array, properties: Array, nodes: Array) -> None:
    """Translate the features of the workload, as it numbers them, into those of the platform."""
    bits = _bits(platform, [name for t in platform.types for name in t.features], "features")
    if not bits:
        return
    properties["features"] = np.array([sum(bits[name] for name in set(t.features)) for t in platform.types])[nodes]
    names = columns.names("Feature")
    for column, field in (("features", "features"), ("any_feature", "any_features")):
        masks, which = np.unique(columns.column(column).astype(np.int64), return_inverse=True)
        found = np.zeros(len(masks), np.int64)
        for number, name in names.items():
            found |= np.where(masks >> (number - 1) & 1, bits.get(name, 1 << MOST_BITS), 0)
        requests[field] = found[which]


def _request_partitions(
    columns: _Columns, platform: Platform, requests: Array, properties: Array, nodes: Array
) -> None:
    """Translate the partitions of the workload into bits of those that nodes belong to."""
    listed = [t.partitions or (t.partition,) for t in platform.types]
    if len({frozenset(names) for names in listed}) < 2:
        return  # every node is in every partition
    bits = _bits(platform, [name for names in listed for name in names], "partitions")
    properties["partitions"] = np.array([sum(bits[name] for name in set(names)) for names in listed])[nodes]
    names = columns.names("Partition")
    frame = columns.workload.jobs
    numbers, which = np.unique(frame["partition"].to_numpy()[columns.place], return_inverse=True)
    nowhere = 1 << MOST_BITS
    found = [0 if n < 0 else bits.get(int(n), bits.get(names.get(int(n), ""), nowhere)) for n in numbers]
    requests["partition"] = np.array(found, np.int64)[which]


def _request_whole_nodes(columns: _Columns, platform: Platform, requests: Array) -> None:
    """Set requests for a number of nodes or for exclusive nodes, where nodes have several cores, and for memory."""
    if max(t.cores for t in platform.types) > 1:
        nodes = columns.column("nodes")
        procs = columns.workload.jobs["procs"].to_numpy()[columns.place]
        requests["procs_per_node"] = np.where(nodes > 0, np.ceil(procs / np.maximum(nodes, 1)), 0)
        requests["exclusive"] = columns.column("exclusive") > 0
    if any(np.isfinite(t.memory) for t in platform.types):
        requests["memory"] = columns.column("node_memory")


def _reserve(columns: _Columns, platform: Platform, requests: Array, properties: Array) -> Array:
    """Return the reservations of nodes, in the order of nodes and times; set which of them admit each job."""
    windows = windows_of(platform, columns.workload)
    users = [window.who for window in windows if any(window.who)]
    bits = _bits(platform, users, "different users of windows")
    jobs = columns.workload.jobs
    for who, bit in bits.items():
        named = zip(("user", "group", "queue"), who, strict=True)
        admitted = np.any([np.isin(jobs[column].to_numpy()[columns.place], ids) for column, ids in named], axis=0)
        requests["admitted"] |= np.where(admitted, bit, 0)
    rows = sorted((node, w.begin, w.end, bits.get(w.who, 0)) for w in windows for node in w.on(platform))
    reservations = np.zeros(len(rows), RESERVATION)
    nodes = np.array([row[0] for row in rows], np.int64)
    for place, name in enumerate(("begin", "end", "users"), start=1):
        reservations[name] = [row[place] for row in rows]
    for one in np.split(reservations, np.flatnonzero(np.diff(nodes)) + 1):
        one["latest_end"] = np.maximum.accumulate(one["end"]) if len(one) else 0.0
    reservations["ordered_end"] = np.sort(reservations["end"])
    properties["reservations"] = np.bincount(nodes, minlength=platform.nodes)
    properties["first_reservation"] = np.searchsorted(nodes, np.arange(platform.nodes))
    return reservations


def windows_of(platform: Platform, workload: Workload) -> list[Window]:
    """Return the platform's reservations in the times and user numbers of a workload, by its header."""
    clock = WallClock.of(workload.header)
    if clock.start is None and any(window.dated for window in platform.windows):
        raise HarnessError(
            f"reservations of nodes with dates: {workload.name} does not say when it began (its header has no "
            "UnixStartTime): expected seconds by the clock of its submit times"
        )

    def number(column: str, name: str) -> int:
        return number_of(workload, column, name, "reservations of nodes")

    return [window.in_seconds(clock.time_of).with_numbers(number) for window in platform.windows]


def refuse_windows(state: Any, rate: str) -> None:
    """Refuse reservations of nodes together with a rate for which no plans are made."""
    if len(state.reservations) > 0 and rate != "full":
        raise HarnessError(
            f"reservations of nodes beside the rate {rate!r}: expected rate full, by which plans are made"
        )
