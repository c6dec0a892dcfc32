"""Check that decisions do not depend on the calendar, the unit of time, or the number of calls."""

from dataclasses import replace
from typing import Any

import numpy as np

import harness
from harness.policy.declared_traits import SIGNAL
from harness.policy.kinds import Policy, Sleep
from harness.policy.spec import Choice
from harness.testing.cases import Case
from harness.testing.declared_checks import check
from harness.testing.subject import CheckError, Chosen, Subject

_WAY_OUT = "; if that is intended, as in a rule for the night, the policy declares timed=True"


def _by_the_clock(policy: Policy) -> bool:
    """Return whether a policy depends on the time of day, by its declaration or through its signal."""
    return policy.timed or SIGNAL in policy.needs


@check(
    "calendar",
    "a log from another year would be scheduled differently" + _WAY_OUT,
    applies=lambda policy: not _by_the_clock(policy),
    equal=True,
)
def calendar(subject: Subject, case: Case) -> None:
    """Require the same schedule, 2³⁰ s later, if every job is submitted 2³⁰ s later."""
    later = tuple(replace(job, submit=job.submit + 2.0**30) for job in case.jobs)
    one, other = subject.run(case), subject.run(replace(case, jobs=later))
    _equal(one.frame["start"] + 2.0**30, other.frame["start"], "with all submissions moved by 2³⁰ s", 2.0**-40)


def _start(policy: Policy) -> bool:
    return policy.hook == "start_jobs" and not _by_the_clock(policy)


@check("stretch", "decisions must not depend on the unit of time" + _WAY_OUT, applies=_start, equal=True)
def stretch(subject: Subject, case: Case) -> None:
    """Require that the schedule at a quarter of the speed is that of full speed, four times as long."""
    slower = tuple(replace(job, submit=4 * job.submit, patience=4 * job.patience) for job in case.jobs)
    company = {**case.company, "rate": "fixed(rate=0.25)"}
    one, other = subject.run(case), subject.run(replace(case, jobs=slower, company=company))
    _equal(4 * one.frame["start"], other.frame["start"], "four times as slow, with four times as long between jobs")


def impatient(state: Any, every: float = 0.25) -> None:
    """Request calls all the time, and do nothing."""
    if state.clock.queued + state.clock.running > 0:
        harness.call_again(state, state.clock.now + every)


IMPATIENT = Sleep("impatient", impatient)


@check(
    "asked more often",
    "its decisions would depend on unrelated events in the machine; a policy that waits for a time calls "
    "harness.call_again" + _WAY_OUT,
    applies=lambda policy: _start(policy) and not policy.preemptive,  # type: ignore[attr-defined]
    equal=True,
    orders=("fcfs", "lcfs", "spf", "saf"),
)
def called_more_often(subject: Subject, case: Case) -> None:
    """Require that nothing is decided at instants without an event."""
    calm = subject.run(case)
    span = float(np.nanmax(calm.frame["end"], initial=0.0) - case.jobs[0].submit)
    every = 0.25 * max(1.0, 2.0 ** np.ceil(np.log2(max(span, 1.0) / 128)))

    def watched(chosen: Chosen) -> Chosen:
        chosen["sleep"] = Choice(IMPATIENT, {"every": every})
        return chosen

    _equal(calm.frame["start"], subject.run(case, watched=watched).frame["start"], f"if it is asked every {every:g} s")


def _equal(one: Any, other: Any, when: str, rounding: float = 0.0) -> None:
    """Refuse starts that differ by more than `rounding`, relative to them: at low rates, large sums have rounding
    errors.
    """
    for number, (first, second) in enumerate(zip(one, other, strict=True), 1):
        if not np.isclose(first, second, rtol=rounding, atol=0.0, equal_nan=True):
            raise CheckError(f"{when}, job {number} starts at {second:.15g} s, where {first:.15g} s was expected")
