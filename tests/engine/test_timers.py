"""Who asks to be called again is called, whatever others ask."""

import numpy as np
import pandas as pd
import pytest

import harness
from harness import NodeType, Platform, Workload, plain


def jobs(*rows, **columns):
    """A workload of (submit, procs, work, estimate)."""
    submit, procs, work, estimate = (np.array(column, float) for column in zip(*rows, strict=True))
    frame = pd.DataFrame({"job": np.arange(1, len(rows) + 1), "submit": submit, "procs": procs.astype(int)})
    frame = frame.assign(work=work, estimate=estimate, memory=-1.0, user=-1, group=-1, queue=-1, partition=-1)
    return Workload("by hand", frame.assign(cancel=np.inf, killed=False).assign(**columns), None, "")


def half_speed_until_100(state):
    if state.clock.now < 100:
        if state.clock.now == 0:  # it asks once
            harness.call_again(state, 100.0)
        return 0.5
    return 1.0


def restless(state):
    if state.clock.now < 90:
        harness.call_again(state, state.clock.now + 7.0)


@pytest.mark.parametrize("as_plain_python", [False, True])
@pytest.mark.parametrize("start", ["none", "conservative"])
def test_one_policy_does_not_lose_the_timer_of_another(run, start, as_plain_python):
    """100 s of work: 50 of it in the first 100 s at half speed, the rest at full speed."""
    rate = harness.Rate("late", half_speed_until_100)
    for sleep in ("never", harness.Sleep("restless", restless)):
        outcome = run(jobs((0, 1, 100, 100)), plain(1), start=start, rate=rate, sleep=sleep, plain=as_plain_python)
        assert outcome.jobs.end[0] == 150


@pytest.mark.parametrize("start", ["none", "easy", "easy(reservations=2)", "conservative"])
def test_a_job_that_waits_for_its_partition_is_not_starved(run, start):
    """Partition 0 is idle, so that by number of processors the head of the queue always fits."""
    machine = Platform("two parts", (NodeType(8, 1), NodeType(4, 1, partition=1)))
    head = (1, 4, 10, 10)
    stream = [(k / 2, 1, 10, 10) for k in range(4, 200)]
    rows = [(0, 1, 10, 10), head, *stream]
    outcome = run(jobs(*rows, partition=1), machine, start=start)
    assert outcome.jobs.start[1] == 10


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"submit": np.nan}, "a finite submit time"),
        ({"procs": 0}, "at least one processor"),
        ({"work": -1.0}, "work, at least 0"),
        ({"estimate": 5.0}, "a finite estimate, at least its work"),
    ],
)
def test_jobs_that_cannot_be_are_refused(run, columns, rule):
    with pytest.raises(harness.HarnessError, match=f"job 1: expected .*{rule}"):
        run(jobs((0, 1, 10, 10), **columns), plain(1))
