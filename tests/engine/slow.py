"""A slow and obvious simulator: equal processors, one rate for all of them, in numbers that are never rounded.

It shares nothing with the engine: lists are searched and sorted anew at every instant, future availability is
counted second by second of interest from the list of what is promised. Work is done, and plans are made, in virtual
time, the integral of the rate. `simulate` takes the same rows as `strategies.workload`, and returns (start, end,
work done) of each row; None where it never started.
"""

import math
from fractions import Fraction

from slow_machine import Job, Machine


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

    early = [job for job in machine.completed + machine.killed if job.early]
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
    if jobs > high:
        return fast
    return slow if jobs <= low else machine.rate or slow


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
    rule, backfill = STARTS[start] if isinstance(start, str) else start  # or a rule, see slow_queues
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
    machine.killed, machine.cancelled, machine.moved = [], [], False
    effects = [machine.happen(*event) for event in happening]
    machine.upset = any(effects)
    if machine.moved:  # every plan is void
        for job in machine.waiting:
            job.reserved = None
    gave_up = [job for job in machine.waiting if may_give_up(job) and job.cancel <= now]
    for job in gave_up:
        machine.waiting.remove(job)
        job.end = now
    machine.cancelled += gave_up
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
