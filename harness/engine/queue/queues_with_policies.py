"""Queues with an order and a start policy of their own: to the loop they are one order and one start policy.

Those two are kernels that stand here. The order asks for each job the order of its queue. The start policy lets the
waiting jobs of one queue after the other stand alone in `state.queue`, and asks the start policy of that queue; then
everybody stands where they stood before. So the loop, the verbs and the policies know nothing of it.

What each is asked of is shared but for that: nodes, clock, running jobs, who is counted. What it promises is forgotten
when the next one is asked: each plans anew among the jobs that run.

All numbers are in one array, read as whole numbers where they are such: `HEAD` numbers, a row for each queue, the queue
of each job, room for the waiting jobs, and the policies' own vectors.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import config
from numba.extending import overload

from harness.engine import run_state
from harness.engine.decorators import inner
from harness.engine.records.public import WAITING
from harness.numba_support.code_cache import compile_and_keep
from harness.numba_support.compile_options import KERNEL, NO_REFERENCES
from harness.numba_support.pointer_tables import calling
from harness.policy_api import compiled_policies

# How many queues there are, which was asked last, and where the queues of the jobs and the room for them begin.
COUNT, ASKED, QUEUE_OF, ROOM = range(4)
HEAD = 4

# A row: of each of these policies where its kernel lies, and where its own vector begins and ends; and which learn.
ORDER, SECOND, START, LEARNS = 0, 3, 6, 9
ROW = 10

#: The parts of a scheduler that a queue has its own of, and where they stand in its row.
PARTS = {"order": ORDER, "second": SECOND, "start": START}

_call_order = calling(run_state.ORDER)
_call_start = calling(run_state.START)


def score_by(kernel: int, view: Any, who: Any, scores: Any, own: Any) -> None:
    """Ask an order, which lies at an address, or in plain Python is connected by that number."""
    compiled_policies.ask(kernel, who, scores)


@overload(score_by, jit_options=NO_REFERENCES, strict=False)
def _score_by(kernel: Any, view: Any, who: Any, scores: Any, own: Any) -> Any:
    return lambda kernel, view, who, scores, own: _call_order(kernel, view, who, scores, own)


def start_by(kernel: int, state: Any, own: Any) -> None:
    """Ask a start policy, which lies at an address, or in plain Python is connected by that number."""
    compiled_policies.ask(kernel)


@overload(start_by, jit_options=NO_REFERENCES, strict=False)
def _start_by(kernel: Any, state: Any, own: Any) -> Any:
    return lambda kernel, state, own: _call_start(kernel, state, own)


@inner
def score_run(view: Any, who: Any, scores: Any, own: Any, k: int, part: int) -> None:
    """Let an order of queue number `k` score jobs that are all in it, or learn."""
    table = own.view(np.int64)
    row = HEAD + ROW * k + part
    table[ASKED] = k
    score_by(table[row], view, who, scores, own[table[row + 1] : table[row + 2]])


@inner
def score_by_queue(view: Any, who: Any, scores: Any, own: Any, part: int) -> None:
    """Let each job be scored by the order of its queue; asked about no job, let those learn that do."""
    table = own.view(np.int64)
    if len(who) == 1 and who[0] < 0:
        for k in range(table[COUNT]):
            if table[HEAD + ROW * k + LEARNS] & (1 << part):
                score_run(view, who, scores, own, k, part)
        return
    queue_of = table[QUEUE_OF]
    begin = 0
    while begin < len(who):
        k = table[queue_of + who[begin]]
        end = begin + 1
        while end < len(who) and table[queue_of + who[end]] == k:
            end += 1
        score_run(view, who[begin:end], scores[begin:end], own, k, part)
        begin = end


@inner
def stand_alone(state: Any, table: Any, k: int, count: int) -> None:
    """Let the waiting jobs of queue number `k`, of the `count` in the room, be all of `state.queue`.

    Behind it stand those of the other queues, which a start may make held.
    """
    waitlist = state.waitlist
    tail = waitlist.head
    for own in (True, False):
        for place in range(table[ROOM], table[ROOM] + count):
            job = table[place]
            if (table[table[QUEUE_OF] + job] == k) == own and state.jobs[job].status == WAITING:
                state.queue[tail] = job
                tail += 1
        if own:
            waitlist.tail = tail
    waitlist.aside = tail - waitlist.tail
    state.clock.queued = waitlist.tail - waitlist.head


@inner
def forget_promises(state: Any) -> None:
    """Forget what the jobs that stand in `state.queue` were promised. Changes jobs, truth, notes."""
    waitlist = state.waitlist
    for place in range(waitlist.head, waitlist.tail):
        job = state.queue[place]
        if state.jobs[job].status == WAITING:
            state.jobs[job].reserved = -1.0
            if len(state.near) > 0:
                state.near[job].booked = -1
    waitlist.new_in_queue = -1


@inner
def stand_again(state: Any, table: Any, count: int, queued: int) -> None:
    """Let the `count` jobs in the room stand in `state.queue` as before."""
    waitlist = state.waitlist
    for place in range(count):
        state.queue[waitlist.head + place] = table[table[ROOM] + place]
    waitlist.tail = waitlist.head + count
    waitlist.aside = 0
    state.clock.queued = queued


@inner
def start_by_queue(state: Any, own: Any) -> None:
    """Ask the start policy of one queue after the other."""
    clock = state.clock
    waitlist = state.waitlist
    table = own.view(np.int64)
    count = waitlist.tail - waitlist.head
    queued = clock.queued
    corrected = clock.corrected
    for place in range(count):
        table[table[ROOM] + place] = state.queue[waitlist.head + place]
    for k in range(table[COUNT]):
        stand_alone(state, table, k, count)
        row = HEAD + ROW * k + START
        table[ASKED] = k
        clock.corrected = corrected + 1  # what it planned before was planned without the others
        start_by(table[row], state, own[table[row + 1] : table[row + 2]])
        forget_promises(state)
        stand_again(state, table, count, queued)
        if state.hold_state.stop_starting:
            break
    clock.corrected = corrected


@inner
def order_by_queue(view: Any, who: Any, scores: Any, own: Any) -> None:
    """Score jobs by the order of their queue."""
    score_by_queue(view, who, scores, own, ORDER)


@inner
def rank_by_queue(view: Any, who: Any, scores: Any, own: Any) -> None:
    """Score jobs by the order that the start policy of their queue was given."""
    score_by_queue(view, who, scores, own, SECOND)


@cache
def compiled_by_queue() -> dict[str, Any]:
    """Return the kernels that stand for those of all queues, by the part of a scheduler that they are."""
    found = {"order": (order_by_queue, run_state.ORDER), "second": (rank_by_queue, run_state.ORDER)}
    found["start"] = (start_by_queue, run_state.START)
    if config.DISABLE_JIT:
        return {part: function for part, (function, _) in found.items()}
    made = {}
    for part, (function, asked) in found.items():
        given = "view, who, scores, own" if part != "start" else "state, own"
        name = function.__name__
        source = f"def kernel({given}):\n    {name}({given})\n"
        made[part] = compile_and_keep(name, source, {name: function}, asked, **KERNEL)
    return made
