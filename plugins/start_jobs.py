"""Who starts now: in strict order, and EASY backfilling."""

import harness

#: What they guarantee who look at the others only when the first of the queue does not fit.
FIRST = "first starts if it fits"


@harness.jit
def start_in_order(state):
    """Start waiting jobs in queue order until one does not fit; return that one, or −1 if all started."""
    job = harness.next_waiting(state, -1)
    while job >= 0 and harness.fits(state, job) and harness.start(state, job):
        job = harness.next_waiting(state, job)
    return job


def none(state):
    """In order, stop at the first job that does not fit: nobody overtakes, whatever is believed of runtimes.

    Moldable jobs begin as soon as their least width fits, as wide as the free processors allow.
    """
    start_in_order(state)


@harness.jit
def start_wide(state, job):
    """Start a moldable job as wide as the free processors allow; return whether they allow it to."""
    procs = min(state.clock.free, harness.widest(state, job))
    return procs >= harness.narrowest(state, job) and harness.start(state, job, procs)


@harness.jit
def start_wide_in_order(state):
    """Start moldable jobs in queue order until one does not fit; return that one, or −1 if all started."""
    for job in harness.waiting(state):
        if not start_wide(state, job):
            return job
    return -1


def none_molding(state):
    """The same, as wide as the free processors allow."""
    start_wide_in_order(state)


def easy(state, reservations=1, backfill_order=None, spare=True):
    """EASY backfilling (Lifka 1995): whoever does not delay the first blocked jobs may overtake.

    The first job that does not fit is promised the earliest time at which enough processors are free by estimates.
    A later one starts if it fits now and either ends by then, or uses only processors that are spare then; spare
    are those free when *every* job expected to end at that instant has ended. Where memory or partitions bind, the
    promise names processors, those not free now first, and a later job takes none of them. Where the selection
    declines, a later job that ends after that time starts if the first could begin as early beside it. Reserved nodes
    (`--reservations`) are planned around, and the promise holds with them.

    Where nodes sleep, the promise is of processors, awake or not; a later job ends when it would if the nodes that the
    selection chooses for it now had to wake first. So the first starts in time, and its service begins as much later as
    its own nodes take to wake (`harness.longest_boot`). With more reservations, each leaves time for any node to wake.
    A selection that flips coins may choose others. Where memory or partitions bind, who overtakes leaves time for any
    node to wake, or begins on nodes that are awake; moldable jobs leave that time always.

    `reservations`: how many blocked jobs are protected; more than one are refused beside a selection that declines.
    `backfill_order`: the order in which later jobs are tried, if not the queue's (`spf` gives EASY-SJBF).
    `spare`: whether later jobs may run past the first reservation at all (Rumyantsev et al. 2018 let none).
    Ends are those that are believed: where a predictor has to correct itself, the first job's time may move later.
    Where every event is followed by a decision, a submission is none if the newcomer does not fit and `backfill_order`
    is not given: so do pyss and its descendants.
    Moldable jobs begin as wide as the free processors allow. The first that does not fit is promised the earliest time
    for its least width; a later one gets as many of the free processors as it can use if it ends by then, else only
    what is spare then. With more reservations, later jobs are as wide as they ask to be.
    """
    head = first_blocked(state, backfill_order)
    if head < 0:
        return
    if reservations == 1:
        backfill_behind_one(state, head, backfill_order, spare)
    else:
        backfill_behind_many(state, reservations, backfill_order, spare)


@harness.jit
def first_blocked(state, backfill_order):
    """Start jobs in order; return the first that does not fit, or −1 if nobody can overtake it now."""
    if came_in_vain(state, backfill_order):
        return -1
    head = start_in_order(state)
    return head if state.clock.free > 0 else -1


@harness.jit
def came_in_vain(state, backfill_order):
    """Return whether all that has happened is the submission of a job that does not fit: see `easy`."""
    clock = state.clock
    if clock.each == 0 or backfill_order >= 0 or clock.arrived != 1:
        return False
    if clock.departed > 0 or clock.upset > 0:
        return False
    return not harness.fits(state, clock.newcomer)


@harness.jit
def backfill_behind_one(state, head, backfill_order, past):
    """Start later jobs that leave the reservation of `head` alone; those that run past it only if they may."""
    now = state.clock.virtual
    at, spare = harness.reservation(state, head)
    job = -1
    while True:
        # Where more than widths count, what a job denies the first depends on more than its width.
        most = state.clock.cores if state.clock.constrained else spare
        job = harness.next_overtaker(state, backfill_order, job, at, most if past else 0)
        if job < 0:
            return
        if job == head:
            continue
        if not harness.later(now + state.jobs[job].left, at):
            if harness.fits(state, job):
                harness.start(state, job)
        elif past:
            burden = harness.burden(state, job, head)
            if burden <= spare and harness.fits(state, job) and harness.start(state, job):
                spare -= burden


def easy_molding(state, reservations=1, backfill_order=None, spare=True):
    """EASY where jobs have a choice of their width."""
    head = start_wide_in_order(state)
    if head < 0 or state.clock.free == 0:
        return
    boot = harness.longest_boot(state) * state.clock.rate
    if reservations > 1:
        if boot > 0.0:
            wake_behind_many(state, reservations, backfill_order, spare)
        else:
            backfill_behind_many(state, reservations, backfill_order, spare)
        return
    harness.mold(state, head, harness.narrowest(state, head))
    now = state.clock.virtual
    at, left = harness.reservation(state, head)
    for job in harness.ranked(state, backfill_order):
        if job == head or state.jobs[job].status != harness.WAITING:
            continue
        procs = min(state.clock.free, harness.widest(state, job))
        least = harness.narrowest(state, job)
        if procs < least:
            continue
        if not harness.later(now + harness.left_on(state, job, procs) + boot, at):
            harness.start(state, job, procs)
        elif spare and min(procs, left) >= least and harness.start(state, job, min(procs, left)):
            left -= min(procs, left)


@harness.jit
def backfill_behind_many(state, reservations, backfill_order, past):
    """Start later jobs that leave the reservations of the first blocked jobs alone. Plans by processors only."""
    now = state.clock.virtual
    first = protect(state, reservations, past)
    until = harness.INFINITY if past else first
    job = harness.next_overtaker(state, backfill_order, -1, until, 0)
    while job >= 0:
        record = state.jobs[job]
        if record.reserved < 0 and harness.fits(state, job):
            at = harness.earliest_fit(state, record.procs, record.left)
            if not harness.later(at, now) and harness.start(state, job):
                harness.reserve(state, record.procs, now, record.planned)
        job = harness.next_overtaker(state, backfill_order, job, until, 0)
    forget_promises(state, reservations)


@harness.jit
def forget_promises(state, most):
    """Let jobs that were promised a start, at most so many, be promised none: they are planned anew each time."""
    left = most
    job = harness.next_waiting(state, -1)
    while job >= 0 and left > 0:
        left -= state.jobs[job].reserved >= 0
        state.jobs[job].reserved = -1.0
        job = harness.next_waiting(state, job)


@harness.jit
def protect(state, reservations, past):
    """Plan so many blocked jobs, and start who fits before and between them; return when the first of them can begin.

    Who would run past that begin, if nobody may, is neither started nor protected.
    """
    now = state.clock.virtual
    harness.plan_from_running(state)
    first = harness.INFINITY
    left = reservations
    job = harness.next_waiting(state, -1)
    while job >= 0 and left > 0:
        record = state.jobs[job]
        at = harness.earliest_fit(state, record.procs, record.left)
        due = not harness.later(at, now)
        if not due or past or not harness.later(now + record.left, first):
            if due and harness.fits(state, job) and harness.start(state, job):
                harness.reserve(state, record.procs, now, record.planned)
            else:
                record.reserved = at
                harness.reserve(state, record.procs, at, at + record.left)
                first = min(first, at)
                left -= 1
        job = harness.next_waiting(state, job)
    return first


def easy_waking(state, reservations=1, backfill_order=None, spare=True):
    """EASY where nodes may sleep: the same, with the time that nodes take to wake."""
    head = first_blocked(state, backfill_order)
    if head < 0:
        return
    if reservations == 1:
        wake_behind_one(state, head, backfill_order, spare)
    else:
        wake_behind_many(state, reservations, backfill_order, spare)


@harness.jit
def left_to_hold(state, job):
    """Return how long the job would hold its processors if it started now; infinity if none are chosen."""
    return state.jobs[job].left + harness.boot_time(state, job) * state.clock.rate


@harness.jit
def ends_by(state, job, at):
    """Return whether the job is done by then if it starts now; its nodes are looked for only where they decide that."""
    end = state.clock.virtual + state.jobs[job].left
    if harness.later(end, at):
        return False
    if not harness.later(end + harness.longest_boot(state) * state.clock.rate, at):
        return True
    return not harness.later(state.clock.virtual + left_to_hold(state, job), at)


@harness.jit
def wake_behind_one(state, head, backfill_order, past):
    """Start later jobs that leave the reservation of `head` alone, though their nodes have to wake."""
    at, unneeded = harness.reservation(state, head)
    job = harness.next_overtaker(state, backfill_order, -1, at, unneeded if past else 0)
    while job >= 0:
        procs = state.jobs[job].procs
        if job != head and harness.fits(state, job):
            if ends_by(state, job, at):
                harness.start(state, job)
            elif past and procs <= unneeded and harness.start(state, job):
                unneeded -= procs
        job = harness.next_overtaker(state, backfill_order, job, at, unneeded if past else 0)


@harness.jit
def wake_behind_many(state, reservations, backfill_order, past):
    """Start who leaves the reservations of the first blocked jobs alone, which leave time for any node to wake."""
    boot = harness.longest_boot(state) * state.clock.rate
    harness.plan_from_running(state)
    first = harness.INFINITY
    left = reservations
    job = harness.next_waiting(state, -1)
    while job >= 0 and left > 0:
        record = state.jobs[job]
        if not start_if_due(state, job, past, first):
            record.reserved = harness.earliest_fit(state, record.procs, record.left + boot)
            harness.reserve(state, record.procs, record.reserved, record.reserved + record.left + boot)
            first = min(first, record.reserved)
            left -= 1
        job = harness.next_waiting(state, job)
    until = harness.INFINITY if past else first
    job = harness.next_overtaker(state, backfill_order, -1, until, 0)
    while job >= 0:
        if state.jobs[job].reserved < 0:
            start_if_due(state, job, past, first)
        job = harness.next_overtaker(state, backfill_order, job, until, 0)
    forget_promises(state, reservations)


@harness.jit
def start_if_due(state, job, past, first):
    """Start the job if it fits beside what is reserved; return whether it does, also if it may not run past `first`."""
    now = state.clock.virtual
    record = state.jobs[job]
    if not harness.fits(state, job):
        return False
    length = left_to_hold(state, job)
    if length == harness.INFINITY or harness.later(harness.earliest_fit(state, record.procs, length), now):
        return False
    if past or not harness.later(now + length, first):
        if not harness.start(state, job):
            return False
        harness.reserve(state, record.procs, now, record.planned)
    return True


def easy_by_nodes(state, reservations=1, backfill_order=None, spare=True):
    """EASY where memory or partitions bind: the same by the plan of nodes."""
    harness.drop_departed(state)
    if state.clock.free == 0 or came_in_vain(state, backfill_order):
        return
    first = protect_by_nodes(state, reservations, spare)
    for job in harness.ranked(state, backfill_order):
        record = state.jobs[job]
        if record.status == harness.WAITING and record.reserved < 0 and may_run(state, job, spare, first):
            begin_beside(state, job)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            harness.lift(state, job)


@harness.jit
def protect_by_nodes(state, reservations, past):
    """Promise so many blocked jobs their earliest place, and start who fits before and between them; see `protect`."""
    first = harness.INFINITY
    left = reservations
    for job in harness.waiting(state):
        if left > 0 and may_run(state, job, past, first) and not begin_beside(state, job):
            first = min(first, harness.promise(state, job))
            left -= 1
    return first


@harness.jit
def may_run(state, job, past, first):
    """Return whether the job ends by `first`, or may run past it."""
    lasting = state.jobs[job].left + harness.longest_boot(state)
    return past or not harness.later(state.clock.virtual + lasting, first)


@harness.jit
def begin_beside(state, job):
    """Start the job if that delays no promise."""
    return harness.fits_beside(state, job) and harness.start_beside(state, job)


CLOCK = ("arrived", "constrained", "cores", "departed", "each", "free", "newcomer", "now", "rate", "upset", "virtual")
JOB = ("left", "planned", "procs", "reserved", "start", "status")


@harness.hookimpl
def start_jobs():
    instead = {"bound": easy_by_nodes, "molding": easy_molding, "waking": easy_waking}
    told = {"guarantees": ("first reservation", FIRST), "order": "backfill_order", "least": {"reservations": 1}}
    reads = (*(f"clock.{name}" for name in CLOCK), *(f"job.{name}" for name in JOB))
    return [
        harness.Start("none", none, molding=none_molding, guarantees=("nobody overtakes", FIRST), reads=()),
        harness.Start("easy", easy, **instead, **told, reads=reads),
    ]
