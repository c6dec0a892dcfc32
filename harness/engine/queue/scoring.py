"""Jobs in order of the scores that the policies give them: those that wait, and those that run."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, seldom
from harness.engine.faults import BACKFILLING, NAN_SCORE, ORDERING, PolicyFault, note
from harness.engine.run_state import seen
from harness.engine.running_jobs import first_running, next_running, who_runs


@inner
def ask_order(state: Any, count: int) -> None:
    """Let the order score the first `count` of `ranking`; as of a time ahead, if scores only fall: see `falling`."""
    clock = state.clock
    asked = clock.hook
    clock.hook = ORDERING
    now = clock.now
    if state.notes.falling:
        state.notes.meanwhile = now
        clock.now = max(now, state.notes.ahead)
    state.order(seen(state), state.ranking[:count], state.scores[:count], state.order_own)
    clock.now = now
    check_scores(state, count)
    clock.hook = asked


@inner
def ask_second(state: Any, count: int) -> None:
    """Let the order that the start policy was given score the first `count` of `ranking`."""
    clock = state.clock
    asked = clock.hook
    clock.hook = BACKFILLING
    state.second(seen(state), state.ranking[:count], state.scores[:count], state.second_own)
    check_scores(state, count)
    clock.hook = asked


@inner
def score_ranking(state: Any, count: int) -> None:
    """Score the first `count` jobs of `ranking`. Changes jobs, scores."""
    ask_order(state, count)
    for k in range(count):
        state.jobs[state.ranking[k]].score = state.scores[k]


@inner
def check_scores(state: Any, count: int) -> None:
    """Refuse scores that are not numbers: they would put the queue in no order at all."""
    for k in range(count):
        if np.isnan(state.scores[k]):
            note(state.clock, NAN_SCORE, state.ranking[k], -1, state.scores[k])
            raise PolicyFault


@inner
def sort_ranking(state: Any, count: int) -> None:
    """Put the first `count` of `ranking` in order of score, then index.

    Shell's sort: in place, and nearly linear when the order has changed little since it was last sorted.
    """
    who = state.ranking
    scores = state.scores
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            job = who[k]
            score = scores[k]
            place = k
            while place >= gap:
                before = place - gap
                if scores[before] < score or (scores[before] == score and who[before] < job):
                    break
                scores[place] = scores[before]
                who[place] = who[before]
                place = before
            scores[place] = score
            who[place] = job
        gap //= 3


@seldom
def rank_queue(state: Any) -> None:
    """Score every waiting job anew and put the queue in order. Changes queue, scores."""
    clock = state.clock
    count = clock.queued
    head = state.waitlist.head
    for k in range(count):
        state.ranking[k] = state.queue[head + k]
    ask_order(state, count)
    sort_ranking(state, count)
    for k in range(count):
        job = state.ranking[k]
        state.queue[head + k] = job
        state.jobs[job].score = state.scores[k]


@seldom
def rank_anew(state: Any) -> int:
    """Rank the waiting jobs by the second order, in `ranking`; returns how many they are."""
    waitlist = state.waitlist
    count = 0
    for k in range(waitlist.head, waitlist.tail):
        state.ranking[count] = state.queue[k]
        count += 1
    ask_second(state, count)
    sort_ranking(state, count)
    return count


@inner
def rank_running(state: Any) -> int:
    """Rank the running jobs by what remains of them now, in `ranking`; returns how many they are. Changes jobs."""
    clock = state.clock
    count = 0
    at = first_running(state)
    while at >= 0:
        job = who_runs(state, at)
        at = next_running(state, at)
        # What remains of a running job's estimate is known from its planned end.
        if state.jobs[job].ready <= clock.now:
            state.jobs[job].left = (state.jobs[job].planned - clock.virtual) * state.jobs[job].speed
        state.ranking[count] = job
        count += 1
    ask_order(state, count)
    sort_ranking(state, count)
    return count


@inner
def find_prefix(state: Any, procs: int) -> tuple[int, int]:
    """Merge the running jobs, ranked anew, with the queue, as long as they all fit on `procs` processors.

    The running jobs are put into `ranking`, in order, and the merged ones behind them. Returns how many running jobs
    were merged, and how many jobs in all.
    """
    waitlist = state.waitlist
    count = rank_running(state)
    taken = 0
    merged = 0
    waiting = waitlist.head
    while True:
        first = -1
        if waiting < waitlist.tail:
            first = state.queue[waiting]
        if taken < count:
            job = state.ranking[taken]
            score = state.scores[taken]
            if first < 0 or score < state.jobs[first].score or (score == state.jobs[first].score and job < first):
                first = job
        if first < 0 or state.jobs[first].procs > procs:
            return taken, merged
        procs -= state.jobs[first].procs
        state.ranking[count + merged] = first
        merged += 1
        if taken < count and first == state.ranking[taken]:
            taken += 1
        else:
            waiting += 1
