"""Backfilling with lookahead: of the jobs behind the first, those start together that use the most processors.

Source: Shmueli and Feitelson (2005), Backfilling with lookahead to optimize the packing of parallel jobs, JPDC 65(9)
(LOS).

From the paper (by its abstract, because the text was not at hand): among about the first 50 jobs of the queue, dynamic
programming finds the set that uses the most free processors without delaying the reservation of the first job. Our
choices: jobs that end after the reservation and jobs that end before it are packed separately. This loses nothing,
since only the former need spare processors. Of equally good sets, the one with the earliest last job in the queue is
taken.
"""

import harness


def lookahead(plan, queue, state, depth=50):
    """EASY that chooses the set of backfilled jobs with the most processors.

    If memory, partitions or the selection prevent the start of a chosen job, the others of the set start.

    `depth`: number of examined jobs behind the first.
    """
    plan.refresh()
    head = -1
    for job in queue:
        if not plan.start(job):
            head = job
            break
    if head < 0 or state.clock.free == 0:
        return
    at, spare = plan.reserve(head), harness.reservation(state, head)[1]
    free = state.clock.free
    jobs = candidates(state, head, depth)
    # Where memory or partitions bind, spare processors may be those of the first job: no job runs past its start.
    past = packed(state, jobs, at, True, 0 if state.clock.constrained else min(spare, free))
    within = packed(state, jobs, at, False, free)
    best, beside, latest = 0, 0, len(jobs) + 1
    for used in range(len(past)):
        others = len(within) - 1
        while others > 0 and (within[others] == 0 or used + others > free):
            others -= 1
        if used > 0 and past[used] == 0:
            continue
        last = max(past[used], within[others])
        if used + others > best + beside or (used + others == best + beside and last < latest):
            best, beside, latest = used, others, last
    start_packed(plan, state, jobs, past, best)
    start_packed(plan, state, jobs, within, beside)
    plan.cancel_all()


@harness.jit
def candidates(state, head, depth):
    """Return the first jobs behind the head that would fit now, each alone. Place 0 stays unused."""
    jobs = [head]
    for job in harness.waiting(state):
        if len(jobs) > depth:
            break
        if job != head and state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            jobs.append(job)
    return jobs


@harness.jit
def packed(state, jobs, at, past, most):
    """Return for each number of processors the last job of the first set that uses exactly that number; 0 if none does.

    The set has the jobs that end after `at`, or the jobs that end by then.
    """
    last = [0] * (most + 1)
    for place in range(1, len(jobs)):
        record = state.jobs[jobs[place]]
        if harness.later(state.clock.virtual + record.left, at) != past:
            continue
        for used in range(most, record.procs - 1, -1):
            if last[used] == 0 and (used == record.procs or last[used - record.procs] > 0):
                last[used] = place
    return last


@harness.jit
def start_packed(plan, state, jobs, last, used):
    """Start the jobs of the set that uses this number of processors, found by its last job."""
    while used > 0:
        job = jobs[last[used]]
        used -= state.jobs[job].procs
        plan.start(job)


@harness.hookimpl
def start_jobs():
    return [harness.Start("lookahead", lookahead, least={"depth": 0}, reads=("queue", "job", "clock"))]
