"""Holds that say which jobs are alike to them are asked once about those, and answer as if asked about everybody."""

import dataclasses

import numpy as np
import pytest
from held_jobs import ONE, TIMINGS, furnished, schedule, windows
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from shared.running import bundled
from shared.strategies import seeded_rows, workload

import harness
from harness.engine.prepare_run import prepare_run
from harness.engine.queue.holds import BY_GROUP
from harness.engine.setup import Extras
from harness.errors import HarnessError
from harness.platform.machine import plain
from harness.policy.scheduler import Scheduler

ALIKE = [
    "limits(user_jobs=1)",
    "limits(user_jobs=2, group_procs=4)",
    "limits(user_procs=3, queue_jobs=2)",
    "limits(group_nodes=2)",
    "limits(user_submitted=2)",
    "limits(partition_jobs=2, user_jobs=2)",
    "windows",
]


def singly(holds):
    """The same holds, without the word that jobs are alike to them: everybody is asked about."""
    return {
        name: dataclasses.replace(one, same_answer_for=()) if isinstance(one, harness.Hold) else one
        for name, one in holds.items()
    }


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 10**6),
    st.fixed_dictionaries(
        {
            "order": st.sampled_from(("fcfs", "lcfs", "spf", "wfp3", "fairshare(half_life=0)", "fairshare(of=group)")),
            "start": st.sampled_from(("none", "greedy", "easy", "easy(reservations=2)", "conservative", "preempt")),
            "rate": st.sampled_from(("full", "hysteresis(low=1, high=3, slow=0.5, fast=1)")),
            "sleep": st.sampled_from(("never", "timeout(idle=2)")),
        }
    ),
    st.sampled_from(TIMINGS),
    st.lists(st.sampled_from(ALIKE), min_size=1, max_size=2, unique=True),
    st.integers(1, 4),
)
@example(  # a rate changes how long nodes take to wake in virtual time, and held jobs give reservations back
    1,
    {
        "order": "fcfs",
        "start": "conservative",
        "rate": "hysteresis(low=1, high=3, slow=0.5, fast=1)",
        "sleep": "timeout(idle=2)",
    },
    TIMINGS[0],
    ["limits(user_jobs=1)", "windows"],
    2,
)
def test_asking_once_about_jobs_alike_answers_as_asking_about_everybody(seed, parts, timing, holds, users):
    made, procs = seeded_rows(seed)
    made = furnished([row for k in range(3) for row in made], seed)
    made = [(*row[:4], {**row[4], "user": row[4]["user"] % users}) for row in made]
    windowed = harness.Hold("windows", windows, rechecked_on=("time",), same_answer_for=("requested",))
    known = {**bundled()["hold_jobs"], "windows": windowed}
    hold = " + ".join(holds)
    together, apart = (schedule(made, procs, parts, hold, timing, one) for one in (known, singly(known)))
    for field in ("start", "end", "status", "energy", "preemptions"):
        np.testing.assert_array_equal(together[field], apart[field])


@pytest.mark.parametrize(
    ("scheduler", "by_group"),
    [
        ({"hold": "limits(user_jobs=1)", "start": "easy"}, True),
        ({"hold": "limits(user_jobs=1)", "start": "none", "order": "fairshare"}, True),
        ({"hold": "limits(user_jobs=1) + calendar(kth-sp2)"}, True),
        ({"hold": "limits(user_jobs=1)", "order": "wfp3"}, False),
        ({"hold": "limits(user_jobs=1)", "start": "conservative"}, False),
        ({"hold": "limits(user_submitted=1)"}, False),
        ({"hold": "limits(user_jobs=1) + begin"}, False),
        ({"hold": "limits(user_jobs=1)", "rate": "hysteresis(low=1, high=3, slow=0.5, fast=1)"}, False),
        ({"hold": "limits(user_jobs=1)", "select": "sees-the-queue"}, False),
    ],
)
def test_jobs_are_held_by_kin_where_nobody_can_tell(scheduler, by_group):
    sees = harness.Select("sees-the-queue", sees_the_queue)
    policies = {**bundled(), "select_resources": {**bundled()["select_resources"], sees.name: sees}}
    chosen = Scheduler(energy="none", **scheduler).choose(policies)
    ready = prepare_run(
        workload(furnished([(*row, {}) for row in ONE])), plain(2), chosen, seed=0, plain=False, extras=Extras()
    )
    assert bool(ready.state.hold_state.causes & BY_GROUP) is by_group


@harness.jit
def first_node(state, job):
    """Take what there is."""
    if len(harness.waiting(state)) > 0:
        for node in range(len(state.nodes)):
            harness.take(state, job, node, min(state.jobs[job].procs, harness.room(state, job, node)))
    return True


def sees_the_queue(state, job):
    """Look at who waits in a helper."""
    return first_node(state, job)


@pytest.mark.parametrize(
    ("traits", "sentence"),
    [
        ({"same_answer_for": ("usr",)}, "did you mean 'user'"),
        ({"same_answer_for": "user"}, "expected several out of"),
        ({"same_answer_for": ("user",), "memory": 1}, "its function names memory, in which they may differ"),
        ({"unless": ("most",)}, "unless="),
    ],
)
def test_what_cannot_be_alike_is_refused(traits, sentence):
    function = (lambda state, job, memory: 0.0) if "memory" in traits else (lambda state, job: 0.0)
    with pytest.raises(HarnessError, match=sentence):
        harness.Hold("odd", function, **traits)
