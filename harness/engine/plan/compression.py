"""Compression of the profile: promises move earlier where others have given processors back.

Whoever is asked whether it could begin earlier is mostly as wide and as long as somebody who was asked before. What was
found is kept in `state.answers` by width and length: before that time, nobody like this fits. It holds until processors
are given back, and from then on down to where these begin to matter.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.plan.count_profile import change, fit_before, lowest_raised, run_before
from harness.engine.plan.reserved_starts import reserved_duration, write_promise
from harness.engine.records.public import WAITING
from harness.engine.time_comparison import later

#: How many answers are kept at most; a power of two.
ANSWERS = 4096


@verb
def place_of_answer(procs: int, duration: float) -> int:
    """Return where an answer for such jobs is kept."""
    return (procs * 40503 + int(min(duration, 1e12) * 8.0) * 2654435761 >> 7) & (ANSWERS - 1)


@verb
def earliest_known(state: Any, procs: int, duration: float) -> float:
    """Return a virtual time before which no such job fits, as far as that is known; minus infinity if nothing is."""
    answer = state.answers[place_of_answer(procs, duration)]
    if answer.procs != procs or answer.left != duration:
        return -np.inf
    if answer.version != state.notes.version:
        raised = lowest_raised(state, answer.version)
        if raised < answer.time:
            answer.time = min(answer.time, run_before(state, procs, raised))
        answer.version = state.notes.version
    return float(answer.time)


@verb
def keep_answer(state: Any, procs: int, duration: float, time: float) -> None:
    """Keep that no such job fits before that virtual time."""
    answer = state.answers[place_of_answer(procs, duration)]
    answer.procs = procs
    answer.left = duration
    answer.time = time
    answer.version = state.notes.version


@verb(apart=True)
def compress(state: Any) -> None:
    """Let each promise by `promise_at` move to its earliest fit, in queue order; none moves later.

    What somebody leaves by moving, `procs` processors from virtual time `gap` until `over`, is given back only when
    somebody might look at it. Many alike wait in rows: each moves to where the one before it was, or by as much as the
    one before it did, and the profile stays as it is but for the ends of the row.
    """
    waitlist = state.waitlist
    now = state.clock.virtual
    procs = 0
    length = 0.0
    gap = over = np.inf
    for k in range(waitlist.head, waitlist.tail):
        job = state.queue[k]
        record = state.jobs[job]
        begin = record.reserved
        if record.status != WAITING or not 0.0 <= begin < np.inf or not later(begin, now):
            continue
        duration = reserved_duration(state, job)
        behind = begin != gap and not later(gap, begin)  # the gap is before its own place: it might use that
        in_row = record.procs == procs and duration == length and (begin == over or over == gap + length)
        if behind and not in_row:
            change(state, procs, 1, gap, over)
            gap = over = np.inf
            behind = False
        known = earliest_known(state, record.procs, duration)
        if known == begin and not behind:
            continue
        # What is known goes by what is free: it says nothing of who could begin before, up to a place of its own.
        limit = gap if behind else begin
        since = max(now, known) if known <= limit else now
        found = fit_before(state, record.procs, duration, since, limit)
        if known <= limit:
            keep_answer(state, record.procs, duration, found)
        if found == begin:
            continue
        write_promise(state, job, found)
        end = found + duration
        overlapping = later(end, begin)
        if found != gap:
            change(state, max(procs, 1), 1, gap, over)
            change(state, record.procs, -1, found, begin if overlapping else end)
        elif begin != over:
            overlapping = False  # the whole gap is taken, and its own place left
        procs = record.procs
        length = duration
        gap = end if overlapping else begin
        over = begin + duration
    if gap < np.inf:
        change(state, procs, 1, gap, over)
