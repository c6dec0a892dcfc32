"""Held jobs by kin: jobs that all holds answer alike about are held together, and let go together.

Where a user is over a limit, all jobs of that user are held; where one of them ends, all are let go, one starts, and
the others are held again. Here each kin is a list in the order of the queue, of which the first is asked about for all.
A kin that is let go is left where it is as long as the jobs that are first in the queue fit: who would start is known
then (`holding.start_let_go`). Only when one does not fit, the kins that are let go join the queue.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner
from harness.engine.queue.backfill_index import ORDER_LASTS
from harness.engine.queue.holds import STARTS, held_until
from harness.engine.queue.scoring import score_ranking
from harness.engine.queue.waiting_jobs import enqueue_waiting, keep_reservation
from harness.engine.time_comparison import later


@inner
def comes_before(state: Any, job: int, other: int) -> bool:
    """Return whether a job comes before another of its kin: where scores do not last, those of one kin are equal."""
    if state.notes.lasting & ORDER_LASTS and state.jobs[job].score != state.jobs[other].score:
        return state.jobs[job].score < state.jobs[other].score
    return job < other


@inner
def join_kin(state: Any, job: int, until: float) -> None:
    """Let a job be held until a time, among its kin. Changes kins, of_kin, notes, clock."""
    notes = state.notes
    place = state.of_kin[job].kin
    kin = state.kins[place]
    if kin.count == 0:
        state.kins[notes.kins].listed = place
        notes.kins += 1
        kin.first = kin.last = job
        kin.until = until
        state.of_kin[job].next = -1
    else:
        kin.until = min(kin.until, until)
        if comes_before(state, job, kin.first):
            state.of_kin[job].next = kin.first
            kin.first = job
        else:
            before = kin.last
            if comes_before(state, job, before):
                before = kin.first
                while comes_before(state, state.of_kin[before].next, job):
                    before = state.of_kin[before].next
            state.of_kin[job].next = state.of_kin[before].next
            state.of_kin[before].next = job
            if state.of_kin[job].next < 0:
                kin.last = job
    kin.count += 1
    state.clock.held += 1
    if -np.inf < until < np.inf:
        notes.release = min(notes.release, until)


@inner
def drop_kin(state: Any, place: int) -> None:
    """Take a kin of whom nobody is held any more out of the list of kins. Changes kins, notes."""
    notes = state.notes
    notes.kins -= 1
    state.kins[place].listed = state.kins[notes.kins].listed


@inner
def give_up_kin(state: Any, job: int) -> bool:
    """Let a held job leave its kin; return whether it was held. Changes kins, of_kin, notes, clock."""
    number = state.of_kin[job].kin
    kin = state.kins[number]
    before = -1
    other = kin.first if kin.count > 0 else -1
    while other >= 0 and other != job:
        before = other
        other = state.of_kin[other].next
    if other < 0:
        return False
    following = state.of_kin[job].next
    if before < 0:
        kin.first = following
    else:
        state.of_kin[before].next = following
    if following < 0:
        kin.last = before
    kin.count -= 1
    state.clock.held -= 1
    if kin.count == 0:
        place = 0
        while state.kins[place].listed != number:
            place += 1
        drop_kin(state, place)
    return True


@inner
def let_kin_go(state: Any, ended: bool) -> int:
    """Ask about kins whose time has come, and if something `ended`, about those without one; return how many jobs go.

    They are let go, and not in the queue yet. Changes kins, notes.
    """
    notes = state.notes
    notes.release = np.inf
    notes.opened = 0
    gone = 0
    for place in range(notes.kins):
        kin = state.kins[state.kins[place].listed]
        if not later(kin.until, state.clock.now) or (ended and kin.until == np.inf):
            kin.until = held_until(state, kin.first, -1)
        if kin.until == -np.inf:
            notes.opened += 1
            gone += kin.count
        elif kin.until < np.inf:
            notes.release = min(notes.release, kin.until)
    return gone


@inner
def score_first_of_kins(state: Any) -> None:
    """Score the first of each kin that is let go. Changes kins, jobs, ranking, scores."""
    count = 0
    for place in range(state.notes.kins):
        kin = state.kins[state.kins[place].listed]
        if kin.until == -np.inf:
            state.ranking[count] = kin.first
            count += 1
    score_ranking(state, count)
    for k in range(count):
        state.kins[state.of_kin[state.ranking[k]].kin].score = state.scores[k]


@inner
def first_of_kin(state: Any, place: int) -> int:
    """Return who is first of a kin."""
    return int(state.kins[state.kins[place].listed].first)


@inner
def comes_before_kin(state: Any, job: int, place: int) -> bool:
    """Return whether a job that has its score comes before the first of a kin that is let go."""
    kin = state.kins[state.kins[place].listed]
    score = state.jobs[job].score
    return score < kin.score or (score == kin.score and job < kin.first)


@inner
def first_kin(state: Any) -> int:
    """Return whose first is first in order, of the kins that are let go."""
    found = -1
    for place in range(state.notes.kins):
        kin = state.kins[state.kins[place].listed]
        if kin.until == -np.inf:
            state.jobs[kin.first].score = kin.score
            if found < 0 or comes_before_kin(state, kin.first, found):
                found = place
    return found


@inner
def let_first_wait(state: Any, place: int) -> None:
    """Let the first of a kin join the queue. Changes what `let_wait` does, kins, notes, clock."""
    kin = state.kins[state.kins[place].listed]
    job = kin.first
    keep_reservation(state, job)
    kin.first = state.of_kin[job].next
    kin.count -= 1
    state.clock.held -= 1
    state.clock.demand += state.jobs[job].left
    state.jobs[job].score = kin.score
    enqueue_waiting(state, job)
    if kin.count == 0:
        drop_kin(state, place)
        state.notes.opened -= 1
    elif state.notes.lasting & ORDER_LASTS:
        kin.score = state.jobs[kin.first].score


@inner
def shut_kins(state: Any) -> bool:
    """After a start, ask again about the kins that are let go; return whether one of them is held now."""
    notes = state.notes
    shut = False
    for place in range(notes.kins):
        kin = state.kins[state.kins[place].listed]
        if kin.until > -np.inf:
            continue
        kin.until = held_until(state, kin.first, STARTS)
        if kin.until > -np.inf:
            shut = True
            notes.opened -= 1
            notes.release = min(notes.release, kin.until)
    return shut


@inner
def let_kins_wait(state: Any) -> None:
    """Let all of the kins that are let go join the queue. Changes what `let_first_wait` does."""
    place = state.notes.kins - 1
    while state.notes.opened > 0:
        if state.kins[state.kins[place].listed].until == -np.inf:
            for _ in range(state.kins[state.kins[place].listed].count):
                let_first_wait(state, place)
        place -= 1
