"""Future availability: how many processors are free from which virtual time on.

A step function kept as two parallel arrays, `profile_time` and `profile_free`, in the window
[clock.profile_first, clock.profile_last): `profile_free[k]` processors are free from `profile_time[k]` until the
next entry, and for ever after the last one. Start policies that plan (`easy` with several reservations,
`conservative`) own it; the engine never looks at it. Neighbouring entries differ, so its length is bounded by
twice the number of jobs it holds.

It knows nothing but numbers of processors, and is refused beside a selection that declines; see also `blocked`.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb
from harness.engine.faults import BAD_PROCS, BAD_TIME, COUNTED, FULL_PLAN, NO_PLAN
from harness.engine.plan.head_reservation import check_selection, foreseen, refuse
from harness.engine.running_jobs import first_running, next_running, when_planned, who_runs
from harness.engine.time_comparison import later
from harness.numba_support.memmove import shift

# ---------------------------------------------------------------- what is refused


@verb
def check_counting(state: Any) -> None:
    """Refuse to plan by numbers of processors where these do not tell whether the selection would place a job."""
    check_selection(state)
    if state.clock.asks:
        refuse(state, COUNTED, 0.0)


@verb
def check_plan(state: Any, procs: int) -> None:
    """Refuse to look into a plan that was not made, and numbers of processors that no job has."""
    clock = state.clock
    if not 0 <= clock.profile_first < clock.profile_last <= len(state.profile_time):
        refuse(state, NO_PLAN, 0.0)
    if not 1 <= procs <= clock.cores:
        refuse(state, BAD_PROCS, procs)


# ---------------------------------------------------------------- the step function


@verb
def segment(state: Any, time: float) -> int:
    """Return the entry that covers `time`, or the first one if the profile begins later."""
    times = state.profile_time
    low = state.clock.profile_first
    high = state.clock.profile_last
    while high - low > 1:
        middle = (low + high) >> 1
        if later(times[middle], time):
            high = middle
        else:
            low = middle
    return low


@verb
def split(state: Any, time: float) -> int:
    """Make an entry begin at `time`, and return its place. Others move."""
    clock = state.clock
    times = state.profile_time
    free = state.profile_free
    k = segment(state, time)
    if not later(time, times[k]):
        return k
    first = clock.profile_first
    if first > 0 and (k - first < clock.profile_last - k or clock.profile_last == len(times)):
        shift(times, first - 1, first, k - first + 1)  # the shorter part moves
        shift(free, first - 1, first, k - first + 1)
        clock.profile_first -= 1
        k -= 1
    else:
        if clock.profile_last == len(times):
            refuse(state, FULL_PLAN, clock.profile_last)
        shift(times, k + 2, k + 1, clock.profile_last - k - 1)
        shift(free, k + 2, k + 1, clock.profile_last - k - 1)
        clock.profile_last += 1
    times[k + 1] = time
    free[k + 1] = free[k]
    return k + 1


@verb
def join(state: Any, k: int) -> None:
    """Drop entry `k` if it repeats the one before."""
    clock = state.clock
    if k <= clock.profile_first or k >= clock.profile_last:
        return
    times = state.profile_time
    free = state.profile_free
    if free[k] != free[k - 1]:
        return
    first = clock.profile_first
    if k - first < clock.profile_last - k:  # the shorter part moves
        shift(times, first + 1, first, k - first)
        shift(free, first + 1, first, k - first)
        clock.profile_first += 1
    else:
        shift(times, k, k + 1, clock.profile_last - k - 1)
        shift(free, k, k + 1, clock.profile_last - k - 1)
        clock.profile_last -= 1


@verb(apart=True)
def change(state: Any, procs: int, sign: int, begin: float, end: float) -> None:
    """Add `procs` free processors, or take them, from `begin` until `end`, but for what lies before the profile."""
    check_plan(state, procs)
    if not begin <= end:
        refuse(state, BAD_TIME, end)
    begin = max(begin, state.profile_time[state.clock.profile_first])
    if not later(end, begin):
        return
    first = split(state, begin)
    before = state.clock.profile_first
    last = split(state, end) if end < np.inf else state.clock.profile_last
    first = first - (before - state.clock.profile_first)  # making room for `end` may have moved what precedes it
    for k in range(first, last):
        state.profile_free[k] += sign * procs
    if sign > 0:
        note_raised(state, state.profile_time[first])
    before = state.clock.profile_first
    join(state, last)
    join(state, first + state.clock.profile_first - before)


# ---------------------------------------------------------------- what was given back


@verb
def note_raised(state: Any, time: float) -> None:
    """Note that from a virtual time on, more processors are free than were.

    Of all such times, those are kept than which none that was noted later is earlier; `raised_version` says when.
    """
    notes = state.notes
    notes.version += 1
    if time <= state.profile_time[state.clock.profile_first]:  # none is earlier, but for those that have passed
        notes.raised = 0
    while notes.raised > 0 and state.raised_time[notes.raised - 1] >= time:
        notes.raised -= 1
    if notes.raised == len(state.raised_time):  # no room: the earliest speaks for all
        notes.raised = 1
    else:
        state.raised_time[notes.raised] = time
        notes.raised += 1
    state.raised_version[notes.raised - 1] = notes.version


@verb
def lowest_raised(state: Any, version: int) -> float:
    """Return the first virtual time from which more is free than in that version of the profile; infinity if none."""
    low = 0
    high = state.notes.raised
    while low < high:
        middle = (low + high) >> 1
        if state.raised_version[middle] > version:
            high = middle
        else:
            low = middle + 1
    return float(state.raised_time[low]) if low < state.notes.raised else np.inf


@verb
def run_before(state: Any, procs: int, time: float) -> float:
    """Return since when `procs` processors are free without a gap before that virtual time; itself, if they are not."""
    k = segment(state, time)
    since = time
    if not state.profile_time[k] < time:
        k -= 1
    while k >= state.clock.profile_first and state.profile_free[k] >= procs:
        since = state.profile_time[k]
        k -= 1
    return since


# ---------------------------------------------------------------- the plan of a policy


@verb
def reserve(state: Any, procs: int, begin: float, end: float) -> None:
    """Promise `procs` processors from virtual time `begin` until `end`. What lies in the past is left alone."""
    change(state, procs, -1, begin, end)


@verb
def release(state: Any, procs: int, begin: float, end: float) -> None:
    """Take a promise of `procs` processors from virtual time `begin` until `end` back. The past is left alone."""
    change(state, procs, 1, begin, end)


@verb(apart=True)
def forget_past(state: Any) -> None:
    """Let the profile begin now."""
    check_counting(state)
    clock = state.clock
    if clock.profile_last == 0:
        clock.profile_last = 1
        state.profile_time[0] = clock.virtual
        state.profile_free[0] = clock.cores
    k = segment(state, clock.virtual)
    clock.profile_first = k
    state.profile_time[k] = clock.virtual


@verb(apart=True)
def plan_from_running(state: Any) -> None:
    """Make the profile anew from the running jobs alone, each until its planned end."""
    check_counting(state)
    clock = state.clock
    times = state.profile_time
    free = state.profile_free
    clock.profile_first = 0
    times[0] = clock.virtual
    free[0] = clock.free
    last = 0
    at = first_running(state)
    while at >= 0:
        end = max(when_planned(state, at), clock.virtual)
        if later(end, times[last]):
            last += 1
            times[last] = end
            free[last] = free[last - 1]
        free[last] += state.jobs[who_runs(state, at)].procs
        at = next_running(state, at)
    clock.profile_last = last + 1
    note_raised(state, clock.virtual)


@verb(apart=True)
def earliest_fit(state: Any, procs: int, duration: float) -> float:
    """Return the earliest virtual time from which `procs` processors stay free for `duration`; infinity if never.

    Also if it lies beyond the window of a pass.
    """
    check_plan(state, min(procs, state.clock.cores))
    if not duration >= 0.0:
        refuse(state, BAD_TIME, duration)
    return foreseen(state, fit_from(state, procs, duration, state.clock.virtual))


@verb
def fit_from(state: Any, procs: int, duration: float, time: float) -> float:
    """Return what `earliest_fit` does, from `time` on."""
    times = state.profile_time
    free = state.profile_free
    last = state.clock.profile_last
    begin = np.inf
    for k in range(segment(state, time), last):
        if free[k] < procs:
            begin = np.inf
            continue
        if begin == np.inf:
            begin = max(time, times[k])
        if k + 1 == last or not later(begin + duration, times[k + 1]):
            return begin
    return np.inf


@verb(apart=True)
def earlier_fit(state: Any, procs: int, duration: float, begin: float) -> float:
    """Return where a job that holds `procs` processors from `begin` could begin if it were lifted; never after `begin`.

    The same as releasing it and asking for the earliest fit, without touching the profile: most reservations stay
    where they are, and this question is asked of every waiting job whenever another ends early.
    """
    check_plan(state, procs)
    if not duration >= 0.0:
        refuse(state, BAD_TIME, duration)
    if np.isnan(begin):
        refuse(state, BAD_TIME, begin)
    return fit_before(state, procs, duration, state.clock.virtual, begin)


@verb
def fit_before(state: Any, procs: int, duration: float, since: float, begin: float) -> float:
    """Return what `earlier_fit` does, from `since` on."""
    times = state.profile_time
    free = state.profile_free
    found = np.inf
    for k in range(segment(state, since), state.clock.profile_last):
        time = max(since, times[k])
        if not later(begin, time):  # it fits from `found` to its own place, and its own place lasts until it ends
            break
        if free[k] < procs:
            found = np.inf
            continue
        if found == np.inf:
            found = time
        if k + 1 < state.clock.profile_last and not later(found + duration, times[k + 1]):
            break
    return min(found, begin)
