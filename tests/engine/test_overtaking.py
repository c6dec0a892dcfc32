"""Who may overtake is found in long queues as by looking through them."""

import numpy as np
import pytest
from crowds import crowd
from shared.running import choose

import harness
from harness.engine.queue.backfill_index import MANY
from harness.engine.simulate import simulate
from harness.platform.machine import plain
from harness.policy.spec import Choice


@harness.jit
def first_blocked(state):
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            return job
    return -1


@harness.jit
def now_and_then_requeue(state):
    """Let somebody begin anew, so that who stood in the trees before joins the queue again."""
    if state.clock.instants % 11 == 0 and state.clock.running > 1:
        harness.requeue(state, harness.running(state)[1])


def looking_through(state, backfill_order=None):
    """EASY in so many words: everybody who waits is looked at, at every instant."""
    now_and_then_requeue(state)
    head = first_blocked(state)
    if head < 0:
        return
    at, spare = harness.reservation(state, head)
    for job in harness.ranked(state, backfill_order):
        record = state.jobs[job]
        if job == head or record.status != harness.WAITING or not harness.fits(state, job):
            continue
        if not harness.later(state.clock.virtual + record.left, at):
            harness.start(state, job)
        elif record.procs <= spare and harness.start(state, job):
            spare -= record.procs


def asking(state, backfill_order=None):
    """The same, asking who is next."""
    now_and_then_requeue(state)
    head = first_blocked(state)
    if head < 0:
        return
    at, spare = harness.reservation(state, head)
    job = harness.next_overtaker(state, backfill_order, -1, at, spare)
    while job >= 0:
        if job != head and harness.start(state, job) and harness.later(state.clock.virtual + state.jobs[job].left, at):
            spare -= state.jobs[job].procs
        job = harness.next_overtaker(state, backfill_order, job, at, spare)


@pytest.mark.parametrize("second", ["", "spf", "lcfs", "sjf-width", "expansion"])
@pytest.mark.parametrize("order", ["fcfs", "saf", "wfp3"])
def test_the_same_overtake_as_if_everybody_were_looked_at(order, second):
    for seed in range(3):
        jobs = crowd(seed, 1200, 9)
        starts = []
        for rule in (looking_through, asking):
            policy = harness.Start("rule", rule, order="backfill_order", preemptive=True)
            chosen = choose(order=order, start=policy)
            if second:
                chosen["start"] = Choice(policy, {"backfill_order": second})
                chosen["second"] = choose(order=second)["order"]
            found = simulate(jobs, plain(9), chosen)
            starts.append(found.jobs.start)
        np.testing.assert_array_equal(*starts)
        if order == "fcfs":
            assert longest_queue(found.jobs) > 2 * MANY


def longest_queue(jobs):
    began = np.where(np.isnan(jobs.start), jobs.end, jobs.start)
    times = np.concatenate([jobs.submit, began])
    return np.cumsum(np.repeat([1, -1], len(jobs))[np.argsort(times, kind="stable")]).max()
