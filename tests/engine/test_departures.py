"""A job that leaves the queue gives its reservation back; no other reservation moves later because of it."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import bundled, choose, in_log_order
from shared.strategies import rows, workload

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, SleepState
from harness.policy.scheduler import Scheduler
from harness.workload.events import Events

both_ways = pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "plain"])

NAP = SleepState("nap", 5.0, down=1.0, up=2.0)
#: What makes plans by numbers of processors, by nodes, and with time for nodes to wake.
MACHINES = {
    "counts": {},
    "nodes": {"memory": 8.0},
    "sleep": {"sleep": (NAP,)},
    "nodes that sleep": {"memory": 8.0, "sleep": (NAP,)},
}


def starts(made, procs, machine="counts", events=(), *, by_python=False, **parts):
    """When each job started; None where it never did."""
    node = NodeType(procs, 1, idle=50.0, peak=150.0, **MACHINES[machine])
    if "memory" in MACHINES[machine]:
        made = [(*row[:4], {"memory": 1.0} | (row[4] if len(row) > 4 else {})) for row in made]
    if "sleep" in MACHINES[machine]:
        parts = {"sleep": "timeout(idle=2)"} | parts
    extras = Extras(Events(pd.DataFrame(events, columns=["time", "event", "subject"]), "kill"))
    chosen = parts.pop("chosen", None) or choose(**parts)
    outcome = simulate(workload(made), Platform(machine, (node,)), chosen, plain=by_python, extras=extras)
    return [None if np.isnan(start) else start for start in in_log_order(outcome, "start")]


#: Under spf, the third and the fourth job are promised 16 and 22.
JOBS = [(0, 1, 15, 15), (1, 1, 1, 1), (1, 1, 6, 6), (2, 1, 4, 4)]


@both_ways
@pytest.mark.parametrize("machine", ["counts", "nodes"])
def test_a_deleted_job_moves_no_reservation_later(machine, by_python):
    deleted = starts(JOBS, 1, machine, [(12, "job-deleted", 2)], by_python=by_python, order="spf", start="conservative")
    assert deleted == [0, None, 15, 22 if machine == "counts" else 21]


@both_ways
@pytest.mark.parametrize("machine", ["counts", "nodes"])
def test_a_killed_job_moves_no_reservation_later(machine, by_python):
    """At 12 s the running job is killed, as if it ended early: in queue order, each job moves to its earliest start."""
    killed = starts(JOBS, 1, machine, [(12, "job-killed", 1)], by_python=by_python, order="spf", start="conservative")
    early = starts([(0, 1, 12, 15), *JOBS[1:]], 1, machine, by_python=by_python, order="spf", start="conservative")
    assert killed == early
    assert killed[1:] <= [15, 16, 22]


def held_from(state, job, begin=12.0, end=30.0):
    """Hold the second job from `begin` until `end`."""
    here = begin <= state.clock.now < end
    return end if state.jobs[job].number == 2 and here else state.clock.now


@both_ways
@pytest.mark.parametrize("machine", ["counts", "nodes"])
def test_a_job_that_comes_to_be_held_moves_no_reservation_later(machine, by_python):
    """The second job is held from 12 s until 30 s and gets a new reservation then."""
    hold = harness.Hold("held-from", held_from, rechecked_on=("time",))
    policies = {**bundled(), "hold_jobs": {**bundled()["hold_jobs"], "held-from": hold}}
    chosen = Scheduler(order="spf", start="conservative", energy="none", hold="held-from").choose(policies)
    made = [*JOBS, (12, 1, 9, 9)]
    expected = [0, 35, 15, 22, 26] if machine == "counts" else [0, 34, 15, 21, 25]
    assert starts(made, 1, machine, by_python=by_python, chosen=dict(chosen)) == expected


@both_ways
@pytest.mark.parametrize("machine", ["counts", "nodes"])
def test_a_start_that_makes_a_job_held_moves_no_reservation_later(machine, by_python):
    """The start of the fourth job at 3 s makes the second one held, of the same user; the third one was promised 16 s,
    and now gets 15 s. The fifth one is shorter and stays behind it."""
    made = [(0, 1, 15, 15), (1, 2, 1, 1), (1, 2, 6, 6), (3, 1, 2, 2), (2, 2, 4, 4)]
    made = [(*row, {"user": user}) for row, user in zip(made, (1, 2, 3, 2, 4), strict=True)]
    found = starts(made, 2, machine, by_python=by_python, order="spf", start="conservative", hold="limits(user_jobs=1)")
    assert found[2] <= 16
    assert found[3] == 3


@pytest.mark.parametrize("machine", MACHINES)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    rows(4, most=8),
    st.integers(1, 8),
    st.integers(0, 30),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from(("none", "greedy", "easy", "easy(reservations=2)", "conservative")),
)
def test_a_deletion_is_what_an_end_of_patience_is(machine, made, number, time, order, start):
    number = min(number, len(made))
    time = max(time, made[number - 1][0])
    deleted = starts(made, 4, machine, [(time, "job-deleted", number)], order=order, start=start)
    made[number - 1] = (*made[number - 1][:4], {"cancel": time if time > made[number - 1][0] else math.inf})
    if time > made[number - 1][0]:
        assert deleted == starts(made, 4, machine, order=order, start=start)
