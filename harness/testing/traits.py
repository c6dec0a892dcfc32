"""Checks of what policies say about themselves: that a score does not vary, that an answer is constant, guarantees."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import harness
from harness.testing.cases import Case
from harness.testing.comparing import same
from harness.testing.subject import Chosen, Subject, Wrong, spy


def constant_score(subject: Subject, case: Case) -> None:
    """An order that does not say varies=True gives a waiting job the score it had when it came."""
    given: dict[int, tuple[Any, ...]] = {}

    def before(job: Any, clock: Any, *own: Any) -> None:
        given[int(job.number)] = tuple(thing.copy() if isinstance(thing, np.ndarray) else thing for thing in own)

    function = getattr(subject.policy.function, "py_func", subject.policy.function)

    def again(state: Any, *own: Any) -> None:
        for index in harness.waiting(state):
            job = state.jobs[index]
            own = tuple(t.copy() if isinstance(t, np.ndarray) else t for t in given[int(job.number)])
            score = float(function(job, state.clock, *own))
            if score != job.score:
                raise Wrong(
                    f"job {job.number} had the score {job.score:g} when it joined the queue and has {score:g} at "
                    f"{state.clock.now:g} s, but the order does not say varies=True"
                )

    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, subject.part, before=before)
        spy(chosen, "rate", before=again)
        return chosen

    subject.run(case, watched=watched)


def constant_answer(subject: Subject, case: Case) -> None:
    """A rate or sleep policy that says constant=True would decide the same if it were asked at every instant."""
    asked = replace(subject, policy=replace(subject.policy, constant=False))  # type: ignore[call-arg]
    same(subject.run(case), asked.run(case), "asked once and asked at every instant, as constant=True says it may be")


def known_guarantees(subject: Subject, case: Case) -> None:
    """Only guarantees that a check stands behind are given."""
    for guarantee in getattr(subject.policy, "guarantees", ()):
        if guarantee not in GUARANTEES:
            raise Wrong(f"it guarantees {guarantee!r}, of which nothing is known: expected {', '.join(GUARANTEES)}")


def nobody_overtakes(subject: Subject, case: Case) -> None:
    """Nobody starts while somebody before it in the queue still waits."""

    def after(answer: Any, state: Any, *own: Any) -> None:
        left = 0
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                left = left or int(job.number)
            elif left:
                raise Wrong(f"at {state.clock.now:g} s job {job.number} starts although job {left} is before it")

    _promised(subject, case, after, {})


def first_reservation(subject: Subject, case: Case) -> None:
    """The first job that does not fit starts no later than it would if no later one were let in."""
    promised: dict[int, float] = {}

    def after(answer: Any, state: Any, *own: Any) -> None:
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                at, _ = harness.reservation(state, index)
                _not_later(promised, int(job.number), float(at))
                return

    _promised(subject, case, after, promised, before=lambda state, *own: after(None, state))


def every_reservation(subject: Subject, case: Case) -> None:
    """Whoever waits holds a reservation, `job.reserved`, which never moves later."""
    promised: dict[int, float] = {}

    def after(answer: Any, state: Any, *own: Any) -> None:
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                if not job.reserved >= state.clock.virtual:
                    raise Wrong(
                        f"at {state.clock.now:g} s job {job.number} waits with the reservation {job.reserved:g}, where "
                        "one not yet past was expected"
                    )
                _not_later(promised, int(job.number), float(job.reserved))

    _promised(subject, case, after, promised)


def _not_later(promised: dict[int, float], number: int, at: float) -> None:
    before = promised.get(number, math.inf)
    if at > before + 1e-6:
        raise Wrong(f"job {number} was promised {before:g} s, and later {at:g} s")
    promised[number] = at


def _promised(
    subject: Subject, case: Case, after: Callable[..., None], promised: dict[int, float], **calls: Callable[..., None]
) -> None:
    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, "start", after=after, **calls)
        return chosen

    frame = subject.run(case, watched=watched).frame
    for number, at in promised.items():
        start = frame["start"][number - 1]
        if start > at + 1e-6:
            raise Wrong(f"job {number} was promised {at:g} s, and started at {start:g} s")


#: What a start policy may guarantee → the check.
GUARANTEES = {
    "nobody overtakes": nobody_overtakes,
    "first reservation": first_reservation,
    "every reservation": every_reservation,
}
