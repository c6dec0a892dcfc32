"""Nodes that are kept for nobody at times, as Slurm's reservations for maintenance are, in replays and executions.

A job is not put where its time limit goes into such a time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.engine.demand_setup import windows_of
from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.platform.windows import Window, kept
from harness.slurm.cluster import Cluster
from harness.slurm.room_on_nodes import members
from harness.workload.log import Workload


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

    def within(self, begin: float, end: float) -> int:
        """Return the nodes that are kept at some time between."""
        found = 0
        for one in self.times:
            if one.begin < end and one.end > begin:
                found |= one.nodes
        return found

    def next_end(self, time: float) -> float:
        """Return when something is kept no more after this time; 0: never."""
        return min((one.end for one in self.times if one.end > time), default=0.0)

    def named(self, first: float, cluster: Cluster) -> Iterator[tuple[float, float, str]]:
        """Yield from when until when nodes are kept, since the first submission, and their names."""
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
    platform = kept(platform, windows)
    found = []
    for window in windows_of(platform, workload):
        begin, end = float(window.begin), float(window.end)
        found.append(Kept(begin, end, sum(1 << node for node in window.on(platform))))
    return KeptNodes(found)
