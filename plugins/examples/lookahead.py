"""Backfilling with lookahead: of the jobs behind the first, those start together that use the most processors.

Source: Shmueli and Feitelson (2005), Backfilling with lookahead to optimize the packing of parallel jobs, JPDC 65(9)
(LOS).

The paper's, by its abstract (the text was not at hand): dynamic programming finds the set of waiting jobs that uses the
most of what is free, beside the reservation of the first, among about the first 50 of the queue. Ours: jobs that end
past the reservation and jobs that end before it are packed apart, which is as good, since only the former need what is
spare; and of sets that use as much the one is taken whose last job stands first in the queue.
"""

import harness


def lookahead(state, depth=50):
    """EASY, but whoever overtakes is chosen so that as many processors as possible are at work.

    Where memory, partitions or the selection do not let all of the chosen start, the others of them do.

    `depth`: how many jobs behind the first are looked at.
    """
    head = start_in_order(state)
    if head < 0 or state.clock.free == 0:
        return
    at, spare = harness.reservation(state, head)
    free = state.clock.free
    jobs = candidates(state, head, depth)
    # Where memory or partitions bind, what is spare by number may be what the first needs: nobody runs past it there.
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
    start_packed(state, jobs, past, best)
    start_packed(state, jobs, within, beside)


@harness.jit
def start_in_order(state):
    """Start waiting jobs in queue order until one does not fit; return that one, or −1 if all started."""
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            return job
    return -1


@harness.jit
def candidates(state, head, depth):
    """Return the first jobs behind the head that would fit now, each alone; the first place is nobody's."""
    jobs = [head]
    for job in harness.waiting(state):
        if len(jobs) > depth:
            break
        if job != head and state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            jobs.append(job)
    return jobs


@harness.jit
def packed(state, jobs, at, past, most):
    """Return for every number of processors who is the last of the first jobs that use exactly so many; 0 if none do.

    Counted are the jobs that end past `at`, or those that end by then.
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
def start_packed(state, jobs, last, used):
    """Start the jobs that use so many processors, by who is the last of them."""
    while used > 0:
        job = jobs[last[used]]
        used -= state.jobs[job].procs
        if harness.fits(state, job):
            harness.start(state, job)


@harness.hookimpl
def start_jobs():
    return [harness.Start("lookahead", lookahead, least={"depth": 0})]
