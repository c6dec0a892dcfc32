"""Future availability: how many processors are free from which virtual time on.

A step function kept as two parallel arrays, `profile_time` and `profile_free`, in the window
[clock.profile_first, clock.profile_last): `profile_free[k]` processors are free from `profile_time[k]` until the
next entry, and for ever after the last one. Start policies that plan (`easy` with several reservations,
`conservative`) own it; the engine never looks at it. Neighbouring entries differ, so its length is bounded by
twice the number of jobs it holds.
"""

from typing import Any

import numpy as np

from harness.engine.nodes import room
from harness.engine.state import verb, window


@verb
def segment(state: Any, time: float) -> int:
    """The entry that covers `time`, or the first one if the profile begins later."""
    times = state.profile_time
    low = state.clock.profile_first
    high = state.clock.profile_last
    while high - low > 1:
        middle = (low + high) >> 1
        if times[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@verb
def split(state: Any, time: float) -> int:
    """Make an entry begin exactly at `time`; returns its place. Entries before it do not move."""
    clock = state.clock
    times = state.profile_time
    free = state.profile_free
    k = segment(state, time)
    if times[k] == time:
        return k
    if clock.profile_last == len(times):
        shift = clock.profile_first
        for j in range(clock.profile_first, clock.profile_last):
            times[j - shift] = times[j]
            free[j - shift] = free[j]
        clock.profile_first = 0
        clock.profile_last -= shift
        k -= shift
    for j in range(clock.profile_last, k + 1, -1):
        times[j] = times[j - 1]
        free[j] = free[j - 1]
    clock.profile_last += 1
    times[k + 1] = time
    free[k + 1] = free[k]
    return k + 1


@verb
def join(state: Any, k: int) -> None:
    """Drop entry `k` if it repeats the one before."""
    clock = state.clock
    if k <= clock.profile_first or k >= clock.profile_last:
        return
    times = state.profile_time
    free = state.profile_free
    if free[k] != free[k - 1]:
        return
    for j in range(k, clock.profile_last - 1):
        times[j] = times[j + 1]
        free[j] = free[j + 1]
    clock.profile_last -= 1


@verb
def change(state: Any, procs: int, begin: float, end: float) -> None:
    """Add `procs` free processors from `begin` until `end`."""
    begin = max(begin, state.profile_time[state.clock.profile_first])
    if not begin < end:
        return
    first = split(state, begin)
    last = split(state, end) if end < np.inf else state.clock.profile_last
    first = segment(state, begin)  # making room for `end` may have moved the window
    for k in range(first, last):
        state.profile_free[k] += procs
    join(state, last)
    join(state, first)


@verb
def reserve(state: Any, procs: int, begin: float, end: float) -> None:
    """Promise `procs` processors from virtual time `begin` until `end`."""
    change(state, -procs, begin, end)


@verb
def release(state: Any, procs: int, begin: float, end: float) -> None:
    """Take a promise of `procs` processors from virtual time `begin` until `end` back."""
    change(state, procs, begin, end)


@verb
def forget_past(state: Any) -> None:
    """Let the profile begin now."""
    clock = state.clock
    if clock.profile_last == 0:
        clock.profile_last = 1
        state.profile_time[0] = clock.virtual
        state.profile_free[0] = clock.cores
    k = segment(state, clock.virtual)
    clock.profile_first = k
    state.profile_time[k] = clock.virtual


@verb
def plan_from_running(state: Any) -> None:
    """Make the profile anew from the running jobs alone, each until its planned end."""
    clock = state.clock
    times = state.profile_time
    free = state.profile_free
    clock.profile_first = 0
    times[0] = clock.virtual
    free[0] = clock.free
    last = 0
    for k in range(clock.running):
        job = state.plan[k]
        end = max(state.jobs[job].planned, clock.virtual)
        if end > times[last]:
            last += 1
            times[last] = end
            free[last] = free[last - 1]
        free[last] += state.jobs[job].procs
    clock.profile_last = last + 1


@verb
def earliest_fit(state: Any, procs: int, duration: float) -> float:
    """The earliest virtual time from which `procs` processors stay free for `duration`; infinity if never."""
    times = state.profile_time
    free = state.profile_free
    last = state.clock.profile_last
    begin = np.inf
    for k in range(state.clock.profile_first, last):
        if free[k] < procs:
            begin = np.inf
            continue
        if begin == np.inf:
            begin = times[k]
        if k + 1 == last or times[k + 1] >= begin + duration:
            return begin
    return np.inf


@verb
def earlier_fit(state: Any, procs: int, duration: float, begin: float) -> float:
    """Where a job that holds `procs` processors from `begin` could begin if it were lifted; never after `begin`.

    The same as releasing it and asking for the earliest fit, without touching the profile: most reservations stay
    where they are, and this question is asked of every waiting job whenever another ends early.
    """
    times = state.profile_time
    free = state.profile_free
    found = np.inf
    for k in range(state.clock.profile_first, state.clock.profile_last):
        time = times[k]
        if time >= begin:  # it fits from `found` to its own place, and its own place lasts until it ends
            break
        if free[k] < procs:
            found = np.inf
            continue
        if found == np.inf:
            found = time
        if k + 1 < state.clock.profile_last and times[k + 1] >= found + duration:
            break
    return min(found, begin)


@window
def _room_over_time(state: Any, job: int) -> tuple[float, int]:
    """`reservation` where memory or partitions matter: node by node, as running jobs leave."""
    need = state.jobs[job].procs
    wanted = state.jobs[job].partition
    memory = state.jobs[job].memory
    free = state.nodes.free.copy()
    free_memory = state.nodes.free_memory.copy()
    total = 0
    for node in range(len(free)):
        total += room(state, job, node)
    at = state.clock.virtual
    for k in range(state.clock.running):
        other = state.plan[k]
        if total >= need and state.jobs[other].planned > at:
            break
        at = max(at, state.jobs[other].planned)
        piece = state.jobs[other].slices
        while piece >= 0:
            node = state.slices[piece].node
            cores = state.slices[piece].cores
            if wanted < 0 or wanted == state.nodes[node].partition:
                before = free[node]
                after = before + cores
                if memory > 0 and state.nodes[node].memory < np.inf:
                    before = min(before, int(free_memory[node] // memory))
                    after = min(after, int((free_memory[node] + cores * state.jobs[other].memory) // memory))
                total += after - before
            free[node] += cores
            free_memory[node] += cores * state.jobs[other].memory
            piece = state.slices[piece].next
    return at if total >= need else np.inf, total - need


@verb
def reservation(state: Any, job: int) -> tuple[float, int]:
    """When a blocked job can begin at the latest, if estimates hold, and how many processors are spare then.

    The virtual time at which enough running jobs have ended, and the processors that are free then beyond what the
    job needs, counting every job that ends at that same time. Infinity if it can never begin, as long as nodes are
    down.
    """
    clock = state.clock
    if clock.constrained:
        return _room_over_time(state, job)
    need = state.jobs[job].procs
    free = clock.free
    at = clock.virtual
    for k in range(clock.running):
        other = state.plan[k]
        if free >= need and state.jobs[other].planned > at:
            break
        at = max(at, state.jobs[other].planned)
        free += state.jobs[other].procs
    return at if free >= need else np.inf, free - need


@verb
def burden(state: Any, job: int, reserved: int) -> int:
    """How many of the processors that `reserved` could use `job` denies it, at most, while it runs."""
    procs = state.jobs[job].procs
    if state.clock.constrained == 0:
        return procs
    wanted = state.jobs[reserved].partition
    if wanted >= 0 and state.jobs[job].partition >= 0 and state.jobs[job].partition != wanted:
        return 0
    memory = state.jobs[reserved].memory
    if memory > 0 and state.jobs[job].memory > memory:
        return procs * int(np.ceil(state.jobs[job].memory / memory))
    return procs
