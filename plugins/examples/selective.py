"""Selective backfilling: who has waited long for his size is promised a begin, nobody else is.

Source: Srinivasan, Kettimuthu, Subramani and Sadayappan (2002), Selective reservation strategies for backfill job
scheduling, JSSPP, LNCS 2537.

The paper's, by its abstract and how others describe it (the text was not at hand): a promise only to those whose
expansion factor has reached a threshold, fixed or adapted to the mean slowdown so far. Ours: one mean for all jobs,
none for classes of them, and promises that are planned anew at every instant, in queue order, and may move.
"""

import harness

#: Shorter estimates count as so long [s].
SHORTEST = 1e-3


def selective(state, memory, threshold=0.0):
    """Backfill beside the promises of those whose expansion factor has reached a threshold; all others promise nothing.

    The expansion factor is (waiting + requested time) / requested time. Promises come first, in queue order.

    `threshold`: of the factor; 0 for the mean slowdown of the jobs that have ended so far, as in the paper's adaptive
    variant. What crosses it is looked at when something else happens.
    """
    adapted = mean_slowdown(state, memory)
    needed = threshold if threshold > 0.0 else adapted
    harness.plan_from_running(state)
    for starved in (True, False):
        for job in harness.waiting(state):
            if state.jobs[job].status == harness.WAITING and (expansion(state, job) >= needed) == starved:
                start_or_promise(state, job, starved)


@harness.jit
def expansion(state, job):
    """Return the job's expansion factor now."""
    record = state.jobs[job]
    estimate = max(record.estimate, SHORTEST)
    return (state.clock.now - record.submit + estimate) / estimate


@harness.jit
def start_or_promise(state, job, promising):
    """Start the job if the plan has room for it now; else keep its earliest room for it, if it is promised some."""
    record, now = state.jobs[job], state.clock.virtual
    at = harness.earliest_fit(state, record.procs, record.left)
    if not harness.later(at, now) and harness.fits(state, job) and harness.start(state, job):
        harness.reserve(state, record.procs, now, record.planned)
    elif promising and at < harness.INFINITY:
        harness.reserve(state, record.procs, at, at + record.left)


@harness.jit
def mean_slowdown(state, memory):
    """Return the mean slowdown of the jobs that have ended; those of this instant are counted once."""
    if memory[2] < state.clock.instants:
        memory[2] = state.clock.instants
        for job in harness.departed(state):
            record = state.jobs[job]
            if record.status == harness.COMPLETED or record.status == harness.KILLED:
                memory[0] += (record.end - record.submit) / max(record.end - record.start, SHORTEST)
                memory[1] += 1.0
    return memory[0] / memory[1] if memory[1] > 0.0 else 1.0


@harness.hookimpl
def start_jobs():
    return [harness.Start("selective", selective, memory=3, timed=True, least={"threshold": 0})]
