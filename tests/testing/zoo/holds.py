"""Holds that break the rules of their hook."""

import math

from zoo_keeping import cage

import harness
from harness import Hold

broken = cage(globals())


APART = r"the answer is .* for job \d+ and .* for job \d+"


@broken(Hold, "runs", "holds job 1 until nan s, where a time was expected, or infinity")
def holds_until_no_time(state, job):
    return harness.INFINITY - harness.INFINITY * state.jobs[job].procs


@broken(Hold, "runs", "returns True or False, where a time was expected")
def says_whether_and_not_until_when(state, job):
    return state.clock.now < 5.0


@broken(Hold, "runs", "a million times in a row and let nobody go")
def asks_again_for_ever(state, job):
    return state.clock.now + 1.0


@broken(Hold, "rechecked_on", "starts at .* although it is held then", rechecked_on=())
def closes_again_and_does_not_say_so(state, job):
    within = state.clock.now % 8.0
    return state.clock.now if within < 2.0 else state.clock.now + 8.0 - within


@broken(Hold, "rechecked_on", "only time may make it hold a job again", rechecked_on=("time",))
def counts_the_running_and_does_not_say_so(state, job):
    return harness.INFINITY if len(harness.running(state)) > 0 else state.clock.now


@broken(Hold, "rechecked_on", "only nothing may make it hold a job again", rechecked_on=())
def lets_a_user_have_one_job_and_does_not_say_so(state, job, user):
    return harness.INFINITY if user.running > 0 else state.clock.now


@broken(Hold, "released_on", "although the hold would release it")
def waits_for_another_of_the_user_and_does_not_say_so(state, job, user):
    return harness.INFINITY if user.running == 0 and job % 2 else state.clock.now


@broken(Hold, "released_on", "although the hold would release it", compiled=False)
def names_no_time_for_what_time_brings(state, job):
    return math.inf if state.clock.now % 6.0 < 2.0 else 0.0


@broken(Hold, "released_on", "although the hold would release it")
def waits_for_starts_and_does_not_say_so(state, job):
    return harness.INFINITY if len(harness.running(state)) == 0 and job % 2 else state.clock.now


@broken(Hold, "runs", "calls harness.start, which only policies of start_jobs may call", compiled=False)
def starts_what_it_holds(state, job):
    return harness.start(state, job)


@broken(Hold, "runs", "changed 'status' of a record")
def marks_who_is_held(state, job):
    state.jobs[job].status = harness.HELD
    return state.clock.now


@broken(Hold, "runs", "used an index that state.jobs does not have")
def knows_who_will_come(state, job):
    return state.jobs[job + 1].submit


@broken(
    Hold,
    "same_answer_for",
    APART,
    rechecked_on=("starts",),
    same_answer_for=("user",),
)
def calls_the_wide_and_the_narrow_alike(state, job):
    wide = state.jobs[job].procs > 1 and len(harness.running(state)) > 0
    return harness.INFINITY if wide else state.clock.now


@broken(
    Hold,
    "same_answer_for",
    APART,
    rechecked_on=("starts",),
    same_answer_for=("user",),
)
def lets_them_go_one_by_one_and_does_not_say_so(state, job):
    waits = state.jobs[job].status == harness.WAITING
    return harness.INFINITY if not waits and state.clock.queued > 0 and len(harness.running(state)) > 0 else 0.0
