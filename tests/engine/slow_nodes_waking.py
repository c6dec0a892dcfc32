"""The slow simulator of plans that name processors, where nodes sleep: promises leave time for any node to wake.

Nodes fall asleep and wake as in `slow_waking`. Whoever has no such time before the others' promises begins on nodes
that are awake, if these alone will do. `simulate` takes what that of `slow_nodes.py` does and how nodes sleep, and
returns the start of each row and when its service began.
"""

import math
from contextlib import contextmanager

import slow_nodes
from slow_waking import Node

STARTS = {name: rule for name, rule in slow_nodes.STARTS.items() if name.startswith("easy")}


class Machine(slow_nodes.Machine):
    """A machine whose nodes sleep."""

    def prepare(self, idle, down, up):
        self.idle, self.down, self.up = idle, down, up
        self.states = [Node(cores, self.now) for cores, *_ in self.nodes]

    @property
    def boot(self):
        return self.down + self.up

    def span(self, job):
        if job.start is None:
            return job.reserved, job.reserved + job.estimate + self.boot
        return job.start, job.ready + job.estimate

    @contextmanager
    def leaving_time(self, job):
        """Within the block the job takes longer, by what any node may take to wake."""
        job.estimate += self.boot
        yield
        job.estimate -= self.boot

    def all_rooms(self, job, begin):
        with self.leaving_time(job):
            return super().all_rooms(job, begin)

    def free(self, job, node):
        with self.leaving_time(job):
            return super().free(job, node)

    def rooms_awake(self, job):
        """What the job could have of the nodes that are awake; windows and licences leave time for any to wake."""
        until = self.now + job.estimate + self.boot
        found = [0] * len(self.nodes)
        for node, state in enumerate(self.states):
            if state.state == "awake" and not self.is_closed(job, node, until):
                seconds = range(self.now, self.now + job.estimate)
                found[node] = int(min(self.room_at(job, node, second) for second in seconds))
        return self.shares(job, found)

    def licensed_long(self, job):
        with self.leaving_time(job):
            return job.needs_licence <= 0 or self.licensed(job, self.now)

    def promise(self, job):
        super().promise(job)
        self.promised.append((job, job.reserved))

    def start(self, job):
        rooms = self.rooms(job, self.now)
        if sum(rooms) < job.procs and self.licensed_long(job):
            rooms = self.rooms_awake(job)
        if sum(rooms) < job.procs:
            return False
        job.held = {}
        for node, room in enumerate(rooms):
            if taken := min(room, job.procs - sum(job.held.values())):
                job.held[node] = taken
        job.start = self.now
        job.ready = max(self.states[node].awake_at(self.now, self.up) for node in job.held)
        for node in job.held:
            state = self.states[node]
            if state.state in ("falling", "asleep"):
                state.until, state.state = state.awake_at(self.now, self.up), "waking"
        self.waiting.remove(job)
        self.running.append(job)
        return True

    def happen(self):
        """Completions, then transitions; return whether somebody who was promised something gives it back early."""
        ended = [job for job in self.running if job.ready + job.work == self.now]
        self.running = [job for job in self.running if job not in ended]
        for node in {node for job in ended for node in job.held}:
            if not self.in_use(node):
                self.states[node].vacant = self.now
        self.turn()
        left = [job for job in self.waiting if job.cancel <= self.now]
        self.waiting = [job for job in self.waiting if job not in left]
        return any(job.work < job.estimate for job in ended) or any(job.reserved is not None for job in left)

    def turn(self):
        """Nodes whose transition ends."""
        for state in self.states:
            if state.until == self.now:
                if state.state == "waking":
                    state.vacant = self.now
                state.state, state.until = {"waking": "awake", "falling": "asleep"}[state.state], math.inf

    def in_use(self, node):
        return any(job.held.get(node) for job in self.running)

    def doze(self):
        for node, state in enumerate(self.states):
            if state.state == "awake" and not self.in_use(node) and state.vacant + self.idle <= self.now:
                state.state, state.until = ("falling", self.now + self.down) if self.down else ("asleep", math.inf)

    def moments(self):
        found = [state.until for state in self.states if state.until < math.inf]
        idle = [s for node, s in enumerate(self.states) if s.state == "awake" and not self.in_use(node)]
        return found + [state.vacant + self.idle for state in idle]


def check_first(machine):
    """In order of submission, what the first that does not fit is promised never moves later, and is kept."""
    for job, reserved in machine.promised[:1]:
        assert job.first is None or reserved <= job.first
        job.first = reserved
    assert all(job.first is None or job.start <= job.first for job in machine.running), "a promise is broken"


def conservative(machine, early):
    slow_nodes.promise_all(machine)
    for job in machine.waiting:
        job.first = job.reserved if job.first is None else job.first
    going_on = True
    while going_on:
        started = [machine.start(job) for job in machine.queue()]
        going_on = any(started)
    assert all(job.reserved > machine.now for job in machine.waiting), "a promise is broken"


STARTS["conservative"] = conservative


def simulate(rows, nodes, order, start, idle, down, up, licences=0, windows=()):
    jobs = [slow_nodes.Job(k, *row[:4], **row[4]) for k, row in enumerate(rows)]
    if max(cores for cores, *_ in nodes) == 1:
        for job in jobs:
            job.nodes = -1
    future = sorted(jobs, key=lambda job: (job.submit, job.place))
    machine = Machine(nodes, order, licences, windows, future[0].submit)
    machine.prepare(idle, down, up)
    empty = slow_nodes.Machine(nodes, order, licences)
    for job in jobs:
        job.ready = job.first = None
    while future or machine.waiting or machine.running:
        moments = [job.ready + job.work for job in machine.running] + [job.submit for job in future[:1]]
        moments += [int(job.cancel) for job in machine.waiting if job.cancel < math.inf]
        moments += [end for _, end, *_ in windows if end > machine.now and machine.waiting]
        moments += [job.reserved for job in machine.waiting if job.reserved is not None]
        machine.now = int(min(moments + machine.moments()))
        early = machine.happen()
        while future and future[0].submit == machine.now:
            job = future.pop(0)
            if job.cancel > machine.now and sum(empty.rooms(job, 0)) >= job.procs:
                machine.waiting.append(job)
        machine.promised = []
        STARTS[start](machine, early)
        if start != "conservative" and order == "fcfs":
            check_first(machine)
        machine.doze()
    return [(job.start, job.ready) for job in jobs]
