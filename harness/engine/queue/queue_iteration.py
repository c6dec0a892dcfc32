"""Walks through the queue, one job after the other, for policies that need not see all of it at once."""

from typing import Any

from harness.engine.decorators import expect_job, inner, verb
from harness.engine.queue.backfill_index import bring_up_to_date, first_standing, may_overtake
from harness.engine.queue.lazy_priorities import PAST, THROUGH, look_on, next_falling
from harness.engine.queue.scoring import rank_anew
from harness.engine.records.public import WAITING
from harness.engine.verbs import QUEUE_ORDER


@verb(crosses=True)
def next_waiting(state: Any, after: int) -> int:
    """Return the next job in the queue that waits, or −1; `after` is the job that was the answer before, −1 to begin.

    Where orders change with time, this is quicker than `waiting`: only as much of the queue is put in order as is asked
    for.
    """
    notes = state.notes
    if after >= 0:
        expect_job(state, after)
    if notes.falling:
        return next_falling(state, THROUGH, after, 0.0, 0)
    walk = state.walks[THROUGH]
    if after < 0:
        walk.looked = 0
    job = look_on(state, THROUGH, walk)
    walk.looked += 1
    return int(job)


@inner
def look_through(state: Any, order: int, after: int, at: float, spare: int) -> int:
    """Return what `next_overtaker` does, from the whole list of those who wait."""
    notes = state.notes
    waitlist = state.waitlist
    if after < 0:
        notes.looked = 0
        notes.listed = waitlist.tail - waitlist.head if order == QUEUE_ORDER else rank_anew(state)
    elif order == QUEUE_ORDER:
        notes.listed = min(notes.listed, waitlist.tail - waitlist.head)  # as long as when the policy began, if it did
    while notes.looked < notes.listed:
        job = state.queue[waitlist.head + notes.looked] if order == QUEUE_ORDER else state.ranking[notes.looked]
        notes.looked += 1
        record = state.jobs[job]
        if may_overtake(state, record.procs, record.left, at, spare) and record.status == WAITING:
            return int(job)
    return -1


@verb(crosses=True)
def next_overtaker(state: Any, order: int, after: int, at: float, spare: int) -> int:
    """Return the next waiting job in an order that fits by number, and ends by `at` or needs at most `spare`; or −1.

    `order` is one that the policy took as a parameter, or −1, the queue's own; `after` is the job that was the answer
    before, or −1 to begin; `at` is a virtual time, and the job's end is that of its estimate on reference processors.
    """
    notes = state.notes
    waitlist = state.waitlist
    falling = notes.falling and order == QUEUE_ORDER
    if after >= 0:
        expect_job(state, after)
    elif not falling or notes.ahead != state.clock.now:  # else they are ranked as of now, and soon anew
        bring_up_to_date(state, order)
    if falling:
        return next_falling(state, PAST, after, at, spare)
    if notes.entered < 0 or waitlist.tail - waitlist.head < state.clock.queued:
        return look_through(state, order, after, at, spare)
    return int(first_standing(state, after, at, spare))
