"""Nodes that are kept for nobody at times, as Slurm's reservations for maintenance are, in replays and executions.

A job is not put where its time limit goes into such a time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.engine.resources.request_setup import windows_of
from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.platform.windows import Window, with_windows
from harness.slurm.cluster import Cluster, set_of
from harness.slurm.node_resources import members
from harness.workload.log import Workload

#: The largest number of begins and ends times nodes: their tree takes a gigabyte.
_MOST_BITS = 4 * 10**9


#: The largest number of reservations of an execution.
_MOST_CREATED = 1000


@dataclass(frozen=True)
class Kept:
    """From when until when which nodes are kept."""

    begin: float  # [s]
    end: float  # [s]
    nodes: int  # set


class KeptNodes:
    """All that is kept."""

    def __init__(self, times: Iterable[Kept] = ()) -> None:
        self.times = list(times)
        self.ends = sorted({one.end for one in self.times})
        self.moments = sorted({one.begin for one in self.times}.union(self.ends))
        pieces = len(self.moments)
        largest = max((one.nodes.bit_length() for one in self.times), default=0)
        if pieces * largest > _MOST_BITS:
            raise HarnessError(f"{len(self.times):,} reservations on {largest:,} nodes: expected fewer, or fewer nodes")
        # A tree of unions: leaf k is what is kept from moment k until the next.
        self.tree = [0] * (2 * pieces)
        place = {moment: k for k, moment in enumerate(self.moments)}
        for one in self.times:
            self._keep(place[one.begin], place[one.end], one.nodes)
        self._sum_up()

    def _keep(self, first: int, until: int, nodes: int) -> None:
        """Keep the nodes from one moment until another."""
        for branch in self._branches(first, until):
            self.tree[branch] |= nodes

    def _sum_up(self) -> None:
        """Add what whole branches keep to their leaves, and then the leaves to the branches above."""
        pieces = len(self.moments)
        for branch in range(2, 2 * pieces):
            self.tree[branch] |= self.tree[branch >> 1]
        for branch in range(pieces - 1, 0, -1):
            self.tree[branch] = self.tree[2 * branch] | self.tree[2 * branch + 1]

    def _branches(self, first: int, until: int) -> Iterator[int]:
        """Yield the branches of the tree that together are the moments from `first` until `until`."""
        low, high = first + len(self.moments), until + len(self.moments)
        while low < high:
            if low & 1:
                yield low
                low += 1
            if high & 1:
                high -= 1
                yield high
            low, high = low >> 1, high >> 1

    def within(self, begin: float, end: float) -> int:
        """Return the nodes that are kept at some time between."""
        found = 0
        first = max(0, bisect_right(self.moments, begin) - 1)
        for branch in self._branches(first, bisect_left(self.moments, end)):
            found |= self.tree[branch]
        return found

    def next_end(self, time: float) -> float:
        """Return when something is kept no more after this time; 0: never."""
        place = bisect_right(self.ends, time)
        return self.ends[place] if place < len(self.ends) else 0.0

    def named(self, first: float, cluster: Cluster) -> Iterator[tuple[float, float, str]]:
        """Yield the begin and end of each reservation, since the first submission, and the names of its nodes."""
        if len(self.times) > _MOST_CREATED:
            raise HarnessError(
                f"{len(self.times):,} reservations: expected at most {_MOST_CREATED:,} in an execution, where each is "
                "created by a command"
            )
        for one in self.times:
            yield one.begin - first, one.end - first, ",".join(cluster.nodes[node].name for node in members(one.nodes))


def kept_nodes(windows: tuple[Window, ...], platform: Platform, workload: Workload) -> KeptNodes:
    """Return what tables of reservations keep, on the workload's clock; refuse what is kept for somebody."""
    for window in windows:
        if any(window.who):
            raise HarnessError(
                "a window is kept for some users, groups or queues: in Slurm a job has to ask for its reservation, "
                "which logs do not say; expected windows for nobody"
            )
    platform = with_windows(platform, windows)
    found = []
    sets: dict[tuple[tuple[int, ...], int], int] = {}  # by the nodes and processors of a window
    for window in windows_of(platform, workload):
        asked = window.nodes, window.procs
        if asked not in sets:
            sets[asked] = set_of(window.on(platform))
        found.append(Kept(float(window.begin), float(window.end), sets[asked]))
    return KeptNodes(found)
