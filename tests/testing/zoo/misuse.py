"""Functions that raise, or are no functions of the kind that was expected. A plugin file like any other."""

import math

from zoo_keeping import cage, greedily, start_what_fits

import harness
from harness import Energy, Order, Rate, Select, Sleep, Start

broken = cage(globals())

# ---------------------------------------------------------------- what is raised

broken(Order, "runs", "ValueError: math domain error", compiled=False)(
    lambda job, clock: math.sqrt(job.submit - job.estimate), "takes_the_root_of_less_than_nothing"
)
broken(Order, "runs", "OverflowError", compiled=False)(lambda job, clock: math.exp(1000.0 * job.estimate), "overflows")


@broken(Order, "runs", "FileNotFoundError", compiled=False)
def reads_a_file_that_is_not_there(job, clock):
    with open("/nowhere/at/all") as file:
        return float(file.read())


@broken(Order, "runs", "RecursionError", compiled=False)
def calls_itself(job, clock):
    return calls_itself(job, clock)


@broken(Order, "runs", "AssertionError")
def asserts_what_is_not_so(job, clock):
    assert job.procs < 4
    return job.submit


@broken(Start, "runs", "KeyError: 7", compiled=False)
def asks_a_table_that_lacks_it(state):
    greedily(state)
    return {}[7]


broken(Start, "runs", "StopIteration", compiled=False)(lambda state: next(iter(())), "runs_out")
broken(Select, "runs", "used an index that one of its lists does not have", compiled=False)(
    lambda state, job: [][job], "takes_what_a_list_lacks"
)


@broken(Rate, "runs", "UnboundLocalError|NameError|cannot access", compiled=False)
def rates_what_it_never_set(state):
    if state.clock.running > 1:
        speed = 0.5
    return speed


@broken(Sleep, "runs", "NameError: name 'no_such_name' is not defined", compiled=False)
def sleeps_by_a_name_nobody_gave(state):
    return no_such_name  # noqa: F821


broken(Energy, "runs", "ZeroDivisionError")(lambda node, clock: node.peak / node.busy, "divides_by_the_busy")


# ---------------------------------------------------------------- functions misused

broken(Start, "runs", "harness.fist, which does not exist; did you mean 'fits'")(
    lambda state: harness.fist(state, 0), "misspells_a_function"
)
broken(Start, "runs", "missing .* required positional argument", compiled=False)(
    lambda state: harness.start(state), "forgets_an_argument"
)
broken(Start, "runs", "calls harness.put_to_sleep, which only policies of set_sleep may call")(
    lambda state: harness.put_to_sleep(state, 0), "sends_to_sleep"
)
broken(Sleep, "runs", "calls harness.start, which only policies of start_jobs may call")(
    lambda state: harness.start(state, 0), "starts_while_asleep"
)


@broken(Select, "runs", "calls harness.suspend, which only policies of start_jobs may call")
def suspends_to_make_room(state, job):
    harness.suspend(state, 0)
    return True


@broken(Start, "runs", "called harness.hour with a state, where a clock was expected", compiled=False)
def asks_the_state_for_the_hour(state):
    if harness.hour(state) < 12.0:
        greedily(state)


@broken(Start, "runs", "called harness.fits with a record, where a state was expected", compiled=False)
def asks_the_clock_who_fits(state):
    if harness.fits(state.clock, 0):
        greedily(state)


@broken(
    Start,
    "runs",
    "ZeroDivisionError: .* in the fresh of the policy 'begins_with_less_than_nothing'",
    compiled=False,
    fresh=lambda: 1 / 0,
)
def begins_with_less_than_nothing(state, memory):
    start_what_fits(state)


@broken(Start, "runs", "asked to be called again at nan s")
def calls_at_no_time(state):
    greedily(state)
    harness.call_again(state, harness.INFINITY - harness.INFINITY)


@broken(Start, "runs", "asked to be called again at -1.0 s")
def calls_before_the_beginning(state):
    greedily(state)
    harness.call_again(state, -1.0)


@broken(Rate, "runs", "the work left has fallen to -1.0 s")
def waits_for_less_than_no_work(state):
    harness.call_at_work(state, -1.0)
    return 1.0


@broken(Sleep, "runs", "asked node 0 to sleep at depth 0, where a node that exists, is awake, holds no")
def sends_the_busy_to_sleep(state):
    if state.nodes[0].free < state.nodes[0].cores:
        harness.put_to_sleep(state, 0)


broken(Sleep, "runs", "asked node 0 to sleep at depth 7", needs=("sleep",))(
    lambda state: harness.put_to_sleep(state, 0, 7), "sends_to_sleep_too_deep"
)


@broken(Start, "runs", "suspended job 2, which is not running", preemptive=True)
def suspends_who_waits(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        else:
            harness.suspend(state, job)


@broken(Start, "runs", "does not end|the machine is idle and nothing else will happen", preemptive=True)
def suspends_and_starts_for_ever(state):
    for job in harness.running(state):
        harness.suspend(state, job)
    harness.call_again(state, state.clock.now + 1e-3)


@broken(Start, "runs", "left 1 jobs waiting")
def starts_nobody(state):
    pass


@broken(Start, "runs", "left .* jobs waiting")
def starts_ten(state):
    for job in harness.waiting(state):
        if harness.fits(state, job) and state.jobs[job].number <= 10:
            harness.start(state, job)


@broken(Start, "runs", "left 1 jobs waiting", compiled=False)
def is_never_asked_because_it_yields(state):
    for job in harness.waiting(state):
        yield harness.start(state, job)
