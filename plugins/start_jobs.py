"""Who starts now: in strict order, and EASY backfilling."""

import harness

#: The guarantee of policies that examine other jobs only if the first of the queue does not fit.
FIRST = "first starts if it fits"


@harness.jit
def start_in_order(state):
    """Start waiting jobs in queue order until one does not fit; return that one, or −1 if all started."""
    job = harness.next_waiting(state, -1)
    while job >= 0 and harness.fits(state, job) and harness.start(state, job):
        job = harness.next_waiting(state, job)
    return job


def none(state):
    """In queue order, up to the first job that does not fit: no backfilling, and no use of estimates.

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


@harness.jit
def easy(plan, queue, state, reservations=1, backfill_order=None, spare=True):
    """EASY backfilling (Lifka 1995): a job may start early if it does not delay the first blocked jobs.

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
    plan.refresh()
    if backfill_order < 0 and harness.arrival_does_not_fit(state):
        return
    shadow, left = harness.INFINITY, reservations
    for job in queue:
        if left == 0 or state.clock.free == 0:
            break
        if not spare and plan.end_if_started(job) > shadow:
            continue
        if not plan.start(job):
            shadow, left = min(shadow, plan.reserve(job)), left - 1
    for job in plan.candidates(backfill_order, harness.INFINITY if spare else shadow):
        plan.start(job)
    plan.cancel_all()


def easy_molding(plan, queue, state, reservations=1, backfill_order=None, spare=True):
    """EASY where jobs have a choice of their width."""
    head = start_wide_in_order(state)
    if head < 0 or state.clock.free == 0:
        return
    if reservations > 1:
        easy(plan, queue, state, reservations, backfill_order, spare)
        return
    boot = harness.longest_boot(state) * state.clock.rate
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


CLOCK = (
    *("arrived", "constrained", "cores", "decide_per_event", "departed", "free", "newcomer", "now", "rate", "upset"),
    "virtual",
)
JOB = ("left", "planned", "procs", "reserved", "start", "status")


@harness.hookimpl
def start_jobs():
    told = {"guarantees": ("first reservation", FIRST), "order": "backfill_order", "least": {"reservations": 1}}
    reads = (*(f"clock.{name}" for name in CLOCK), *(f"job.{name}" for name in JOB))
    return [
        harness.Start("none", none, molding=none_molding, guarantees=("nobody overtakes", FIRST), reads=()),
        harness.Start("easy", easy, molding=easy_molding, **told, reads=reads),
    ]
