"""Check the traits that policies declare: a score varies or not, decisions are constant, jobs are suspended."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

import harness
from harness.policy.kinds import Order
from harness.policy_api.policy_diagnostics import reads_the_time
from harness.testing.cases import Case
from harness.testing.comparing import history, require_same
from harness.testing.declared_checks import check
from harness.testing.subject import CheckError, Chosen, Subject, add_recorders


@check(
    "varies",
    "without varies=True the loop computes a score once, when the job joins the queue: the queue would be in another "
    "order than intended",
    applies=lambda policy: isinstance(policy, Order) and not policy.varies,
)
def does_not_vary(subject: Subject, case: Case) -> None:
    """Require of an order without varies=True that it does not read the time, and that each job keeps its first
    score.
    """
    if reads_the_time(subject.policy):
        raise CheckError(
            "the score reads clock.now, and without varies=True it is computed once, when a job joins the queue: "
            "expected varies=True, or job.submit in place of clock.now"
        )
    for number, first, now, score in _scores(subject, case):
        if score != first:
            raise CheckError(
                f"job {number} had the score {first:g} when it joined the queue and has {score:g} at {now:g} s, but "
                "the order does not declare varies=True"
            )


@check(
    "varies=True",
    "the score of every waiting job is then computed at every instant, which is slow for logs with long queues",
    applies=lambda policy: isinstance(policy, Order) and policy.varies,
    never="it declares varies=True, and no waiting job's score changed in the generated workloads of some minutes; if "
    "it changes only after longer times, check it with a shorter one: "
    "harness.testing.check_policy('NAME(PARAMETER=10)', plugins=['FILE.py'])",
)
def does_vary(subject: Subject, case: Case) -> bool:
    """Return whether some waiting job's score changes."""
    return any(score != first for _, first, _, score in _scores(subject, case))


@check(
    "falls=True",
    "jobs are sorted by their scores at a later time, and only those that may be next are scored again: a job whose "
    "score rises, or depends on more than clock.now, might be missed",
    applies=lambda policy: isinstance(policy, Order) and policy.falls,
)
def only_falls(subject: Subject, case: Case) -> None:
    """Require of an order with falls=True that no waiting job's score ever rises."""
    lowest: dict[int, float] = {}
    for number, first, now, score in _scores(subject, case):
        before = min(first, lowest.get(number, first))
        if score > before + 1e-12 * abs(before):
            raise CheckError(
                f"job {number} had the score {before:g} before, and {score:g} at {now:g} s: expected a falling score, "
                "as the order declares falls=True"
            )
        lowest[number] = score


def _scores(subject: Subject, case: Case) -> Iterator[tuple[int, float, float, float]]:
    """Yield, for every waiting job at every instant: number, first score, time and score at that time."""
    given: dict[tuple[int, int, int], tuple[float, tuple[Any, ...]]] = {}
    found: list[tuple[int, float, float, float]] = []
    function = getattr(subject.policy.function, "py_func", subject.policy.function)

    def stay(job: Any) -> tuple[int, int, int]:
        """Return a key of this stay in the queue: a suspended or interrupted job joins the queue again."""
        return int(job.number), int(job.preemptions), int(job.restarts)

    def before(job: Any, clock: Any, *own: Any) -> None:
        if stay(job) not in given:
            kept = own if subject.policy.learn else deepcopy(own)  # type: ignore[attr-defined]  # learning changes it
            given[stay(job)] = float(function(job, clock, *deepcopy(own))), kept

    def again(state: Any, *more: Any) -> None:
        for index in harness.waiting(state):
            job = state.jobs[index]
            first, own = given[stay(job)]
            found.append(
                (int(job.number), first, float(state.clock.now), float(function(job, state.clock, *deepcopy(own))))
            )

    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, subject.part, before=before)
        add_recorders(chosen, "rate", before=again)
        return chosen

    subject.run(case, watched=watched)
    yield from found


@check(
    "constant",
    "a policy with constant=True is called at the first instant only",
    applies=lambda policy: bool(getattr(policy, "constant", False)),
)
def constant(subject: Subject, case: Case) -> None:
    """Require of a policy with constant=True that it would decide the same if it were called at every instant."""
    asked = replace(subject, policy=replace(subject.policy, constant=False))  # type: ignore[call-arg]
    require_same(
        subject.run(case), asked.run(case), "called once and called at every instant, which constant=True allows"
    )


@check(
    "preemptive=True",
    "users avoid policies that suspend jobs where their machine cannot",
    applies=lambda policy: bool(getattr(policy, "preemptive", False)),
    never="it declares preemptive=True, and no job was ever suspended or requeued",
)
def suspends(subject: Subject, case: Case) -> bool:
    """Return whether some job is suspended if the last to arrive is the first in the queue."""
    last_first = replace(case, company={**case.company, "order": "lcfs"})
    jobs = subject.run(last_first).outcome.jobs
    return bool(jobs.preemptions.any() or jobs.restarts.any())


@check(
    "rejects=True",
    "averages leave rejected jobs out: they do not compare a policy that rejects jobs with others",
    applies=lambda policy: bool(getattr(policy, "rejects", False)),
    never="it declares rejects=True, and rejects no job",
)
def rejects(subject: Subject, case: Case) -> bool:
    """Return whether some job that the platform could run is rejected."""
    jobs = subject.run(case).outcome.jobs
    return bool(((jobs.status == harness.UNACCEPTED) & ~np.isnan(jobs.end)).any())


@check(
    "learn",
    "it is called at every instant, in vain if its learning changes no decision",
    applies=lambda policy: bool(getattr(policy, "learn", None)),
    never="it declares learn=…, and its learning never changed a schedule",
)
def learns(subject: Subject, case: Case) -> bool:
    """Return whether the run would differ without learning."""
    ignorant = replace(subject, policy=replace(subject.policy, learn=None))  # type: ignore[call-arg]
    return history(subject.run(case)) != history(ignorant.run(case))
