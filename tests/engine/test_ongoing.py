"""The plan of the running jobs: in order, complete, however many run and in whatever order they come and go."""

import numpy as np
import pytest
from shared.running import choose
from shared.strategies import workload

import harness
from harness.engine.running_jobs import SHELF, most_shelves
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform


@harness.jit
def wrong(state):
    """Whether the jobs in service are not those that run, each once, by planned end, then index."""
    listed = harness.running(state)
    if len(listed) != state.clock.running:
        return True
    for k in range(len(listed)):
        record = state.jobs[listed[k]]
        if record.status != harness.RUNNING:
            return True
        if k > 0:
            before = state.jobs[listed[k - 1]]
            if before.planned > record.planned or (before.planned == record.planned and before.index >= record.index):
                return True
    count = 0
    for record in state.jobs:
        count += record.status == harness.RUNNING
    return count != len(listed)


def looked_after(state):
    """Start whatever fits, and stop the run if the plan is wrong, before or after."""
    if wrong(state):
        harness.start(state, -1)
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    if wrong(state):
        harness.start(state, -1)


CHECKED = harness.Start("looked-after", looked_after)


@pytest.mark.parametrize("seed", range(3))
def test_the_plan_is_in_order_while_many_come_and_go(seed):
    """Two waves of jobs, more than stand on some shelves, and few between them; some alike, some wider."""
    dice = np.random.default_rng(seed)
    rows, now = [], 0
    for wave in range(2):
        for _ in range(6 * SHELF):
            now += int(dice.choice((0, 0, 0, 1)))
            work = int(dice.choice((5, 400, 900))) + int(dice.integers(0, 40)) * wave
            rows.append((now, int(dice.choice((1, 1, 1, 5))), work, work + int(dice.choice((0, 3)))))
        now += 3000
    outcome = simulate(workload(rows), Platform("many", (NodeType(900, 2),)), choose(start=CHECKED))
    assert (outcome.jobs.status == harness.COMPLETED).all()
    assert outcome.notes.shelves == 0


def test_most_running_at_once_stand_on_several_shelves():
    rows = [(0, 1, 1000 - k % 7, 1000 - k % 7) for k in range(5 * SHELF)]
    outcome = simulate(workload(rows), Platform("many", (NodeType(5 * SHELF, 1),)), choose(start=CHECKED))
    assert (outcome.jobs.start == 0).all()


@pytest.mark.parametrize("jobs", [1, 2, SHELF, 10 * SHELF, 1_000_003])
def test_there_are_shelves_enough(jobs):
    """On two that are neighbours stand more than half as many jobs as on one that is full."""
    pairs = (most_shelves(jobs) - 1) // 2
    assert pairs * (SHELF // 2 + 1) >= jobs - SHELF // 2
