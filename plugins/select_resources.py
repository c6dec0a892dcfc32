"""On which nodes: where a starting job's processors are taken.

Free cores, memory, partition and whatever else a job asks for are respected by `harness.room`, whatever the policy.
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


@harness.jit
def level_above(state, level):
    """Return the least number of free cores of any node that is more than `level`; 0 if there is none."""
    found = 0
    node = harness.next_free(state, -1)
    while node >= 0:
        free = state.nodes[node].free
        if free > level and (found == 0 or free < found):
            found = free
            if free == level + 1:
                return found
        node = harness.next_free(state, node)
    return found


@harness.jit
def level_below(state, level):
    """Return the largest number of free cores of any node that is less than `level`; 0 if there is none."""
    found = 0
    node = harness.next_free(state, -1)
    while node >= 0:
        free = state.nodes[node].free
        if found < free < level:
            found = free
            if free == level - 1:
                return found
        node = harness.next_free(state, node)
    return found


@harness.jit
def take_at_level(state, job, level, need):
    """Take from the nodes that had `level` free cores, in their order; return what is still needed."""
    node = harness.next_free(state, -1)
    while need > 0 and node >= 0:
        if state.nodes[node].free == level:
            need = take_some(state, job, node, need)
        node = harness.next_free(state, node)
    return need


def best_fit(state, job):
    """The nodes with the fewest free cores first: they will be the fullest."""
    need = state.jobs[job].procs
    level = level_above(state, 0)
    while need > 0 and level > 0:
        need = take_at_level(state, job, level, need)
        level = level_above(state, level) if need > 0 else 0
    return need == 0


def worst_fit(state, job):
    """The nodes with the most free cores first: jobs are spread."""
    need = state.jobs[job].procs
    level = level_below(state, state.clock.cores + 1)
    while need > 0 and level > 0:
        need = take_at_level(state, job, level, need)
        level = level_below(state, level) if need > 0 else 0
    return need == 0


@harness.jit
def take_best_first(state, job, merits):
    """Take from the nodes of the highest merit first, equal ones in their order."""
    need = state.jobs[job].procs
    above = harness.INFINITY
    while need > 0:
        merit = -harness.INFINITY  # the highest one not yet used
        node = harness.next_free(state, -1)
        while node >= 0:
            if merit < merits[node] < above:
                merit = merits[node]
            node = harness.next_free(state, node)
        if merit == -harness.INFINITY:
            return False
        node = harness.next_free(state, -1)
        while need > 0 and node >= 0:
            if merits[node] == merit:
                need = take_some(state, job, node, need)
            node = harness.next_free(state, node)
        above = merit
    return True


def soonest(state, job):
    """The nodes that can begin soonest: those awake, then those waking, asleep, falling asleep."""
    need = state.jobs[job].procs
    for status in (harness.AWAKE, harness.WAKING, harness.ASLEEP, harness.FALLING):
        node = harness.next_free(state, -1)
        while need > 0 and node >= 0:
            if state.nodes[node].status == status:
                need = take_some(state, job, node, need)
            node = harness.next_free(state, node)
    return need == 0


def fastest(state, job):
    """The fastest processors first."""
    return take_best_first(state, job, state.nodes.speed)


def efficient(state, job):
    """The most operations per watt at full load first."""
    return take_best_first(state, job, state.nodes.speed * state.nodes.cores / state.nodes.peak)


def coolest(state, job):
    """Where it adds the fewest watts a processor, by the nodes' own power curves; waking a node counts."""
    need = state.jobs[job].procs
    while need > 0:
        best, least = -1, harness.INFINITY
        node = harness.next_free(state, -1)
        while node >= 0:
            procs = min(need, harness.room(state, job, node))
            if procs > 0:
                added = added_watts(state.nodes[node], procs) / procs
                if added < least:
                    best, least = node, added
            node = harness.next_free(state, node)
        if best < 0:
            return False
        need = take_some(state, job, best, need)
    return True


@harness.jit
def added_watts(node, procs):
    """Return what the node draws more when `procs` more of its cores are busy [W]."""
    held = node.cores - node.free
    before = harness.drawn(node, held) if node.status == harness.AWAKE else node.resting
    return harness.drawn(node, held + procs) - before


def whole_nodes(state, job):
    """The lowest-numbered nodes of which nobody holds a core: no node is shared. Declines until they are enough."""
    need = state.jobs[job].procs
    node = harness.next_free(state, -1)
    while need > 0 and node >= 0:
        if state.nodes[node].free == state.nodes[node].cores:
            need = take_some(state, job, node, need)
        node = harness.next_free(state, node)
    return need == 0


def whole_nodes_fit(state, job, then):
    """Whether the nodes that are empty then have room enough."""
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
    """Whether there is a row of nodes that have room enough then."""
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
    at_once = max(1, harness.portion(state, job))
    left = 0
    node = harness.next_free(state, -1)
    while node >= 0:
        left += harness.room(state, job, node)
        node = harness.next_free(state, node)
    need = state.jobs[job].procs
    node = harness.next_free(state, -1)
    while need > 0 and node >= 0:
        drawn = 0
        for _ in range(harness.room(state, job, node) // at_once):
            if harness.uniform(dice) * left < -(-need // at_once) * at_once:
                drawn += min(need, at_once)
                need -= min(need, at_once)
            left -= at_once
        if drawn > 0:
            harness.take(state, job, node, drawn)
        node = harness.next_free(state, node)
    return need == 0


@harness.hookimpl
def select_resources():
    return [
        harness.Select("first-fit", first_fit),
        harness.Select("best-fit", best_fit),
        harness.Select("worst-fit", worst_fit),
        harness.Select("soonest", soonest),
        harness.Select("fastest", fastest),
        harness.Select("efficient", efficient, needs=("peak",)),
        harness.Select("coolest", coolest, needs=("idle", "peak")),
        harness.Select("whole-nodes", whole_nodes, fits=whole_nodes_fit),
        harness.Select("contiguous", contiguous, fits=contiguous_fit),
        harness.Select("random", random),
    ]
