"""Slack-based backfilling: every job gets a reservation, and may be delayed beyond it by its slack.

Source: Talby and Feitelson (1999), Supporting priorities and improving utilization of the IBM SP scheduler using
slack-based backfilling, IPPS.

From the paper (by descriptions of others, because the text was not at hand): a reservation and a slack for every job,
which other jobs may use up. Our choice: the slack is a share of the requested time. In the paper it comes from
priorities of users and of the site, and the paper searches whole schedules for the least cost. Both are left out.
"""

import harness


def slack(plan, state, per_job, slack=1.0):
    """Conservative backfilling in which a job may start early if all other jobs still start within their slack.

    A new job gets the earliest reservation that delays no other one. When processors are free, jobs that fit are tried
    in queue order. The others are planned anew behind the job, in queue order, and it starts if all of them start in
    time. No job starts later than its slack allows, if estimates hold and processors are equally fast.

    `slack`: largest delay beyond the first reservation, in requested times of the job.
    """
    reserve_all(plan, state, per_job, slack)
    for job in harness.waiting(state):
        if state.clock.free == 0:
            break
        may = state.jobs[job].status == harness.WAITING and harness.fits(state, job)
        if may and all_in_time(plan, state, per_job, job) and plan.start(job):
            for other in harness.waiting(state):
                if state.jobs[other].status == harness.WAITING:
                    per_job[other].promised = per_job[other].anew
    plan.cancel_all()


@harness.jit
def reserve_all(plan, state, per_job, slack):
    """Start or reserve all jobs, in the order of the starts they were promised; in that order none moves later.

    Jobs without a promise come last, in queue order.
    """
    plan.refresh()
    for job in by_promise(state, per_job):
        mine = per_job[job]
        newcomer = mine.latest == 0.0
        if plan.start(job):
            mine.promised = state.clock.virtual
        else:
            mine.promised = plan.reserve(job)
        if newcomer:
            mine.latest = mine.promised + slack * state.jobs[job].left
    plan.cancel_all()


@harness.jit
def by_promise(state, per_job):
    """Return the waiting jobs in the order of their reservations."""
    jobs = harness.waiting(state).copy()
    for k in range(1, len(jobs)):
        job, place = jobs[k], k
        while place > 0 and promised_before(per_job, job, jobs[place - 1]):
            jobs[place] = jobs[place - 1]
            place -= 1
        jobs[place] = job
    return jobs


@harness.jit
def promised_before(per_job, job, other):
    """Return whether the job has an earlier reservation than the other."""
    mine, theirs = per_job[job], per_job[other]
    return mine.latest > 0.0 and (theirs.latest == 0.0 or mine.promised < theirs.promised)


@harness.jit
def all_in_time(plan, state, per_job, job):
    """Return whether the others could start within their slack if the job started now; keep their starts as `anew`."""
    in_time = not harness.later(plan.reserve(job), state.clock.virtual)
    for other in harness.waiting(state):
        if in_time and other != job and state.jobs[other].status == harness.WAITING:
            per_job[other].anew = plan.reserve(other)
            in_time = not harness.later(per_job[other].anew, per_job[other].latest)
    plan.cancel_all()
    return in_time


@harness.hookimpl
def start_jobs():
    return [
        harness.Start(
            "slack",
            slack,
            memory=harness.per_job(("latest", "promised", "anew")),
            least={"slack": 0},
            reads=("queue", "job", "clock"),
        )
    ]
