"""The rule of resources: how much of a node a job can use, and whether nodes together suffice.

`capacity` is the rule for one node and `placeable` the rule for several. Acceptance of jobs, allocation and plans call
these two. `state.available` has the free memory, countable resources and exclusive jobs of each node, now and at other
moments. `set_aside` takes a request out of such a record, and puts it back. The free cores of a node are an argument:
each caller has its own count of them.
"""

from typing import Any

from harness.engine.decorators import verb
from harness.engine.records.request_records import COUNT, KINDS, NOW, REQUESTS
from harness.engine.run_state import DEMANDS

# ---------------------------------------------------------------- one node


@verb
def entry(state: Any, node: int, moment: int) -> int:
    """Return the index in `state.available` of a node at a moment; the platform is the node behind the last."""
    return moment * (len(state.nodes) + 1) + node


@verb
def node_eligible(state: Any, job: int, node: int) -> bool:
    """Return whether the node is in a partition that the job may use and has the features that it requests."""
    if state.clock.constrained == REQUESTS:
        return has_properties(state, job, node)
    wanted = state.jobs[job].partition
    return wanted < 0 or state.nodes[node].partition < 0 or wanted == state.nodes[node].partition


@verb(family=DEMANDS)
def has_properties(state: Any, job: int, node: int) -> bool:
    """Return the answer of `node_eligible` where jobs request more than memory."""
    request = state.requests[job]
    node_has = state.properties[node]
    return bool(
        (request.features & node_has.features) == request.features
        and (request.any_features == 0 or (request.any_features & node_has.features) != 0)
        and (request.partition == 0 or (request.partition & node_has.partitions) != 0)
    )


@verb
def capacity(state: Any, job: int, node: int, cores: int, moment: int) -> int:
    """Return how many of `cores` free cores of a node the job can use, with all else that is free there at a moment."""
    if state.clock.constrained == COUNT or cores <= 0:
        return max(cores, 0)
    if state.clock.constrained == REQUESTS:
        return capacity_for_request(state, job, node, cores, moment)
    if not node_eligible(state, job, node):
        return 0
    return cores_with_memory(state, job, cores, state.available[entry(state, node, moment)].memory)


@verb
def cores_with_memory(state: Any, job: int, cores: int, memory: float) -> int:
    """Return for how many of these cores the memory suffices."""
    each = state.jobs[job].memory
    if each > 0 and memory < cores * each:
        return max(0, int(memory // each))
    return cores


@verb(family=DEMANDS)
def capacity_for_request(state: Any, job: int, node: int, cores: int, moment: int) -> int:
    """Return the answer of `capacity` where jobs request more than memory."""
    request = state.requests[job]
    available = state.available[entry(state, node, moment)]
    if available.exclusive > 0 or (request.exclusive and cores < state.nodes[node].cores):
        return 0
    if available.memory < request.memory or not has_properties(state, job, node):
        return 0
    for kind in range(state.allocation.resource_kinds):
        if available.units[kind] < request.units[kind]:
            return 0
    cores = cores_with_memory(state, job, cores, available.memory - request.memory)
    if 0 < request.procs_per_node <= cores:
        return int(request.procs_per_node)
    if request.procs_per_node > 0:  # the last of its nodes serves the rest
        rest = (state.jobs[job].procs - 1) % request.procs_per_node + 1
        return int(rest) if cores >= rest else 0
    return int(cores)


@verb
def set_aside(state: Any, job: int, node: int, cores: int, moment: int, sign: int) -> None:
    """Take the resources that a job uses with so many cores out of what is free at a moment; −1 puts them back."""
    state.available[entry(state, node, moment)].memory -= sign * cores * state.jobs[job].memory
    if state.clock.constrained == REQUESTS:
        set_request_aside(state, job, node, moment, sign)


@verb(family=DEMANDS)
def set_request_aside(state: Any, job: int, node: int, moment: int, sign: int) -> None:
    """Do what `set_aside` does for all that a job requests of a node besides its cores and their memory."""
    request = state.requests[job]
    available = state.available[entry(state, node, moment)]
    available.memory -= sign * request.memory
    available.exclusive += sign * request.exclusive
    for kind in range(state.allocation.resource_kinds):
        available.units[kind] -= sign * request.units[kind]


@verb(family=DEMANDS)
def set_exclusive(state: Any, job: int, node: int, sign: int) -> None:
    """Keep other jobs off the node of an exclusive job that resumes in place; −1 admits them while it is suspended."""
    state.available[entry(state, node, NOW)].exclusive += sign * state.requests[job].exclusive


@verb(family=DEMANDS)
def resumes_on(state: Any, job: int, node: int) -> bool:
    """Return whether a job suspended in place can resume on the node, if its cores there are free."""
    shared = state.nodes[node].free < state.nodes[node].cores
    exclusive = state.available[entry(state, node, NOW)].exclusive > 0
    return bool(not exclusive and not (state.requests[job].exclusive and shared))


@verb
def copy_available(state: Any, node: int, since: int, moment: int) -> None:
    """Let what is free of a node at `moment` be what is free at the moment `since`."""
    other = state.available[entry(state, node, since)]
    available = state.available[entry(state, node, moment)]
    available.memory = other.memory
    available.exclusive = other.exclusive
    if state.clock.constrained == REQUESTS:
        for kind in range(KINDS):
            available.units[kind] = other.units[kind]


# ---------------------------------------------------------------- several nodes


@verb
def procs_per_node(state: Any, job: int) -> int:
    """Return how many processors of a node the job uses, fewer of its last node; 0 if any number will do."""
    return int(state.requests[job].procs_per_node) if len(state.requests) > 0 else 0


@verb
def usable(state: Any, job: int, found: int, cores: int) -> int:
    """Return how much of the capacity of one more node counts, where other nodes give `found` processors.

    Only one node of a job may serve less than a full share: the capacity of a second such node is 0.
    """
    share = procs_per_node(state, job)
    return 0 if share > 0 and cores % share > 0 and found % share > 0 else cores


@verb
def placeable(state: Any, job: int, found: int) -> bool:
    """Return whether nodes whose usable capacities sum to `found` suffice for the job."""
    return bool(found >= state.jobs[job].procs)


# ---------------------------------------------------------------- licences


@verb
def licensed(state: Any, job: int, moment: int) -> bool:
    """Return whether the licences that the job requests are free at a moment."""
    return state.allocation.licence_kinds == 0 or has_licences(state, job, moment)


@verb(family=DEMANDS)
def has_licences(state: Any, job: int, moment: int) -> bool:
    """Return the answer of `licensed` where the platform has licences."""
    platform = entry(state, len(state.nodes), moment)
    for kind in range(state.allocation.licence_kinds):
        wanted = state.requests[job].licences[kind]
        if wanted > 0 and state.available[platform].units[kind] < wanted:
            return False
    return True


@verb
def set_licences_aside(state: Any, job: int, moment: int, sign: int) -> None:
    """Take the licences of a job out of those that are free at a moment; −1 puts them back."""
    if state.allocation.licence_kinds > 0:
        change_licences(state, job, moment, sign)


@verb(family=DEMANDS)
def change_licences(state: Any, job: int, moment: int, sign: int) -> None:
    """Do what `set_licences_aside` does where the platform has licences."""
    platform = entry(state, len(state.nodes), moment)
    for kind in range(state.allocation.licence_kinds):
        state.available[platform].units[kind] -= sign * state.requests[job].licences[kind]
