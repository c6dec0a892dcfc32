"""Who starts now, where running jobs may be taken off for it."""

import harness

ANY, DEPARTURE, ARRIVAL = range(3)


def preempt(state, at=ANY):
    """Serve the longest prefix of all jobs in the system, in queue order, that fits; suspend the others.

    Suspended jobs resume later with what remains of their work. `at`: when the served set is chosen anew, at `any`
    event, or only at a `departure` or an `arrival`. With `departure`, at an arrival the served set stays and
    newcomers only take free processors if nobody waits (Rumyantsev, Morozova and Basmadjian 2018); when nodes come
    back or jobs are interrupted, free processors are taken in order. Nothing is planned: a belief that is corrected
    matters only through the order of the queue.
    """
    clock = state.clock
    if at == ANY or (at == DEPARTURE and clock.completed > 0) or (at == ARRIVAL and clock.arrived > 0):
        serve_prefix(state)
    elif at == ARRIVAL or clock.upset or clock.queued == clock.arrived:
        for job in harness.waiting(state):
            if not (harness.fits(state, job) and harness.start(state, job)):
                return


@harness.jit
def serve_prefix(state):
    """Suspend the jobs outside the longest prefix that fits, then start the jobs in it."""
    chosen, others = harness.prefix(state, state.clock.cores - state.clock.down)
    for job in others:
        harness.suspend(state, job)
    for job in chosen:
        if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            harness.start(state, job)


CLOCK = ("arrived", "completed", "cores", "down", "queued", "upset")


@harness.hookimpl
def start_jobs():
    reads = ("queue", "job.status", *(f"clock.{name}" for name in CLOCK))
    choices = {"at": ("any", "departure", "arrival")}
    return [harness.Start("preempt", preempt, preemptive=True, choices=choices, reads=reads)]
