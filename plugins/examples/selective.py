"""Selective backfilling: only jobs that have waited long for their size get a reservation.

Source: Srinivasan, Kettimuthu, Subramani and Sadayappan (2002), Selective reservation strategies for backfill job
scheduling, JSSPP, LNCS 2537.

From the paper (by its abstract and descriptions of others, because the text was not at hand): a reservation only for
jobs with an expansion factor above a threshold, fixed or adapted to the mean slowdown so far. Our choices: one mean for
all jobs, not for classes of them; and reservations that are planned anew at every instant, in queue order, and may
move.
"""

import harness

#: Shorter estimates count as this long [s].
SHORTEST = 1e-3


def selective(plan, queue, state, memory, threshold=0.0):
    """Backfill around the reservations of jobs with an expansion factor above a threshold; other jobs have none.

    The expansion factor is (waiting + requested time) / requested time. Reservations are made first, in queue order.

    `threshold`: of the factor; 0 for the mean slowdown of the jobs that have ended so far, as in the paper's adaptive
    variant. A job that crosses it gets its reservation at the next event.
    """
    adapted = mean_slowdown(state, memory)
    needed = threshold if threshold > 0.0 else adapted
    plan.refresh()
    for starved in (True, False):
        for job in queue:
            if (expansion(state, job) >= needed) == starved and not plan.start(job) and starved:
                plan.reserve(job)
    plan.cancel_all()


@harness.jit
def expansion(state, job):
    """Return the job's expansion factor now."""
    record = state.jobs[job]
    estimate = max(record.estimate, SHORTEST)
    return (state.clock.now - record.submit + estimate) / estimate


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
    return [
        harness.Start(
            "selective", selective, memory=3, timed=True, least={"threshold": 0}, reads=("queue", "job", "clock")
        )
    ]
