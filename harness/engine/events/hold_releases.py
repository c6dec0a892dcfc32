"""Releases of held jobs: submitted jobs are held first, and join the queue when no hold holds them.

At an instant, in this order:

1. Held jobs leave whose patience ends, or that an event deletes.
2. Submitted jobs are held.
3. Holds whose answers change with time are asked about the waiting jobs. Those that are held leave the queue.
4. Holds are asked about held jobs: new ones, those whose time has come, and the others if a job has left the system or
   its processors.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import once
from harness.engine.events.event_source import HOLDS, INPUT, EventSource
from harness.engine.events.job_arrivals import next_submission, submit
from harness.engine.faults import HOLDING, SLEEPLESS, PolicyFault, note
from harness.engine.queue.backfill_index import ORDER_LASTS
from harness.engine.queue.holds import BY_GROUP, STARTS, TIME
from harness.engine.queue.jobs_on_hold import add_held, first_held, hold_waiting, leave_while_held, release_held
from harness.engine.queue.scoring import score_ranking
from harness.engine.time_comparison import later

#: After so many checks in a row that release no job, while nothing else happens, a job is held for ever.
MOST_CHECKS = 1_000_000


@once
def next_release(state: Any) -> float:
    """Return when holds are asked about a held job again [s]; infinity if none has a time."""
    return float(state.hold_state.next_release)


@once
def remove_held(state: Any) -> None:
    """Remove the held jobs whose patience ends at this instant, or that an event deletes."""
    state.hold_state.departed_before = state.clock.departed
    leave_while_held(state)


@once
def hold_arrivals(state: Any) -> int:
    """Submit the jobs of this instant and hold them; return how many. Changes held jobs, clock."""
    count = submit(state, state.timing.arrivals_per_decision)
    if count > 0 and state.hold_state.causes & BY_GROUP and state.notes.lasting & ORDER_LASTS:
        score_ranking(state, count)
    for k in range(count):
        state.clock.demand -= state.jobs[state.ranking[k]].left
        add_held(state, state.ranking[k], -np.inf)
    return count


@once
def review_holds(state: Any) -> None:
    """Hold submitted jobs, and ask the holds about waiting and held ones. A decision follows if the queue changes."""
    clock = state.clock
    holds = state.hold_state
    due = not later(holds.next_release, clock.now)
    first = clock.held  # of the jobs that are submitted now, in the list
    came = hold_arrivals(state)
    ended = clock.departed > holds.departed_before or clock.upset != 0 or holds.unchecked_arrivals != 0
    back = 0
    flags = TIME | STARTS if clock.upset or holds.unchecked_arrivals else TIME
    holds.unchecked_arrivals = 0
    if (clock.decision_due or due) and holds.causes & flags and clock.queued > 0:
        back = hold_waiting(state, flags)
    released = 0
    if came > 0 or due or ended:
        released = release_held(state, 0 if due or ended else first + back, ended)
    clock.arrived += released
    if due and released == 0 and clock.decision_due == 0:
        holds.fruitless_checks += 1
        if holds.fruitless_checks >= MOST_CHECKS:
            clock.hook = HOLDING
            note(clock, SLEEPLESS, first_held(state), -1, holds.next_release)
            raise PolicyFault
    else:
        holds.fruitless_checks = 0
    if clock.decision_due == 0 and (released > 0 or back > 0):
        clock.decision_due = 1
        clock.instants += 1


DEPARTURES = EventSource(apply=remove_held, needs=HOLDS)
RELEASES = EventSource(next_release, review_holds, needs=HOLDS)
SUBMISSIONS = EventSource(next_submission, rounding=INPUT, needs=HOLDS)
