"""Which idle nodes sleep, and which wake before they are needed."""

import harness


def never(state):
    """No node ever sleeps."""


def timeout(state, idle=600.0, depth=0):
    """A node sleeps after `idle` seconds without a job, and wakes when it is allocated.

    `depth`: number of the sleep state, 0 for the lightest; at most the deepest state of the node.
    """
    harness.sleep_when_idle(state, idle, depth)
    harness.call_not_before(state, harness.INFINITY)


def reserve(state, spare=1, idle=600.0, depth=0):
    """Nodes sleep after `idle` seconds without a job, but `spare` ones stay awake, and are woken if there are fewer.

    `depth`: number of the sleep state, 0 for the lightest; at most the deepest state of the node.
    """
    now = state.clock.now
    ready = count_ready(state)
    if ready > spare:
        last = last_to_stay(state, idle, ready - spare)
        node = harness.longest_vacant(state)
        while node >= 0 and state.nodes[node].vacant + idle <= now:
            if node > last:
                harness.put_to_sleep(state, node, min(depth, state.nodes[node].depths - 1))
                ready -= 1
            node = harness.longest_vacant(state, node)
        if ready > spare and node >= 0:
            harness.call_again(state, state.nodes[node].vacant + idle)
    while ready < spare:
        node = first_sleeper(state)
        if node < 0:
            return
        harness.wake(state, node)
        ready += 1


@harness.jit
def last_to_stay(state, idle, most):
    """Return the last node that stays awake; later nodes with that idle time go to sleep.

    Selections begin at the other end.
    """
    low, high = -1, len(state.nodes)
    while low < high:
        middle = (low + high) // 2
        behind = 0
        node = harness.longest_vacant(state)
        while node >= 0 and state.nodes[node].vacant + idle <= state.clock.now:
            behind += node > middle
            node = harness.longest_vacant(state, node)
        if behind > most:
            low = middle + 1
        else:
            high = middle
    return low


@harness.jit
def count_ready(state):
    """Return the number of nodes without a job that are awake or waking."""
    ready = 0
    for node in harness.unlike(state):
        record = state.nodes[node]
        waking = record.status == harness.WAKING or (record.status == harness.FALLING and record.wanted)
        if record.free == record.cores and (record.status == harness.AWAKE or waking):
            ready += harness.count_alike(state, node)
    return ready


@harness.jit
def first_sleeper(state):
    """Return the lowest-numbered sleeping node, else one that falls asleep and will not wake at once; or −1."""
    asleep = falling = len(state.nodes)
    for node in harness.unlike(state):
        record = state.nodes[node]
        if record.status == harness.ASLEEP:
            asleep = min(asleep, node)
        elif record.status == harness.FALLING and not record.wanted:
            falling = min(falling, node)
    found = asleep if asleep < len(state.nodes) else falling
    return found if found < len(state.nodes) else -1


@harness.hookimpl
def set_sleep():
    return [
        harness.Sleep("never", never, constant=True, reads=()),
        harness.Sleep("timeout", timeout, least={"idle": 0, "depth": 0}, needs=("sleep",), reads=()),
        harness.Sleep(
            "reserve",
            reserve,
            least={"spare": 0, "idle": 0, "depth": 0},
            needs=("sleep",),
            reads=("clock.now", "node", "node_classes"),
        ),
    ]
