"""Relaxed backfilling: backfilled jobs may delay the first job of the queue by a share of its wait.

Source: Ward, Mahood and West (2002), Scheduling jobs on parallel systems using a relaxed backfill strategy, JSSPP,
LNCS 2537.

From the paper (by its abstract, because the text was not at hand): the first job may be delayed, by a factor (its ω)
times its wait. Our choices: the wait is that of the first job's best reservation, so that delays do not add up; and the
order in which others are tried. With `relax=0` it is EASY backfilling, start by start.
"""

import harness


def relaxed(state, per_job, relax=0.5):
    """EASY with a first job that backfilled jobs may delay by a share of its wait.

    Its wait is that of its earliest reservation so far. No backfilled job may move its start beyond that wait plus
    `relax` times the wait. Jobs are backfilled in queue order.

    `relax`: the share, 0 for none.
    """
    head = start_in_order(state)
    if head < 0 or state.clock.free == 0:
        return
    now = state.clock.virtual
    first = state.jobs[head]
    harness.plan_from_running(state)
    latest = latest_begin(state, per_job, head, relax)
    for job in harness.waiting(state):
        record = state.jobs[job]
        if record.status != harness.WAITING or job == head or not harness.fits(state, job):
            continue
        harness.reserve(state, record.procs, now, now + record.left)  # as if it ran
        in_time = not harness.later(harness.earliest_fit(state, first.procs, first.left), latest)
        if not (in_time and harness.start(state, job)):
            harness.release(state, record.procs, now, now + record.left)


@harness.jit
def start_in_order(state):
    """Start waiting jobs in queue order until one does not fit; return that one, or −1 if all started."""
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            return job
    return -1


@harness.jit
def latest_begin(state, per_job, head, relax):
    """Return the latest allowed start of the first job, by its best reservation so far; virtual, as plans are."""
    clock, record, mine = state.clock, state.jobs[head], per_job[head]
    at = harness.earliest_fit(state, record.procs, record.left)
    if mine.promised == 0.0 or at < mine.best:
        mine.promised = 1.0
        mine.best = at
        mine.wait = at - clock.virtual + (clock.now - record.submit) * clock.rate
    return mine.best + relax * mine.wait


@harness.hookimpl
def start_jobs():
    kept = harness.per_job(("promised", "best", "wait"))
    return [harness.Start("relaxed", relaxed, memory=kept, least={"relax": 0}, reads=("queue", "job", "clock"))]
