"""Estimate expiries: a running job outlives its estimate, which is corrected upwards."""

from typing import Any

import numpy as np

from harness.engine.decorators import once
from harness.engine.events.event_source import ESTIMATE, TIMED, WITH_OTHERS, EventSource
from harness.engine.faults import NO_GROWTH, PolicyFault, note
from harness.engine.records.public import CORRECTING
from harness.engine.running_jobs import first_running, next_running, when_planned, who_runs
from harness.engine.runtime_estimates import ask_predictor, set_estimate
from harness.engine.time_comparison import later
from harness.engine.verbs import when


@once
def next_estimate_expiry(state: Any) -> float:
    """Return when the first estimate ends [s]; infinity if none does. A job that is done by then leaves before."""
    if state.estimates.predicted == 0:
        return np.inf
    at = first_running(state)
    while at >= 0:
        if state.jobs[who_runs(state, at)].ready <= state.clock.now:
            return when(state, when_planned(state, at))
        at = next_running(state, at)
    return np.inf


@once
def correct_estimates(state: Any) -> None:
    """Correct the estimates that end now; a decision follows, unless one follows each event. Changes jobs, clock."""
    clock = state.clock
    at = first_running(state) if state.estimates.predicted else -1
    while at >= 0:
        job = who_runs(state, at)
        record = state.jobs[job]
        if later(record.planned, clock.virtual):
            return
        if not later(state.truth[job].due, record.planned):  # it ends now, as estimated, or is not in service yet
            at = next_running(state, at)
            continue
        estimate = record.requested
        if record.estimate < record.requested or state.estimates.uncapped:
            estimate = ask_predictor(state, job, CORRECTING)
            record.corrections += 1
            if not estimate > record.estimate:
                note(clock, NO_GROWTH, job, -1, estimate)
                raise PolicyFault
        set_estimate(state, job, estimate)
        if state.timing.per_event == 0:
            clock.decision_due = 1
        at = first_running(state)  # the job has another place now


SOURCE = EventSource(next_estimate_expiry, correct_estimates, role=WITH_OTHERS, rounding=ESTIMATE, needs=TIMED)
