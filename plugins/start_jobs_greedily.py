"""Start policies without reservations: every job that fits starts."""

import harness


def greedy(state):
    """In order, start whatever fits; wide jobs may wait for ever. Nothing is promised, and no belief is looked at.

    Moldable jobs begin if their least width fits, as wide as the free processors allow.
    """
    job = harness.next_overtaker(state, -1, -1, harness.INFINITY, 0)
    while job >= 0:
        if harness.fits(state, job):
            harness.start(state, job)
        job = harness.next_overtaker(state, -1, job, harness.INFINITY, 0)


def greedy_molding(state):
    """The same, as wide as the free processors allow."""
    for job in harness.waiting(state):
        if state.clock.free == 0:
            return
        procs = min(state.clock.free, harness.widest(state, job))
        if procs >= harness.narrowest(state, job):
            harness.start(state, job, procs)


@harness.hookimpl
def start_jobs():
    return [harness.Start("greedy", greedy, molding=greedy_molding, guarantees=("first starts if it fits",), reads=())]
