"""Who has been idle longest is found without looking at everybody: what is found is what looking would find."""

from hypothesis import HealthCheck, given, settings
from replay import cases, replay
from strategies import workload

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
    if differ:
        harness.put_to_sleep(state, -1)
    return quick


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
