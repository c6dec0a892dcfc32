"""Selections: the nodes on which a starting job gets processors.

`harness.room` respects free cores, memory, partition and all other requests of a job, for every selection.
"""

import harness


@harness.jit
def take_some(state, job, node, need):
    """Take what the node has room for, at most `need`; return what is still needed."""
    procs = min(need, harness.room(state, job, node))
    if procs > 0:
        harness.take(state, job, node, procs)
    return need - procs


def first_fit(state, job):
    """The lowest-numbered free processors."""
    need = state.jobs[job].procs
    node = -1
    while need > 0:
        node = harness.next_free(state, node)
        if node < 0:
            return False
        need = take_some(state, job, node, need)
    return True


def best_fit(node, job):
    """The nodes with the fewest free cores first: they will be the fullest."""
    return -node.free


def worst_fit(node, job):
    """The nodes with the most free cores first: jobs are spread."""
    return node.free


def soonest(node, job):
    """The nodes that can begin soonest: those awake, then those waking, asleep, falling asleep."""
    if node.status == harness.AWAKE:
        return 3.0
    if node.status == harness.WAKING:
        return 2.0
    return 1.0 if node.status == harness.ASLEEP else 0.0


def fastest(node, job):
    """The fastest processors first."""
    return node.speed


def efficient(node, job):
    """The most operations per watt at full load first."""
    return node.speed * node.cores / node.peak


def coolest(node, job, procs):
    """Where it adds the fewest watts a processor, by the nodes' own power curves; waking a node counts."""
    held = node.cores - node.free
    before = harness.drawn(node, held) if node.status == harness.AWAKE else node.resting
    return (before - harness.drawn(node, held + procs)) / procs


def whole_nodes(state, job):
    """The lowest-numbered empty nodes: no node is shared. Declines until there are enough."""
    need = state.jobs[job].procs
    node = harness.next_free(state, -1)
    while need > 0 and node >= 0:
        if state.nodes[node].free == state.nodes[node].cores:
            need = take_some(state, job, node, need)
        node = harness.next_free(state, node)
    return need == 0


def whole_nodes_fit(state, job, then):
    """Return whether the empty nodes have enough room."""
    found = 0
    for node in range(len(then)):
        if then[node].free == state.nodes[node].cores:
            found += then[node].room
    return found >= state.jobs[job].procs


def contiguous(state, job):
    """Nodes in a row that have room for the job, the first row that is long enough. Declines if there is none.

    Nodes that the job could never use, in another partition or with too little memory, say, do not interrupt a row.
    """
    need = state.jobs[job].procs
    first = 0
    found = 0
    for node in range(len(state.nodes)):
        room = harness.room(state, job, node)
        if room == 0 and harness.suits(state, job, node):
            first = node + 1
            found = 0
        found += room
        if found >= need:
            for taken in range(first, node + 1):
                need = take_some(state, job, taken, need)
            return True
    return False


def contiguous_fit(state, job, then):
    """Return whether a row of nodes has enough room."""
    found = 0
    for node in range(len(then)):
        if then[node].room == 0 and harness.suits(state, job, node):
            found = 0
        found += then[node].room
        if found >= state.jobs[job].procs:
            return True
    return False


def random(state, job, dice):
    """Processors drawn at random, each free one as likely as any other."""
    at_once = max(1, harness.procs_per_node(state, job))
    left = 0
    node = harness.next_free(state, -1)
    while node >= 0:
        left += -(-harness.room(state, job, node) // at_once) * at_once
        node = harness.next_free(state, node)
    need = state.jobs[job].procs
    node = harness.next_free(state, -1)
    while need > 0 and node >= 0:
        drawn = 0
        room = harness.room(state, job, node)
        for _ in range(-(-room // at_once)):
            if harness.uniform(dice) * left < -(-need // at_once) * at_once:
                some = min(need, at_once, room)
                drawn += some
                need -= some
            left -= at_once
        if drawn > 0:
            harness.take(state, job, node, drawn)
        node = harness.next_free(state, node)
    return need == 0


CORES = ("node.free", "node.cores")
POWER = ("node.cores", "node.free", "node.status", "node.resting", "node.idle", "node.peak", "node.curve")


@harness.hookimpl
def select_resources():
    return [
        harness.Select("first-fit", first_fit, reads=("job.procs",)),
        harness.Prefer("best-fit", best_fit, reads=("node.free",)),
        harness.Prefer("worst-fit", worst_fit, reads=("node.free",)),
        harness.Prefer("soonest", soonest, reads=("node.status",)),
        harness.Prefer("fastest", fastest, reads=("node.speed",)),
        harness.Prefer("efficient", efficient, needs=("peak",), reads=("node.speed", "node.cores", "node.peak")),
        harness.Prefer("coolest", coolest, needs=("idle", "peak"), reads=POWER),
        harness.Select("whole-nodes", whole_nodes, fits=whole_nodes_fit, reads=("job.procs", *CORES)),
        harness.Select("contiguous", contiguous, fits=contiguous_fit, reads=("job.procs",)),
        harness.Select("random", random, reads=("job.procs",)),
    ]
