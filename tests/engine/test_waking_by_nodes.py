"""Where nodes sleep, plans that name processors agree with a slow and obvious simulator; who molds keeps promises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moldable_jobs import cases, moldable
from requesting_jobs import NODES, asking, machine, made
from shared.running import choose, in_log_order
from sleeping_platforms import machine as sleepy
from sleeping_platforms import sleepers
from slow_nodes_waking import STARTS
from slow_nodes_waking import simulate as slowly

import harness
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, SleepState
from harness.testing.subject import add_recorders


def quickly(jobs, nodes, order, start, idle, down, up, licences=0, windows=()):
    """(start, service begins) of each job, on nodes as `slow_nodes` has them."""
    nap = SleepState("off", 1.0, down=float(down), up=float(up))
    alone = [NodeType(1, one[0], float(one[0]), one[1], partition=one[2]) for one in nodes if len(one) == 3]
    platform = Platform("bound", tuple(alone)) if alone else machine(nodes, licences, windows)
    types = tuple(replace(one, idle=50.0, peak=150.0, sleep=(nap,)) for one in platform.types)
    chosen = choose(order=order, start=start, sleep=f"timeout(idle={idle})", energy="cores")
    outcome = simulate(made(jobs), replace(platform, types=types), chosen)
    starts, boots = in_log_order(outcome, "start"), in_log_order(outcome, "boot")
    return [(None, None) if np.isnan(s) else (s, s + b) for s, b in zip(starts, boots, strict=True)]


@st.composite
def binding(draw):
    """Nodes, jobs that ask for this and that, licences, windows; something binds."""
    nodes = draw(NODES)
    if len({partitions for _, _, partitions, *_ in nodes}) == 1:
        nodes = [(cores, memory, (0, 1), *more) for cores, memory, _, *more in nodes]
    nodes[0] = (*nodes[0][:3], nodes[0][3] | 1, nodes[0][4])
    jobs = draw(asking(sum(cores for cores, *_ in nodes), most=8))
    jobs[0][4]["features"] = 1
    jobs = [(*job[:4], job[4] | {"user": draw(st.integers(0, 2))}) for job in jobs]
    some = st.sets(st.integers(0, len(nodes) - 1), min_size=1).map(lambda found: tuple(sorted(found)))
    window = st.tuples(st.integers(0, 20), st.integers(1, 12), some, st.sampled_from(((), (0,), (1, 2))))
    drawn = draw(st.lists(window, max_size=1))
    return jobs, nodes, draw(st.integers(0, 2)), [(begin, begin + length, *rest) for begin, length, *rest in drawn]


TIMES = st.tuples(st.sampled_from((0, 0, 2)), st.sampled_from((0, 2)), st.sampled_from((3, 10)))


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(binding(), TIMES, st.sampled_from(("fcfs", "spf", "lcfs")), st.sampled_from(list(STARTS)))
def test_plans_of_nodes_agree_with_the_obvious_simulator(case, times, order, start):
    jobs, nodes, licences, windows = case
    expected = slowly(jobs, nodes, order, start, *times, licences, windows)
    assert quickly(jobs, nodes, order, start, *times, licences, windows) == expected


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(sleepers(), st.sampled_from(("fcfs", "spf", "lcfs")), st.sampled_from(list(STARTS)))
def test_plans_of_nodes_agree_where_waking_matters(case, order, start):
    """One partition has all nodes but the first, and some jobs ask for it."""
    rows, cores, *times = case
    nodes = [(one, np.inf, (0,) if k == 0 else (0, 1), 0, 0) for k, one in enumerate(cores)]
    wide = sum(cores) - cores[0]
    jobs = [(*row[:4], UNASKED | {"partition": 1 if k % 2 and row[1] <= wide else -1}) for k, row in enumerate(rows)]
    jobs[1] = (*jobs[1][:1], 1, *jobs[1][2:4], UNASKED | {"partition": 1})
    assert quickly(jobs, nodes, order, start, *times) == slowly(jobs, nodes, order, start, *times)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    sleepers(),
    st.lists(st.sampled_from((np.inf, 4.0, 8.0)), min_size=8, max_size=8),
    st.lists(st.tuples(st.sampled_from((-1.0, 1.0, 2.0)), st.sampled_from((-1, 0, 1))), min_size=40, max_size=40),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from(list(STARTS)),
)
def test_plans_of_nodes_agree_where_memory_and_partitions_alone_bind(case, memories, asked, order, start):
    """Each node has one partition, so that what is left of it is known over time; a job's own promise is its own."""
    rows, cores, *times = case
    nodes = [(one, memories[k % 8], k % 2) for k, one in enumerate(cores)]
    jobs = []
    for k, row in enumerate(rows):
        memory, partition = asked[k % 40]
        jobs.append((*row[:4], UNASKED | {"memory": memory, "partition": partition if len(nodes) > 1 else -1}))
    assert quickly(jobs, nodes, order, start, *times) == slowly(jobs, nodes, order, start, *times)


#: What jobs have that ask for nothing.
UNASKED = {"memory": -1.0, "partition": -1, "cancel": np.inf}


# ---------------------------------------------------------------- where jobs may mold


@pytest.mark.parametrize("start", ["easy", "easy(reservations=2)", "conservative"])
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(cases(), st.sampled_from((0, 20)), st.sampled_from((0, 30)), st.sampled_from((30, 100)))
def test_promises_to_moldable_jobs_are_kept(start, case, idle, down, up):
    """That of EASY to the first, for its least width, and those of conservative to everybody."""
    rows, procs = case
    chosen = choose(start=start, sleep=f"timeout(idle={idle})", energy="cores")
    chosen["start"] = replace(chosen["start"], policy=chosen["start"].policy.instead("molding"))
    promised = {}

    def after(answer, state, *own):
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status != harness.WAITING:
                continue
            at = job.reserved if start == "conservative" else harness.reservation(state, index)[0]
            if start == "conservative" or job.procs == harness.narrowest(state, index):
                assert at <= promised.get(int(job.number), np.inf) + 1e-6
                promised[int(job.number)] = float(at)
            if start != "conservative":
                return

    add_recorders(chosen, "start", after=after)
    outcome = simulate(moldable(rows), sleepy([1] * procs, down, up), chosen, plain=True)
    begins = in_log_order(outcome, "start")
    for number, at in promised.items():
        assert begins[number - 1] <= at + 1e-6


def test_who_molds_leaves_time_to_wake():
    """The third would be done by 20 on nodes that are awake; the other one takes 10 s to wake."""
    rows = [(0, 1, 20, 20, 1, 1), (1, 2, 5, 5, 2, 2), (2, 1, 18, 18, 1, 1), (30, 1, 60, 60, 1, 2)]
    for start in ("easy", "conservative"):
        chosen = choose(start=start, sleep="timeout(idle=0)", energy="cores")
        outcome = simulate(moldable(rows), sleepy([1, 1], 0, 10), chosen)
        assert list(in_log_order(outcome, "start"))[:3] == [0, 20, 35]
