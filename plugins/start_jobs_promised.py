"""Start policies with a reservation for every waiting job."""

import harness


@harness.jit
def conservative(plan, replan=False):
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
    if plan.refresh(replan):
        plan.compress()
    for job in plan.without_reservation():
        plan.reserve(job)
    plan.start_due()


def conservative_molding(plan, state, replan=False):
    """Conservative backfilling where jobs have a choice of their width."""
    harness.forget_past(state)
    boot = harness.longest_boot(state) * state.clock.rate
    for job in harness.unpromised(state):
        choose_width(state, job, boot)
    conservative(plan, replan)


@harness.jit
def choose_width(state, job, boot):
    """Give the job the width with which it would end first by the plan."""
    least, most = harness.narrowest(state, job), min(harness.widest(state, job), state.clock.cores)
    best, soonest = 0, harness.INFINITY
    for procs in (least, max(least, min(state.jobs[job].procs, most)), max(least, most)):
        left = harness.left_on(state, job, procs)
        end = harness.earliest_fit(state, procs, left + boot) + left
        if best == 0 or harness.later(soonest, end):
            best, soonest = procs, end
    harness.mold(state, job, best)


#: State of the clock and of jobs that conservative backfilling reads.
CLOCK = ("corrected", "cores", "departed", "down", "now", "rate", "started", "upset", "virtual")
JOB = ("left", "planned", "procs", "reserved", "start", "status")


@harness.hookimpl
def start_jobs():
    return [
        harness.Start(
            "conservative",
            conservative,
            molding=conservative_molding,
            guarantees=("every reservation",),
            reads=("queue", *(f"clock.{name}" for name in CLOCK), *(f"job.{name}" for name in JOB)),
        )
    ]
