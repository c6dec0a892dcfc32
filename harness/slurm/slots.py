"""The map of what a backfill has promised: from when until when which nodes are nobody's."""

import math
from bisect import bisect_left, bisect_right


class Slots:
    """The slots from one look at the queue to the end of the window: in each, the same nodes are free of promises."""

    def __init__(
        self, now: float, window: float, resolution: float, nodes: int, origin: float = 0.0, most: float = math.inf
    ) -> None:
        self.resolution, self.origin = resolution, origin  # the clock's time, of which it rounds, at time 0
        self.times = [self.floor(now), self.floor(now + window)]  # where one slot ends and the next begins
        self.sets = [nodes]  # of free nodes, of each slot
        self.records, self.most = 1, most  # slots ever made; those that have become one count apart
        self.full = False

    def floor(self, time: float) -> float:
        """Return a time as the map has it."""
        return (time + self.origin) // self.resolution * self.resolution - self.origin

    def ceiling(self, time: float) -> float:
        """Return the first time of the map that is not before this one."""
        return -((-time - self.origin) // self.resolution) * self.resolution - self.origin

    @property
    def end(self) -> float:
        """Until when the map goes."""
        return self.times[-1]

    def free(self, begin: float, end: float, nodes: int) -> tuple[int, float]:
        """Return which of the nodes are nobody's from `begin` to `end`, and when to look next; 0: no more.

        Looking later pays only where a slot ends after which there are other nodes.
        """
        times, sets = self.times, self.sets
        last = len(sets) - 1
        found, later = nodes, 0.0
        for slot in range(max(0, bisect_right(times, begin) - 1), len(sets)):
            if not later and slot < last and nodes & sets[slot + 1] & ~(found & sets[slot]):
                later = times[slot + 1]
            if times[slot] > end:
                break
            found &= sets[slot]
        return found, later

    def fills_up(self) -> bool:
        """Say whether there are too many slots for another promise, and remember it."""
        self.full = self.records >= self.most
        return self.full

    def clash(self, begin: float, end: float, nodes: int) -> bool:
        """Return whether any of the nodes is promised to somebody then."""
        first = max(0, bisect_right(self.times, begin) - 1)
        until = bisect_left(self.times, end)
        return any(nodes & ~free for free in self.sets[first:until])

    def promise(self, begin: float, end: float, nodes: int) -> None:
        """Promise nodes, whole, for a time: at least one slot."""
        begin = max(begin, self.times[0])
        end = min(max(end, begin + self.resolution), self.times[-1])
        if begin >= end:
            return
        first, until = self._cut(begin), self._cut(end)
        for slot in range(first, until):
            self.sets[slot] &= ~nodes
        for slot in range(until, first - 1, -1):  # neighbours that have become alike are one
            if 0 < slot < len(self.sets) and self.sets[slot] == self.sets[slot - 1]:
                del self.sets[slot], self.times[slot]

    def _cut(self, time: float) -> int:
        """Let a slot begin at a time, and return which."""
        slot = bisect_left(self.times, time)
        if self.times[slot] != time:
            self.times.insert(slot, time)
            self.sets.insert(slot, self.sets[slot - 1])
            self.records += 1
        return slot
