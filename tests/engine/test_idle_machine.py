"""Nobody waits on an idle machine who may be considered and could run on it, however instants are read."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import rows, workload

from harness import NodeType, Platform
from harness.engine.records.public import COMPLETED
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.policy.timing import DecisionTiming

STARTS = ("none", "greedy", "easy", "easy(reservations=2)", "easy(backfill_order=spf)", "conservative")

#: Nodes of two cores, and the same where some jobs share theirs with nobody, so that plans name nodes.
NODES = st.integers(1, 3).map(lambda count: Platform("some", (NodeType(count, 2),)))


@st.composite
def cases(draw):
    platform = draw(NODES)
    some = st.sampled_from((-1.0, -1.0, 3.0, 11.0, 30.0))
    alone = draw(st.booleans())
    made = []
    for row in draw(rows(platform.cores, most=7)):
        more = {"x_begin": draw(some), "user": draw(st.integers(0, 1)), "group": draw(st.integers(0, 1))}
        if alone:
            more["exclusive"] = draw(st.integers(0, 1))
        made.append((*row[:4], more))
    return workload(made), platform


def idle(outcome, begin):
    """When the machine was idle while a job that could run waited: (job, since, until)."""
    jobs = outcome.jobs[outcome.jobs.status == COMPLETED]
    for job in jobs:
        since = max(job.submit, begin[job.index])
        for other in sorted(jobs, key=lambda one: one.start):
            if other.start > since:
                break
            since = max(since, other.end)
        if since < job.start:
            return int(job.number), float(since), float(job.start)
    return None


@settings(max_examples=200, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    cases(),
    st.sampled_from(STARTS),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from(("none", "begin", "limits(user_jobs=1)", "begin + limits(group_jobs=1)")),
    st.sampled_from(("batch", "per-event", "per-event-completions-first")),
)
def test_nobody_waits_on_an_idle_machine(case, start, order, hold, instants):
    jobs, platform = case
    extras = Extras(timing=DecisionTiming(instants))
    outcome = simulate(jobs, platform, choose(start=start, order=order, hold=hold), extras=extras)
    begin = jobs.jobs["x_begin"].to_numpy()[outcome.place] if "begin" in hold else [-1.0] * len(jobs)
    assert idle(outcome, begin) is None
    assert (outcome.jobs.status == COMPLETED).all()


@pytest.mark.parametrize("instants", ["batch", "per-event", "per-event-completions-first"])
@pytest.mark.parametrize("start", STARTS)
def test_who_is_let_go_at_a_time_begins_beside_others(start, instants):
    """The narrow job may begin at 11, when the wide one that came after it has run for a while."""
    jobs = workload([(0, 2, 5, 5, {"x_begin": 11.0}), (1, 8, 100, 100, {"x_begin": -1.0})])
    extras = Extras(timing=DecisionTiming(instants))
    outcome = simulate(jobs, Platform("ten", (NodeType(10, 1),)), choose(start=start, hold="begin"), extras=extras)
    assert outcome.jobs.start.tolist() == [11.0, 1.0]


def test_who_has_given_way_is_in_no_plan_any_more():
    """Where a job ends as believed, its processors are taken over before it leaves; all is planned anew meanwhile."""
    made = [(0, 2, 6, 6, 0, 1), (3, 3, 8, 8, 1, -1), (6, 3, 5, 5, 1, 1), (6, 1, 3, 3, 0, 1)]
    jobs = workload([(*job[:4], {"group": job[4], "exclusive": job[5]}) for job in made])
    extras = Extras(timing=DecisionTiming("per-event"))
    chosen = choose(start="easy", hold="limits(group_jobs=1)")
    outcome = simulate(jobs, Platform("two", (NodeType(2, 2),)), chosen, extras=extras)
    assert outcome.jobs.start.tolist() == [0.0, 6.0, 14.0, 19.0]
