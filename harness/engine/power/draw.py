"""What the nodes draw, and whose energy it is.

A node's power is shared by its busy cores: `share` integrates watts per busy core, so that a job's energy on a node
is its cores times the growth of `share` while it was there, whatever its neighbours did. What a node draws with no
core busy is idle energy, sleep energy, or the energy of a transition, by its status.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once, verb
from harness.engine.faults import BAD_WATTS, NO_NODE, POWERING, PolicyFault, note
from harness.engine.records.public import ASLEEP, AWAKE, DOWN, LEVELS, WAKING
from harness.engine.run_state import seen


@inner
def settle(state: Any, node: int) -> None:
    """Bring the node's energy up to now, at the power it drew since it was last settled."""
    settle_until(state, node, state.clock.now)


@inner
def settle_until(state: Any, node: int, time: float) -> None:
    """Bring the node's energy up to a time, at the power it drew since it was last settled."""
    record = state.nodes[node]
    elapsed = time - record.settled
    if elapsed > 0:
        energy = record.watts * elapsed
        record.energy += energy
        if record.busy > 0:
            record.share += energy / record.busy
        elif record.status == AWAKE:
            record.idle_energy += energy
        elif record.status == ASLEEP:
            record.sleep_energy += energy
            record.asleep += elapsed
        else:
            record.transition_energy += energy
    record.settled = time


@inner
def draw(state: Any, piece: int) -> None:
    """Ask the energy policy what the nodes of these slices, or all nodes, draw from now on. Changes nodes."""
    asked = state.clock.hook
    state.clock.hook = POWERING
    node = state.watts(seen(state), piece, state.watts_own)
    if node >= 0:
        note(state.clock, BAD_WATTS, -1, node, state.nodes[node].watts)
        raise PolicyFault
    state.clock.hook = asked


@once
def known(record: Any) -> int:
    """Return where in `known_watts` stands what a node draws as it is, −1 if that is not kept."""
    if record.first_draw < 0 or record.status == DOWN:
        return -1
    if record.status == AWAKE:
        return int(record.first_draw + record.busy)
    return int(record.first_draw + record.cores + (WAKING - AWAKE) * record.depth + record.status)


@once
def recall(state: Any, node: int) -> bool:
    """Let the node draw what one of its kind drew that was as it is; False if nobody knows."""
    record = state.nodes[node]
    place = known(record)
    if place < 0:
        return False
    record.watts = state.known_watts[place]
    return record.watts >= 0.0


@inner
def draw_anew(state: Any, first: int) -> None:
    """Ask what the nodes of these slices draw, and remember it of their kinds. Changes nodes."""
    draw(state, first)
    piece = first
    while piece >= 0:
        record = state.nodes[state.slices[piece].node]
        place = known(record)
        if place >= 0:
            state.known_watts[place] = record.watts
        piece = state.slices[piece].next


@once
def draw_one(state: Any, node: int) -> None:
    """Let this one node draw what it draws as it is. Changes nodes."""
    if not recall(state, node):
        draw_one_anew(state, node)


@inner
def draw_one_anew(state: Any, node: int) -> None:
    """Ask what this one node draws as it is. Changes nodes."""
    piece = state.allocation.free_slice_head  # an unused slice, for the moment
    following = state.slices[piece].next
    state.slices[piece].node = node
    state.slices[piece].next = -1
    draw_anew(state, piece)
    state.slices[piece].next = following


@inner
def total_power(state: Any) -> float:
    """Return what all nodes draw now [W]."""
    watts = 0.0
    for node in range(len(state.nodes)):
        watts += state.nodes[node].watts
    return watts


@verb
def power_at(state: Any, node: int, rate: float) -> tuple[float, float]:
    """Return what the node would draw at `rate` with no core busy, and with all of them [W].

    Interpolated between its performance states, and that of the nearest one outside them; the same at any rate if
    it has none.
    """
    if not 0 <= node < len(state.nodes):
        note(state.clock, NO_NODE, -1, node, len(state.nodes))
        raise PolicyFault
    record = state.nodes[node]
    first = record.first_pace
    last = first + record.pace_count - 1
    if record.pace_count == 0:
        return record.idle, record.peak
    if rate <= state.paces[first].rate:
        return state.paces[first].idle, state.paces[first].peak
    for k in range(first, last):
        below = state.paces[k]
        above = state.paces[k + 1]
        if rate < above.rate:
            part = (rate - below.rate) / (above.rate - below.rate)
            return below.idle + part * (above.idle - below.idle), below.peak + part * (above.peak - below.peak)
    return state.paces[last].idle, state.paces[last].peak


@inner
def change_pace(state: Any) -> None:
    """Let all nodes go on at the present rate, and draw what that takes. Changes nodes."""
    for node in range(len(state.nodes)):
        settle(state, node)
        if state.nodes[node].pace_count > 0:
            idle, peak = power_at(state, node, state.clock.rate)
            state.nodes[node].idle = idle
            state.nodes[node].peak = peak
    for k in range(len(state.known_watts)):
        state.known_watts[k] = np.nan
    draw(state, -1)


@verb
def load_share(node: Any, busy: int) -> float:
    """Return which share of the way from idle to peak the node's power has come with `busy` busy cores.

    Read off its curve between the two measured levels that enclose it; busy / cores if it has no curve.
    """
    load = busy / node.cores
    span = node.curve[LEVELS - 1] - node.curve[0]
    if not span > 0:
        return load
    place = load * (LEVELS - 1)
    level = int(min(place, LEVELS - 2)) if place >= 0.0 else 0  # whatever a policy says: nan too
    low = node.curve[level]
    watts = low + (place - level) * (node.curve[level + 1] - low)
    return (watts - node.curve[0]) / span


@verb
def drawn(node: Any, busy: int) -> float:
    """Return what the node draws with `busy` busy cores at the present rate, by its own curve [W]."""
    return node.idle + load_share(node, busy) * (node.peak - node.idle)


@verb
def work_left(state: Any) -> float:
    """Return the work of all jobs in the system, by their estimates [s at reference speed]."""
    clock = state.clock
    if clock.queued + clock.running == 0:
        return 0.0
    return max(0.0, clock.demand + clock.promised - clock.virtual * clock.speed)
