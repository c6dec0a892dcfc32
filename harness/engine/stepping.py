"""The loop in steps: it stops before every decision about starts that somebody waits for, and goes on when it is made.

A loop of its own, so that other runs are spared it; what happens at an instant is the same. A decision is made from
outside, by the verbs of a start policy, or by a choice: who shall be first. Then the start policy of the run is asked
about that job alone; if it starts, somebody else may be chosen, and if it does not, the policy is asked about all with
that job in front, so that `easy` lets others overtake it, and `none` lets nobody.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from harness.engine import policy_kernels  # noqa: F401 - every verb has its place in the table before any code reads it
from harness.engine.decorators import entrance, inner, once
from harness.engine.event_semantics import forget_what_was_seen, happens, let_arrive, next_event
from harness.engine.faults import STARTING
from harness.engine.loop import SLEEP_CHANGES, advance, ask_start, close, follow_up, set_pace_and_order
from harness.engine.observation import described
from harness.engine.power.draw import draw
from harness.engine.power.sleep import let_idle_sleep
from harness.engine.queue.waiting_jobs import drop_started
from harness.engine.records.public import WAITING
from harness.engine.run_state import INDICES, STATE
from harness.engine.samples import full, record_sample
from harness.engine.service import enter_service
from harness.numba_support.code_cache import compile_and_keep
from harness.numba_support.compile_options import NO_REFERENCES
from harness.numba_support.pointer_tables import entering

#: How the loop returns: the run is over, it has to be called again, or a decision is due.
OVER, AGAIN, DUE = range(3)

#: As many instants as may go by between two choices.
MOST_INSTANTS = 1 << 40

#: What the loop is told besides what changes: the decision before which it stopped has been made.
DECIDED = 32


@inner
def run_in_steps(state: Any, changes: int, budget: int) -> int:
    """Finish a decision, and simulate at most `budget` instants, up to the next one; return how that ended."""
    clock = state.clock
    notes = state.notes
    if clock.instants == 0:
        draw(state, -1)
    if changes & DECIDED:
        follow_up(state, changes)
        if changes & SLEEP_CHANGES:
            let_idle_sleep(state)
        record_sample(state)
    for _ in range(budget):
        if full(state):
            return AGAIN
        now = next_event(state)
        if now == np.inf:
            close(state)
            return OVER
        advance(state, now)
        forget_what_was_seen(state)
        followed = happens(state, changes)
        let_arrive(state)
        if followed:
            clock.instants += 1
            set_pace_and_order(state, changes)
            notes.passed = 1
            if clock.queued > 0:
                clock.hook = STARTING
                return DUE
            ask_start(state)
            follow_up(state, changes)
        if changes & SLEEP_CHANGES:
            let_idle_sleep(state)
        record_sample(state)
    return AGAIN


@once
def start_chosen(state: Any, place: int) -> bool:
    """Let the start policy start who stands at a place of the queue, or others around it; return if it started."""
    waitlist = state.waitlist
    queue = state.queue
    head = waitlist.head
    tail = waitlist.tail
    job = queue[place]
    for k in range(place, head, -1):
        queue[k] = queue[k - 1]
    queue[head] = job
    waitlist.tail = head + 1
    ask_start(state)
    started = state.jobs[job].status != WAITING
    waitlist.tail = tail
    if not started:
        ask_start(state)
    for k in range(head, place):
        queue[k] = queue[k + 1]
    queue[place] = job
    return started


@inner
def choose(state: Any, changes: int, choice: int, budget: int) -> int:
    """Let the waiting job number `choice` be first, and go on up to the next decision; below 0 the run begins."""
    waitlist = state.waitlist
    if choice >= 0:
        if start_chosen(state, min(waitlist.head + choice, waitlist.tail - 1)):
            drop_started(state)
            enter_service(state)
            if state.clock.queued > 0:
                return DUE
        changes |= DECIDED
    return run_in_steps(state, changes, budget)


@inner
def observe(state: Any, seen: Any, mask: Any) -> None:
    """Describe the first waiting jobs, a row of `seen` each, as many as there are; `mask` says which rows are jobs."""
    head = state.waitlist.head
    count = min(len(mask), state.waitlist.tail - head)
    for slot in range(count):
        row = described(state.jobs[state.queue[head + slot]], state.clock)
        for k in range(len(row)):
            seen[slot, k] = row[k]
        mask[slot] = 1
    for slot in range(count, len(mask)):
        seen[slot] = 0.0
        mask[slot] = 0


_ROWS = types.Array(types.float32, 3, "C")
_MASKS = types.Array(types.int8, 2, "C")
_TABLES = types.Array(types.int64, 2, "C")


@cache
def compiled_steps() -> Any:
    """Return `run_in_steps`, compiled: called with the state, what changes, and how many instants there may be."""
    return entrance(run_in_steps, types.int64(INDICES, types.int64, types.int64))


@cache
def compiled_choices() -> Any:
    """Return what makes one choice in each of several runs and describes where they stand, without Python's lock.

    It takes their tables, what changes in each, the choices, and fills in how each ended, rows and masks.
    """
    source = (
        "def kernel(tables, changes, choices, ends, seen, masks):\n"
        "    for k in range(len(tables)):\n"
        "        state = entered(tables[k])\n"
        "        end = choose(state, changes[k], choices[k], most)\n"
        "        while end == again:\n"
        "            end = run(state, changes[k], most)\n"
        "        ends[k] = end\n"
        "        observe(state, seen[k], masks[k])\n"
    )
    names = {"choose": choose, "run": run_in_steps, "observe": observe, "again": AGAIN, "most": MOST_INSTANTS}
    names |= {"entered": entering(STATE)}
    asked = types.void(_TABLES, INDICES, INDICES, INDICES, _ROWS, _MASKS)
    return compile_and_keep("choices", source, names, asked, nogil=True, **NO_REFERENCES)
