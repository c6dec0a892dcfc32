"""A slow and obvious simulator of conservative backfilling, and of EASY, where nodes sleep.

Everybody, or the first so many who do not fit, are promised processors, awake or not. Nodes of several cores fall
asleep when they have been idle for some time, which takes `down` seconds, and take `up` seconds to wake. It shares
nothing with the engine: what is promised is a list, counted second by second. `simulate` takes rows of
`strategies.workload` and cores of nodes, and returns (start, service begins) of each row, and when each was promised
to start first; under EASY, as the first of the queue.
"""

import math
from dataclasses import dataclass, field

from slow_nodes import ORDERS


@dataclass(eq=False)
class Node:
    cores: int
    vacant: float
    state: str = "awake"
    until: float = math.inf  # when it has fallen asleep, or is awake again

    def awake_at(self, now, up):
        """When it could serve, were it woken now."""
        return {"awake": now, "waking": self.until, "falling": self.until + up, "asleep": now + up}[self.state]


@dataclass(eq=False)
class Job:
    place: int
    submit: int
    procs: int
    work: int
    estimate: int
    cancel: float = math.inf
    start: int | None = None
    ready: float | None = None
    reserved: float | None = None
    first: float | None = None  # promise
    held: dict = field(default_factory=dict)  # node → cores


class Machine:
    def __init__(self, nodes, order, idle, down, up, now):
        self.nodes = [Node(cores, now) for cores in nodes]
        self.order, self.idle, self.down, self.up, self.now = order, idle, down, up, now
        self.waiting, self.running = [], []

    def queue(self, order=None):
        return sorted(self.waiting, key=lambda j: (ORDERS[order or self.order](j), j.submit, j.place))

    def free(self, k):
        return self.nodes[k].cores - sum(job.held.get(k, 0) for job in self.running)

    def chosen(self, job):
        """The lowest-numbered free processors, awake or not; None if there are too few."""
        held, need = {}, job.procs
        for k in range(len(self.nodes)):
            if taken := min(need, self.free(k)):
                held[k] = taken
                need -= taken
        return held if need == 0 else None

    def boot(self, held):
        return max(self.nodes[k].awake_at(self.now, self.up) for k in held) - self.now

    def left_at(self, job, second):
        """Processors that nobody else has or is promised at that second."""
        procs = sum(node.cores for node in self.nodes)
        procs -= sum(other.procs for other in self.running if second < other.ready + other.estimate)
        for other in self.waiting:
            promised = other.reserved is not None and other is not job
            if promised and other.reserved <= second < other.reserved + self.length(other):
                procs -= other.procs
        return procs

    def length(self, job):
        return job.estimate + self.down + self.up

    def fits(self, job, begin, length):
        return all(self.left_at(job, second) >= job.procs for second in range(begin, begin + length))

    def promise(self, job):
        begin = self.now
        while not self.fits(job, begin, self.length(job)):
            begin += 1
        assert job.reserved is None or begin <= job.reserved
        job.reserved = begin
        job.first = begin if job.first is None else job.first

    def start(self, job, held):
        job.held, job.start, job.ready = held, self.now, self.now + self.boot(held)
        for k in held:
            node = self.nodes[k]
            if node.state in ("falling", "asleep"):
                node.until = node.awake_at(self.now, self.up)
                node.state = "waking"
        self.waiting.remove(job)
        self.running.append(job)

    def decide(self, early):
        promised = [job for job in self.queue() if job.reserved is not None]
        for job in promised if early else []:
            self.promise(job)
        for job in self.queue():
            if job.reserved is None:
                self.promise(job)
        while self.start_some():
            for job in self.queue():
                self.promise(job)

    def start_some(self):
        """Who is due, and who would be done beside the others where it would begin now."""
        some = False
        for job in self.queue():
            held = self.chosen(job)
            if job.reserved == self.now:
                assert held is not None, "a promise is broken"
            elif held is None or not self.fits(job, self.now, job.estimate + self.boot(held)):
                continue
            self.start(job, held)
            some = True
        return some

    def easy(self, reservations, backfill, past=True):
        """The first so many who cannot begin are promised; the others begin if they would be done beside that."""
        promised = []
        for job in self.queue():
            if len(promised) < reservations and not self.begin_beside(job, promised, past):
                self.promise(job)
                promised.append(job)
        for job in self.queue(backfill):
            if job not in promised:
                self.begin_beside(job, promised, past)
        for job in promised:
            job.reserved = None

    def begin_beside(self, job, promised, past):
        """Start a job that would be done beside the promises; return False if it would not."""
        held = self.chosen(job)
        if held is None or not self.fits(job, self.now, job.estimate + self.boot(held)):
            return False
        if past or all(self.now + job.estimate + self.boot(held) <= first.reserved for first in promised):
            self.start(job, held)
        return True

    def happen(self):
        """Completions, then transitions; return whether somebody who was promised something gives it back early."""
        ended = [job for job in self.running if job.ready + job.work == self.now]
        for job in ended:
            self.running.remove(job)
            for k in job.held:
                if self.free(k) == self.nodes[k].cores:
                    self.nodes[k].vacant = self.now
        for node in self.nodes:
            if node.until == self.now:
                if node.state == "waking":
                    node.vacant = self.now
                node.state, node.until = {"waking": "awake", "falling": "asleep"}[node.state], math.inf
        left = [job for job in self.waiting if job.cancel <= self.now]
        self.waiting = [job for job in self.waiting if job not in left]
        return any(job.work < job.estimate for job in ended) or any(job.reserved is not None for job in left)

    def doze(self):
        for k, node in enumerate(self.nodes):
            if node.state == "awake" and self.free(k) == node.cores and node.vacant + self.idle <= self.now:
                node.state, node.until = ("falling", self.now + self.down) if self.down else ("asleep", math.inf)

    def moments(self):
        found = [job.ready + job.work for job in self.running]
        found += [job.reserved for job in self.waiting if job.reserved is not None]
        found += [job.cancel for job in self.waiting if job.cancel < math.inf]
        found += [node.until for node in self.nodes if node.until < math.inf]
        idle = [n for k, n in enumerate(self.nodes) if n.state == "awake" and self.free(k) == n.cores]
        return found + [node.vacant + self.idle for node in idle]


#: What the harness calls it → the rule.
STARTS = {
    "conservative": lambda machine, early: machine.decide(early),
    "easy": lambda machine, early: machine.easy(1, None),
    "easy(spare=false)": lambda machine, early: machine.easy(1, None, past=False),
    "easy(backfill_order=spf)": lambda machine, early: machine.easy(1, "spf"),
    "easy(reservations=2)": lambda machine, early: machine.easy(2, None),
    "easy(reservations=3, backfill_order=lcfs)": lambda machine, early: machine.easy(3, "lcfs"),
    "easy(reservations=2, spare=false)": lambda machine, early: machine.easy(2, None, past=False),
}


def simulate(rows, nodes, order, idle, down, up, start="conservative"):
    jobs = [Job(k, *row[:4], **row[4]) for k, row in enumerate(rows)]
    future = sorted(jobs, key=lambda job: (job.submit, job.place))
    machine = Machine(nodes, order, idle, down, up, future[0].submit)
    while future or machine.waiting or machine.running:
        machine.now = int(min([job.submit for job in future[:1]] + machine.moments()))
        early = machine.happen()
        while future and future[0].submit == machine.now:
            job = future.pop(0)
            if job.cancel > machine.now and job.procs <= sum(nodes):
                machine.waiting.append(job)
        STARTS[start](machine, early)
        machine.doze()
    return [(job.start, job.ready) for job in jobs], [job.first for job in jobs]
