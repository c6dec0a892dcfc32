"""Start policies that start, reserve, plan or ask to be asked wrongly. A plugin file like any other."""

import math

from zoo_keeping import cage, greedily

import harness
from harness import Order, Start

broken = cage(globals())

# ---------------------------------------------------------------- starts


@broken(Start, "runs", "would overcommit the nodes")
def starts_what_does_not_fit(state):
    for job in harness.waiting(state):
        harness.start(state, job)


@broken(Start, "runs", "started job 1, which is not waiting")
def starts_twice(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
            if harness.fits(state, job):
                harness.start(state, job)


@broken(Start, "runs", "left 1 jobs waiting, the first of them job 1")
def forgets_the_wide(state):
    for job in harness.waiting(state):
        if harness.fits(state, job) and state.jobs[job].procs < state.clock.cores:
            harness.start(state, job)


@broken(Start, "runs", "only policies declared preemptive=True may do")
def suspends_unasked(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.running > 0:
            harness.suspend(state, harness.running(state)[0])
            return


@broken(Start, "nobody overtakes", r"job \d starts although job \d is ahead of it", guarantees=("nobody overtakes",))
def overtakes(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "first reservation", r"job \d had a reservation", guarantees=("first reservation",))
def reserves_nothing(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "every reservation", r"job \d had a reservation .* s, and later", guarantees=("every reservation",))
def later_and_later(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        else:
            state.jobs[job].reserved = max(state.jobs[job].reserved, state.clock.virtual) + 100.0


@broken(Start, "runs", "does not end")
def never_done(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    harness.call_again(state, state.clock.now + 1e-6)


@broken(Start, "runs", "asked to be called again at")
def calls_in_the_past(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    harness.call_again(state, state.clock.now)


@broken(Start, "runs", "left .* jobs waiting", needs=("signal",))
def waits_for_clean_power_and_does_not_ask_to_be_called(state):
    if state.clock.signal < 200.0:
        greedily(state)


turns = [0]


@broken(Start, "fresh", "differs with another one in its middle", compiled=False)
def takes_turns(state):
    """Begins anew when a run does, which is not enough when two go on at once."""
    turns[0] = 0 if state.clock.instants == 1 else turns[0] + 1
    for job in harness.waiting(state)[:: -1 if turns[0] % 2 else 1]:
        if harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "runs", "asks for 'blocks', which the state does not have")
def widens_the_machine(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.nodes[0].free == 0 and state.nodes[0].busy == state.nodes[0].cores:
            state.nodes[0].free += 1
            state.clock.free += 1
            state.blocks[0] += 1


@broken(Start, "runs", "changed 'procs'")
def shortens_the_wide(state):
    for job in harness.waiting(state):
        if state.jobs[job].procs > 3:
            state.jobs[job].procs = 3
        if harness.fits(state, job):
            harness.start(state, job)


# ---------------------------------------------------------------- plans


@broken(Start, "runs", "reserved and released so much that the plan changes")
def reserves_without_end(state):
    harness.plan_from_running(state)
    for k in range(100_000):
        harness.reserve(state, 1, state.clock.virtual + 2.0 * k + 1.0, state.clock.virtual + 2.0 * k + 2.0)


@broken(Start, "runs", "a plan that was not made")
def asks_a_plan_nobody_made(state):
    for job in harness.waiting(state):
        if harness.earliest_fit(state, state.jobs[job].procs, 1.0) >= 0.0 and harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "runs", "planned for -1 processors")
def plans_for_less_than_nobody(state):
    harness.plan_from_running(state)
    harness.earliest_fit(state, -1, 1.0)


@broken(Start, "runs", "planned for 1000000 processors")
def plans_for_more_than_the_machine(state):
    harness.plan_from_running(state)
    harness.reserve(state, 10**6, state.clock.virtual, state.clock.virtual + 1.0)


@broken(Start, "runs", "planned with the time")
def plans_for_no_time(state):
    harness.plan_from_running(state)
    harness.reserve(state, 1, harness.INFINITY - harness.INFINITY, state.clock.virtual)


@broken(Start, "runs", "planned with the time")
def plans_backwards(state):
    harness.plan_from_running(state)
    harness.reserve(state, 1, state.clock.virtual + 5.0, state.clock.virtual)


@broken(Start, "runs", "planned with the time nan", compiled=False)
def plans_for_no_time_in_python(state):
    harness.plan_from_running(state)
    harness.earliest_fit(state, 1, math.nan)


# ---------------------------------------------------------------- time, and being asked

broken(Order, "calendar", "with all submissions moved by")(
    lambda job, clock: abs(job.submit % 86400.0 - 43200.0), "prefers_who_came_at_noon"
)


@broken(Start, "calendar", "with all submissions moved by")
def reverses_at_night(state):
    waiting = harness.waiting(state)
    if state.clock.now < 1e9:
        greedily(state)
        return
    for k in range(len(waiting) - 1, -1, -1):
        if harness.fits(state, waiting[k]):
            harness.start(state, waiting[k])


@broken(Start, "stretch|asked more often", "where .* s was expected")
def loses_patience_unasked(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.now > state.jobs[job].submit + 5.0:
            return


@broken(Start, "asked more often", "if it is asked every .* s, job")
def counts_how_often_it_is_asked(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.instants % 3 == 0:
            return
