"""Who may begin early, and what is left of nodes over time, as if everybody and every booking were looked at always."""

import numpy as np
import pytest
from shared.running import choose, in_log_order
from shared.strategies import workload

import harness
from harness.engine.plan import node_plan, node_reservations, node_timelines
from harness.engine.plan.node_plan import drop_departed, fits_beside, promise, start_beside
from harness.engine.prepare_run import prepare_run
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform

NEVER = float("inf")


def plainly(state):
    """Conservative backfilling by nodes in which everybody is asked at every instant, in so many words."""
    drop_departed(state)
    start_whoever_fits(state, False)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            promise(state, job)
    before = state.clock.started
    start_whoever_fits(state, True)
    while state.clock.started > before:  # he may have begun elsewhere than he was promised to
        before = state.clock.started
        start_whoever_fits(state, False)
    soonest = harness.INFINITY
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and not is_due(state, job):
            soonest = min(soonest, state.jobs[job].reserved)
    if soonest < harness.INFINITY:
        harness.call_again(state, harness.when(state, soonest))


@harness.jit
def start_whoever_fits(state, due):
    for job in harness.waiting(state):
        waits = state.jobs[job].status == harness.WAITING and state.jobs[job].reserved >= 0
        if waits and (is_due(state, job) or not due) and fits_beside(state, job):
            start_beside(state, job)


@harness.jit
def is_due(state, job):
    return not harness.when(state, state.jobs[job].reserved) > state.clock.now


def drawn(seed):
    """Some hundred jobs, many of them alike, that make a long queue on a few nodes; every other time some leave it."""
    dice = np.random.default_rng(seed)
    count = int(dice.integers(40, 300))
    kinds = int(dice.integers(2, 30))
    width = dice.choice((1, 1, 1, 2, 3, 6, 9, 14), kinds)
    estimate = dice.integers(1, int(dice.choice((6, 40, 300))), kinds)
    memory = dice.choice((-1.0, 1.0, 2.0, 3.0, 0.3), kinds)
    partition = dice.choice((-1, -1, -1, 0, 1), kinds)
    kind = np.repeat(dice.integers(0, kinds, count), dice.integers(1, 6, count))[:count]
    submit = np.cumsum(dice.choice((0, 0, 0, 1, 3), count))
    cancel = submit + np.where(dice.random(count) < 0.2 * (seed % 2), dice.integers(0, 60, count), NEVER)
    jobs = []
    for k, its in enumerate(kind):
        more = {"memory": float(memory[its]), "partition": int(partition[its]), "cancel": float(cancel[k])}
        work = int(dice.integers(1, estimate[its] + 1))
        jobs.append((int(submit[k]), int(width[its]), work, int(estimate[its]), more))
    jobs[0][4]["memory"] = 1.0
    nodes = [(int(dice.integers(1, 6)), float(dice.choice((4.0, 6.0, 9.0, NEVER))), int(k > 2)) for k in range(6)]
    nodes[0] = (nodes[0][0], 6.0, 0)
    return jobs, nodes


def machine(nodes):
    return Platform("bound", tuple(NodeType(1, c, float(c), memory, partition=p) for c, memory, p in nodes))


@pytest.mark.parametrize("order", ["fcfs", "spf", "wfp3"])
def test_nobody_is_forgotten_where_only_some_are_looked_at(order):
    slowly = harness.Start("plainly", plainly)
    for seed in range(40):
        jobs, nodes = drawn(seed)
        both = [
            in_log_order(simulate(workload(jobs), machine(nodes), choose(order=order, start=start)), "start").tolist()
            for start in ("conservative", slowly)
        ]
        assert repr(both[0]) == repr(both[1]), seed


def furnished(seed, entries):
    """A state with as many nodes as processors, three jobs that run for ever, and room for so many entries."""
    jobs, nodes = drawn(seed)
    ready = prepare_run(workload(jobs), machine(nodes), choose(), seed=0, plain=True, extras=Extras())
    state = ready.state
    kept = {name: getattr(state, name)[:entries] for name in ("step_time", "step_memory", "step_free")}
    return state._replace(**kept)


@pytest.mark.parametrize("entries", [10**6, 400])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_of_a_node_is_what_nobody_booked(seed, entries):
    """With little room for entries, they are written anew now and then."""
    state = furnished(seed, entries)
    dice = np.random.default_rng(seed)
    state.clock.next = len(state.jobs)
    node_plan.plan_nodes(state)
    for _ in range(40):
        job = int(dice.integers(0, 8))
        if state.near[job].booked >= 0:
            node_reservations.strike_out(state, job)
            continue
        begin, end = np.cumsum(dice.integers(1, (50, 30))).astype(float)
        for node in np.flatnonzero(dice.random(len(state.nodes)) < 0.5):
            node_reservations.book(state, job, node, int(dice.integers(1, 4)), begin, end)
        asking = int(dice.integers(8, len(state.jobs)))
        node = int(dice.integers(0, len(state.nodes)))
        begin, lasting = float(dice.integers(0, 60)), float(dice.integers(1, 25))
        held = [booking for job in range(8) for booking in booked(state, job, node)]
        alone = counted(state, held, asking, node, begin, lasting)
        assert node_timelines.left_along(state, asking, node, begin, begin + lasting, 0) == alone
        first = begin
        while counted(state, held, asking, node, first, lasting) == 0:
            first += 1.0
        assert node_timelines.one_along(state, asking, node, begin, lasting, NEVER) == first
        rise, left = node_timelines.look_along(state, asking, node, begin, begin + lasting)
        assert left == alone
        soon = np.arange(begin, min(rise, 90.0))
        assert all(counted(state, held, asking, node, time, lasting) <= alone for time in soon)


def booked(state, job, node):
    """When the job holds how much of the node: begin, end, cores, memory."""
    place = state.near[job].booked
    while place >= 0:
        its = state.bookings[place]
        if its.node == node:
            yield its.begin, its.end, its.cores, its.cores * state.jobs[job].memory
        place = its.along


def counted(state, held, job, node, begin, lasting):
    """What the job could have of the node, second by second."""
    least = NEVER
    each = state.jobs[job].memory
    for second in np.arange(begin, begin + lasting):
        there = [(cores, memory) for since, until, cores, memory in held if since <= second < until]
        free = state.nodes[node].cores - sum(cores for cores, _ in there)
        memory = state.nodes[node].memory - sum(memory for _, memory in there)
        least = min(least, free if each <= 0 or memory >= free * each else memory // each)
    return max(0, int(least))
