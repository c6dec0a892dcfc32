"""Policies that are not what they say of themselves; such as learn, wrap or predict wrongly. A plugin file like any."""

import math
import os
import time

import numpy as np
from zoo_keeping import cage, greedily, start_what_fits

import harness
from harness import Order, Predict, Rate, Select, Start

broken = cage(globals())

# ---------------------------------------------------------------- what policies say about themselves

broken(Order, "varies", r"reads clock\.now, and without varies=True it is computed once")(
    lambda job, clock: job.submit if clock.now < job.submit + 25.0 else -job.procs * clock.now, "varies_after_a_while"
)
broken(Order, "varies=True", "declares varies=True, and no waiting job's score changed in the generated", varies=True)(
    lambda job, clock: job.submit, "varies_in_name_only"
)
broken(Order, "coins", "has the argument dice, and no seed ever changed a schedule")(
    lambda job, clock, dice: job.submit, "has_dice_and_does_not_throw_them"
)


@broken(Order, "coins", "has the argument dice, and no seed ever changed a schedule")
def throws_dice_for_nothing(job, clock, dice):
    harness.uniform(dice)
    return job.submit


broken(Start, "preemptive=True", "declares preemptive=True, and no job was ever suspended", preemptive=True)(
    lambda state: greedily(state), "suspends_in_name_only"
)
broken(Rate, "constant", "called once and called at every instant", constant=True)(
    lambda state: 0.5 if state.clock.queued > 8 else 1.0, "changes_its_mind_in_a_crowd"
)


@broken(Start, "nobody overtakes", r"job \d+ starts although job \d+ is ahead of it", guarantees=("nobody overtakes",))
def overtakes_in_a_crowd(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.queued < 9:
            return


@broken(Start, "first reservation", r"job \d+ had a reservation", guarantees=("first reservation",))
def breaks_its_promise_in_a_crowd(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.queued < 9:
            return


@broken(Start, "first starts if it fits", r"job \d+, which is first and fits", guarantees=("first starts if it fits",))
def begins_with_the_last(state):
    for job in harness.waiting(state)[::-1]:
        if harness.fits(state, job):
            harness.start(state, job)


broken(Order, "same_answer_for", r"the answer is .* for job \d+ and .* for job \d+", same_answer_for=("user",))(
    lambda job, clock: job.procs, "tells_apart_whom_it_calls_alike"
)
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


# ---------------------------------------------------------------- slow


@broken(Order, "pace", "it is slow: .* ms for each call", compiled=False)
def asks_a_slow_model(job, clock):
    time.sleep(0.02)
    return job.submit


@broken(Order, "pace", "it is slow: .* ms for each call")
def computes_for_long(job, clock):
    total = job.submit
    for step in range(30_000_000):
        total = (total * 1.0000001 + step) % 1000.0
    return total


@broken(Start, "pace", "it is slow: .* ms for each call", compiled=False)
def thinks_before_it_starts(state):
    time.sleep(0.02)
    start_what_fits(state)


# ---------------------------------------------------------------- learning, wrapping, taking off


def learns_in_vain(state, memory):
    memory[0] += 1.0


broken(Order, "learn", "its learning never changed a schedule", memory=1, learn=learns_in_vain, compiled=False)(
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


broken(Start, "rejects=True", "declares rejects=True, and rejects no job", compiled=False, rejects=True)(
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


broken(Order, "varies", "does not declare varies=True", compiled=False)(
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
