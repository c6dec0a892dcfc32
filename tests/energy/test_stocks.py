"""Nodes alike are found without looking at every node: what is found is what looking at every node would find."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay import cases, replay
from shared.running import bundled, choose
from shared.strategies import workload

import harness
from harness import NodeType, Platform, SleepState
from harness.engine.policy_analysis import judges_by_stock
from harness.engine.prepare_run import prepare_run
from harness.engine.resources import node_classes
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError

# ---------------------------------------------------------------- bits


@given(st.integers(1, 40_000), st.lists(st.integers(0, 10**6), max_size=60), st.data())
def test_bits_are_a_set_of_numbers(size, numbers, data):
    before = data.draw(st.integers(0, 40))  # words of others, which nothing may touch
    count = node_classes.words_for(size)
    state = SimpleNamespace(words=np.full(before + count + 7, 5))
    state.words[before : before + count] = 0
    kept = set()
    for number in numbers:
        bit = number % size
        if bit in kept and number % 3:
            node_classes.clear_bit(state, before, size, bit)
            kept.remove(bit)
        else:
            node_classes.set_bit(state, before, size, bit)
            kept.add(bit)
        since = number * 7919 % (size + 1)
        expected = min((one for one in kept if one >= since), default=-1)
        assert node_classes.bit_from(state, before, size, since) == expected
    assert (state.words[:before] == 5).all()
    assert (state.words[before + count :] == 5).all()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 1024, 1025, 33_000])
def test_all_bits_at_once_are_those_set_one_by_one(size):
    at_once = np.zeros(node_classes.words_for(size) + 1, np.int64)
    node_classes.write_all(at_once, size)
    state = SimpleNamespace(words=np.zeros_like(at_once))
    for bit in range(size):
        node_classes.set_bit(state, 0, size, bit)
    assert at_once.tolist() == state.words.tolist()


# ---------------------------------------------------------------- who is alike


@harness.jit
def way(record):
    """What a node does when it is not awake, as a number; 0 if it is."""
    if record.status == harness.AWAKE:
        return 0
    return 1 + 10 * record.depth + record.status + 5 * (record.status == harness.FALLING and record.wanted)


@harness.jit
def same(one, other):
    """Whether two nodes are alike."""
    return one.type == other.type and one.free == other.free and way(one) == way(other)


@harness.jit
def count_wrong(state):
    """Return in how many ways what is known of nodes alike is not what looking at all of them finds."""
    found = harness.unlike(state).copy()
    wrong = 0
    listed = 0
    for node in range(len(state.nodes)):
        record = state.nodes[node]
        available = record.free > 0 and record.status != harness.DOWN
        count = 0
        lowest = len(state.nodes)
        for other in range(len(state.nodes)):
            if available and same(record, state.nodes[other]):
                count += 1
                lowest = min(lowest, other)
        wrong += harness.count_alike(state, node) != count
        is_listed = 0
        for one in found:
            is_listed += one == node
        wrong += is_listed != (available and lowest == node)
        listed += is_listed
    return wrong + (listed != len(found))


def looking(state, idle=1.0):
    """Nodes sleep that have been idle for so long, some are woken for nothing; stop the run if anything is wrong."""
    if count_wrong(state) > 0:
        harness.put_to_sleep(state, -1)
    for node in range(len(state.nodes)):
        record = state.nodes[node]
        if record.status == harness.AWAKE and record.free == record.cores and record.depths > 0:
            harness.put_to_sleep(state, node, record.depths - 1)
    if state.clock.running > 0:  # else the run would go on for as long as somebody waits for a node that stays down
        harness.wake(state, state.clock.instants % len(state.nodes))
    if count_wrong(state) > 0:
        harness.put_to_sleep(state, -1)


LOOKING = harness.Sleep("looking", looking)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(cases(happen=True, sleep=True))
def test_who_is_alike_is_who_looking_finds(case):
    jobs, platform, rest = case
    replay(jobs, platform, **(rest | {"sleep": LOOKING}))


def test_stocks_are_kept_only_where_somebody_asks():
    platform = Platform("four", (NodeType(4, 2, idle=1.0, peak=2.0),))
    jobs = workload([(0, 1, 1, 1)])
    for parts, kept in (
        ({}, False),
        ({"select": "best-fit"}, True),
        ({"select": "whole-nodes"}, False),
        ({"sleep": LOOKING}, True),
    ):
        ready = prepare_run(jobs, platform, choose(**parts), seed=0, plain=False, extras=Extras())
        assert (len(ready.view.node_classes) > 0) is kept, parts


# ---------------------------------------------------------------- merits


def by_all(merit, *, sized=False):
    """A selection that goes by merits and looks at every node, one at a time: slow and obvious."""

    def select(state, job):
        need = state.jobs[job].procs
        while need > 0:
            offers = []
            for node in range(len(state.nodes)):
                room = harness.room(state, job, node)
                if room > 0:
                    more = (min(need, room),) if sized else ()
                    offers.append((-merit(state.nodes[node], state.jobs[job], *more), node, min(need, room)))
            if not offers:
                return False
            _, node, procs = min(offers)
            harness.take(state, job, node, procs)
            need -= procs
        return True

    return harness.Select("by-all", select, compiled=False)


def later_nodes(node, job):
    """Which of two nodes alike it is matters: it has to be asked about each."""
    return node.vacant + node.energy


def narrow_slow(node, job):
    """Narrow jobs on slow nodes, wide ones on fast nodes."""
    return node.speed * (job.procs - 2)


READS = {later_nodes: ("node.vacant", "node.energy"), narrow_slow: ("node.speed", "job.procs")}
OWN = {one.__name__: harness.Prefer(one.__name__, one, reads=reads) for one, reads in READS.items()}
BUNDLED = {name: one for name, one in bundled()["select_resources"].items() if isinstance(one, harness.Prefer)}


@pytest.mark.parametrize("name", [*BUNDLED, *OWN])
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(case=cases(happen=True, sleep=True, curves=True), more=st.integers(0, 1))
def test_what_is_taken_is_what_looking_at_every_node_takes(name, case, more):
    jobs, platform, rest = case
    if more:  # more than two of a type
        platform = Platform("more", tuple(harness.NodeType(**{**vars(t), "count": 5}) for t in platform.types))
    policy = {**BUNDLED, **OWN}[name]
    slow = by_all(policy.function, sized="procs" in policy.extras)
    places = [replay(jobs, platform, **(rest | {"select": one})).places.records.tolist() for one in (policy, slow)]
    assert places[0] == places[1]


def test_a_merit_that_tells_nodes_alike_apart_is_asked_about_each():
    assert judges_by_stock(OWN["narrow_slow"])
    assert not judges_by_stock(OWN["later_nodes"])
    assert not judges_by_stock(harness.Prefer("chance", lambda node, job, dice: harness.uniform(dice), reads=()))
    assert all(judges_by_stock(one) for one in BUNDLED.values())
    assert not judges_by_stock(replace(OWN["narrow_slow"], reads=None))  # it may read anything


def test_the_lowest_merit_is_one_too():
    """Infinite merits are merits like others: who is avoided is taken when nothing else is left."""

    def avoid(node, job):
        return node.free if node.speed > 1.0 else -harness.INFINITY

    platform = Platform("two", (NodeType(2, 2, ops=1.0), NodeType(2, 2, ops=3.0)))
    jobs = workload([(0, 4, 5, 5), (100, 5, 5, 5)])
    outcome = simulate(jobs, platform, choose(select=harness.Prefer("avoid", avoid)))
    assert outcome.jobs.speed.tolist() == [1.5, 0.5]


def test_a_merit_that_is_no_number_is_named():
    def odd(node, job):
        return node.speed * (harness.INFINITY - harness.INFINITY)

    for compiled in (True, False):
        policy = harness.Prefer("odd", odd, compiled=compiled)
        with pytest.raises(HarnessError, match=r"'odd' .*gave node 0 the merit nan for job 1"):
            simulate(workload([(0, 1, 1, 1)]), harness.plain(2), choose(select=policy))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((lambda job, node: 0.0,), "should be written"),
        ((lambda node, job, procs, colour: 0.0,), "should be written"),
    ],
)
def test_what_cannot_be_a_merit_is_refused(arguments, sentence):
    with pytest.raises(HarnessError, match=sentence):
        harness.Prefer("odd", *arguments)


def test_sleeping_nodes_of_other_depth_are_not_alike():
    """Whoever wakes from the lighter sleep adds fewer watts: that is the second node, and the third is worse still."""
    light, deep = SleepState("suspended", 40.0), SleepState("off", 1.0)
    platform = Platform("three", (NodeType(3, 1, idle=50.0, peak=100.0, sleep=(light, deep)),))

    def in_turn(state):
        if state.clock.instants == 2:
            for node, depth in enumerate((1, 0, 1)):
                harness.put_to_sleep(state, node, depth)

    asleep = harness.Sleep("in-turn", in_turn, compiled=False)
    run = replay(workload([(0, 1, 1, 1), (5, 1, 1, 1)]), platform, select="coolest", sleep=asleep)
    assert run.placements["node"].tolist() == [0, 1]
