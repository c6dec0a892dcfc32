"""Groups of held jobs: jobs for which all holds give the same answer are held together and released together.

If a user is over a limit, all jobs of that user are held. When one of them ends, all are released, one starts, and the
others are held again. So the jobs of a group stand in a list in queue order, and the holds are asked about the first.
The jobs of a released group stay in it while the first jobs of the queue fit: which job starts first is then known
(`decisions_with_holds.start_released`). When one does not fit, the released groups join the queue.
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
    """Return whether a job comes before another of its group: unless scores are lasting, those of a group are equal."""
    if state.notes.lasting & ORDER_LASTS and state.jobs[job].score != state.jobs[other].score:
        return state.jobs[job].score < state.jobs[other].score
    return job < other


@inner
def add_to_group(state: Any, job: int, until: float) -> None:
    """Hold a job until a time, in its group. Changes held_groups, group_of, hold_state, clock."""
    holds = state.hold_state
    place = state.group_of[job].group
    group = state.held_groups[place]
    if group.count == 0:
        state.held_groups[holds.groups].listed = place
        holds.groups += 1
        group.first = group.last = job
        group.until = until
        state.group_of[job].next = -1
    else:
        group.until = min(group.until, until)
        if comes_before(state, job, group.first):
            state.group_of[job].next = group.first
            group.first = job
        else:
            before = group.last
            if comes_before(state, job, before):
                before = group.first
                while comes_before(state, state.group_of[before].next, job):
                    before = state.group_of[before].next
            state.group_of[job].next = state.group_of[before].next
            state.group_of[before].next = job
            if state.group_of[job].next < 0:
                group.last = job
    group.count += 1
    state.clock.held += 1
    if -np.inf < until < np.inf:
        holds.next_release = min(holds.next_release, until)


@inner
def drop_group(state: Any, place: int) -> None:
    """Take an empty group out of the list of groups. Changes held_groups, hold_state."""
    holds = state.hold_state
    holds.groups -= 1
    state.held_groups[place].listed = state.held_groups[holds.groups].listed


@inner
def remove_from_group(state: Any, job: int) -> bool:
    """Take a held job out of its group; return whether it was held. Changes what `add_to_group` changes."""
    number = state.group_of[job].group
    group = state.held_groups[number]
    before = -1
    other = group.first if group.count > 0 else -1
    while other >= 0 and other != job:
        before = other
        other = state.group_of[other].next
    if other < 0:
        return False
    following = state.group_of[job].next
    if before < 0:
        group.first = following
    else:
        state.group_of[before].next = following
    if following < 0:
        group.last = before
    group.count -= 1
    state.clock.held -= 1
    if group.count == 0:
        place = 0
        while state.held_groups[place].listed != number:
            place += 1
        drop_group(state, place)
    return True


@inner
def release_groups(state: Any, ended: bool) -> int:
    """Ask about groups whose time has come, and if a job `ended`, about those without one; return how many jobs go.

    The groups are released; their jobs are not in the queue yet. Changes held_groups, hold_state.
    """
    holds = state.hold_state
    holds.next_release = np.inf
    holds.released_groups = 0
    gone = 0
    for place in range(holds.groups):
        group = state.held_groups[state.held_groups[place].listed]
        if not later(group.until, state.clock.now) or (ended and group.until == np.inf):
            group.until = held_until(state, group.first, -1)
        if group.until == -np.inf:
            holds.released_groups += 1
            gone += group.count
        elif group.until < np.inf:
            holds.next_release = min(holds.next_release, group.until)
    return gone


@inner
def score_first_of_groups(state: Any) -> None:
    """Score the first job of each released group. Changes held_groups, jobs, ranking, scores."""
    count = 0
    for place in range(state.hold_state.groups):
        group = state.held_groups[state.held_groups[place].listed]
        if group.until == -np.inf:
            state.ranking[count] = group.first
            count += 1
    score_ranking(state, count)
    for k in range(count):
        state.held_groups[state.group_of[state.ranking[k]].group].score = state.scores[k]


@inner
def first_of_group(state: Any, place: int) -> int:
    """Return the first job of a group."""
    return int(state.held_groups[state.held_groups[place].listed].first)


@inner
def comes_before_group(state: Any, job: int, place: int) -> bool:
    """Return whether a scored job comes before the first job of a released group."""
    group = state.held_groups[state.held_groups[place].listed]
    score = state.jobs[job].score
    return score < group.score or (score == group.score and job < group.first)


@inner
def first_group(state: Any) -> int:
    """Return the released group whose first job is first in order, −1 if there is none."""
    found = -1
    for place in range(state.hold_state.groups):
        group = state.held_groups[state.held_groups[place].listed]
        if group.until == -np.inf:
            state.jobs[group.first].score = group.score
            if found < 0 or comes_before_group(state, group.first, found):
                found = place
    return found


@inner
def add_first_to_queue(state: Any, place: int) -> None:
    """Add the first job of a group to the queue. Changes what `let_wait` does, held_groups, hold_state, clock."""
    group = state.held_groups[state.held_groups[place].listed]
    job = group.first
    keep_reservation(state, job)
    group.first = state.group_of[job].next
    group.count -= 1
    state.clock.held -= 1
    state.clock.demand += state.jobs[job].left
    state.jobs[job].score = group.score
    enqueue_waiting(state, job)
    if group.count == 0:
        drop_group(state, place)
        state.hold_state.released_groups -= 1
    elif state.notes.lasting & ORDER_LASTS:
        group.score = state.jobs[group.first].score


@inner
def hold_groups_again(state: Any) -> bool:
    """After a start, ask again about the released groups; return whether one of them is held now."""
    holds = state.hold_state
    shut = False
    for place in range(holds.groups):
        group = state.held_groups[state.held_groups[place].listed]
        if group.until > -np.inf:
            continue
        group.until = held_until(state, group.first, STARTS)
        if group.until > -np.inf:
            shut = True
            holds.released_groups -= 1
            holds.next_release = min(holds.next_release, group.until)
    return shut


@inner
def add_groups_to_queue(state: Any) -> None:
    """Add the jobs of all released groups to the queue. Changes what `add_first_to_queue` does."""
    holds = state.hold_state
    place = holds.groups - 1
    while holds.released_groups > 0:
        if state.held_groups[state.held_groups[place].listed].until == -np.inf:
            for _ in range(state.held_groups[state.held_groups[place].listed].count):
                add_first_to_queue(state, place)
        place -= 1
