"""Who starts now: from strict order to backfilling and preemption."""

import harness

ANY, DEPARTURE, ARRIVAL = range(3)


@harness.jit
def start_in_order(state):
    """Start waiting jobs in queue order until one does not fit; returns that one, or −1 if all started."""
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            return job
    return -1


def none(state):
    """In order, stop at the first job that does not fit: nobody overtakes."""
    start_in_order(state)


def greedy(state):
    """In order, start whatever fits; wide jobs may wait for ever."""
    for job in harness.waiting(state):
        if state.clock.free == 0:
            return
        if harness.fits(state, job):
            harness.start(state, job)


def easy(state, reservations=1, backfill_order=None):
    """EASY backfilling (Lifka 1995): whoever does not delay the first blocked jobs may overtake.

    The first job that does not fit is promised the earliest time at which enough processors are free by estimates.
    A later one starts if it fits now and either ends by then, or uses only processors that are spare then; spare
    are those free when *every* job expected to end at that instant has ended. Nodes that have to wake first are not
    planned for: the time that takes comes on top.

    `reservations`: how many blocked jobs are protected; only the first where memory or partitions bind.
    `backfill_order`: the order in which later jobs are tried, if not the queue's (`spf` gives EASY-SJBF).
    """
    head = start_in_order(state)
    if head < 0 or state.clock.free == 0:
        return
    if reservations == 1 or state.clock.constrained:
        backfill_behind_one(state, head, backfill_order)
    else:
        backfill_behind_many(state, reservations, backfill_order)


@harness.jit
def backfill_behind_one(state, head, backfill_order):
    """Start later jobs that leave the reservation of `head` alone."""
    now = state.clock.virtual
    at, spare = harness.reservation(state, head)
    for job in harness.ranked(state, backfill_order):
        if state.clock.free == 0:
            return
        record = state.jobs[job]
        if record.procs > state.clock.free or job == head or record.status != harness.WAITING:
            continue
        if now + record.left <= at:
            if harness.fits(state, job):
                harness.start(state, job)
        else:
            burden = harness.burden(state, job, head)
            if burden <= spare and harness.fits(state, job) and harness.start(state, job):
                spare -= burden


@harness.jit
def backfill_behind_many(state, reservations, backfill_order):
    """Start later jobs that leave the reservations of the first blocked jobs alone. Plans by processors only."""
    now = state.clock.virtual
    harness.plan_from_running(state)
    protected = 0
    for job in harness.waiting(state):
        if protected == reservations:
            break
        record = state.jobs[job]
        if record.status != harness.WAITING:
            continue
        record.reserved = harness.earliest_fit(state, record.procs, record.left)
        if record.reserved == now and harness.fits(state, job) and harness.start(state, job):
            harness.reserve(state, record.procs, now, record.planned)
        else:
            harness.reserve(state, record.procs, record.reserved, record.reserved + record.left)
            protected += 1
    for job in harness.ranked(state, backfill_order):
        if state.clock.free == 0:
            break
        record = state.jobs[job]
        if record.status != harness.WAITING or record.reserved >= 0 or not harness.fits(state, job):
            continue
        if harness.earliest_fit(state, record.procs, record.left) == now and harness.start(state, job):
            harness.reserve(state, record.procs, now, record.planned)
    for job in harness.waiting(state):
        state.jobs[job].reserved = -1.0


def conservative(state, replan=False):
    """Conservative backfilling: every waiting job holds a reservation, and none ever moves later.

    If a job ended early, every reservation is lifted once, in queue order, and put back at its earliest fit, which
    is never later. Then new jobs reserve their earliest fit, and whoever is due starts (Mu'alem and Feitelson
    2001). The guarantee holds where processors are alike, only their number matters, and no node fails or wakes
    late. Plans count processors: where memory or partitions bind, everybody is planned anew at every instant, and the
    first job that is due but has no room is protected as in `easy`.

    `replan`: plan everybody from scratch at every instant instead, without the guarantee.
    """
    harness.forget_past(state)
    if replan or state.clock.constrained or state.clock.upset:
        plan_anew(state)
    else:
        if give_back_unused(state):
            compress(state)
        for job in harness.waiting(state):
            if state.jobs[job].reserved < 0:
                promise(state, job)
    while start_due(state, not replan):  # a job placed on slower processors than planned upsets the later plans
        plan_anew(state)


@harness.jit
def promise(state, job):
    """Reserve the job's earliest fit; nothing for a job that has to wait until nodes are back."""
    record = state.jobs[job]
    if state.clock.down > 0:
        at, _ = harness.reservation(state, job)
        if at == harness.INFINITY:
            record.reserved = at
            return
    record.reserved = harness.earliest_fit(state, record.procs, record.left)
    harness.reserve(state, record.procs, record.reserved, record.reserved + record.left)


@harness.jit
def plan_anew(state):
    """Forget every reservation and promise again, in queue order."""
    harness.plan_from_running(state)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            promise(state, job)


@harness.jit
def give_back_unused(state):
    """Release what departed jobs will not use; returns whether there was any."""
    now = state.clock.virtual
    unused = False
    for job in harness.departed(state):
        record = state.jobs[job]
        if record.status == harness.COMPLETED:
            begin, end = now, record.planned
        else:
            begin, end = record.reserved, record.reserved + record.left
        if (record.status == harness.COMPLETED or record.reserved >= 0) and begin < end:
            harness.release(state, record.procs, begin, end)
            unused = True
    return unused


@harness.jit
def compress(state):
    """Let every reservation move to its earliest fit, in queue order."""
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.reserved < 0:
            continue
        begin = record.reserved
        earlier = harness.earlier_fit(state, record.procs, record.left, begin)
        if earlier < begin:
            harness.release(state, record.procs, begin, begin + record.left)
            harness.reserve(state, record.procs, earlier, earlier + record.left)
            record.reserved = earlier


@harness.jit
def start_due(state, wake):
    """Start every job whose time has come; returns whether one got other processors than it was promised.

    Asks to be called when the next one is due: what ended then in the plan may have been moved since.
    """
    now = state.clock.now
    upset = False
    soonest = harness.INFINITY
    held, at, spare = -1, 0.0, 0
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.status != harness.WAITING or record.reserved < 0:
            continue
        if harness.when(state, record.reserved) > now:
            soonest = min(soonest, record.reserved)
            continue
        end = record.reserved + record.left
        in_time = held < 0 or state.clock.virtual + record.left <= at
        burden = 0 if in_time else harness.burden(state, job, held)
        if burden <= spare and harness.fits(state, job) and harness.start(state, job):
            spare -= burden
            if record.planned != end:
                upset = True
            continue
        if not harness.fits(state, job) and harness.reservation(state, job)[0] == state.clock.virtual:
            continue  # who holds its processors leaves before this instant is over, having asked for no time
        # Memory, a partition or the selection stands in its way: it reserves anew, and the first such job is
        # protected from those behind it as in `easy`.
        harness.release(state, record.procs, record.reserved, end)
        record.reserved = -1.0
        if held < 0:
            held = job
            at, spare = harness.reservation(state, job)
    declined = held >= 0 and state.clock.running == 0  # on an idle machine: time alone will not help
    if wake and soonest < harness.INFINITY and not declined:
        harness.call_again(state, harness.when(state, soonest))
    return upset


def preempt(state, at=ANY):
    """Serve the longest prefix, in queue order over all jobs in the system, whose widths fit; suspend the others.

    Suspended jobs resume later with what remains of their work. `at`: when the served set is chosen anew, at `any`
    event, or only at a `departure` or an `arrival`. With `departure`, at an arrival the served set stays and
    newcomers only take free processors if nobody waits (Rumyantsev, Morozova and Basmadjian 2018); when nodes come
    back or jobs are interrupted, free processors are taken in order.
    """
    clock = state.clock
    if at == ANY or (at == DEPARTURE and clock.completed > 0) or (at == ARRIVAL and clock.arrived > 0):
        serve_prefix(state)
    elif at == ARRIVAL or clock.upset or clock.queued == clock.arrived:
        start_in_order(state)


@harness.jit
def serve_prefix(state):
    """Suspend who is not in the longest prefix that fits, then start who is."""
    chosen, others = harness.prefix(state, state.clock.cores - state.clock.down)
    for job in others:
        harness.suspend(state, job)
    for job in chosen:
        if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            harness.start(state, job)


@harness.hookimpl
def start_jobs():
    return [
        harness.Start("none", none, guarantees=("nobody overtakes",)),
        harness.Start("greedy", greedy),
        harness.Start(
            "easy", easy, order="backfill_order", least={"reservations": 1}, guarantees=("first reservation",)
        ),
        harness.Start("conservative", conservative, guarantees=("every reservation",)),
        harness.Start("preempt", preempt, preemptive=True, choices={"at": ("any", "departure", "arrival")}),
    ]
