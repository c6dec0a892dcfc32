"""The slow simulator of plans that name processors, where jobs are held too: rules are asked about everybody always.

Rules are those of `slow_rules`. `simulate` takes and returns what that of `slow_nodes.py` does; its start policy may
be several queues, see `slow_queues`.
"""

import math
from dataclasses import fields

from slow_nodes import STARTS, Job, Machine
from slow_rules import DecisionOver, Holding

KNOWN = {field.name for field in fields(Job)}


class HoldingMachine(Holding, Machine):
    """A machine that knows who is held."""

    def accepts(self, job):
        return job.accepted

    def nodes_of(self, job):
        return sum(cores > 0 for cores in job.held.values())

    def start(self, job):
        if not super().start(job):
            return False
        self.started = True
        if any(self.until(other) > self.now for other in self.waiting + self.aside):
            raise DecisionOver
        return True

    def forget_plans(self):
        for job in self.waiting + self.held:
            self.lift(job)

    def give_back(self, back):
        for job in back:
            self.lift(job)

    def decide(self, start, early):
        again = True
        while again:
            again, self.started = False, False
            try:
                (STARTS[start] if isinstance(start, str) else start)(self, early)
            except DecisionOver:
                again = True
                if start != "conservative":  # it keeps its reservations
                    self.forget_plans()
                self.hold_back()
            if self.started and self.let_go():
                again = True


def simulate(rows, nodes, order, start, licences, windows, rules):
    """When each row started."""
    jobs = []
    for place, row in enumerate(rows):
        known = {name: value for name, value in row[4].items() if name in KNOWN}
        jobs.append(Job(place, *row[:4], **known))
        vars(jobs[-1]).update(row[4])
        jobs[-1].end, jobs[-1].done = None, 0
    if max(cores for cores, *_ in nodes) == 1:  # on single processors nobody asks for so many of a node
        for job in jobs:
            job.nodes = -1
    empty = Machine(nodes, order, licences)
    for job in jobs:
        job.accepted = sum(empty.rooms(job, 0)) >= job.procs
    machine = HoldingMachine(nodes, order, licences, windows)
    machine.jobs, machine.rules, machine.held = jobs, rules, []
    machine.aside = []  # who waits in a queue that is not asked now, see slow_queues
    future = sorted((job for job in jobs if job.accepted), key=lambda job: (job.submit, job.place))
    while future or machine.waiting or machine.running or machine.held:
        there = machine.waiting + machine.held
        moments = [job.start + job.work for job in machine.running] + [job.submit for job in future[:1]]
        moments += [int(job.cancel) for job in there if job.cancel < math.inf]
        moments += [end for _, end, *_ in windows if end > machine.now and there]
        moments += [job.reserved for job in machine.waiting if job.reserved is not None]
        moments += [time for time in map(machine.until, there) if machine.now < time]
        if min(moments, default=math.inf) == math.inf:
            break  # nothing can release who is held now
        machine.now = int(min(moments))
        early = one_end(machine)
        while future and future[0].submit == machine.now:
            job = future.pop(0)
            if job.cancel > machine.now:
                machine.held.append(job)
            else:
                job.end = machine.now
        machine.hold_back()
        machine.let_go()
        machine.decide(start, early)
    return [job.start for job in jobs]


def one_end(machine):
    """Let those leave who end now, or give up; return whether plans may move forward."""
    ended = [job for job in machine.running if job.start + job.work == machine.now]
    for job in ended:
        machine.running.remove(job)
        job.end, job.done = machine.now, job.work
    left = [job for job in machine.waiting + machine.held if job.cancel <= machine.now]
    for job in left:
        (machine.waiting if job in machine.waiting else machine.held).remove(job)
        job.end = machine.now
    return any(job.work < job.estimate for job in ended) or any(job.reserved is not None for job in left)
