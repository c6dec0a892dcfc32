"""Slack-based backfilling: every job gets a reservation, and may be delayed beyond it by its slack.

Source: Talby and Feitelson (1999), Supporting priorities and improving utilization of the IBM SP scheduler using
slack-based backfilling, IPPS.

From the paper (by descriptions of others, because the text was not at hand): a reservation and a slack for every job,
which other jobs may use up. Our choice: the slack is a share of the requested time. In the paper it comes from
priorities of users and of the site, and the paper searches whole schedules for the least cost. Both are left out.
"""

import harness


def slack(state, per_job, slack=1.0):
    """Conservative backfilling in which a job may start early if all other jobs still start within their slack.

    A new job gets the earliest reservation that delays no other one. When processors are free, jobs that fit are tried
    in queue order. The others are planned anew behind the job, in queue order, and it starts if all of them start in
    time. No job starts later than its slack allows, if estimates hold and processors are equally fast.

    `slack`: largest delay beyond the first reservation, in requested times of the job.
    """
    start_due(state, per_job, slack)
    for job in harness.waiting(state):
        if state.clock.free == 0:
            return
        may = state.jobs[job].status == harness.WAITING and harness.fits(state, job)
        if may and all_in_time(state, per_job, job) and harness.start(state, job):
            for other in harness.waiting(state):
                if state.jobs[other].status == harness.WAITING:
                    state.jobs[other].reserved = per_job[other].anew


@harness.jit
def start_due(state, per_job, slack):
    """Plan every job's earliest start, in the order of reservations, and start the jobs that are due now.

    In that order no start moves later. Jobs without a reservation come last, in queue order.
    """
    now = state.clock.virtual
    harness.plan_from_running(state)
    for job in by_promise(state):
        record = state.jobs[job]
        newcomer = record.reserved < 0
        record.reserved = harness.earliest_fit(state, record.procs, record.left)
        if newcomer:
            per_job[job].latest = record.reserved + slack * record.left
        due = not harness.later(record.reserved, now)
        if due and harness.fits(state, job) and harness.start(state, job):
            harness.reserve(state, record.procs, now, record.planned)
        elif record.reserved < harness.INFINITY:
            harness.reserve(state, record.procs, record.reserved, record.reserved + record.left)


@harness.jit
def by_promise(state):
    """Return the waiting jobs in the order of their reservations."""
    jobs = harness.waiting(state).copy()
    for k in range(1, len(jobs)):
        job, place = jobs[k], k
        while place > 0 and promised_before(state, job, jobs[place - 1]):
            jobs[place] = jobs[place - 1]
            place -= 1
        jobs[place] = job
    return jobs


@harness.jit
def promised_before(state, job, other):
    """Return whether the job has an earlier reservation than the other."""
    mine, theirs = state.jobs[job].reserved, state.jobs[other].reserved
    return mine >= 0 and (theirs < 0 or mine < theirs)


@harness.jit
def all_in_time(state, per_job, job):
    """Return whether the others could start within their slack if the job started now; store their starts in `anew`."""
    now = state.clock.virtual
    harness.plan_from_running(state)
    harness.reserve(state, state.jobs[job].procs, now, now + state.jobs[job].left)
    for other in harness.waiting(state):
        record = state.jobs[other]
        if other == job or record.status != harness.WAITING:
            continue
        at = harness.earliest_fit(state, record.procs, record.left)
        if harness.later(at, per_job[other].latest):
            return False
        per_job[other].anew = at
        if at < harness.INFINITY:
            harness.reserve(state, record.procs, at, at + record.left)
    return True


@harness.hookimpl
def start_jobs():
    return [
        harness.Start(
            "slack",
            slack,
            memory=harness.per_job(("latest", "anew")),
            least={"slack": 0},
            reads=("queue", "job", "clock"),
        )
    ]
