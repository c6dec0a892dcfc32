"""Completions: jobs leave when their work is done, all of an instant together or one after the other.

Where a decision follows each event, completions come one by one after the submissions of the instant, in the order in
which the jobs entered service. A job that was expected to end now frees its processors before the first of these
decisions. With `completions_first` they come before the submissions, and free their processors one by one.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.events.event_source import TIMED, EventSource
from harness.engine.events.job_arrivals import submission_due
from harness.engine.running_jobs import first_running, who_runs
from harness.engine.runtime_estimates import train_predictor
from harness.engine.service import complete_job, final_status, free_resources
from harness.engine.time_comparison import later
from harness.engine.verbs import when


@once
def next_completion(state: Any) -> float:
    """Return when the next job completes [s]; infinity if none is in service. Changes loop."""
    state.loop.next_completion = when(state, state.heap[0].time) if state.notes.heaped > 0 else np.inf
    return float(state.loop.next_completion)


@once
def complete(state: Any) -> None:
    """Complete every job that is due at this instant."""
    while state.loop.next_completion <= state.clock.now:
        complete_job(state, 0)
        next_completion(state)


@once
def complete_together(state: Any) -> None:
    """Complete every job that is due, and train the predictor, unless a decision follows each event."""
    if state.timing.per_event == 0:
        before = state.clock.departed
        complete(state)
        train_predictor(state, before)


@once
def free_expected(state: Any) -> None:
    """Free the processors of all jobs whose estimate ends now. Changes what `give_way` changes, and jobs."""
    clock = state.clock
    while clock.running > 0:
        job = who_runs(state, first_running(state))
        if later(state.jobs[job].planned, clock.virtual) or state.jobs[job].ready > clock.now:
            return
        free_resources(state, job)
        state.jobs[job].status = final_status(state, job)
        state.jobs[job].end = clock.now


@inner
def completion_due(state: Any) -> bool:
    """Return whether a job completes now."""
    return state.notes.heaped > 0 and not later(when(state, state.heap[0].time), state.clock.now)


@once
def complete_one(state: Any) -> None:
    """Complete the due job that entered service first. Changes what `finish` changes."""
    notes = state.notes
    if not completion_due(state):  # an event may have interrupted it
        return
    first = 0
    due = state.heap[0].time
    others = due + 1.0
    for place in range(1, min(3, notes.heaped)):  # if other jobs were due as well, one would be here
        others = min(others, state.heap[place].time)
    if not later(others, due):
        for place in range(notes.heaped):
            earlier = state.truth[state.heap[place].job].turn < state.truth[state.heap[first].job].turn
            time = state.heap[place].time
            # With `completions_first`, completions are apart if their calculated times are.
            if earlier and (time <= due if state.timing.completions_first else not later(time, due)):
                first = place
    complete_job(state, first)


@once
def complete_next(state: Any) -> None:
    """Complete one job and train the predictor, where a decision follows each event and no submission comes first."""
    timing = state.timing
    if timing.per_event == 0:
        return
    if timing.completions_first == 0:
        free_expected(state)
    else:
        timing.arrivals_per_decision = 0 if completion_due(state) else 1  # submissions wait for completions
    if timing.arrivals_per_decision == 0 or not submission_due(state):
        before = state.clock.departed
        complete_one(state)
        train_predictor(state, before)


PLAIN = EventSource(next_completion, complete, unless=TIMED)
TOGETHER = EventSource(next_completion, complete_together, needs=TIMED)
ONE_BY_ONE = EventSource(apply=complete_next, needs=TIMED)
