"""Slack-based backfilling: every job is promised a begin, and may be delayed beyond it by its slack.

Source: Talby and Feitelson (1999), Supporting priorities and improving utilization of the IBM SP scheduler using
slack-based backfilling, IPPS.

The paper's, by how others describe it (the text was not at hand): a promise and a slack for every job, which others may
use up. Ours: the slack is a share of the requested time; the paper's comes from priorities of users and of the site,
and among whole schedules it searches the one of least cost: both are left out.
"""

import harness


def slack(state, per_job, slack=1.0):
    """Conservative backfilling, in which whoever fits may begin if everybody else still begins within his slack.

    When a job comes it is promised the earliest begin that delays nobody's promise. When processors are free, who fits
    is tried in queue order: the others are planned anew behind him, in queue order, and he starts if all of them begin
    in time. Nobody begins later than he may, as long as estimates hold and processors are equally fast.

    `slack`: by how much a begin may be later than was promised first, in requested times of the job.
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
    """Give everybody his earliest begin by the plan, in order of promises, and start those whose begin is now.

    In that order nobody's begin moves later; those who have none yet come last, in queue order.
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
    """Return the waiting jobs in the order of what they are promised."""
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
    """Return whether the job is promised an earlier begin than the other."""
    mine, theirs = state.jobs[job].reserved, state.jobs[other].reserved
    return mine >= 0 and (theirs < 0 or mine < theirs)


@harness.jit
def all_in_time(state, per_job, job):
    """Return whether the others could begin within their slack if the job began now; keep their begins as `anew`."""
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
    return [harness.Start("slack", slack, memory=harness.per_job(("latest", "anew")), least={"slack": 0})]
