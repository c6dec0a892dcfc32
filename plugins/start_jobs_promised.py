"""Who starts now, where everybody who waits has been promised a time."""

import harness


def conservative(state, replan=False):
    """Conservative backfilling: every waiting job holds a reservation, and none ever moves later.

    If a job ended early or left the queue, every reservation is lifted once, in queue order, and put back at its
    earliest fit, which is never later. Then new jobs reserve their earliest fit, and whoever is due starts (Mu'alem and
    Feitelson 2001). A job leaves the queue when its patience ends, an event deletes it, or it comes to be held. The
    guarantee holds where processors are equally fast, no node fails or wakes late, no running job has to begin anew and
    no predicted runtime has to be corrected: then everybody is planned anew, in queue order, and may move later; that a
    prediction is shorter than the request moves nobody. Selections that decline are refused.

    Where memory, partitions or other requests of jobs bind, a reservation names processors, those not free now first.
    There no reservation moves, neither later nor earlier. Instead, at each instant the jobs that can begin at once
    without delaying another reservation start, in queue order. So resources that an early end frees may go to a later
    job, and a memory request that never binds may change the schedule.

    Where nodes sleep, a promise is of processors, awake or not, and leaves time for any node to wake: what of that is
    not needed is given back at the start. Whoever would be done beside the others on the nodes that the selection
    would choose now begins at once, so that nobody waits beside awake nodes that would do. A selection that flips
    coins may choose others, and rates change what waking takes: then everybody is planned anew. Where memory or
    partitions bind, whoever has no time for any node to wake before the others' promises begins on nodes that are awake
    alone, if it can.

    A moldable job is promised, when it comes, that one of its least, its requested and its greatest width with which it
    would end first by the plan as it is then, the narrower of equals; it keeps it.

    `replan`: plan everybody from scratch at every instant instead, without the guarantee.
    """
    keep_promises(state, replan)


def conservative_molding(state, replan=False):
    """Conservative backfilling where jobs have a choice of their width."""
    harness.forget_past(state)
    boot = harness.longest_boot(state) * state.clock.rate
    for job in harness.unpromised(state):
        choose_width(state, job, boot)
    if boot > 0.0:
        keep_promises_awake(state, replan)
    else:
        keep_promises(state, replan)


@harness.jit
def choose_width(state, job, boot):
    """Let the job have the width with which it would end first by the plan."""
    least, most = harness.narrowest(state, job), min(harness.widest(state, job), state.clock.cores)
    best, soonest = 0, harness.INFINITY
    for procs in (least, max(least, min(state.jobs[job].procs, most)), max(least, most)):
        left = harness.left_on(state, job, procs)
        end = harness.earliest_fit(state, procs, left + boot) + left
        if best == 0 or harness.later(soonest, end):
            best, soonest = procs, end
    harness.mold(state, job, best)


@harness.jit
def keep_promises(state, replan):
    """Lift what can be sooner, promise the new ones, start who is due."""
    harness.forget_past(state)
    if replan or state.clock.upset > 1 or state.clock.corrected:
        plan_anew(state)
    else:
        if give_back_unused(state):
            harness.compress(state)
        for job in harness.unpromised(state):
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
            harness.promise_at(state, job, at)
            return
    harness.promise_at(state, job, harness.earliest_fit(state, record.procs, record.left))


@harness.jit
def plan_anew(state):
    """Forget every reservation and promise again, in queue order."""
    harness.plan_from_running(state)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            promise(state, job)


@harness.jit
def give_back_unused(state, boot=0.0):
    """Release what departed jobs will not use, `boot` seconds for nodes to wake included; return if there was any."""
    now = state.clock.virtual
    unused = False
    for job in harness.departed(state):
        record = state.jobs[job]
        served = record.status == harness.COMPLETED or record.status == harness.KILLED
        if served:
            begin, end = now, record.planned
        else:
            begin, end = record.reserved, record.reserved + record.left + boot
        if (served or record.reserved >= 0) and begin < end:
            harness.release(state, record.procs, begin, end)
            unused = True
    return unused


@harness.jit
def start_due(state, wake):
    """Start who is due, and ask to be called for the next; return whether one got other processors than promised."""
    upset = False
    for job in harness.due(state):
        record = state.jobs[job]
        # If it does not fit, who holds its processors leaves before this instant is over, having asked for no time.
        if harness.fits(state, job) and harness.start(state, job):
            end = record.reserved + record.left
            if harness.later(record.planned, end) or harness.later(end, record.planned):
                upset = True
    soonest = harness.next_promise(state) if wake else harness.INFINITY
    if soonest < harness.INFINITY:
        harness.call_again(state, harness.when(state, soonest))
    return upset


def conservative_by_nodes(state, replan=False):
    """Conservative backfilling where memory or partitions bind: the same by the plan of nodes."""
    upset = False
    if replan:
        harness.plan_nodes(state)
    else:
        harness.drop_departed(state)
        upset = start_early(state)
    promise_all(state, upset)
    # Nobody waits beside nodes that are awake, nor beside what somebody was promised who began elsewhere.
    early = harness.longest_boot(state) > 0.0
    going_on = True
    while going_on:
        before = state.clock.started
        if start_early(state) if early else start_promised(state):
            promise_all(state, True)
        early = going_on = state.clock.started > before
    soonest = harness.INFINITY if replan else harness.next_promise(state)
    if soonest < harness.INFINITY:
        harness.call_again(state, harness.when(state, soonest))


@harness.jit
def promise_all(state, anew):
    """Promise their earliest place, in queue order, to those who hold no promise, or to everybody anew."""
    if anew:
        harness.plan_nodes(state)
    for job in harness.unpromised(state):
        harness.promise(state, job)


@harness.jit
def start_promised(state):
    """Start who is due; return whether one got other processors than planned."""
    upset = False
    for job in harness.due(state):
        if harness.fits_beside(state, job):
            upset = begin_beside(state, job) or upset
    return upset


@harness.jit
def start_early(state):
    """Start who fits beside what the others are promised, due or not; return what `start_promised` does."""
    upset = False
    job = harness.next_beside(state, -1)
    while job >= 0:
        upset = begin_beside(state, job) or upset
        job = harness.next_beside(state, job)
    return upset


@harness.jit
def begin_beside(state, job):
    """Start the job if that delays no promise; return whether it got other processors than planned."""
    record = state.jobs[job]
    end = state.clock.virtual + record.left
    if not harness.start_beside(state, job):
        return False
    latest = end + harness.longest_boot(state)
    return harness.later(record.planned, latest) or harness.later(end, record.planned)


def conservative_waking(state, replan=False):
    """Conservative backfilling where nodes may sleep: promises leave time for any node to wake."""
    keep_promises_awake(state, replan)


@harness.jit
def keep_promises_awake(state, replan):
    """Do what `keep_promises` does where nodes may sleep, and start who would be done beside the others now."""
    boot = harness.longest_boot(state) * state.clock.rate
    harness.forget_past(state)
    anew = replan or state.clock.upset > 1 or state.clock.corrected
    if anew:
        plan_for_waking(state, boot)
    else:
        if give_back_unused(state, boot):
            move_earlier(state, boot)
        for job in harness.waiting(state):
            if state.jobs[job].reserved < 0:
                promise_with_boot(state, job, boot)
    going_on = True
    while going_on:
        started, upset = start_due_or_awake(state, boot)
        going_on = started
        if upset:
            plan_for_waking(state, boot)
        elif started:
            move_earlier(state, boot)
    if not replan:
        call_for_next(state)


@harness.jit
def promise_with_boot(state, job, boot):
    """Reserve the job's earliest fit, with the time that nodes may take to wake."""
    record = state.jobs[job]
    record.reserved = harness.earliest_fit(state, record.procs, record.left + boot)
    if record.reserved < harness.INFINITY:
        harness.reserve(state, record.procs, record.reserved, record.reserved + record.left + boot)


@harness.jit
def plan_for_waking(state, boot):
    """Forget every reservation and promise again, in queue order."""
    harness.plan_from_running(state)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            promise_with_boot(state, job, boot)


@harness.jit
def move_earlier(state, boot):
    """Lift each reservation once, in queue order, and put it back at its earliest fit."""
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.status != harness.WAITING or not 0 <= record.reserved < harness.INFINITY:
            continue
        length = record.left + boot
        at = harness.earlier_fit(state, record.procs, length, record.reserved)
        if at < record.reserved:
            harness.release(state, record.procs, record.reserved, record.reserved + length)
            harness.reserve(state, record.procs, at, at + length)
            record.reserved = at


@harness.jit
def start_due_or_awake(state, boot):
    """Start who is due, and who would be done beside the others on the nodes that it would get now.

    Return whether somebody started, and whether one will take longer than was planned for it.
    """
    now = state.clock.virtual
    started = upset = False
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.status != harness.WAITING or not harness.fits(state, job):
            continue
        procs, begin, end = record.procs, record.reserved, record.reserved + record.left + boot
        due = not harness.when(state, begin) > state.clock.now
        needed = record.left + boot
        if not due:
            needed = record.left + harness.boot_time(state, job) * state.clock.rate
            if needed == harness.INFINITY:
                continue
        if begin < harness.INFINITY:
            harness.release(state, procs, begin, end)
        if (due or not harness.later(harness.earliest_fit(state, procs, needed), now)) and harness.start(state, job):
            harness.reserve(state, procs, now, record.planned)
            started = True
            upset = upset or harness.later(record.planned, now + needed)
        elif begin < harness.INFINITY:
            harness.reserve(state, procs, begin, end)
    return started, upset


@harness.jit
def call_for_next(state):
    """Ask to be called when the next promise is due."""
    soonest = harness.INFINITY
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.status == harness.WAITING and harness.when(state, record.reserved) > state.clock.now:
            soonest = min(soonest, record.reserved)
    if soonest < harness.INFINITY:
        harness.call_again(state, harness.when(state, soonest))


#: What conservative backfilling reads of the clock and of jobs.
CLOCK = ("corrected", "cores", "departed", "down", "now", "rate", "started", "upset", "virtual")
JOB = ("left", "planned", "procs", "reserved", "start", "status")


@harness.hookimpl
def start_jobs():
    return [
        harness.Start(
            "conservative",
            conservative,
            bound=conservative_by_nodes,
            molding=conservative_molding,
            waking=conservative_waking,
            guarantees=("every reservation",),
            reads=("queue", *(f"clock.{name}" for name in CLOCK), *(f"job.{name}" for name in JOB)),
        )
    ]
