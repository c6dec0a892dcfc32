"""Estimates of runtimes by a predictor: set at submission, corrected while jobs run, learned from completed jobs."""

from typing import Any

import numpy as np

from harness.engine.decorators import inner, once
from harness.engine.events.event_source import TIMED, EventSource
from harness.engine.events.job_arrivals import has_left
from harness.engine.faults import BAD_CORRECTION, BAD_PREDICTION, PREDICTING, PolicyFault, note
from harness.engine.records.public import CORRECTING, FORETELLING, LEARNING, PENDING
from harness.engine.run_state import seen
from harness.engine.running_jobs import add_to_plan, remove_from_plan
from harness.engine.service import duration_at, final_status
from harness.engine.time_comparison import later


@inner
def ask_predictor(state: Any, job: int, why: int) -> float:
    """Return the predicted runtime of the job [s], at most the requested time unless the predictor is uncapped."""
    clock = state.clock
    clock.hook = PREDICTING
    clock.culprit = job
    record = state.jobs[job]
    answer = state.predict(seen(state), job, why, state.predict_own)
    if why == LEARNING:
        return 0.0
    if not 0.0 <= answer < np.inf:
        note(clock, BAD_CORRECTION if why == CORRECTING else BAD_PREDICTION, job, -1, answer)
        raise PolicyFault
    if state.estimates.uncapped == 0:
        answer = min(answer, record.requested)
    return answer


@once
def predict_arrivals(state: Any) -> None:
    """Predict the runtimes of the jobs that are about to be submitted. Changes jobs."""
    if state.estimates.predicted:
        predict_next(state, state.timing.arrivals_per_decision)


@inner
def predict_next(state: Any, most: int) -> None:
    """Predict the runtimes of the next jobs, `most` at most, that were submitted by now. Changes jobs."""
    clock = state.clock
    first = clock.next
    while clock.next < len(state.jobs) and clock.next < first + most:
        job = clock.next
        record = state.jobs[job]
        if record.submit > clock.now:
            break
        clock.next += 1  # policies may see it now
        if record.status == PENDING and not has_left(state, job):
            if state.estimates.clairvoyant:
                record.service = state.truth[job].work
            record.predicted = ask_predictor(state, job, FORETELLING)
            record.service = 0.0
            record.estimate = record.predicted
            record.left = record.predicted
    clock.next = first


@inner
def set_estimate(state: Any, job: int, estimate: float) -> None:
    """Set the estimate of a running job [s], and its planned end. Changes jobs, plan, clock."""
    clock = state.clock
    record = state.jobs[job]
    remove_from_plan(state, job)
    clock.running -= 1
    before = record.planned
    if estimate > record.estimate:
        record.planned += duration_at(clock, estimate - record.estimate, record.speed)
    if not later(record.planned, before):  # rounding to whole seconds has cost the request a second
        record.planned = state.truth[job].due
    record.estimate = estimate
    clock.promised += (record.planned - before) * record.speed
    add_to_plan(state, job)
    clock.running += 1
    clock.corrected += 1


@once
def train_predictor(state: Any, before: int) -> None:
    """Train the predictor with the jobs that completed now: those in `leavers` behind the first `before`."""
    if state.estimates.learns:
        for k in range(before, state.clock.departed):
            job = state.leavers[k]
            if state.jobs[job].status == final_status(state, job) and state.jobs[job].left == 0.0:  # no event ended it
                ask_predictor(state, job, LEARNING)


PREDICTIONS = EventSource(apply=predict_arrivals, needs=TIMED)
