"""A slow and obvious simulator of plans that name processors, where memory and whatever else jobs ask for binds.

Nodes are equally fast and times are whole seconds: what a node has left is counted second by second from a list of
who holds which of its cores from when until when. It shares nothing with the engine. `simulate` takes the rows of
`strategies.workload` and nodes as (cores, memory, partition), or (cores, memory, partitions, features, GPUs) where jobs
ask for these; it returns the start of each row, None where it has none.
"""

import math
from dataclasses import dataclass, field

ORDERS = {"fcfs": lambda j: j.submit, "spf": lambda j: j.estimate, "lcfs": lambda j: -j.submit}


@dataclass(eq=False)
class Job:
    place: int
    submit: int
    procs: int
    work: int
    estimate: int
    memory: float = -1.0
    partition: int = -1
    cancel: float = math.inf
    nodes: int = -1
    exclusive: int = -1
    node_memory: float = -1
    features: int = -1
    any_feature: int = -1
    needs_gpu: int = -1
    needs_licence: int = -1
    user: int = -1
    start: int | None = None
    reserved: float | None = None
    held: dict = field(default_factory=dict)  # node → cores, held or promised

    @property
    def portion(self):
        return -(-self.procs // self.nodes) if self.nodes > 0 else 0


@dataclass
class Machine:
    nodes: list
    order: str
    licences: int = 0
    windows: tuple = ()  # (begin, end, nodes, users who may use them)
    now: int = 0
    waiting: list = field(default_factory=list)
    running: list = field(default_factory=list)

    def queue(self, order=None):
        return sorted(self.waiting, key=lambda j: (ORDERS[order or self.order](j), j.submit, j.place))

    def room_at(self, job, node, second):
        cores, memory, partition, *more = self.nodes[node]
        features, gpus = more or (0, 0)
        partitions = partition if more else (partition,)
        if job.partition != -1 and job.partition not in partitions:
            return 0
        for begin, end, kept, users in self.windows:
            if begin <= second < end and node in kept and job.user not in users:
                return 0
        if (job.features > 0 and job.features & ~features) or (job.any_feature > 0 and not job.any_feature & features):
            return 0
        there = [other for other in self.holding(job, second) if other.held.get(node)]
        if there and (job.exclusive == 1 or any(other.exclusive == 1 for other in there)):
            return 0
        cores -= sum(other.held[node] for other in there)
        memory -= sum(other.held[node] * max(other.memory, 0) + max(other.node_memory, 0) for other in there)
        memory -= max(job.node_memory, 0)
        if memory < 0 or gpus - sum(max(other.needs_gpu, 0) for other in there) < job.needs_gpu:
            return 0
        return min(cores, memory // job.memory) if job.memory > 0 and memory < math.inf else cores

    def shares(self, job, rooms):
        """What the job takes of nodes with such room: all of it, or equal shares and fewer of one node only."""
        if not job.portion:
            return rooms
        rest = (job.procs - 1) % job.portion + 1
        taken = [job.portion if room >= job.portion else rest if room >= rest else 0 for room in rooms]
        last = next((node for node, room in enumerate(taken) if 0 < room < job.portion), None)
        return [room if room == job.portion or node == last else 0 for node, room in enumerate(taken)]

    def holding(self, job, second):
        """Who else holds what it holds at that second, or is promised it."""
        others = [other for other in self.running + self.waiting if other is not job and other.held]
        return [other for other in others if self.span(other)[0] <= second < self.span(other)[1]]

    def span(self, job):
        """From when until when it holds what it holds, by its estimate."""
        begin = job.reserved if job.start is None else job.start
        return begin, begin + job.estimate

    def licensed(self, job, begin):
        """Whether the licences of the job are left all the time from `begin` on."""
        return all(
            sum(max(other.needs_licence, 0) for other in [*self.holding(job, second), job]) <= self.licences
            for second in range(begin, begin + job.estimate)
        )

    def rooms(self, job, begin):
        """What the job could take of each node all the time from `begin` on."""
        return self.shares(job, self.all_rooms(job, begin))

    def all_rooms(self, job, begin):
        """The same of nodes that it need not use equally."""
        seconds = range(begin, begin + job.estimate)
        if job.needs_licence > 0 and not self.licensed(job, begin):
            return [0] * len(self.nodes)
        return [int(min(self.room_at(job, node, t) for t in seconds)) for node in range(len(self.nodes))]

    def free(self, job, node):
        """How many processors of the node are free now; none where the job could have nothing."""
        if len(self.nodes[node]) > 3:
            waiting, self.waiting = self.waiting, []
            room = self.room_at(job, node, self.now)
            self.waiting = waiting
            rest = (job.procs - 1) % job.portion + 1 if job.portion else 1
            if room < rest or self.is_closed(job, node, self.now + job.estimate):
                return 0
        return self.nodes[node][0] - sum(other.held.get(node, 0) for other in self.running)

    def is_closed(self, job, node, until):
        """Whether the node is kept for others at any second from now until then."""
        return any(
            begin < until and self.now < end and node in kept and job.user not in users
            for begin, end, kept, users in self.windows
        )

    def start(self, job):
        """First fit, on what nobody else is promised; whether it could."""
        if sum(rooms := self.rooms(job, self.now)) < job.procs:
            return False
        job.held = {}
        for node, room in enumerate(rooms):
            taken = min(room, job.procs - sum(job.held.values()))
            if taken:
                job.held[node] = taken
        job.start = self.now
        self.waiting.remove(job)
        self.running.append(job)
        return True

    def promise(self, job):
        """The first second at which there is room: processors that are not free now, then those of the last nodes."""
        begin = self.now
        while sum(rooms := self.rooms(job, begin)) < job.procs:
            begin += 1
        job.reserved, job.held = begin, {}
        there = self.all_rooms(job, begin)
        busy = {node: min(room, max(0, there[node] - self.free(job, node))) for node, room in enumerate(rooms)}
        whole = job.portion or (job.exclusive == 1 and len(self.nodes[0]) > 3)  # all that it could have of a node
        for node in sorted(busy, key=lambda node: -busy[node] if whole else 0):
            some = rooms[node] if whole and busy[node] else busy[node]
            job.held[node] = min(job.procs - sum(job.held.values()), some)
        for node, room in reversed(list(enumerate(rooms))):
            job.held[node] += min(job.procs - sum(job.held.values()), room - job.held[node])

    def lift(self, job):
        job.reserved, job.held = None, {}


def easy(machine, reservations, backfill=None):
    left = reservations
    for job in machine.queue():
        if left and not machine.start(job):
            machine.promise(job)
            left -= 1
    for job in machine.queue(backfill):
        if job.reserved is None:
            machine.start(job)
    for job in machine.waiting:
        machine.lift(job)


def promise_all(machine):
    """Whoever can begins; then whoever has no promise gets one."""
    for job in machine.queue():
        if job.reserved is not None:
            machine.start(job)
    for job in machine.queue():
        if job.reserved is None:
            machine.promise(job)


def conservative(machine, early):
    promise_all(machine)
    for job in (due := [job for job in machine.queue() if job.reserved == machine.now]):
        assert machine.start(job)
    while due:  # they may have begun elsewhere than they were promised to
        due = [job for job in machine.queue() if machine.start(job)]


STARTS = {
    "easy": lambda m, early: easy(m, 1),
    "easy(reservations=2)": lambda m, early: easy(m, 2),
    "easy(backfill_order=spf)": lambda m, early: easy(m, 1, "spf"),
    "conservative": conservative,
}


def simulate(rows, nodes, order, start, licences=0, windows=()):
    """When each row started."""
    jobs = [Job(k, *row[:4], **row[4]) for k, row in enumerate(rows)]
    if max(cores for cores, *_ in nodes) == 1:  # on single processors nobody asks for so many of a node
        for job in jobs:
            job.nodes = -1
    machine = Machine(nodes, order, licences, windows)
    future = sorted(jobs, key=lambda job: (job.submit, job.place))
    empty = Machine(nodes, order, licences)
    while future or machine.waiting or machine.running:
        moments = [job.start + job.work for job in machine.running] + [job.submit for job in future[:1]]
        moments += [int(job.cancel) for job in machine.waiting if job.cancel < math.inf]
        moments += [end for _, end, *_ in windows if end > machine.now and machine.waiting]
        moments += [job.reserved for job in machine.waiting if job.reserved is not None]
        machine.now = min(moments)
        ended = [job for job in machine.running if job.start + job.work == machine.now]
        early = any(job.work < job.estimate for job in ended)
        machine.running = [job for job in machine.running if job not in ended]
        left = [job for job in machine.waiting if job.cancel <= machine.now]
        early |= any(job.reserved is not None for job in left)
        machine.waiting = [job for job in machine.waiting if job not in left]
        while future and future[0].submit == machine.now:
            job = future.pop(0)
            if job.cancel > machine.now and sum(empty.rooms(job, 0)) >= job.procs:
                machine.waiting.append(job)
        STARTS[start](machine, early)
    return [job.start for job in jobs]
