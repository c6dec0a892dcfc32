"""What falls on one instant happens in its order: each step has a case that comes out otherwise if it moves."""

import pandas as pd
import pytest
from shared.running import choose
from shared.strategies import POWER, workload

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, SleepState, plain
from harness.workload.events import Events

#: Takes five seconds to wake and none to fall asleep.
SLEEPER = Platform("sleeper", (NodeType(2, 1, **POWER, sleep=(SleepState("off", 0.0, up=5.0, up_energy=500.0),)),))


#: What makes a run need another loop than the usual one, and changes nothing.
LOOPS = {
    "usual": {},
    "with readings": {"predict": harness.Predict("as-requested", lambda job, user, clock: job.requested)},
    "with holds": {"hold": harness.Hold("open", lambda state, job: state.clock.now, rechecked_on=("time",))},
}


@pytest.fixture(params=LOOPS)
def replay(request):
    """The outcome in one of the loops; `events` are (time, event, subject)."""

    def replay(jobs, platform, *events, **parts):
        table = pd.DataFrame(events, columns=["time", "event", "subject"])
        chosen = choose(**LOOPS[request.param], **parts)
        return simulate(workload(jobs), platform, chosen, extras=Extras(Events(table, "kill")))

    return replay


def watched(seen):
    """EASY in its simplest form, which notes how many jobs ended at every instant at which it is asked."""

    def watch(state):
        seen.append((float(state.clock.now), int(state.clock.completed)))
        for job in harness.waiting(state):
            if harness.fits(state, job):
                harness.start(state, job)

    return harness.Start("watch", watch, compiled=False)


def sleeps_at_once(state):
    for node in range(len(state.nodes)):
        if state.nodes[node].status == harness.AWAKE and state.nodes[node].free == state.nodes[node].cores:
            harness.put_to_sleep(state, node)


SLEEPY = harness.Sleep("sleepy", sleeps_at_once)


def test_completions_come_before_nodes_awake(replay):
    """A job of no work whose node awakes as another ends is over at an instant of its own, right after."""
    seen = []
    replay([(0, 1, 11, 11), (6, 1, 0, 0)], SLEEPER, start=watched(seen), sleep=SLEEPY)
    assert [entry for entry in seen if entry[1]] == [(11, 1), (11, 1)]


def test_nodes_awake_before_events(replay):
    """A job whose node awakes as it is killed was in service: the end of its estimate had been set anew, at the rate
    that had fallen to a half at 3."""
    jobs = [(0, 1, 20, 20), (1, 1, 5, 5), (3, 1, 1, 1)]
    outcome = replay(jobs, SLEEPER, (6, "job-killed", 2), sleep=SLEEPY, rate=harness.Rate("slows", slow_from_three))
    assert outcome.jobs.status[1] == harness.KILLED
    assert outcome.jobs.planned[1] == 4.5 + 5


def test_completions_come_before_events(replay):
    """A job that ends as its node fails has ended."""
    outcome = replay([(0, 1, 5, 5)], plain(1), (5, "node-down", 0))
    assert outcome.jobs.status[0] == harness.COMPLETED


def test_events_come_before_cancellations(replay):
    """A job that is deleted as its patience ends was deleted: the event found something to change."""
    outcome = replay([(0, 1, 9, 9), (1, 1, 5, 5, {"cancel": 4})], plain(1), (4, "job-deleted", 2))
    assert outcome.jobs.status[1] == harness.CANCELLED
    assert outcome.sums.ignored_events == 0


def as_many_as_wait(job, clock):
    return float(clock.queued)


def test_cancellations_come_before_arrivals(replay):
    """Who arrives as another gives up finds one fewer waiting."""
    jobs = [(0, 1, 9, 9), (1, 1, 5, 5, {"cancel": 4}), (4, 1, 5, 5)]
    outcome = replay(jobs, plain(1), order=harness.Order("as-many", as_many_as_wait))
    assert outcome.jobs.score[2] == 0


def what_it_learnt(job, clock, memory):
    return memory[0]


def how_many_wait(state, memory):
    memory[0] = state.clock.queued
    memory[1] = state.clock.completed


def test_learning_comes_after_what_happened_and_before_arrivals(replay):
    """At 4, when somebody gives up and another arrives, nobody waits; the newcomer is scored by that."""
    jobs = [(0, 1, 9, 9), (1, 1, 5, 5, {"cancel": 4}), (2, 1, 5, 5), (4, 1, 5, 5)]
    order = harness.Order("learnt", what_it_learnt, memory=2, learn=how_many_wait)
    assert replay(jobs, plain(1), order=order).jobs.score.tolist() == [0, 0, 1, 1]


def how_many_ended(job, clock, memory):
    return memory[1]


def test_learning_comes_after_completions(replay):
    order = harness.Order("ended", how_many_ended, memory=2, learn=how_many_wait)
    jobs = [(0, 1, 4, 4), (0, 1, 9, 9), (4, 1, 5, 5), (5, 1, 5, 5)]
    assert replay(jobs, plain(2), order=order).jobs.score.tolist() == [0, 0, 1, 0]


def last_if_slow(job, clock):
    return -job.submit if clock.rate < 1 else job.submit


def test_the_rate_comes_before_the_order(replay):
    jobs = [(0, 1, 4, 4), (1, 1, 4, 4), (2, 1, 4, 4)]
    order = harness.Order("last-if-slow", last_if_slow, varies=True)
    outcome = replay(jobs, plain(1), order=order, start="none", rate=harness.Rate("slows", slow_from_three))
    assert outcome.jobs.start[2] == 4  # at 4 the rate falls, and the last one is the first


def slow_from_three(state):
    return 0.5 if state.clock.now >= 3 else 1.0


def longest_from_three(job, clock):
    return -job.estimate if clock.now >= 3 else job.estimate


def test_the_order_comes_before_the_starts(replay):
    jobs = [(0, 1, 4, 4), (1, 1, 1, 1), (1, 1, 9, 9)]
    outcome = replay(jobs, plain(1), order=harness.Order("longest-late", longest_from_three, varies=True), start="none")
    assert outcome.jobs.start.tolist() == [0, 13, 4]


def test_the_starts_come_before_the_sleep(replay):
    """A node that is to sleep as a job arrives serves the job, which does not wait for it to awake again."""
    outcome = replay([(0, 1, 5, 5), (5, 1, 5, 5)], SLEEPER, sleep=SLEEPY)
    assert outcome.jobs.boot.tolist() == [0, 0]
