"""Check that runs are repeatable: with the same seed, after another run, compiled or not."""

import random
from dataclasses import replace
from typing import Any

import numpy as np

from harness.testing.cases import Case
from harness.testing.comparing import history, require_same
from harness.testing.declared_checks import check
from harness.testing.first_runs import check_first_runs
from harness.testing.subject import Chosen, Subject, add_recorders


@check(
    "determinism",
    "results could not be repeated, nor two policies compared on the same case; a policy with random decisions has the "
    "argument `dice` and calls harness.uniform(dice)",
)
def determinism(subject: Subject, case: Case) -> None:
    """Require the same schedule for the same inputs and seed, in any state of global generators."""
    kept, numpys = random.getstate(), np.random.get_state()  # noqa: NPY002 - the one that must not matter
    try:
        results = []
        for seed in (1, 2):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            results.append(subject.run(case))
    finally:
        random.setstate(kept)
        np.random.set_state(numpys)  # noqa: NPY002
    require_same(results[0], results[1], "two runs of the same case with the same seed differ")


@check(
    "seed",
    "comparisons over seeds assume that a policy without the argument `dice` gives the same schedule for all seeds",
    applies=lambda policy: not policy.stochastic,
)
def seed(subject: Subject, case: Case) -> None:
    """Require that a policy without random decisions does not depend on the seed."""
    changed = replace(case, seed=case.seed + 1)
    require_same(subject.run(case), subject.run(changed), "it has no argument dice, and two seeds differ")


@check(
    "coins",
    "a policy with the argument `dice` is run with many seeds, in vain if it does not use it",
    applies=lambda policy: policy.stochastic,
    never="it has the argument dice, and no seed ever changed a schedule",
)
def coins(subject: Subject, case: Case) -> bool:
    """Return whether another seed gives another schedule."""
    return history(subject.run(case)) != history(subject.run(replace(case, seed=case.seed + 1)))


@check(
    "fresh",
    "a tournament makes many runs in one process, some at the same time; a policy must keep data of a run in its "
    "`memory`, which begins with zeros, not in variables of the module",
    crowds=0,
)
def fresh(subject: Subject, case: Case) -> None:
    """Require that a run keeps nothing for the next, and that two simultaneous runs share nothing."""
    alone = subject.run(case, plain=True)
    subject.run(case.reversed(), plain=True)
    require_same(alone, subject.run(case, plain=True), "the run differs after another one")
    asked: list[int] = []

    def interrupt(*arguments: Any) -> None:
        asked.append(0)
        if len(asked) in (2, 4):
            subject.run(case.reversed(), plain=True)

    def interrupted(chosen: Chosen) -> Chosen:
        if not getattr(subject.policy, "constant", False):
            add_recorders(chosen, subject.part, before=interrupt)
        return chosen

    require_same(
        alone, subject.run(case, plain=True, watched=interrupted), "the run differs with another one in its middle"
    )


@check(
    "first run",
    "a tournament makes many runs in one process, and another command makes the same run alone: lists, dicts, sets and "
    "arrays outside the function, its default arguments and attributes of classes are kept from run to run; the "
    "`memory` of a policy begins anew",
    applies=lambda policy: not policy.compiled,  # compiled code cannot change data outside a function
    crowds=2,
)
def first_run(subject: Subject, case: Case) -> None:
    """Require that the first run of a process equals every later one."""
    check_first_runs(_first_and_later, subject, case)


def _first_and_later(subject: Subject, case: Case) -> None:
    if all(job.user < 0 for job in case.jobs):  # several users make the memories of policies differ
        jobs = enumerate(case.jobs)
        case = replace(case, jobs=tuple(replace(job, user=k % 4, group=k % 3, queue=k % 2) for k, job in jobs))
    first = subject.run(case, plain=True)
    require_same(
        first, subject.run(case, plain=True), "the first run of a process and the second, of the same case, differ"
    )
    for _ in range(3 if len(case.jobs) > 10 else 1):
        subject.run(case.reversed(), plain=True)
    require_same(
        first, subject.run(case, plain=True), "the first run of a process and one after runs of other cases differ"
    )


@check(
    "plain",
    "numba and Python would give different results for the function, and one of them is not intended",
    applies=lambda policy: policy.compiled,
)
def plain(subject: Subject, case: Case) -> None:
    """Require the same schedule compiled and as plain Python."""
    require_same(subject.run(case), subject.run(case, plain=True), "compiled and as plain Python, the runs differ")
