"""Who holds what on which node, and where a job finds room: what Slurm's select plugins decide."""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.slurm.cluster import Cluster, Node, set_of
from harness.slurm.node_selection import Places, chosen
from harness.slurm.requests import Request

#: All of a request that decides where it finds room on given nodes.
Wish: TypeAlias = tuple[object, ...]

#: How far apart ends of jobs are that Slurm looks at together, at first [s].
_TOGETHER = 30.0


@dataclass(eq=False)
class Running:
    """A job that holds nodes, and until when, by its limit."""

    request: Request
    places: Places
    start: float
    end: float  # by its limit [s]
    counted: float  # until when its usage was counted [s]


@dataclass
class Holdings:
    """What is left of every node, and who holds the rest."""

    cluster: Cluster
    cpus: list[int] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    gres: list[dict[str, int]] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)  # on each node
    closed: int = 0  # nodes that one job has for itself
    licences: dict[str, int] = field(default_factory=dict)
    running: list[Running] = field(default_factory=list)  # by end

    def __post_init__(self) -> None:
        if not self.cpus:
            nodes = self.cluster.nodes
            self.cpus = [node.cpus for node in nodes]
            self.memory = [node.memory for node in nodes]
            self.gres = [dict(node.gres) for node in nodes]
            self.jobs = [0] * len(nodes)
            self.licences = dict(self.cluster.licences)

    def copied(self) -> "Holdings":
        """Return the same, to be changed apart."""
        return Holdings(
            self.cluster, self.cpus[:], self.memory[:], self.gres[:], self.jobs[:], self.closed, dict(self.licences),
            self.running[:],
        )  # fmt: skip

    def take(self, one: Running) -> None:
        """Let a job have its places."""
        self._change(one, -1)
        insort(self.running, one, key=lambda running: (running.end, running.start, running.request.job))

    def give_back(self, one: Running) -> None:
        """Take a job off its places."""
        self._change(one, 1)
        self.running.remove(one)

    def _change(self, one: Running, sign: int) -> None:
        """Take a job's things (−1), or give them back (1)."""
        request, nodes, exclusive = one.request, self.cluster.nodes, alone(one.request, self.cluster)
        for node, cpus in one.places.items():
            self.cpus[node] += sign * cpus
            self.memory[node] += sign * memory_on(request, nodes[node], cpus)
            self.jobs[node] -= sign
            if exclusive:
                self.closed = self.closed & ~(1 << node) if sign > 0 else self.closed | 1 << node
            if request.gres:
                held = self.gres[node] = dict(self.gres[node])
                for name, count in request.gres.items():
                    held[name] = held.get(name, 0) + sign * count
        for name, count in request.licences.items():
            self.licences[name] = self.licences.get(name, 0) + sign * count

    def licensed(self, request: Request) -> bool:
        """Return whether all licences that the job needs are there."""
        return all(self.licences.get(name, 0) >= count for name, count in request.licences.items())

    def rooms(self, request: Request, numbers: Iterable[int]) -> Places:
        """Return how many CPUs of each of these nodes the job could have now, where it could have any."""
        exclusive = alone(request, self.cluster)
        needs, memory, each = list(request.gres.items()), request.memory, request.memory_per == "n"
        fewest = min(request.per_node, request.cpus)
        found: Places = {}
        for number in numbers:
            free = self.cpus[number]
            if free <= 0 or self.closed >> number & 1 or (exclusive and self.jobs[number]):
                continue
            node = self.cluster.nodes[number]
            free -= free % node.threads
            left = self.memory[number]
            if memory <= 0:  # all of it
                free = free if left >= node.memory else 0
            elif each:
                free = free if left >= memory else 0
            else:
                free = min(free, int((left + 1e-6) // memory))
            if request.per_node:
                free = min(free, request.per_node) if free >= fewest else 0
            if free > 0 and all(self.gres[number].get(name, 0) >= count for name, count in needs):
                found[number] = free
        return found

    def place(self, request: Request, allowed: int) -> Places | None:
        """Return where the job would run among the nodes that are `allowed`, None if there is no room."""
        return self._given_out(request, self.rooms(request, members(allowed)))

    def _given_out(self, request: Request, rooms: Places) -> Places | None:
        """Choose among nodes with so much room, and return the places as they are given out: whole cores or nodes."""
        whole = alone(request, self.cluster)
        found = chosen(request, rooms, self.cluster, whole=whole)
        if found is None or whole:
            return found and {number: self.cluster.nodes[number].cpus for number in found}
        threads = {number: self.cluster.nodes[number].threads for number in found}
        return {number: -(-cpus // threads[number]) * threads[number] for number, cpus in found.items()}

    def foresee(
        self, request: Request, allowed: int, now: float, linear: float, origin: float = 0.0
    ) -> tuple[float, Places] | None:
        """Return when the job could start on nodes that are `allowed` as running jobs end, and where; None if never.

        With whole nodes that is looked at after every end, otherwise after those of ever longer spans since about the
        first one, and the last of them counts: so does Slurm. A span is over where the next job of all that run ends
        later, on whatever nodes; but those on other nodes alone are passed by without a look at the time.
        """
        numbers = members(allowed)
        rooms = self.rooms(request, numbers)
        if (found := self._given_out(request, rooms)) is not None:
            return now, found
        later, span, until, last = self.copied(), _TOGETHER, 0.0, now
        changed: set[int] = set()
        for place, one in enumerate(self.running, start=1):
            here = [number for number in one.places if allowed >> number & 1]
            more = place < len(self.running)
            if here:
                until = until or ((one.end + origin) // _TOGETHER + 1) * _TOGETHER - origin
                last = one.end
                later._change(one, 1)
                changed.update(here)
            if not changed or (more and not (here and self._is_over(place, until + span))):
                continue
            while more and not self.cluster.whole and self.running[place].end > until + span:
                span = span + linear if linear else 2 * span
            for number in changed:
                rooms.pop(number, None)
            rooms = dict(sorted((rooms | later.rooms(request, changed)).items()))
            changed.clear()
            if (found := self._given_out(request, rooms)) is not None:
                return max(last, now + 1.0), found
        return None

    def _is_over(self, place: int, until: float) -> bool:
        """Return whether a span of ends is over before the running job at this place."""
        return self.cluster.whole or self.running[place].end > until


def wish(request: Request) -> Wish:
    """Return what jobs have in common that find room in the same places."""
    counts = tuple(sorted(request.gres.items()))
    numbers = request.cpus, request.nodes, request.most_nodes, request.per_node, request.memory, request.memory_per
    return (*numbers, counts, request.exclusive or request.partition.whole)


def alone(request: Request, cluster: Cluster) -> bool:
    """Return whether the job has its nodes for itself."""
    return cluster.whole or request.exclusive or request.partition.whole


def memory_on(request: Request, node: Node, cpus: int) -> float:
    """Return the memory that a job takes on a node on which it has so many CPUs [KB]."""
    if request.all_memory:
        return node.memory
    return request.memory if request.memory_per == "n" else request.memory * cpus


def members(nodes: int) -> list[int]:
    """Return the numbers of the nodes in a set."""
    return [number for number, bit in enumerate(f"{nodes:b}"[::-1]) if bit == "1"]


def usable(request: Request, cluster: Cluster) -> int:
    """Return the nodes of the job's partition that have the features it asks for, whoever holds them.

    What is counted on nodes is looked at node by node: the ends of jobs on nodes without it count all the same.
    """
    there = request.partition.nodes
    if not request.features:
        return there
    return set_of(
        number for number in members(there) if any(one <= cluster.nodes[number].features for one in request.features)
    )
