"""The machine of the slow simulator: its jobs, its queue, its plans, and the orders; see `slow.py`."""

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
    upset: bool = False  # an event changed something at this instant …
    moved: bool = False  # … other than that jobs left
    killed: list = field(default_factory=list)  # by events of this instant
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
            job.early = self.virtual < job.planned()
            job.done, job.end = job.served(self.virtual), self.now
            self.killed.append(job)
        job.since = None

    def happen(self, event, subject, jobs, requeue):
        """Whether the event found something to change."""
        if event in ("node-down", "node-up"):
            if (subject in self.down) == (event == "node-down"):
                return False
            self.down ^= {subject}
            self.moved = True
            for job in [job for job in self.running if subject in job.cores]:
                self.interrupt(job, requeue)
            return True
        job = jobs[subject - 1]
        if job not in (self.waiting if event == "job-deleted" else self.running):
            return False
        if event == "job-deleted":
            self.waiting.remove(job)
            job.end = self.now
            self.cancelled.append(job)
        else:
            self.interrupt(job, event == "job-requeued")
            self.moved |= event == "job-requeued"
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
