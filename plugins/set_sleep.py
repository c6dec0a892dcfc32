"""Which idle nodes sleep, and which wake before they are needed."""

import harness


def never(state):
    """No node ever sleeps."""


@harness.jit
def vacant(node):
    """Whether the node is awake, holds no job, and could sleep."""
    return node.status == harness.AWAKE and node.free == node.cores and node.depths > 0


def timeout(state, memory, idle=600.0, depth=0):
    """A node sleeps after `idle` seconds without a job, and wakes when it is allocated.

    `depth`: into which of its sleep states, 0 the lightest; the deepest it has if it has fewer.
    """
    now = state.clock.now
    none_vacant = memory[0] == 1.0
    memory[0] = 0.0
    if none_vacant and idle > 0.0:  # when last looked: if one is again, then since now
        harness.call_not_before(state, now + idle)
        return
    node = harness.longest_vacant(state)
    while node >= 0 and state.nodes[node].vacant + idle <= now:
        harness.put_to_sleep(state, node, min(depth, state.nodes[node].depths - 1))
        node = harness.longest_vacant(state)
    if node >= 0:
        harness.call_not_before(state, state.nodes[node].vacant + idle)  # whoever falls vacant meanwhile is due later
    else:
        memory[0] = 1.0


def reserve(state, spare=1, idle=600.0, depth=0):
    """Nodes sleep after `idle` seconds without a job, but `spare` ones stay awake, and are woken if there are fewer.

    `depth`: into which of its sleep states, 0 the lightest; the deepest it has if it has fewer.
    """
    now = state.clock.now
    ready = 0  # nodes without a job that are awake, or will be
    for node in range(len(state.nodes)):
        record = state.nodes[node]
        waking = record.status == harness.WAKING or (record.status == harness.FALLING and record.wanted)
        if record.free == record.cores and (record.status == harness.AWAKE or waking):
            ready += 1
    soonest = harness.INFINITY
    for node in range(len(state.nodes) - 1, -1, -1):  # selections begin at the other end
        record = state.nodes[node]
        if ready <= spare or not vacant(record):
            continue
        if record.vacant + idle <= now:
            harness.put_to_sleep(state, node, min(depth, record.depths - 1))
            ready -= 1
        else:
            soonest = min(soonest, record.vacant + idle)
    for status in (harness.ASLEEP, harness.FALLING):
        for node in range(len(state.nodes)):
            record = state.nodes[node]
            if ready < spare and record.status == status and not record.wanted:
                harness.wake(state, node)
                ready += 1
    if soonest < harness.INFINITY:
        harness.call_again(state, soonest)


@harness.hookimpl
def set_sleep():
    return [
        harness.Sleep("never", never, constant=True),
        harness.Sleep("timeout", timeout, memory=1, least={"idle": 0, "depth": 0}, needs=("sleep",)),
        harness.Sleep("reserve", reserve, least={"spare": 0, "idle": 0, "depth": 0}, needs=("sleep",)),
    ]
