"""Orders whose scores only fall with time: who is next is found without scoring everybody anew.

Jobs stand in the queue, and in the trees of those who may overtake, by the score that each will have at a time ahead:
it has no lower one until then. Who is next now is looked for from the lowest of these on: each is scored as of now, up
to the first whose score ahead is above the best that was found. From time to time everybody is scored anew.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, seldom
from harness.engine.faults import NAN_SCORE, ORDERING, RISING, PolicyFault, note
from harness.engine.queue.backfill_index import ORDER_LASTS, first_standing, may_overtake
from harness.engine.queue.scoring import rank_queue
from harness.engine.queue.waiting_jobs import place_in_queue
from harness.engine.records.public import WAITING
from harness.engine.run_state import seen

#: Who walks: through the queue, or past those who may overtake.
THROUGH, PAST = 0, 1

#: How often somebody is scored singly for each job that waits, until everybody is scored for a time nearer than before;
#: and until everybody is scored at once.
OFTEN, TOO_OFTEN = 8, 32

#: One of so many is scored in a walk, and so many besides, until everybody is scored as of now; and for so many
#: decisions then.
SHARE, FEW, DECISIONS = 4, 32, 16

#: How far scores may be from falling, of their size: powers are not rounded alike.
ROUNDING = 1e-12


@seldom
def rank_ahead(state: Any) -> None:
    """Score every waiting job as of a time ahead, as far as that pays. Changes notes, queue, scores."""
    notes = state.notes
    notes.span *= 2.0 if notes.judged < OFTEN * state.clock.queued else 0.5
    notes.span = min(max(notes.span, 1e-3), 1e9)
    notes.judged = 0
    notes.ahead = state.clock.now + notes.span
    notes.entered = -1
    rank_queue(state)


@seldom
def rank_now(state: Any) -> None:
    """Score every waiting job as of now. Changes notes, queue, scores; walks begin anew behind whom they passed."""
    state.notes.ahead = state.clock.now
    state.notes.entered = -1
    for kind in (THROUGH, PAST):
        state.walks[kind].free = state.walks[kind].last = -1
    rank_queue(state)


@inner
def rank_if_due(state: Any) -> None:
    """Score everybody anew, if the time ahead has come, or if looking for who is next has become dear."""
    notes = state.notes
    if notes.at_once > 0:
        notes.at_once -= 1
        rank_now(state)
    elif state.clock.now > notes.ahead or notes.judged > TOO_OFTEN * (state.clock.queued + 8):
        rank_ahead(state)


@inner
def least_now(ahead: float) -> float:
    """Return below what no job is now that has such a score at the time ahead."""
    return ahead - ROUNDING * abs(ahead) if abs(ahead) < np.inf else ahead


@inner
def score_now(state: Any, job: int) -> float:
    """Return the score of a waiting job as of now. Changes scratch that nobody else uses."""
    clock = state.clock
    asked = clock.hook
    clock.hook = ORDERING
    last = len(state.ranking) - 1
    end = len(state.scores) - 1
    state.ranking[last] = job
    state.order(seen(state), state.ranking[last:], state.scores[end:], state.order_own)
    score = float(state.scores[end])
    state.notes.judged += 1
    if np.isnan(score) or (score < least_now(state.jobs[job].score) and clock.now <= state.notes.ahead):
        note(clock, NAN_SCORE if np.isnan(score) else RISING, job, -1, score)
        raise PolicyFault
    clock.hook = asked
    return score


@inner
def is_meant(state: Any, kind: int, walk: Any, job: int) -> bool:
    """Return whether the walk is about the job: whether it waits, and may overtake, if that is asked."""
    record = state.jobs[job]
    may = kind == THROUGH or may_overtake(state, record.procs, record.left, walk.until, walk.spare)
    return bool(may and record.status == WAITING)


@inner
def look_on(state: Any, kind: int, walk: Any) -> int:
    """Return who is next in the queue of those whom the walk is about, or −1; it is not passed yet."""
    waitlist = state.waitlist
    while waitlist.head + walk.looked < waitlist.tail:
        job = state.queue[waitlist.head + walk.looked]
        if is_meant(state, kind, walk, job):
            return int(job)
        walk.looked += 1
    return -1


@inner
def nearest(state: Any, kind: int, walk: Any) -> int:
    """Return who is next in the walk by the scores ahead, or −1; it is not passed yet."""
    if kind == PAST and state.notes.entered >= 0:
        return int(first_standing(state, walk.last, walk.until, walk.spare))
    return int(look_on(state, kind, walk))


@inner
def begin_walk(state: Any, walk: Any, after: int) -> None:
    """Begin from the first on, but for those up to `after`, if that is somebody."""
    walk.count = walk.looked = walk.scored = 0
    walk.last = -1
    walk.passed = after
    walk.floor = score_now(state, after) if after >= 0 else -np.inf


@inner
def best_known(state: Any, kind: int, walk: Any, base: int) -> int:
    """Return where the first of those scored in the walk stands, −1 if there is none; forget who cannot be meant."""
    best = -1
    k = 0
    while k < walk.count:
        if not is_meant(state, kind, walk, state.nearing[base + k]):
            walk.count -= 1
            state.nearing[base + k] = state.nearing[base + walk.count]
            state.nearing_scores[base + k] = state.nearing_scores[base + walk.count]
            continue
        if best < 0 or comes_before(state, base + k, base + best):
            best = k
        k += 1
    return best


@inner
def comes_before(state: Any, place: int, other: int) -> bool:
    """Return whether who stands at one place of those scored comes before who stands at the other."""
    score = state.nearing_scores[place]
    limit = state.nearing_scores[other]
    return bool(score < limit or (score == limit and state.nearing[place] < state.nearing[other]))


@inner
def next_by_score(state: Any, kind: int, walk: Any, after: int) -> int:
    """Return what `next_falling` does, where everybody has the score of now."""
    if after < 0:
        walk.looked = 0
    elif walk.last != after:
        walk.looked = place_in_queue(state, after) + 1 - state.waitlist.head
    walk.last = look_on(state, kind, walk)
    walk.looked += 1
    return int(walk.last)


@seldom
def next_falling(state: Any, kind: int, after: int, at: float, spare: int) -> int:
    """Return the next waiting job behind `after`, or −1: of all, or of those who `may_overtake`."""
    notes = state.notes
    walk = state.walks[kind]
    free = state.clock.free
    more = at > walk.until or spare > walk.spare or free > walk.free  # who was passed by may be meant now
    walk.until = at
    walk.spare = spare
    walk.free = free
    if notes.ahead == state.clock.now:
        return next_by_score(state, kind, walk, after)
    if after < 0 or more:
        begin_walk(state, walk, after)
    base = kind * (len(state.nearing) // 2)
    best = best_known(state, kind, walk, base)
    while True:
        job = nearest(state, kind, walk)
        if job < 0:
            break
        if best >= 0 and state.nearing_scores[base + best] < least_now(state.jobs[job].score):
            break
        if walk.scored > FEW + state.clock.queued // SHARE and notes.looked >= notes.listed:
            notes.at_once = DECISIONS
            notes.judged += OFTEN * state.clock.queued
            rank_now(state)
            return next_by_score(state, kind, walk, after)
        walk.scored += 1
        walk.looked += 1
        walk.last = job
        score = score_now(state, job)
        if score < walk.floor or (score == walk.floor and job <= walk.passed):
            continue
        place = base + walk.count
        walk.count += 1
        state.nearing[place] = job
        state.nearing_scores[place] = score
        if best < 0 or comes_before(state, place, base + best):
            best = place - base
    if best < 0:
        return -1
    found = state.nearing[base + best]
    walk.count -= 1
    state.nearing[base + best] = state.nearing[base + walk.count]
    state.nearing_scores[base + best] = state.nearing_scores[base + walk.count]
    return int(found)


def walk_ahead(view: Any, inside: Any) -> Any:
    """Return the engine's own arrays with room for such walks, and say in the notes that there are some."""
    view.notes.falling = 1
    view.notes.span = 1.0
    view.notes.ahead = -np.inf
    view.notes.lasting |= ORDER_LASTS
    room = 2 * len(view.jobs) + 2
    return inside._replace(nearing=np.empty(room, np.int64), nearing_scores=np.empty(room))
