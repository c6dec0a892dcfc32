"""Who may overtake a blocked job: the next waiting job, in some order, that fits and does not take what is not spare.

Where the queue is short, or its order changes with time, it is looked through. Where it is long and lasts, waiting jobs
stand in search trees, one for each class of widths, up to a power of two: by score, then index, balanced by a number
drawn from the index (a treap). Each job there knows the least length and width of those below it, so that whole parts
of the queue in which nobody can overtake are passed over.
"""

from typing import Any

from harness.engine.decorators import inner, seldom
from harness.engine.queue.scoring import ask_second
from harness.engine.records.public import WAITING
from harness.engine.time_comparison import later
from harness.engine.verbs import QUEUE_ORDER

#: How many classes of widths there are, up to powers of two.
CLASSES = 63

#: From how many waiting jobs on they stand in trees, and below how many they do not any more.
MANY, FEW = 192, 64

#: Which orders give a waiting job the same score for as long as it waits: flags of `notes.lasting`.
ORDER_LASTS, SECOND_LASTS = 1, 2


@inner
def may_overtake(state: Any, procs: int, left: float, at: float, spare: int) -> bool:
    """Return whether a job fits by number, and ends by `at` or needs at most `spare` processors."""
    clock = state.clock
    return procs <= clock.free and (procs <= spare or not later(clock.virtual + left, at))


@inner
def class_of(procs: int) -> int:
    """Return which tree a job of this width stands in."""
    found = 0
    while 1 << found < procs:
        found += 1
    return found


@inner
def depth_drawn(job: int) -> int:
    """Return the number that balances the trees: the least stands highest."""
    number = (job + 1) * 2654435761 & 0xFFFFFFFF
    return ((number >> 15) ^ number) * 1540483477 & 0xFFFFFFFF


@inner
def slot(state: Any, job: int) -> int:
    """Return where in `stands` a job stands: jobs that wait at once are mostly near one another in the log."""
    return job & (state.notes.stalls - 1)


@inner
def stands_before(state: Any, job: int, other: int) -> bool:
    """Return whether the job comes before another one in the order of the trees."""
    score = state.stands[slot(state, job)].score
    limit = state.stands[slot(state, other)].score
    return score < limit or (score == limit and job < other)


@inner
def sum_up(state: Any, job: int) -> None:
    """Work out the least length and width of the job and those below it."""
    stand = state.stands[slot(state, job)]
    least = state.jobs[job].left
    narrowest = state.jobs[job].procs
    for below in (stand.before, stand.behind):
        if below >= 0:
            under = state.stands[slot(state, below)]
            least = min(least, under.least)
            narrowest = min(narrowest, under.narrowest)
    stand.least = least
    stand.narrowest = narrowest


@inner
def hang(state: Any, above: int, job: int, tree: int, below: int) -> None:
    """Let `below` take its place under `above`, on the side where `job` belongs; at the top if there is none above."""
    if above < 0:
        state.roots[tree] = below
    elif stands_before(state, job, above):
        state.stands[slot(state, above)].before = below
    else:
        state.stands[slot(state, above)].behind = below


@inner
def insert(state: Any, job: int) -> None:
    """Let a job that has its score stand in its tree."""
    stands = state.stands
    trail = state.trail
    tree = class_of(state.jobs[job].procs)
    stand = stands[slot(state, job)]
    stand.tree = tree
    depth = 0
    below = state.roots[tree]
    while below >= 0 and depth_drawn(below) < depth_drawn(job):
        trail[depth] = below
        depth += 1
        there = stands[slot(state, below)]
        below = there.before if stands_before(state, job, below) else there.behind
    hang(state, trail[depth - 1] if depth > 0 else -1, job, tree, job)
    above = depth
    # What stood here is parted into those before the job and those behind it.
    stand.before = stand.behind = -1
    last = first = job  # … of those before it, and of those behind it, whose other side is open
    while below >= 0:
        trail[depth] = below
        depth += 1
        if stands_before(state, below, job):
            if last == job:
                stand.before = below
            else:
                stands[slot(state, last)].behind = below
            last = below
            below = stands[slot(state, below)].behind
        else:
            if first == job:
                stand.behind = below
            else:
                stands[slot(state, first)].before = below
            first = below
            below = stands[slot(state, below)].before
    if last != job:
        stands[slot(state, last)].behind = -1
    if first != job:
        stands[slot(state, first)].before = -1
    for k in range(depth - 1, above - 1, -1):
        sum_up(state, trail[k])
    sum_up(state, job)
    for k in range(above - 1, -1, -1):
        sum_up(state, trail[k])
    stand.since = state.notes.trees
    stand.job = job


@seldom
def remove_stand(state: Any, job: int) -> None:
    """Take a job out of its tree."""
    stands = state.stands
    trail = state.trail
    stand = stands[slot(state, job)]
    tree = stand.tree
    depth = 0
    other = state.roots[tree]
    while other != job:
        trail[depth] = other
        depth += 1
        there = stands[slot(state, other)]
        other = there.before if stands_before(state, job, other) else there.behind
    above = trail[depth - 1] if depth > 0 else -1
    before = stand.before
    behind = stand.behind
    side = job  # on whose side what comes next hangs: the job's own under what was above it
    while before >= 0 or behind >= 0:
        nearer = before if behind < 0 or (before >= 0 and depth_drawn(before) < depth_drawn(behind)) else behind
        hang(state, above, side, tree, nearer)
        trail[depth] = nearer
        depth += 1
        above = nearer
        side = job
        if nearer == before:
            before = stands[slot(state, nearer)].behind
        else:
            behind = stands[slot(state, nearer)].before
    hang(state, above, side, tree, -1)
    for k in range(depth - 1, -1, -1):
        sum_up(state, trail[k])
    stand.since = 0


@seldom
def stand_up(state: Any, count: int, order: int) -> bool:
    """Let the first `count` jobs of `ranking` stand in the trees, by the score that the order gives them.

    False if another job stands where one of them would.
    """
    if order == QUEUE_ORDER:
        for k in range(count):
            state.scores[k] = state.jobs[state.ranking[k]].score
    else:
        ask_second(state, count)
    for k in range(count):
        job = state.ranking[k]
        stand = state.stands[slot(state, job)]
        if stand.since == state.notes.trees:
            if stand.job != job:
                return False
            remove_stand(state, job)  # it left, and waits again
        stand.score = state.scores[k]
        insert(state, job)
    return True


@inner
def grow(state: Any, order: int) -> bool:
    """Let those who wait stand in new trees; False if there is not room enough for all of them. Changes notes."""
    notes = state.notes
    waitlist = state.waitlist
    count = waitlist.tail - waitlist.head
    while notes.stalls < min(4 * count, len(state.stands)):
        notes.stalls *= 2
    notes.trees += 1
    notes.standing = order
    notes.entered = 0
    for tree in range(CLASSES):
        state.roots[tree] = -1
    for k in range(count):
        state.ranking[k] = state.queue[waitlist.head + k]
    return stand_up(state, count, order)


@inner
def bring_up_to_date(state: Any, order: int) -> None:
    """Let trees be grown where many wait, and felled where few do; let those stand in them who came meanwhile."""
    notes = state.notes
    clock = state.clock
    if notes.entered >= 0 and (clock.queued < FEW or notes.standing != order):
        notes.entered = -1
    if notes.entered >= 0:
        count = 0
        for k in range(notes.entered):
            if state.jobs[state.entries[k]].status == WAITING:
                state.ranking[count] = state.entries[k]
                count += 1
        notes.entered = 0
        if stand_up(state, count, order):
            return
    elif clock.queued < MANY or notes.lasting & (ORDER_LASTS if order == QUEUE_ORDER else SECOND_LASTS) == 0:
        return
    while not grow(state, order):  # two of those who wait would stand in one place
        notes.stalls *= 2


@seldom
def find_standing(state: Any, tree: int, after: int, at: float, spare: int) -> int:
    """Return the first job of a tree behind `after` that may overtake, or −1. Who does not wait any more is removed."""
    stands = state.stands
    trail = state.trail
    jobs = state.jobs
    depth = 0
    job = state.roots[tree]
    while True:
        while job >= 0:
            stand = stands[slot(state, job)]
            if not may_overtake(state, stand.narrowest, stand.least, at, spare):
                break
            if after >= 0 and not stands_before(state, after, job):
                job = stand.behind
                continue
            trail[depth] = job
            depth += 1
            job = stand.before
        if depth == 0:
            return -1
        depth -= 1
        job = trail[depth]
        if may_overtake(state, jobs[job].procs, jobs[job].left, at, spare):
            if jobs[job].status == WAITING:
                return int(job)
            remove_stand(state, job)
            depth = 0
            job = state.roots[tree]
            continue
        job = stands[slot(state, job)].behind


@inner
def first_standing(state: Any, after: int, at: float, spare: int) -> int:
    """Return the first job of all trees behind `after` that may overtake, or −1."""
    found = -1
    tree = 0
    while tree < CLASSES and (tree == 0 or 1 << (tree - 1) < state.clock.free):
        if state.roots[tree] >= 0:
            job = find_standing(state, tree, after, at, spare)
            if job >= 0 and (found < 0 or stands_before(state, job, found)):
                found = job
        tree += 1
    return found
