"""What is left of each node beside the bookings, from when on, where only cores, memory and partitions bind.

A step function for each node, kept as entries side by side within one array: so many cores and so much memory are left
from an entry's time until the next one's, and for ever after the last. A booking lowers what lies between its begin and
its end; when it is struck out that rises again. A node that has more entries than room for them moves to the end of
the array, with twice as much. Where jobs ask for more than that, there are no such entries.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.time_comparison import later
from harness.numba_support.memmove import shift

#: How many of the nodes of which bookings were struck out last are known; a power of two.
STRUCK = 1024

#: How many answers about who would not fit before when are kept at most; a power of two.
ANSWERS = 4096

# ---------------------------------------------------------------- the entries of a node


@verb
def entry_at(state: Any, node: int, time: float, before: bool) -> int:
    """Return the entry of the node that covers a virtual time, or its last one `before` it; if none does, its first."""
    low = state.lines[node].first
    high = state.lines[node].last
    while high - low > 1:
        middle = (low + high) >> 1
        beyond = not later(time, state.step_time[middle]) if before else later(state.step_time[middle], time)
        if beyond:
            high = middle
        else:
            low = middle
    return int(low)


@verb
def shift_entries(state: Any, to: int, since: int, count: int) -> None:
    """Let so many entries from `since` on stand at the place `to`."""
    shift(state.step_time, to, since, count)
    shift(state.step_memory, to, since, count)
    shift(state.step_free, to, since, count)


@verb
def split_entry(state: Any, node: int, time: float) -> int:
    """Make an entry of the node begin at a virtual time, and return its place; there is room for one more."""
    k = entry_at(state, node, time, False)
    if not later(time, state.step_time[k]):
        return k
    line = state.lines[node]
    shift_entries(state, k + 2, k + 1, line.last - k - 1)
    line.last += 1
    state.step_time[k + 1] = time
    state.step_memory[k + 1] = state.step_memory[k]
    state.step_free[k + 1] = state.step_free[k]
    return k + 1


@verb
def join_entry(state: Any, node: int, k: int) -> None:
    """Drop an entry of the node that repeats the one before."""
    line = state.lines[node]
    if not line.first < k < line.last:
        return
    if state.step_free[k] == state.step_free[k - 1] and state.step_memory[k] == state.step_memory[k - 1]:
        shift_entries(state, k, k + 1, line.last - k - 1)
        line.last -= 1


@verb
def move_line(state: Any, node: int, to: int, size: int) -> None:
    """Let the entries of a node stand elsewhere, where there is room for `size` of them."""
    line = state.lines[node]
    count = line.last - line.first
    shift_entries(state, to, line.first, count)
    line.first = line.begin = to
    line.last = to + count
    line.end = to + size


@verb
def empty_line(state: Any, node: int, size: int) -> None:
    """Let a node be free for ever, with room for so many entries at the end of all. Changes lines, steps, notes."""
    line = state.lines[node]
    line.first = line.begin = state.notes.steps
    line.last = line.first + 1
    state.notes.steps += size
    line.end = state.notes.steps
    state.step_time[line.first] = state.clock.virtual
    state.step_free[line.first] = state.nodes[node].cores
    state.step_memory[line.first] = state.nodes[node].memory


@verb
def grow_line(state: Any, node: int) -> bool:
    """Make room for two more entries of a node; return whether there was room left for that."""
    line = state.lines[node]
    while line.last - line.first > 1 and not later(state.step_time[line.first + 1], state.clock.virtual):
        line.first += 1  # what has passed
    if line.last + 2 <= line.end:
        return True
    size = line.end - line.begin
    if 2 * (line.last - line.first + 2) > size:
        size *= 2
        if state.notes.steps + size > len(state.step_time):
            return False
        move_line(state, node, state.notes.steps, size)
        state.notes.steps += size
    else:
        move_line(state, node, line.begin, size)
    return True


@verb
def write_entries(state: Any, place: int, sign: int) -> None:
    """Add to the node of a booking what it holds, or with −1 take it, from its begin until its end."""
    booking = state.bookings[place]
    node = booking.node
    line = state.lines[node]
    begin = max(booking.begin, state.step_time[line.first])
    if not later(booking.end, begin):
        return
    since = split_entry(state, node, begin)
    until = split_entry(state, node, booking.end) if booking.end < np.inf else line.last
    memory = booking.cores * state.jobs[booking.job].memory
    for k in range(since, until):
        state.step_free[k] += sign * booking.cores
        state.step_memory[k] += sign * memory
        if state.step_free[k] == state.nodes[node].cores:  # all of it, free of rounding
            state.step_memory[k] = state.nodes[node].memory
    join_entry(state, node, until)
    join_entry(state, node, since)


# ---------------------------------------------------------------- bookings come and go


@verb
def empty_lines(state: Any) -> None:
    """Begin with nodes that are free for ever; nothing that was known of plans holds. Changes lines, steps, notes."""
    state.notes.struck += STRUCK + 1
    state.notes.steps = 0
    if len(state.step_time) > 0:
        for node in range(len(state.nodes)):
            empty_line(state, node, 8)


@verb(apart=True)
def write_line(state: Any, place: int, sign: int) -> None:
    """Write a booking that is on its node's list down among the entries, or with 1 one that is not there any more.

    If there is no room for more, all are written anew: then what a node takes is little more than it needs.
    """
    if len(state.step_time) == 0:
        return
    if grow_line(state, state.bookings[place].node):
        write_entries(state, place, sign)
        return
    state.notes.steps = 0
    for node in range(len(state.nodes)):
        count = 0
        other = state.booked[node]
        while other >= 0:
            count += 1
            other = state.bookings[other].after
        empty_line(state, node, 4 * count + 10)
        other = state.booked[node]
        while other >= 0:
            write_entries(state, other, -1)
            other = state.bookings[other].after


# ---------------------------------------------------------------- what a job could have


@verb
def left_at(state: Any, job: int, k: int, own: int) -> int:
    """Return how many processors the job could have of what an entry leaves, and of `own` ones that it is promised."""
    free = state.step_free[k] + own
    each = state.jobs[job].memory
    if each > 0:
        memory = state.step_memory[k] + own * each
        if memory < each:
            return 0
        if memory < free * each:
            free = int(memory // each)
    return max(0, int(free))


@verb
def left_along(state: Any, job: int, node: int, begin: float, end: float, own: int) -> int:
    """Return how many processors of the node the job could have all the time from `begin` until `end`.

    `own` ones are promised to it from `reserved` on, for as long as it lasts.
    """
    since = until = np.inf
    if own > 0:
        since = state.jobs[job].reserved
        until = since + state.jobs[job].left + state.sleep_control.max_boot_time
    least = state.nodes[node].cores
    k = entry_at(state, node, begin, False)
    last = state.lines[node].last
    time = begin
    going_on = True
    while going_on:
        over = min(end, state.step_time[k + 1]) if k + 1 < last else end
        there = own > 0 and not later(since, time) and not later(over, until)
        least = min(least, left_at(state, job, k, own if there else 0))
        k += 1
        going_on = least > 0 and k < last and later(end, over)
        time = over
    return int(least)


@verb
def look_along(state: Any, job: int, node: int, begin: float, end: float) -> tuple[float, int]:
    """Return before when the job could not have more of the node, and how much it could have if it began then."""
    least = int(state.nodes[node].cores)
    rise = np.inf
    lasting = later(end, begin)
    k = entry_at(state, node, end if lasting else begin, lasting)
    last = state.lines[node].last
    going_on = True
    while going_on:
        left = left_at(state, job, k, 0)
        if left < least:
            least = left
            rise = state.step_time[k + 1] if k + 1 < last else np.inf
        k -= 1
        going_on = least > 0 and k >= state.lines[node].first and later(state.step_time[k + 1], begin)
    return float(rise), least


@verb
def one_along(state: Any, job: int, node: int, time: float, lasting: float, limit: float) -> float:
    """Return when the job could have a processor of the node, from `time` on; `limit` if not before that."""
    while time < limit:
        rise, left = look_along(state, job, node, time, time + lasting)
        if left > 0:
            return time
        time = rise
    return limit
