"""The slow simulator where runtimes are predicted, instants are read otherwise, or starts wait for a pass.

Whole seconds at full speed, but for passes, whose periods may be fractions. `simulate` returns (start, end, first
prediction, corrections) of each row.
"""

import math

import numpy as np
from slow import STARTS, conservative
from slow_machine import Job, Machine

STEPS = [60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000]


class Requested:
    """Believes the request."""

    def predict(self, job):
        return job.requested

    def learn(self, job):
        pass


class Recent:
    """The mean of the user's last n jobs, and the steps of Tsafrir, Etsion and Feitelson; `short` divides the steps."""

    def __init__(self, n, short=1):
        self.n, self.short, self.ended = n, short, {}

    def predict(self, job):
        last = self.ended.get(job.user, [])[-self.n :]
        return max(1, sum(last) // self.n) if len(last) == self.n else job.requested

    def learn(self, job):
        self.ended.setdefault(job.user, []).append(job.work)

    def correct(self, job):
        return job.predicted + STEPS[job.corrections] // self.short


class Similar(Recent):
    """What the user's last job of as many processors took, among the last `look`."""

    def __init__(self, look):
        super().__init__(look)

    def predict(self, job):
        alike = [work for work, procs in self.ended.get(job.user, [])[-self.n :] if procs == job.procs]
        return max(1, alike[-1]) if alike else job.requested

    def learn(self, job):
        self.ended.setdefault(job.user, []).append((job.work, job.procs))


class Online(Recent):
    """Least squares by stochastic gradient of normalised steps, on logarithms; predictions in whole seconds."""

    def __init__(self, rate=0.2, caution=1.5):
        super().__init__(2)
        self.rate, self.caution = rate, caution
        self.weights = np.array([0.0, 0.0, 0.0, 0.0, 1.0])  # the request, before anything is learnt
        self.features = {}

    def predict(self, job):
        ended = self.ended.get(job.user, [])
        last = ended[-1] if ended else job.requested
        before = ended[-2] if len(ended) > 1 else last
        x = np.array([math.e - 1, job.procs, last, before, job.requested])
        self.features[job.place] = np.log1p(x)
        believed = np.expm1(self.weights @ np.log1p(x))
        return job.requested if believed >= job.requested else max(1, math.floor(believed + 0.5))

    def learn(self, job):
        super().learn(job)
        x = self.features[job.place]
        error = np.log1p(job.work) - self.weights @ x
        self.weights += self.rate * (self.caution if error > 0 else 1) * error * x / (x @ x)


class Replay:
    """One run of rows (submit, procs, work, request, user)."""

    def __init__(
        self, rows, procs, order, start, predictor, *, each=False, period=0, main=None, depth=None, window=math.inf
    ):
        self.jobs = [Job(place, *row[:4]) for place, row in enumerate(rows)]
        for job, row in zip(self.jobs, rows, strict=True):
            job.user, job.requested = row[4]["user"], job.estimate
            job.predicted, job.corrections, job.end = job.estimate, 0, None
        self.rule, backfill = STARTS[start]
        self.choosy = (
            start.startswith("easy") and not backfill
        )  # not asked about newcomers that do not fit, where every event is one by itself
        self.machine = Machine(procs, order, backfill or order, window=window)
        self.machine.completed, self.machine.arrived, self.machine.cancelled = [], [], []
        self.future = sorted(self.jobs, key=lambda job: (job.submit, job.place))
        self.predictor, self.each, self.period, self.main, self.depth = predictor, each, period, main, depth
        self.leaving = []  # under `each`: believed to end now, and will
        self.served = []  # everybody in the order of starting
        self.passes = math.inf  # when the next one is, if anybody waits for it
        self.due_next = math.inf  # when the plan lets somebody begin

    def run(self):
        machine = self.machine
        while self.future or machine.waiting or machine.running:
            times = [job.submit for job in self.future[:1]] + [job.ends() for job in machine.running]
            times += [job.planned() for job in machine.running] + [self.passes]
            times.append(self.due_next)
            machine.now = machine.virtual = min(time for time in times if time > machine.now or not self.served)
            called = min(self.passes, self.due_next) <= machine.now
            self.passes = math.inf if self.passes <= machine.now else self.passes
            self.instant(called)
        return [(job.start, job.end, job.predicted, job.corrections) for job in self.jobs]

    def instant(self, called):
        self.correct()
        arriving = [job for job in self.future if job.submit == self.machine.now]
        self.future = self.future[len(arriving) :]
        if not self.each:
            self.complete(sorted(self.due(), key=lambda job: job.place))  # as the engine's heap has them
            self.arrive(arriving)
            self.decide()
            return
        self.leaving = [job for job in self.machine.running if job.planned() == self.machine.now]
        self.machine.running = [job for job in self.machine.running if job not in self.leaving]
        for job in arriving:
            self.arrive([job])
            if not self.choosy or self.period or job.procs <= self.machine.free:
                self.decide()
        decided = bool(arriving)
        while self.due():
            self.complete(self.due()[:1])
            self.decide()
            decided = True
        if called and not decided:
            self.decide()

    def due(self):
        there = self.machine.running + self.leaving
        return [job for job in self.served if job in there and job.ends() == self.machine.now]

    def correct(self):
        outlived = [job for job in self.machine.running if job.planned() == self.machine.now < job.ends()]
        for job in outlived:
            belief = self.predictor.correct(job)
            assert belief > job.estimate
            job.estimate = min(belief, job.requested)
            job.corrections += 1
            for other in self.machine.waiting:  # every plan is void
                other.reserved = None

    def complete(self, jobs):
        for job in jobs:
            for place in (self.machine.running, self.leaving):
                if job in place:
                    place.remove(job)
            job.end, job.early, job.since = self.machine.now, self.machine.now < job.planned(), None
            self.machine.completed.append(job)
            self.predictor.learn(job)

    def arrive(self, jobs):
        for job in jobs:
            job.estimate = job.predicted = min(self.predictor.predict(job), job.requested)
        self.machine.waiting += jobs
        self.machine.arrived += jobs

    def decide(self):
        machine = self.machine
        self.passes = math.inf
        if self.main is not None:
            if self.main == 0 or machine.now % self.main == 0:
                machine.start_in_order()
            elif machine.waiting:
                self.passes = machine.now - machine.now % self.main + self.main
        if self.period and machine.now % self.period:
            if machine.waiting:
                self.passes = min(self.passes, machine.now - machine.now % self.period + self.period)
        else:
            for job in machine.waiting if self.period else []:  # what was planned has not been kept
                job.reserved = None
            queue = machine.sorted(machine.waiting)
            machine.waiting, hidden = queue[: self.depth], queue[len(queue[: self.depth]) :]
            self.rule(machine)
            machine.waiting += hidden
            machine.completed, machine.arrived = [], []
            if self.period and machine.waiting and machine.running:
                self.passes = min(self.passes, machine.now + self.period)
            reserved = [job.reserved for job in machine.waiting] if self.rule is conservative else []
            self.due_next = min((time for time in reserved if time and time > machine.now), default=math.inf)
        self.served += sorted((job for job in machine.running if job not in self.served), key=self.turn)

    def turn(self, job):
        """Jobs that one decision starts enter service in the order in which it starts them."""
        return self.machine.running.index(job)


def simulate(rows, procs, order="fcfs", start="easy", predictor=None, **timing):
    return Replay(rows, procs, order, start, predictor or Requested(), **timing).run()
