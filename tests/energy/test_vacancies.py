"""Who has been idle longest is found without looking at everybody: what is found is what looking would find."""

import dataclasses

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay import cases, replay
from shared.strategies import workload

import harness
from harness import NodeType, Platform, SleepState


@harness.jit
def looked_for(state):
    """The node that could sleep and fell vacant first, found by looking at all; −1 if there is none."""
    found = -1
    for node in range(len(state.nodes)):
        record = state.nodes[node]
        could = record.status == harness.AWAKE and record.free == record.cores and record.depths > 0
        if could and (found < 0 or record.vacant < state.nodes[found].vacant):
            found = node
    return found


@harness.jit
def both(state):
    """The node that is found both ways; it stops the run if they differ."""
    slow = looked_for(state)
    quick = harness.longest_vacant(state)
    differ = (slow < 0) != (quick < 0)
    if quick >= 0:
        record = state.nodes[quick]
        could = record.status == harness.AWAKE and record.free == record.cores and record.depths > 0
        differ = differ or not could or record.vacant != state.nodes[slow].vacant
    if differ or walked(state) != vacant(state):
        harness.put_to_sleep(state, -1)
    return quick


@harness.jit
def vacant(state):
    """How many nodes could sleep, found by looking at all."""
    count = 0
    for record in state.nodes:
        count += record.status == harness.AWAKE and record.free == record.cores and record.depths > 0
    return count


@harness.jit
def walked(state):
    """How many are found one behind the other; −1 if one fell vacant before the one ahead of it."""
    count = 0
    since = -harness.INFINITY
    node = harness.longest_vacant(state)
    while node >= 0:
        if state.nodes[node].vacant < since:
            return -1
        since = state.nodes[node].vacant
        count += 1
        node = harness.longest_vacant(state, node)
    return count


def compared(state, idle=1.0):
    """Nodes sleep that have been idle for so long, and at some instants one is woken for nothing."""
    node = both(state)
    while node >= 0 and state.nodes[node].vacant + idle <= state.clock.now:
        harness.put_to_sleep(state, node, state.nodes[node].depths - 1)
        node = both(state)
    if state.clock.instants % 3 == 0:
        harness.wake(state, state.clock.instants % len(state.nodes))
        both(state)


COMPARED = harness.Sleep("compared", compared)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(cases(happen=True, sleep=True))
def test_who_was_idle_longest_is_who_looking_finds(case):
    jobs, platform, rest = case
    replay(jobs, platform, **(rest | {"sleep": COMPARED}))


def test_nodes_that_cannot_sleep_are_never_found():
    """The first fell vacant earlier, and has no way to sleep."""
    platform = Platform("two", (NodeType(1, 1), NodeType(1, 1, sleep=(SleepState("off", 1.0),))))
    found = []

    def note(state):
        found.append(int(harness.longest_vacant(state)))

    jobs = workload([(0, 1, 5, 5), (0, 1, 7, 7), (9, 1, 1, 1)])
    replay(jobs, platform, energy="none", sleep=harness.Sleep("note", note, compiled=False))
    assert found == [-1, -1, 1, 1, 1]


# ---------------------------------------------------------------- spare nodes


def reserve_by_looking(state, spare, idle, depth):
    """What `reserve` says, by lists of all nodes."""
    nodes = state.nodes
    empty = [k for k in range(len(nodes)) if nodes[k].free == nodes[k].cores and nodes[k].status != harness.DOWN]
    awake = [k for k in empty if nodes[k].status == harness.AWAKE]
    coming = [
        k
        for k in empty
        if nodes[k].status == harness.WAKING or (nodes[k].status == harness.FALLING and nodes[k].wanted)
    ]
    could = [k for k in awake if nodes[k].depths > 0]
    over = len(awake) + len(coming) - spare
    due = [k for k in could if nodes[k].vacant + idle <= state.clock.now]
    for k in sorted(due)[::-1][: max(over, 0)]:
        harness.put_to_sleep(state, k, min(depth, nodes[k].depths - 1))
    others = [nodes[k].vacant + idle for k in could if k not in due]
    if over > len(due) and others:
        harness.call_again(state, min(others))
    asleep = [k for k in range(len(nodes)) if nodes[k].status == harness.ASLEEP]
    falling = [k for k in range(len(nodes)) if nodes[k].status == harness.FALLING and not nodes[k].wanted]
    for k in (asleep + falling)[: max(-over, 0)]:
        harness.wake(state, k)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(cases(happen=True, sleep=True), st.integers(0, 3), st.sampled_from((0.0, 1.0, 5.0)), st.integers(0, 1))
def test_spare_nodes_are_those_that_looking_at_all_keeps(case, spare, idle, depth):
    jobs, platform, rest = case
    types = tuple(dataclasses.replace(t, count=3 * t.count) for t in platform.types)
    slow = harness.Sleep("slow", lambda state: reserve_by_looking(state, spare, idle, depth), compiled=False)
    runs = [
        replay(jobs, Platform("more", types), **(rest | {"sleep": sleep}))
        for sleep in (f"reserve(spare={spare}, idle={idle}, depth={depth})", slow)
    ]
    for field in ("job", "node", "cores", "begin", "end"):
        np.testing.assert_array_equal(*(run.places.records[field] for run in runs))
    np.testing.assert_allclose(*(run.outcome.nodes.energy for run in runs), rtol=1e-9)
