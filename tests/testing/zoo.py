"""Policies that are broken in one way each, for the tests of those who check policies. A plugin file like any other."""

import math
import os
import random
import sys
import time

import numpy as np

import harness
from harness import Energy, Order, Predict, Rate, Select, Sleep, Start

#: Policy → the check it fails, and what is said.
CAUGHT = {}
OFFERED = {
    "order_queue": [],
    "start_jobs": [],
    "select_resources": [],
    "set_rate": [],
    "set_sleep": [],
    "account_energy": [],
    "predict_runtime": [],
}


def broken(kind, check, sentence, **traits):
    """Offer the function below as a policy, which is to be caught by `check` with this sentence."""

    def offer(function, name=""):
        name = name or function.__name__
        CAUGHT[name] = check, sentence
        OFFERED[kind.hook].append(kind(name, function, **traits))
        return function

    return offer


for _hook in OFFERED:
    globals()[_hook] = harness.hookimpl(lambda hook=_hook: OFFERED[hook], specname=_hook)

# ---------------------------------------------------------------- orders

broken(Order, "runs", "gave job 1 the score nan")(
    lambda job, clock: 0.0 * (job.procs / 0.0 if job.procs < 0 else harness.INFINITY) if job.procs == 3 else job.submit,
    "not_a_number",
)
broken(Order, "runs", "ZeroDivisionError: division by zero", varies=True)(
    lambda job, clock: (clock.now - job.submit) / job.estimate, "divides_by_the_estimate"
)
broken(Order, "varies", "had the score .* and has .* does not say varies=True")(
    lambda job, clock: job.submit - clock.now * job.procs, "secretly_varies"
)
broken(Order, "determinism", "two runs of the same case with the same seed differ", compiled=False)(
    lambda job, clock: random.random(), "global_coins"
)


calls = [0]


@broken(Order, "determinism", "two runs of the same case with the same seed differ", compiled=False)
def remembers_too_long(job, clock):
    calls[0] += 1
    return float(calls[0] * 7 % 5)


broken(Order, "runs", "asks for 'priority', which the job does not have")(
    lambda job, clock: job.priority, "asks_for_a_record_it_lacks"
)


@broken(Order, "runs", "changed 'score'")
def edits_the_job(job, clock):
    job.score = 3.0
    return job.submit


@broken(Order, "runs", "changed 'estimate'")
def halves_the_estimate(job, clock):
    job.estimate = 1.0
    return job.submit


@broken(Order, "plain", "compiled and as plain Python, the runs differ")
def two_languages(job, clock):
    """Whole numbers have 64 bits in numba, and no end in Python."""
    number = int(job.procs) + int(job.submit)
    for _ in range(70):
        number = number * 3
    return float(number % 1000)


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


@broken(Start, "nobody overtakes", r"job \d starts although job \d is before it", guarantees=("nobody overtakes",))
def overtakes(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "first reservation", r"job \d was promised", guarantees=("first reservation",))
def reserves_nothing(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "every reservation", r"job \d was promised .* s, and later", guarantees=("every reservation",))
def later_and_later(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        else:
            state.jobs[job].reserved = max(state.jobs[job].reserved, state.clock.virtual) + 100.0


@broken(Start, "runs", "does not come to an end")
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


# ---------------------------------------------------------------- selections


@broken(Select, "runs", "would overcommit the node")
def takes_without_asking(state, job):
    harness.take(state, job, 0, state.jobs[job].procs)
    return True


@broken(Select, "runs", "chose 1 processors for job 1, which needs 2")
def one_too_few(state, job):
    node = harness.next_free(state, -1)
    harness.take(state, job, node, 1)
    return True


broken(Select, "runs", "'always_declines' declined")(lambda state, job: False, "always_declines")


@broken(Select, "runs", "has room for 0 of its processors")
def ignores_memory(state, job):
    need = state.jobs[job].procs
    for node in range(len(state.nodes)):
        got = min(need, state.nodes[node].free)
        if got > 0:
            harness.take(state, job, node, got)
            need -= got
    return need == 0


# ---------------------------------------------------------------- rates, sleeps, energies


@broken(Rate, "runs", "calls harness.start, which only policies of start_jobs may call")
def calls_another_hooks_verb(state):
    for job in harness.waiting(state):
        harness.start(state, job)
    return 1.0


@broken(Rate, "runs", "returns nothing, where a number was expected")
def answers_nothing(state):
    state.clock.now + 1.0


broken(Rate, "runs", "set the rate 0.0")(lambda state: 0.0 if state.clock.running > 1 else 1.0, "stands_still")
broken(Rate, "constant", "asked once and asked at every instant", constant=True)(
    lambda state: 0.5 if state.clock.running > 0 else 1.0, "changes_its_mind"
)


@broken(Sleep, "runs|constant", "ValueError: nobody was to ask again", constant=True)
def goes_to_sleep_later(state):
    if state.clock.completed > 0 and state.clock.queued > 0:
        raise ValueError("nobody was to ask again")


broken(Energy, "runs", "draws -.* W, where a number of at least 0")(
    lambda node, clock: node.idle - 40.0 * node.busy, "negative"
)
broken(Energy, "energy", "changes with the time alone")(
    lambda node, clock: node.idle + 0.001 * clock.now, "by_the_hour"
)


@broken(Energy, "runs", "changed 'busy'")
def charges_nobody(node, clock):
    node.busy = 0
    return node.peak


def start_what_fits(state):
    """What is sound in the starts that follow."""
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


greedily = harness.jit(start_what_fits)

# ---------------------------------------------------------------- answers that are none


@broken(Order, "runs", "returns nothing, where a number was expected")
def forgets_to_return_a_score(job, clock):
    job.procs * 2.0


broken(Order, "runs", "where a number was expected")(lambda job, clock: (job.procs, job.submit), "scores_with_a_pair")
broken(Order, "runs", "where a number was expected", compiled=False)(lambda job, clock: "soon", "scores_with_a_word")
broken(Order, "runs", "where a number was expected", compiled=False)(
    lambda job, clock: [job.submit], "scores_with_a_list"
)
broken(Order, "runs", "where a number was expected", compiled=False)(
    lambda job, clock: None if job.procs == 3 else job.submit, "scores_one_job_with_nothing"
)


@broken(Select, "runs", "where True .taken. or False .declined. was expected", compiled=False)
def selects_without_a_word(state, job):
    harness.take(state, job, harness.next_free(state, -1), 1)


broken(Rate, "runs", "set the rate nan")(
    lambda state: math.inf * (state.clock.running - state.clock.running), "rates_nothing_by_nothing"
)
broken(Rate, "runs", "set the rate -1.0")(lambda state: -1.0, "runs_backwards")
broken(Rate, "runs", "set the rate inf")(lambda state: harness.INFINITY, "runs_infinitely_fast")
broken(Rate, "runs", "where a number was expected", compiled=False)(lambda state: "fast", "rates_by_a_word")
broken(Energy, "runs", "draws nan W")(lambda node, clock: harness.INFINITY * (node.busy - node.busy), "draws_no_number")
broken(Energy, "runs", "draws inf W")(lambda node, clock: harness.INFINITY, "draws_everything")
broken(Energy, "runs", "where a number of watts was expected", compiled=False)(
    lambda node, clock: "much", "draws_a_word"
)


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


@broken(Start, "runs", "does not come to an end", preemptive=True)
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


# ---------------------------------------------------------------- selections

broken(Select, "runs", "chose 0 processors for job 1, which needs 1")(lambda state, job: True, "takes_nothing")


@broken(Select, "runs", "would overcommit the node|needs only")
def takes_all_there_is(state, job):
    node = harness.next_free(state, -1)
    while node >= 0:
        harness.take(state, job, node, state.nodes[node].free)
        node = harness.next_free(state, node)
    return True


@broken(Select, "runs", "took 0 processors|overcommit|at least 1")
def takes_zero_by_zero(state, job):
    harness.take(state, job, 0, 0)
    return True


@broken(Select, "runs", "took -1 processors|overcommit|at least 1")
def takes_less_than_nothing(state, job):
    harness.take(state, job, 0, -1)
    return True


@broken(Select, "runs", "declined .* times|plans, although the selection declines")
def declines_the_wide(state, job):
    if state.jobs[job].procs > 2:
        return False
    node, need = -1, state.jobs[job].procs
    while need > 0:
        node = harness.next_free(state, node)
        if node < 0:
            return False
        got = min(need, harness.room(state, job, node))
        if got > 0:
            harness.take(state, job, node, got)
            need -= got
    return True


# ---------------------------------------------------------------- beyond what it was given


@broken(Start, "runs", "used an index that .* does not have")
def reads_a_job_past_the_end(state):
    greedily(state)
    if state.jobs[len(state.jobs)].procs > 0:
        greedily(state)


broken(Start, "runs", "used an index that .* does not have", compiled=False)(
    lambda state: state.jobs[10**6].procs, "reads_a_job_past_the_end_in_python"
)


@broken(Start, "runs", "used an index that .* does not have")
def reads_a_node_that_is_not_there(state):
    greedily(state)
    if state.nodes[1000].free > 0:
        greedily(state)


broken(Select, "runs", "used an index that .* does not have")(
    lambda state, job: state.nodes[-1000].free > 0, "reads_a_node_before_the_first"
)


@broken(Start, "runs", "used an index that .* does not have")
def follows_slices_past_the_end(state):
    greedily(state)
    if state.slices[10**6].cores > 0:
        greedily(state)


broken(Rate, "runs", "used an index that .* does not have")(
    lambda state: 1.0 if state.jobs[100].procs > 0 else 0.5, "reads_a_job_nobody_submitted"
)


@broken(Rate, "runs", "used an index that .* does not have", memory=2)
def remembers_more_than_it_may(state, memory):
    memory[2000] = 1.0
    return 1.0


@broken(Rate, "runs", "used an index that .* does not have", memory=2)
def remembers_before_the_first(state, memory):
    memory[-3] = 1.0
    return 1.0


@broken(Rate, "runs", "used an index that .* does not have", memory=2, compiled=False)
def remembers_more_than_it_may_in_python(state, memory):
    memory[2] = 1.0
    return 1.0


broken(Start, "runs", "started job with index .*, which is not waiting")(
    lambda state: harness.start(state, 10**6), "starts_a_job_past_the_end"
)
broken(Start, "runs", "started job with index .*, which is not waiting")(
    lambda state: harness.start(state, -1), "starts_a_job_before_the_first"
)


@broken(Start, "runs", "(named|about) the job with index -1")
def asks_of_a_job_before_the_first(state):
    if harness.fits(state, -1):
        greedily(state)


broken(Start, "runs", "suspended job with index 1000000, which is not running", preemptive=True)(
    lambda state: harness.suspend(state, 10**6), "suspends_a_job_past_the_end"
)


@broken(Select, "runs", "took 1 processors of node 99")
def takes_of_a_node_past_the_end(state, job):
    harness.take(state, job, 99, 1)
    return True


@broken(Select, "runs", "took 1 processors of node -1")
def takes_of_a_node_before_the_first(state, job):
    harness.take(state, job, -1, 1)
    return True


broken(Select, "runs", "plans, although the selection declines")(
    lambda state, job: harness.room(state, job, 99) > 0, "asks_for_room_past_the_end"
)
broken(Sleep, "runs", "node 99")(lambda state: harness.put_to_sleep(state, 99), "sends_to_sleep_past_the_end")
broken(Sleep, "runs", "node 99")(lambda state: harness.wake(state, 99), "wakes_past_the_end")
broken(Sleep, "runs", "node -1")(lambda state: harness.wake(state, -1), "wakes_before_the_first")


@broken(Start, "runs", "changed 'free' of a record")
def frees_a_node(state):
    state.nodes[0].free = state.nodes[0].cores


@broken(Start, "runs", "changed 'user' of a record")
def gives_a_job_to_somebody_else(state):
    for job in harness.waiting(state):
        state.jobs[job].user = 0
    greedily(state)


@broken(Order, "runs", "changed 'user' of a record", compiled=False)
def gives_a_job_to_somebody_else_in_python(job, clock):
    job.user = 3
    return job.submit


@broken(Rate, "runs", "changed 'now' of a record")
def sets_the_clock(state):
    state.clock.now = 0.0
    return 1.0


@broken(Energy, "runs", "changed 'energy' of a record")
def pays_nothing_back(node, clock):
    node.energy = 0.0
    return node.peak


@broken(Start, "runs", "'due'")
def knows_when_the_next_job_ends(state):
    if state.clock.due > state.clock.now:
        greedily(state)


@broken(Start, "runs", "'truth'")
def knows_how_long_jobs_take(state):
    for job in harness.waiting(state):
        if harness.fits(state, job) and state.truth[job].work > 0.0:
            harness.start(state, job)


broken(Order, "runs", "'work'")(lambda job, clock: job.work, "puts_first_who_takes_least")


@broken(Start, "runs", "'queue'")
def reaches_into_the_queue(state):
    state.queue[0] = 7


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


# ---------------------------------------------------------------- what policies say about themselves

broken(Order, "varies", "does not say varies=True")(
    lambda job, clock: job.submit if clock.now < job.submit + 25.0 else -job.procs * clock.now, "varies_after_a_while"
)
broken(Order, "varies=True", "says varies=True, and no waiting job's score ever changed", varies=True)(
    lambda job, clock: job.submit, "varies_in_name_only"
)
broken(Order, "coins", "names dice, and no seed ever changed anything")(
    lambda job, clock, dice: job.submit, "has_dice_and_does_not_throw_them"
)


@broken(Order, "coins", "names dice, and no seed ever changed anything")
def throws_dice_for_nothing(job, clock, dice):
    harness.uniform(dice)
    return job.submit


broken(Start, "preemptive=True", "says preemptive=True, and no job was ever suspended", preemptive=True)(
    lambda state: greedily(state), "suspends_in_name_only"
)
broken(Rate, "constant", "asked once and asked at every instant", constant=True)(
    lambda state: 0.5 if state.clock.queued > 8 else 1.0, "changes_its_mind_in_a_crowd"
)


@broken(Start, "nobody overtakes", r"job \d+ starts although job \d+ is before it", guarantees=("nobody overtakes",))
def overtakes_in_a_crowd(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.queued < 9:
            return


@broken(Start, "first reservation", r"job \d+ was promised", guarantees=("first reservation",))
def breaks_its_promise_in_a_crowd(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.queued < 9:
            return


broken(Start, "guarantees", "guarantees 'everybody is happy'", guarantees=("everybody is happy",))(
    lambda state: greedily(state), "promises_the_moon"
)
broken(Start, "every reservation", "waits with the reservation -1", guarantees=("every reservation",))(
    lambda state: greedily(state), "reserves_for_nobody"
)


# ---------------------------------------------------------------- the same again


@broken(Order, "determinism", "two runs of the same case", compiled=False)
def asks_numpys_global_dice(job, clock):
    return np.random.random()  # noqa: NPY002


@broken(Order, "determinism", "two runs of the same case")
def asks_numbas_global_dice(job, clock):
    return np.random.random()  # noqa: NPY002


broken(Order, "determinism", "two runs of the same case", compiled=False)(
    lambda job, clock: float(os.urandom(1)[0]), "asks_the_system_for_chance"
)
broken(Rate, "determinism", "two runs of the same case", compiled=False)(
    lambda state: 0.5 + time.perf_counter() % 0.5, "asks_the_clock_on_the_wall"
)


last = [0.0]


@broken(Select, "determinism|fresh", "differ", compiled=False)
def goes_round_for_ever(state, job):
    last[0] += 1
    need = int(state.jobs[job].procs)
    count = len(state.nodes)
    for step in range(count):
        node = int(last[0] + step) % count
        got = min(need, harness.room(state, job, node))
        if got > 0:
            harness.take(state, job, node, got)
            need -= got
    return need == 0


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


# ---------------------------------------------------------------- what nobody can know


@broken(Rate, "foresight", "if what nobody can know at .* s is otherwise", compiled=False)
def reads_the_log_of_the_case(state):
    """The rows of the workload are among the frames of the caller: nothing keeps plain Python from looking there."""
    frame = sys._getframe()
    while "workload" not in frame.f_locals:
        frame = frame.f_back
    return 0.5 if frame.f_locals["workload"].jobs["work"].sum() % 2 else 1.0


# ---------------------------------------------------------------- slow


@broken(Order, "pace", "it is slow: .* ms for each question", compiled=False)
def asks_a_slow_model(job, clock):
    time.sleep(0.02)
    return job.submit


@broken(Order, "pace", "it is slow: .* ms for each question")
def computes_for_long(job, clock):
    total = job.submit
    for step in range(30_000_000):
        total = (total * 1.0000001 + step) % 1000.0
    return total


@broken(Start, "pace", "it is slow: .* ms for each question", compiled=False)
def thinks_before_it_starts(state):
    time.sleep(0.02)
    start_what_fits(state)


# ---------------------------------------------------------------- learning, wrapping, taking off


def learns_in_vain(state, memory):
    memory[0] += 1.0


broken(Order, "learn", "what it learns never changed anything", memory=1, learn=learns_in_vain, compiled=False)(
    lambda job, clock, memory: job.submit, "learns_and_forgets"
)


def starts_while_learning(state, memory):
    harness.start(state, 0)


broken(Order, "runs", "calls harness.start, which only policies of start_jobs", memory=1, learn=starts_while_learning)(
    lambda job, clock, memory: memory[0], "acts_while_it_learns"
)
shared = {"asked": 0}


@broken(Start, "fresh", "differs with another one in its middle", compiled=False, fresh=lambda: shared)
def shares_its_memory(state, memory):
    memory["asked"] = 0 if state.clock.instants == 1 else memory["asked"] + 1
    for job in harness.waiting(state)[:: -1 if memory["asked"] % 2 else 1]:
        if harness.fits(state, job):
            harness.start(state, job)


@broken(Start, "runs", "calls harness.reject and does not say rejects=True", compiled=False)
def rejects_unasked(state):
    for job in harness.waiting(state):
        harness.reject(state, job)


@broken(Start, "runs", "rejected job 1, which is not waiting", compiled=False, rejects=True)
def rejects_whom_it_started(state):
    for job in harness.waiting(state):
        if harness.fits(state, job) and harness.start(state, job):
            harness.reject(state, job)


broken(Start, "rejects=True", "says rejects=True, and rejects no job", compiled=False, rejects=True)(
    start_what_fits, "rejects_in_name_only"
)


@broken(Start, "runs", "requeued job 1, which is not running", compiled=False, preemptive=True)
def requeues_who_waits(state):
    for job in harness.waiting(state):
        harness.requeue(state, job)


@broken(Start, "runs", "only policies declared preemptive=True may do", compiled=False)
def requeues_unasked(state):
    start_what_fits(state)
    for job in harness.running(state).copy():
        harness.requeue(state, job)


@broken(Start, "runs", "with an overhead of nan s, where a number of at least 0", compiled=False, preemptive=True)
def suspends_at_no_cost_that_there_is(state):
    start_what_fits(state)
    for job in harness.running(state).copy():
        harness.suspend(state, job, math.nan)


@broken(Start, "runs", "named the job with index 1000000", compiled=False)
def asks_for_the_nodes_of_nobody(state):
    if len(harness.nodes_of(state, 10**6)) == 0:
        start_what_fits(state)


broken(Order, "varies", "does not say varies=True", compiled=False)(
    lambda job, clock: job.submit if harness.hour(clock) < 0.001 else -job.submit, "keeps_office_hours"
)

# ---------------------------------------------------------------- predictors

broken(Predict, "runs", "says that job 1 takes nan s, where a number of at least 0 was expected")(
    lambda job, user, clock: harness.INFINITY - harness.INFINITY * job.procs, "predicts_no_number"
)
broken(Predict, "runs", "says that job 1 takes -1.0 s, where a number of at least 0 was expected")(
    lambda job, user, clock: -1.0, "predicts_the_past"
)
broken(Predict, "runs", "corrects what job . takes to 0.5 s, which it has run for already", correct=lambda job: 0.5)(
    lambda job, user, clock: 0.5, "never_believes_more"
)
broken(Predict, "runs", "'record' object has no attribute 'last'", memory=harness.per_user(("lately",)))(
    lambda job, user, clock: user.last, "asks_for_what_it_does_not_keep"
)
