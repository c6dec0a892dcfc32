"""The slow simulator where jobs are held: holds are asked about everybody all the time.

Rules are those of `slow_rules`. `simulate` returns what `slow.simulate` does.
"""

import math

from slow import STARTS, conservative, may_give_up, preempt_arrival, preempt_departure, serve_prefix
from slow_machine import Job, Machine
from slow_rules import DecisionOver, Holding


class HoldingMachine(Holding, Machine):
    """A machine that knows who is held, since nobody is in the queue whom a rule holds."""

    def prepare(self, jobs, rules, freed_by_starts):
        self.jobs, self.rules, self.freed_by_starts = jobs, rules, freed_by_starts
        self.held, self.paused = [], []
        self.aside = []  # who waits in a queue that is not asked now, see slow_queues

    def accepts(self, job):
        return job.procs <= self.procs

    def nodes_of(self, job):
        return job.procs

    def start(self, job):
        super().start(job)
        self.started = True
        if any(self.until(other) > self.now for other in self.waiting + self.aside):
            raise DecisionOver

    def suspend(self, job):
        super().suspend(job)
        self.waiting.remove(job)
        self.paused.append(job)

    def happen(self, event, subject, jobs, requeue):
        if event == "job-deleted" and jobs[subject - 1] in self.held:
            job = jobs[subject - 1]
            self.held.remove(job)
            job.end = self.now
            return True
        return super().happen(event, subject, jobs, requeue)

    def sort_out(self):
        """Hold who is held, and let go who is not; return whether anybody came to be held."""
        back = self.hold_back()
        self.arrived = self.let_go()
        return back

    def forget_plans(self):
        for job in self.waiting + self.held:
            job.reserved = None

    def give_back(self, back):
        """Let the start policy see that these jobs left."""
        self.cancelled += [job for job in back if job.reserved is not None]

    def let_go(self):
        free = super().let_go()
        self.cancelled = [job for job in self.cancelled if job not in free]
        return free

    def decide(self, rule):
        again = True
        while again:
            again, self.started = False, False
            try:
                rule(self)
            except DecisionOver:
                again = True
            freed = [job for job in self.held if self.until(job) <= self.now] if self.started else []
            if freed and self.freed_by_starts:
                self.held = [job for job in self.held if job not in freed]
                self.waiting += freed
                self.arrived += freed
                again = True
            self.waiting += self.paused
            self.paused = []
            if again:
                self.forget_who_left()
                self.hold_back()

    def forget_who_left(self):
        """Take nobody out of plans twice."""
        self.cancelled = []
        for job in self.held:
            job.reserved = None
        for job in self.completed + self.killed:
            job.early = False


def simulate(rows, procs, order, start, rules, events=(), requeue=True, freed_by_starts=False):
    jobs = []
    for place, row in enumerate(rows):
        extra = dict(row[4]) if len(row) > 4 else {}
        further = {name: extra.pop(name) for name in list(extra) if name != "cancel"}
        jobs.append(Job(place, *row[:4], **extra))
        vars(jobs[-1]).update(further)
    rule, backfill = STARTS[start] if isinstance(start, str) else start  # or a rule, see slow_queues
    machine = HoldingMachine(procs, order, backfill or order)
    machine.prepare(jobs, rules, freed_by_starts)
    future = sorted(jobs, key=lambda job: (job.submit, job.place))
    first = machine.now = machine.virtual = future[0].submit
    events = [(max(time, first), *what) for time, *what in sorted(events, key=lambda event: event[0])]
    while future or machine.waiting or machine.running or machine.held:
        moments = [job.submit for job in future[:1]] + [event[0] for event in events[:1]]
        moments += [job.ends() for job in machine.running]
        there = machine.waiting + machine.held
        moments += [job.cancel for job in there if may_give_up(job) and job.cancel > machine.now]
        moments += [time for time in map(machine.until, there) if machine.now < time]
        if rule is conservative:
            moments += [job.reserved for job in machine.waiting if job.reserved is not None]
        if min(moments, default=math.inf) == math.inf:
            break
        machine.advance(int(min(moments)))
        happening = [event for event in events if event[0] == machine.now]
        events = events[len(happening) :]
        one_instant(machine, future, rule, [(*event[1:], jobs, requeue) for event in happening])
    return [(job.start, job.end, job.done) for job in jobs]


def one_instant(machine, future, rule, happening):
    now = machine.now
    machine.completed = [job for job in machine.running if job.ends() == now]
    for job in machine.completed:
        machine.leaves(job)
        machine.running.remove(job)
        job.early = now < job.planned()
        job.end, job.done, job.since = now, job.work, None
    before = list(machine.waiting)
    machine.killed, machine.cancelled, machine.moved = [], [], False
    for job in machine.held:
        job.reserved = None
    effects = [machine.happen(*event) for event in happening]
    machine.upset = any(effects)
    if machine.moved:
        machine.forget_plans()
    gave_up = [job for job in machine.waiting + machine.held if may_give_up(job) and job.cancel <= now]
    for job in gave_up:
        (machine.waiting if job in machine.waiting else machine.held).remove(job)
        job.end = now
    machine.cancelled += gave_up
    came = [job for job in future if job.submit == now]
    future[:] = future[len(came) :]
    for job in came:
        if job.procs > machine.procs:
            continue
        machine.submitted.append(job)
        if job.cancel <= now:
            job.end = now
        else:
            machine.held.append(job)
    back = machine.sort_out()
    called = rule in (serve_prefix, preempt_arrival, preempt_departure)  # who would act because it is asked
    stirred = came or machine.completed or machine.upset or machine.cancelled or machine.arrived or back
    if stirred or not called or before != machine.waiting:
        machine.decide(rule)
