"""The list of event sources: a new kind of event is one source in it, and no loop contains what it does not use."""

from math import inf

import numpy as np
from shared.strategies import workload

import harness
from harness.engine import loop, simulate
from harness.engine.decorators import once
from harness.engine.events.event_source import ALWAYS, HOLDS, INPUT, STEPS, TIMED, WITH_OTHERS, EventSource

TIMES = (4.0, 9.0, 30.0)


@once
def next_inspection(state):
    """A kind of event that is made up: somebody inspects the machine at three times, and a decision follows."""
    for time in TIMES:
        if time > state.clock.now:
            return time
    return inf


@once
def inspect_machine(state):
    for time in TIMES:
        if time == state.clock.now:
            state.clock.decision_due = 1


def instants(monkeypatch, *sources):
    """The times at which the system is recorded, with these sources besides those that there are."""
    listed = (*loop.SOURCES[:1], *sources, *loop.SOURCES[1:])
    compiled = loop.compiled_loop
    with monkeypatch.context() as patch:
        patch.setattr(simulate.loop, "compiled_loop", lambda features: compiled(features, listed))
        schedule = harness.simulate(workload([(0, 2, 5, 5), (0, 2, 5, 5)]), 2, timeline=True)
    return list(np.unique(schedule.timeline.time))


def test_a_new_kind_of_event_is_one_source(monkeypatch):
    assert instants(monkeypatch) == [0, 5, 10]
    inspections = EventSource(next_inspection, inspect_machine, role=ALWAYS, rounding=INPUT)
    assert instants(monkeypatch, inspections) == [0, 4, 5, 9, 10, 30]


def test_an_event_that_counts_only_with_others_keeps_no_run_alive(monkeypatch):
    inspections = EventSource(next_inspection, inspect_machine, role=WITH_OTHERS)
    assert instants(monkeypatch, inspections) == [0, 4, 5, 9, 10]


def test_each_combination_of_features_has_one_source_of_submissions_and_of_completions():
    for features in (0, TIMED, TIMED | HOLDS, TIMED | STEPS):
        used = [one for one in loop.SOURCES if one.needs & ~features == 0 and one.unless & features == 0]
        names = [one.next_time.__name__ for one in used if one.next_time]
        assert len(names) == len(set(names))
        assert {"next_submission", "next_completion", "next_cancellation", "next_external_event"} < set(names)
