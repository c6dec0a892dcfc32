"""Relaxed backfilling: backfilled jobs may delay the first job of the queue by a share of its wait.

Source: Ward, Mahood and West (2002), Scheduling jobs on parallel systems using a relaxed backfill strategy, JSSPP,
LNCS 2537.

From the paper (by its abstract, because the text was not at hand): the first job may be delayed, by a factor (its ω)
times its wait. Our choices: the wait is that of the first job's best reservation, so that delays do not add up; and the
order in which others are tried. With `relax=0` it is EASY backfilling, start by start.
"""

import harness


def relaxed(plan, queue, state, per_job, relax=0.5):
    """EASY with a first job that backfilled jobs may delay by a share of its wait.

    Its wait is that of its earliest reservation so far. No backfilled job may move its start beyond that wait plus
    `relax` times the wait. Jobs are backfilled in queue order.

    `relax`: the share, 0 for none.
    """
    plan.refresh()
    head, latest = -1, 0.0
    for job in queue:
        if state.clock.free == 0:
            break
        if head < 0:
            if not plan.start(job):
                head, latest = job, latest_start(state, per_job, job, plan.reserve(job), relax)
                plan.cancel(job)
        elif harness.fits(state, job) and not harness.later(plan.reserve(job), state.clock.virtual):
            in_time = not harness.later(plan.reserve(head), latest)
            plan.cancel(head)
            if not (in_time and plan.start(job)):
                plan.cancel(job)
        else:
            plan.cancel(job)
    plan.cancel_all()


@harness.jit
def latest_start(state, per_job, head, at, relax):
    """Return until when the first job may be delayed, by the earliest start it was ever promised, in virtual time."""
    clock, record, mine = state.clock, state.jobs[head], per_job[head]
    if mine.promised == 0.0 or at < mine.best:
        mine.promised = 1.0
        mine.best = at
        mine.wait = at - clock.virtual + (clock.now - record.submit) * clock.rate
    return mine.best + relax * mine.wait


@harness.hookimpl
def start_jobs():
    kept = harness.per_job(("promised", "best", "wait"))
    return [harness.Start("relaxed", relaxed, memory=kept, least={"relax": 0}, reads=("queue", "job", "clock"))]
