"""Check the guarantees of start policies."""

import math
from collections.abc import Callable
from typing import Any

import harness
from harness.testing.cases import Case
from harness.testing.declared_checks import GUARANTEES, check, guarantee
from harness.testing.subject import CheckError, Chosen, Subject, add_recorders


@check(
    "guarantees",
    "users rely on guarantees, so each must have a check",
    applies=lambda policy: bool(getattr(policy, "guarantees", ())),
    crowds=0,
    most=1,
)
def known_guarantees(subject: Subject, case: Case) -> None:
    """Require that every guarantee has a check."""
    for promise in getattr(subject.policy, "guarantees", ()):
        if promise not in GUARANTEES:
            raise CheckError(f"it guarantees {promise!r}, which is unknown: expected {', '.join(GUARANTEES)}")


@guarantee("nobody overtakes", equal=True)
def nobody_overtakes(subject: Subject, case: Case) -> None:
    """Require that no job starts while an earlier job of the queue waits."""

    def after(answer: Any, state: Any, *own: Any) -> None:
        left = 0
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                left = left or int(job.number)
            elif left:
                raise CheckError(f"at {state.clock.now:g} s job {job.number} starts although job {left} is ahead of it")

    _promised(subject, case, after, {})


@guarantee("first starts if it fits", equal=True)
def first_starts(subject: Subject, case: Case) -> None:
    """Require that the first waiting job starts before any other if it fits."""

    def first_that_fits(state: Any) -> int:
        left = [index for index in harness.waiting(state) if state.jobs[index].status == harness.WAITING]
        return int(left[0]) if left and harness.fits(state, left[0]) else -1

    def starting(state: Any, index: int, *own: Any) -> None:
        first = -1 if state.clock.asking else first_that_fits(state)
        if first not in (-1, index):
            early, late = (int(state.jobs[job].number) for job in (index, first))
            raise CheckError(f"at {state.clock.now:g} s job {early} starts before job {late}, which is first and fits")

    def after(answer: Any, state: Any, *own: Any) -> None:
        if (first := first_that_fits(state)) >= 0:
            raise CheckError(
                f"at {state.clock.now:g} s job {state.jobs[first].number} does not start: it is first and fits"
            )

    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, "start", after=after)
        add_recorders(chosen, "select", before=starting)
        return chosen

    subject.run(case, watched=watched)


@guarantee("first reservation", equal=True, bound=True)
def first_reservation(subject: Subject, case: Case) -> None:
    """Require that the first job that does not fit is not delayed by later jobs."""
    promised: dict[int, float] = {}

    def after(answer: Any, state: Any, *own: Any) -> None:
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                at, spare = harness.reservation(state, index)
                if spare < 0:
                    raise CheckError(
                        f"at {state.clock.now:g} s the reservation of job {job.number} lacks {-spare} processors"
                    )
                _not_later(promised, int(job.number), float(at))
                return

    _promised(subject, case, after, promised, before=lambda state, *own: after(None, state))


@guarantee("every reservation", equal=True, bound=True, orders=("fcfs", "lcfs", "spf", "saf"))
def every_reservation(subject: Subject, case: Case) -> None:
    """Require that every waiting job has a reservation, `job.reserved`, which never moves later."""
    promised: dict[int, float] = {}

    def after(answer: Any, state: Any, *own: Any) -> None:
        for index in harness.waiting(state):
            job = state.jobs[index]
            if job.status == harness.WAITING:
                if not job.reserved >= state.clock.virtual:
                    raise CheckError(
                        f"at {state.clock.now:g} s job {job.number} waits with the reservation {job.reserved:g}: "
                        "expected one that is not past"
                    )
                _not_later(promised, int(job.number), float(job.reserved))

    _promised(subject, case, after, promised)


def _not_later(promised: dict[int, float], number: int, at: float) -> None:
    before = promised.get(number, math.inf)
    if at > before + 1e-6:
        raise CheckError(f"job {number} had a reservation at {before:g} s, and later one at {at:g} s")
    promised[number] = at


def _promised(
    subject: Subject, case: Case, after: Callable[..., None], promised: dict[int, float], **calls: Callable[..., None]
) -> None:
    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, "start", after=after, **calls)
        return chosen

    frame = subject.run(case, watched=watched).frame
    for number, at in promised.items():
        start = frame["start"][number - 1]
        if start > at + 1e-6:
            raise CheckError(f"job {number} had a reservation at {at:g} s, and started at {start:g} s")
