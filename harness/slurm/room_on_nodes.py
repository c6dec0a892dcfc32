"""Who holds what on which node, and where a job finds room: what Slurm's select plugins decide."""

from dataclasses import dataclass, field
from typing import TypeAlias

from harness.slurm.cluster import Cluster, Node
from harness.slurm.requests import Request

#: The CPUs that a job has on each of its nodes, by the number of the node.
Places: TypeAlias = dict[int, int]

#: All of a request that decides where it finds room on given nodes.
Wish: TypeAlias = tuple[object, ...]

#: How far apart ends of jobs are that Slurm looks at together, at first [s].
_TOGETHER = 30.0


@dataclass
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
            self.cluster, self.cpus[:], self.memory[:], [dict(one) for one in self.gres], self.jobs[:], self.closed,
            dict(self.licences), self.running[:],
        )  # fmt: skip

    def take(self, one: Running) -> None:
        """Let a job have its places."""
        self._change(one, -1)
        self.running.append(one)
        self.running.sort(key=lambda running: (running.end, running.start, running.request.job))

    def give_back(self, one: Running) -> None:
        """Take a job off its places."""
        self._change(one, 1)
        self.running.remove(one)

    def _change(self, one: Running, sign: int) -> None:
        request = one.request
        for node, cpus in one.places.items():
            self.cpus[node] += sign * cpus
            self.memory[node] += sign * memory_on(request, self.cluster.nodes[node], cpus)
            for name, count in request.gres.items():
                self.gres[node][name] = self.gres[node].get(name, 0) + sign * count
            self.jobs[node] -= sign
            if alone(request, self.cluster):
                self.closed = self.closed & ~(1 << node) if sign > 0 else self.closed | 1 << node
        for name, count in request.licences.items():
            self.licences[name] = self.licences.get(name, 0) + sign * count

    def licensed(self, request: Request) -> bool:
        """Return whether all licences that the job needs are there."""
        return all(self.licences.get(name, 0) >= count for name, count in request.licences.items())

    def room(self, request: Request, number: int) -> int:
        """Return how many CPUs of a node the job could have now; features are looked at elsewhere."""
        node = self.cluster.nodes[number]
        if self.closed >> number & 1 or (alone(request, self.cluster) and self.jobs[number] > 0):
            return 0
        free = self.cpus[number] - self.cpus[number] % node.threads
        if any(self.gres[number].get(name, 0) < count for name, count in request.gres.items()):
            return 0
        if request.all_memory:
            free = free if self.memory[number] >= node.memory else 0
        elif request.memory_per == "n":
            free = free if self.memory[number] >= request.memory else 0
        else:
            free = min(free, int((self.memory[number] + 1e-6) // request.memory))
        if request.per_node:
            free = min(free, request.per_node) if free >= min(request.per_node, request.cpus) else 0
        return free

    def place(self, request: Request, allowed: int) -> Places | None:
        """Return where the job would run among the nodes that are `allowed`, None if there is no room.

        Lighter nodes come first. Of rows of neighbours, the one that is wide enough and has the fewest CPUs is taken;
        if none is, the one with the most, and then the next.
        """
        rooms = {number: self.room(request, number) for number in members(allowed)}
        rooms = {number: room for number, room in rooms.items() if room > 0}
        weights = sorted({self.cluster.nodes[number].weight for number in rooms})
        for heaviest in weights:
            light = {n: room for n, room in rooms.items() if self.cluster.nodes[n].weight <= heaviest}
            if enough(request, light):
                return self._chosen(request, light)
        return None

    def _chosen(self, request: Request, rooms: Places) -> Places | None:
        """Choose nodes and the CPUs on each; they suffice together."""
        nodes, cpus = request.nodes, request.cpus
        most = request.most_nodes or len(rooms)
        found: Places = {}
        todo = dict(rooms)
        while (nodes > 0 or cpus > 0) and todo and len(found) < most:
            for number in self._row(todo, nodes, cpus):
                if (nodes <= 0 and cpus <= 0) or len(found) == most:
                    break
                taken = min(todo.pop(number), max(1, cpus - max(0, nodes - 1)))
                found[number] = taken
                nodes -= 1
                cpus -= taken
        if cpus > 0 or nodes > 0:  # few nodes are allowed: the roomiest
            found = dict(sorted(rooms.items(), key=lambda item: -item[1])[:most])
            if sum(found.values()) < request.cpus or len(found) < request.nodes:
                return None
        return self._whole(request, found)

    def _row(self, rooms: Places, nodes: int, cpus: int) -> list[int]:
        """Return the row of neighbours that suits best."""
        if self.cluster.least_loaded:
            return sorted(rooms, key=lambda number: (-self.cpus[number] / self.cluster.nodes[number].cpus, number))
        rows: list[list[int]] = []
        if self.cluster.switches:
            rows = [[number for number in members(switch) if number in rooms] for switch in self.cluster.switches]
            rows = [row for row in rows if row] or [sorted(rooms)]
            return min(rows, key=lambda row: _suits(row, rooms, nodes, cpus))
        for number in sorted(rooms):
            if rows and rows[-1][-1] == number - 1 and self._alike(rows[-1][-1], number):
                rows[-1].append(number)
            else:
                rows.append([number])

        return min(rows, key=lambda row: _suits(row, rooms, nodes, cpus))

    def _alike(self, one: int, other: int) -> bool:
        return self.cluster.nodes[one].weight == self.cluster.nodes[other].weight

    def _whole(self, request: Request, found: Places) -> Places:
        """Return the places as they are given out: whole cores, or whole nodes."""
        if alone(request, self.cluster):
            return {number: self.cluster.nodes[number].cpus for number in found}
        threads = {number: self.cluster.nodes[number].threads for number in found}
        return {number: -(-cpus // threads[number]) * threads[number] for number, cpus in found.items()}

    def foresee(self, request: Request, allowed: int, now: float, linear: float) -> tuple[float, Places] | None:
        """Return when the job could start on nodes that are `allowed` as running jobs end, and where; None if never.

        Ends are looked at several together, ever more, and the last of them counts: so does Slurm.
        """
        if (found := self.place(request, allowed)) is not None:
            return now, found
        later = self.copied()
        ending = [one for one in self.running if any(allowed >> node & 1 for node in one.places)]
        together = _TOGETHER
        while ending:
            first = ending[0].end
            while ending:
                last = ending.pop(0)
                later.give_back(last)
                if ending and ending[0].end > first + together:
                    break
            together = together + linear if linear else 2 * together
            if (found := later.place(request, allowed)) is not None:
                return max(last.end, now + 1.0), found
        return None


def wish(request: Request) -> Wish:
    """Return what jobs have in common that find room in the same places."""
    counts = tuple(sorted(request.gres.items()))
    numbers = request.cpus, request.nodes, request.most_nodes, request.per_node, request.memory, request.memory_per
    return (*numbers, counts, request.exclusive or request.partition.whole)


def _suits(row: list[int], rooms: Places, nodes: int, cpus: int) -> tuple[bool, int]:
    """Return what rows of nodes are sorted by: those that suffice first, the narrowest; else the widest."""
    room = sum(rooms[number] for number in row)
    sufficient = room >= cpus and len(row) >= nodes
    return not sufficient, room if sufficient else -room


def alone(request: Request, cluster: Cluster) -> bool:
    """Return whether the job has its nodes for itself."""
    return cluster.whole or request.exclusive or request.partition.whole


def memory_on(request: Request, node: Node, cpus: int) -> float:
    """Return the memory that a job takes on a node on which it has so many CPUs [KB]."""
    if request.all_memory:
        return node.memory
    return request.memory if request.memory_per == "n" else request.memory * cpus


def enough(request: Request, rooms: Places) -> bool:
    """Return whether a job finds all it needs on these nodes."""
    most = request.most_nodes or len(rooms)
    roomiest = sorted(rooms.values(), reverse=True)[:most]
    return len(rooms) >= request.nodes and sum(roomiest) >= request.cpus


def members(nodes: int) -> list[int]:
    """Return the numbers of the nodes in a set."""
    return [number for number in range(nodes.bit_length()) if nodes >> number & 1]


def usable(request: Request, cluster: Cluster) -> int:
    """Return the nodes of the job's partition that have what it asks for, whoever holds it."""
    found = 0
    for number in members(request.partition.nodes):
        node = cluster.nodes[number]
        if request.features and not any(one <= node.features for one in request.features):
            continue
        if all(node.gres.get(name, 0) >= count for name, count in request.gres.items()):
            found |= 1 << number
    return found
