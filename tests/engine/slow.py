"""A slow and obvious simulator: equal processors, one rate for all of them, in numbers that are never rounded.

It shares nothing with the engine: lists are searched and sorted anew at every instant, future availability is
counted second by second of interest from the list of what is promised. Work is done, and plans are made, in virtual
time, the integral of the rate. `simulate` takes the same rows as `strategies.workload`, and returns (start, end,
work done) of each row; None where it never started.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

ORDERS = {
    "fcfs": lambda j, m: j.submit,
    "lcfs": lambda j, m: -j.submit,
    "spf": lambda j, m: j.left(m.virtual),
    "lpf": lambda j, m: -j.left(m.virtual),
    "sjf-width": lambda j, m: j.procs,
    "ljf-width": lambda j, m: -j.procs,
    "saf": lambda j, m: j.estimate * j.procs,
    "laf": lambda j, m: -j.estimate * j.procs,
    "wfp3": lambda j, m: -(((m.now - j.submit) / j.estimate) ** 3.0) * j.procs,
    "unicef": lambda j, m: -(m.now - j.submit) / (math.log2(max(j.procs, 2)) * j.estimate),
    "expansion": lambda j, m: -(m.now - j.submit + j.estimate) / j.estimate,
    "network": lambda j, m: (
        (  # its default weights
            1.0 - 0.5 * math.log1p(float(m.now - j.submit)) / math.log1p(1e7)
        )
        + math.log1p(float(j.left(m.virtual))) / math.log1p(1e7)
    ),
    # The papers take the logarithm of the submission; second 0 counts as second 1.
    "f1": lambda j, m: math.log10(j.estimate) * j.procs + 870 * math.log10(max(j.submit, 1)),
    "f2": lambda j, m: math.sqrt(j.estimate) * j.procs + 25600 * math.log10(max(j.submit, 1)),
    "f3": lambda j, m: j.estimate * j.procs + 6860000 * math.log10(max(j.submit, 1)),
    "f4": lambda j, m: j.estimate * math.sqrt(j.procs) + 530000 * math.log10(max(j.submit, 1)),
    # Without decay usage is whole, and users who have used alike are exactly equal.
    "fairshare(half_life=0)": lambda j, m: m.used("user", j) / m.share("user", j),
    "fairshare(half_life=0, of=group, group_shares=[3, 1])": lambda j, m: (
        m.used("group", j) / {0: 0.75, 1: 0.25}[j.group] if j.group >= 0 else math.inf
    ),
    "multifactor(half_life=0, max_age=50, fairshare=2000, qos=500, qualities=[1, 4])": lambda j, m: (
        -(
            1000 * min((m.now - j.submit) / 50, 1)
            + 1000 * (j.procs / m.procs)
            + 2000 * 2 ** -(m.used("user", j) / m.share("user", j))
            + 1000
            + 500 * {-1: 0, 0: 0.25, 1: 1}[j.queue]
        )
    ),
    "queue-priority(priority=[3, 8])": lambda j, m: {-1: 0, 0: -3, 1: -8}[j.queue],
}


@dataclass(eq=False)
class Job:
    place: int  # in the log
    submit: int
    procs: int
    work: int
    estimate: int
    cancel: float = math.inf
    user: int = -1
    group: int = -1
    queue: int = -1
    done: int = 0  # work before the current stretch in service
    since: int | None = None  # when the current stretch began, in virtual time as all that is planned
    start: int | None = None
    end: float | None = None
    reserved: float | None = None
    cores: tuple = ()  # which processors it holds
    interrupted: bool = False
    early: bool = False  # it ended before its estimate

    def served(self, virtual):
        return self.done + (virtual - self.since if self.since is not None else 0)

    def left(self, virtual):
        return self.estimate - self.served(virtual)

    def ends(self):
        return self.since + self.work - self.done

    def planned(self):
        return self.since + self.estimate - self.done


@dataclass
class Machine:
    """Who waits, who runs, and what happens at `now`."""

    procs: int
    order: str
    backfill: str
    now: int = 0
    virtual: int = 0
    rating: Callable | None = None
    rate: Fraction = Fraction(0)  # before anybody was asked
    level: float | None = None  # of the work by estimates: everyone decides when it has fallen to it
    fell: bool = False
    waiting: list = field(default_factory=list)
    running: list = field(default_factory=list)
    arrived: list = field(default_factory=list)
    completed: list = field(default_factory=list)
    cancelled: list = field(default_factory=list)
    down: set = field(default_factory=set)
    upset: bool = False  # an event changed something at this instant
    window: float = math.inf  # how far ahead plans look
    submitted: list = field(default_factory=list)
    stays: list = field(default_factory=list)  # [job, from when, until when] on processors

    @property
    def up(self):
        return self.procs - len(self.down)

    @property
    def free(self):
        return self.up - sum(job.procs for job in self.running)

    @property
    def left(self):
        """The work of everyone by the estimates."""
        return sum(job.left(self.virtual) for job in self.waiting + self.running)

    def used(self, whose, job):
        """What part of all that was used is the job's user's, say."""
        areas = [
            (other, other.procs * ((self.now if end is None else end) - begun)) for other, begun, end in self.stays
        ]
        ours = sum(area for other, area in areas if getattr(other, whose) == getattr(job, whose))
        return ours / max(sum(area for _, area in areas), 1e-3)

    def share(self, whose, job):
        return 1.0 / max(len({getattr(other, whose) for other in self.submitted}), 1)

    def leaves(self, job):
        next(stay for stay in self.stays if stay[0] is job and stay[2] is None)[2] = self.now

    def when(self, virtual):
        return self.now + (virtual - self.virtual) / self.rate if self.rating else virtual

    def advance(self, now):
        self.fell = (
            self.level is not None and self.left - self.rate * len(self.running) * (now - self.now) <= self.level
        )
        self.virtual = self.virtual + (now - self.now) * self.rate if self.rating else now
        self.now = now

    def sorted(self, jobs, order=None):
        score = ORDERS[order or self.order]
        return sorted(jobs, key=lambda job: (score(job, self), job.submit, job.place))

    def start(self, job):
        assert job.procs <= self.free
        taken = self.down.union(*(other.cores for other in self.running))
        job.cores = tuple(core for core in range(self.procs) if core not in taken)[: job.procs]
        self.waiting.remove(job)
        self.running.append(job)
        self.stays.append([job, self.now, None])
        job.since = self.virtual
        if job.start is None:
            job.start = self.now

    def suspend(self, job):
        job.done = job.served(self.virtual)
        job.since = None
        self.leaves(job)
        self.running.remove(job)
        self.waiting.append(job)

    def interrupt(self, job, requeue):
        """End a running job from outside, or let it begin again."""
        self.leaves(job)
        self.running.remove(job)
        if requeue:
            job.done, job.start, job.reserved, job.interrupted = 0, None, None, True
            self.waiting.append(job)
        else:
            job.done, job.end = job.served(self.virtual), self.now
        job.since = None

    def happen(self, event, subject, jobs, requeue):
        """Whether the event found something to change."""
        if event in ("node-down", "node-up"):
            if (subject in self.down) == (event == "node-down"):
                return False
            self.down ^= {subject}
            for job in [job for job in self.running if subject in job.cores]:
                self.interrupt(job, requeue)
            return True
        job = jobs[subject - 1]
        if job not in (self.waiting if event == "job-deleted" else self.running):
            return False
        if event == "job-deleted":
            self.waiting.remove(job)
            job.end = self.now
        else:
            self.interrupt(job, event == "job-requeued")
        return True

    def start_in_order(self):
        """Start until one does not fit; returns it."""
        for job in self.sorted(self.waiting):
            if job.procs > self.free:
                return job
            self.start(job)
        return None

    def foreseen(self, time):
        """What a pass with a window sees of it."""
        return time if time <= self.virtual + self.window else math.inf

    def earliest(self, job, promised):
        """The first time at which the job fits among the running jobs and (procs, begin, end) `promised`."""
        busy = [(other.procs, self.virtual, other.planned()) for other in self.running] + promised
        length = job.left(self.virtual)
        for begin in sorted({self.virtual, *(end for _, _, end in busy if end > self.virtual)}):
            # Use only grows where a promise begins.
            moments = [begin, *(b for _, b, _ in busy if begin < b < begin + length)]
            if all(sum(n for n, b, e in busy if b <= t < e) + job.procs <= self.up for t in moments):
                return self.foreseen(begin)
        assert self.down, "a job that is wider than the machine"
        return math.inf


def none(machine):
    machine.start_in_order()


def greedy(machine):
    for job in machine.sorted(machine.waiting):
        if job.procs <= machine.free:
            machine.start(job)


def easy(machine):
    head = machine.start_in_order()
    if head is None:
        return
    ends = sorted({job.planned() for job in machine.running})
    freed = {t: machine.free + sum(j.procs for j in machine.running if j.planned() <= t) for t in ends}
    at = next((t for t in ends if freed[t] >= head.procs), math.inf)
    spare = freed[at] - head.procs if at < math.inf else 0
    at = machine.foreseen(at)
    for job in machine.sorted(machine.waiting, machine.backfill):
        if job is head or job.procs > machine.free:
            continue
        if machine.virtual + job.left(machine.virtual) <= at:
            machine.start(job)
        elif job.procs <= spare:
            spare -= job.procs
            machine.start(job)


def easy_many(machine, reservations):
    """The first so many blocked jobs are promised a time; the others may not take it from them."""
    promised = []
    blocked = []
    for job in machine.sorted(machine.waiting):
        if len(blocked) == reservations:
            break
        at = machine.earliest(job, promised)
        if at == machine.virtual:
            machine.start(job)
        else:
            blocked.append(job)
            promised.append((job.procs, at, at + job.left(machine.virtual)))
    for job in machine.sorted(machine.waiting, machine.backfill):
        if job not in blocked and machine.earliest(job, promised) == machine.virtual:
            machine.start(job)


def conservative(machine):
    def promises(but=None):
        return [
            (j.procs, j.reserved, j.reserved + j.estimate)
            for j in machine.waiting
            if j.reserved is not None and j is not but
        ]

    early = [job for job in machine.completed if job.early]
    early += [job for job in machine.cancelled if job.reserved is not None]
    queue = machine.sorted(machine.waiting)
    if early:
        for job in queue:
            if job.reserved is not None:
                again = machine.earliest(job, promises(but=job))
                assert again <= job.reserved
                job.reserved = again
    for job in queue:
        if job.reserved is None:
            job.reserved = machine.earliest(job, promises())
    for job in queue:
        if job.reserved == machine.virtual:
            machine.start(job)


def replan(machine):
    promised = []
    plan = []
    for job in machine.sorted(machine.waiting):
        at = machine.earliest(job, promised)
        promised.append((job.procs, at, at + job.estimate))
        plan.append((job, at))
    for job, at in plan:
        if at == machine.virtual:
            machine.start(job)


def serve_prefix(machine):
    free = machine.up
    served = []
    for job in machine.sorted(machine.waiting + machine.running):
        if job.procs > free:
            break
        free -= job.procs
        served.append(job)
    for job in [job for job in machine.running if job not in served]:
        machine.suspend(job)
    for job in served:
        if job in machine.waiting:
            machine.start(job)


def preempt_departure(machine):
    if machine.completed:
        serve_prefix(machine)
    elif machine.upset or len(machine.waiting) == len(machine.arrived):
        machine.start_in_order()


def preempt_arrival(machine):
    if machine.arrived:
        serve_prefix(machine)
    else:
        machine.start_in_order()


#: What the harness calls it → the rule, and the order for backfilling if it is another.
STARTS = {
    "none": (none, ""),
    "greedy": (greedy, ""),
    "easy": (easy, ""),
    "lull": (easy, ""),  # where there is no signal; with one, see tests/energy/test_signals.py
    "easy(backfill_order=spf)": (easy, "spf"),
    "easy(backfill_order=expansion)": (easy, "expansion"),
    "easy(reservations=2)": (lambda m: easy_many(m, 2), ""),
    "easy(reservations=3, backfill_order=lcfs)": (lambda m: easy_many(m, 3), "lcfs"),
    "conservative": (conservative, ""),
    "conservative(replan=true)": (replan, ""),
    "preempt": (serve_prefix, ""),
    "preempt(at=departure)": (preempt_departure, ""),
    "preempt(at=arrival)": (preempt_arrival, ""),
}


def fixed(machine, rate):
    return rate


def hysteresis(machine, low, high, slow, fast):
    jobs = len(machine.waiting) + len(machine.running)
    before = jobs - len(machine.arrived)
    if before <= high < jobs:
        return fast
    return slow if before <= low else machine.rate or slow


def coin(machine, slow, fast):
    """The coins always fall on the same side: fast at an arrival, slow at a departure."""
    return fast if machine.arrived else slow if machine.completed else machine.rate or slow


def by_workload(machine, low, high, slow, fast):
    machine.level = None
    if machine.left <= low or (machine.fell and not machine.arrived):
        return slow
    rate = fast if machine.left > high else machine.rate or slow
    if rate != slow:
        machine.level = low
    return rate


def simulate(rows, procs, order, start, events=(), requeue=True, rating=None):
    """(start, end, work done) of each row. Events are (time, event, subject), processors being nodes.

    `rating`: what is asked for the rate first at every instant; full speed without.
    """
    jobs = [Job(k, *row[:4], **(row[4] if len(row) > 4 else {})) for k, row in enumerate(rows)]
    rule, backfill = STARTS[start]
    machine = Machine(procs, order, backfill or order, rating=rating)
    future = sorted(jobs, key=lambda job: (job.submit, job.place))
    first = machine.now = machine.virtual = future[0].submit
    events = [(max(time, first), *what) for time, *what in sorted(events, key=lambda event: event[0])]
    while future or machine.waiting or machine.running:
        moments = [job.submit for job in future[:1]]
        moments += [event[0] for event in events[:1]]
        moments += [machine.when(job.ends()) for job in machine.running]
        if machine.level is not None and machine.running:
            moments.append(machine.now + (machine.left - machine.level) / (machine.rate * len(machine.running)))
        moments += [job.cancel for job in machine.waiting if may_give_up(job) and job.cancel > machine.now]
        if rule is conservative:  # what would have ended then may have been moved: it is an instant all the same
            moments += [machine.when(job.reserved) for job in machine.waiting if job.reserved < math.inf]
        if min(moments, default=math.inf) == math.inf:
            break  # stranded
        machine.advance(Fraction(min(moments)) if rating else int(min(moments)))
        happening = [event for event in events if event[0] == machine.now]
        events = events[len(happening) :]
        one_instant(machine, future, rule, [(*event[1:], jobs, requeue) for event in happening])
    return [(job.start, job.end, job.done) for job in jobs]


def may_give_up(job):
    return job.start is None and not job.interrupted


def one_instant(machine, future, rule, happening):
    """Completions, events, cancellations, arrivals; then everyone decides once."""
    now = machine.now
    machine.completed = [job for job in machine.running if job.ends() == machine.virtual]
    for job in machine.completed:
        machine.leaves(job)
        machine.running.remove(job)
        job.early = machine.virtual < job.planned()
        job.end, job.done, job.since = now, job.work, None
    effects = [machine.happen(*event) for event in happening]
    machine.upset = any(effects)
    if machine.upset:  # every plan is void
        for job in machine.waiting:
            job.reserved = None
    machine.cancelled = [job for job in machine.waiting if may_give_up(job) and job.cancel <= now]
    for job in machine.cancelled:
        machine.waiting.remove(job)
        job.end = now
    machine.arrived = []
    came = bool(future) and future[0].submit == now
    while future and future[0].submit == now:
        job = future.pop(0)
        if job.procs > machine.procs:
            continue
        machine.submitted.append(job)
        if job.cancel <= now:
            job.end = now
        else:
            machine.arrived.append(job)
    machine.waiting += machine.arrived
    if machine.rating:
        machine.rate = machine.rating(machine)
    in_vain = happening and not (machine.completed or machine.upset or machine.cancelled or came)
    if not in_vain or rule is conservative:  # nobody is asked because a node that is up was to come up
        rule(machine)
