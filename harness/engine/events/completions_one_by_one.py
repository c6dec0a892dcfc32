"""Completions one after the other, where every event is followed by a decision."""

from typing import Any

from harness.engine.decorators import inner, once
from harness.engine.running_jobs import first_running, who_runs
from harness.engine.service import complete_job, final_status, free_resources
from harness.engine.time_comparison import later
from harness.engine.verbs import when

#: The flag of a reading in which completions come before submissions, see `readings`.
ENDS_FIRST = 32


@once
def release_believed(state: Any) -> None:
    """Free the processors of all jobs that end now and were believed to. Changes what `give_way` changes, and jobs."""
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
def complete_next(state: Any) -> None:
    """Complete one of the jobs that are due now: the one that entered service first. Changes what `finish` changes."""
    notes = state.notes
    if not completion_due(state):  # an event may have struck it
        return
    first = 0
    due = state.heap[0].time
    others = due + 1.0
    for place in range(1, min(3, notes.heaped)):  # were any due as well, one of these would be
        others = min(others, state.heap[place].time)
    if not later(others, due):
        for place in range(notes.heaped):
            earlier = state.truth[state.heap[place].job].turn < state.truth[state.heap[first].job].turn
            time = state.heap[place].time  # with `ends` completions are apart if they are calculated to be
            if earlier and (time <= due if notes.reading & ENDS_FIRST else not later(time, due)):
                first = place
    complete_job(state, first)
