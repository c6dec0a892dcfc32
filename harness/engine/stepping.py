"""Decisions from outside: a loop with the feature STEPS stops before each decision about starts.

The decision is then made with the functions of a start policy, or by choosing the job that comes first. The start
policy of the run is called with the chosen job alone. If it starts the job, another one may be chosen. If it does not,
it is called with all waiting jobs, the chosen one in front. So `easy` may start jobs behind it, and `none` starts none.
"""

from functools import cache
from typing import Any

from numba import types

from harness.engine.decisions import ask_start
from harness.engine.decorators import inner, once
from harness.engine.events.event_source import STEPS, TIMED
from harness.engine.loop import AGAIN, DUE, make_loop
from harness.engine.observation import described
from harness.engine.queue.waiting_jobs import drop_started
from harness.engine.records.public import WAITING
from harness.engine.run_state import INDICES, STATE
from harness.engine.service import enter_service
from harness.numba_support.code_cache import compile_and_keep
from harness.numba_support.compile_options import NO_REFERENCES
from harness.numba_support.pointer_tables import entering

#: Most instants between two choices.
MOST_INSTANTS = 1 << 40

run_in_steps = make_loop(TIMED | STEPS)


@once
def start_chosen(state: Any, place: int) -> bool:
    """Call the start policy with the job at a place of the queue first; return whether that job was started."""
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
def choose(state: Any, choice: int, budget: int) -> int:
    """Put the waiting job number `choice` first, and go on to the next decision; with −1 the run begins."""
    waitlist = state.waitlist
    if choice >= 0 and start_chosen(state, min(waitlist.head + choice, waitlist.tail - 1)):
        drop_started(state)
        enter_service(state)
        if state.clock.queued > 0:
            return DUE
    return run_in_steps(state, budget)


@inner
def observe(state: Any, seen: Any, mask: Any) -> None:
    """Write a description of each of the first waiting jobs into a row of `seen`; `mask` is 1 for rows with a job."""
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
def compiled_choices() -> Any:
    """Return the function that makes one choice in each of several runs and observes their queues, without the GIL.

    Its arguments are the tables of the runs and the choices; it fills in how each call of a loop ended, rows and masks.
    """
    source = (
        "def kernel(tables, choices, ends, seen, masks):\n"
        "    for k in range(len(tables)):\n"
        "        state = entered(tables[k])\n"
        "        end = choose(state, choices[k], most)\n"
        "        while end == again:\n"
        "            end = run(state, most)\n"
        "        ends[k] = end\n"
        "        observe(state, seen[k], masks[k])\n"
    )
    names = {"choose": choose, "run": run_in_steps, "observe": observe, "again": AGAIN, "most": MOST_INSTANTS}
    names |= {"entered": entering(STATE)}
    arguments = types.void(_TABLES, INDICES, INDICES, _ROWS, _MASKS)
    return compile_and_keep("choices", source, names, arguments, nogil=True, **NO_REFERENCES)
