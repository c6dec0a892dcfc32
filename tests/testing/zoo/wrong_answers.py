"""Orders, selections, rates, sleeps and energies whose answer is wrong, or none. A plugin file like any other."""

import math
import random

from zoo_keeping import cage

import harness
from harness import Energy, Order, Prefer, Rate, Select, Sleep

broken = cage(globals())

# ---------------------------------------------------------------- orders

broken(Order, "runs", "gave job 1 the score nan")(
    lambda job, clock: 0.0 * (job.procs / 0.0 if job.procs < 0 else harness.INFINITY) if job.procs == 3 else job.submit,
    "not_a_number",
)
broken(Order, "runs", "ZeroDivisionError: division by zero", varies=True)(
    lambda job, clock: (clock.now - job.submit) / job.estimate, "divides_by_the_estimate"
)
broken(Order, "varies", "had the score .* and has .* does not declare varies=True")(
    lambda job, clock: job.submit - clock.free * job.procs, "secretly_varies"
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


# ---------------------------------------------------------------- selections


broken(Prefer, "runs", "gave node 0 the merit nan for job 1")(
    lambda node, job: node.free * (harness.INFINITY - harness.INFINITY), "no_merit"
)
broken(Prefer, "runs", "asks for 'clock', which the node does not have")(
    lambda node, job: node.clock, "asks_the_node_for_the_time"
)


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
broken(Rate, "constant", "called once and called at every instant", constant=True)(
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


# ---------------------------------------------------------------- answers that are none


@broken(Order, "runs", "returns nothing, where a number was expected")
def forgets_to_return_a_score(job, clock):
    job.procs * 2.0


broken(Order, "runs", "where a number was expected")(lambda job, clock: (job.procs, job.submit), "scores_with_a_pair")
broken(Order, "runs", "returns a record, where a number was expected")(lambda job, clock: job, "scores_with_the_job")
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
