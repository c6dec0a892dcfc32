"""Checks that the same is the same again: with the same seed, after another run, compiled or not."""

import random
from dataclasses import replace
from typing import Any

import numpy as np

from harness.testing.cases import Case
from harness.testing.comparing import history, same
from harness.testing.declared_checks import check
from harness.testing.first_runs import check_first_runs
from harness.testing.subject import Chosen, Subject, spy


@check(
    "determinism",
    "results could not be repeated, nor two policies compared on the same case; a policy that flips coins names "
    "`dice` among its arguments and calls harness.uniform(dice)",
)
def determinism(subject: Subject, case: Case) -> None:
    """Require the same schedule for the same inputs and seed, whatever the state of global generators."""
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
    same(results[0], results[1], "two runs of the same case with the same seed differ")


@check(
    "seed",
    "who compares policies over seeds takes a policy that does not name `dice` to give the same for all of them",
    applies=lambda policy: not policy.stochastic,
)
def seed(subject: Subject, case: Case) -> None:
    """Require that a policy that flips no coins does not depend on the seed."""
    same(subject.run(case), subject.run(replace(case, seed=case.seed + 1)), "it names no dice, and two seeds differ")


@check(
    "coins",
    "a policy that names `dice` is run over many seeds, which is for nothing if it does not ask them",
    applies=lambda policy: policy.stochastic,
    never="it names dice, and no seed ever changed anything",
)
def coins(subject: Subject, case: Case) -> bool:
    """Return whether another seed gives another schedule."""
    return history(subject.run(case)) != history(subject.run(replace(case, seed=case.seed + 1)))


@check(
    "fresh",
    "a tournament makes many runs in one process, some at the same time; what a policy wants to remember within a "
    "run belongs in its `memory`, which begins with zeros, not in variables of the module",
    crowds=0,
)
def fresh(subject: Subject, case: Case) -> None:
    """Require that nothing is kept from one run to the next, nor shared by two that go on at once."""
    alone = subject.run(case, plain=True)
    subject.run(case.reversed(), plain=True)
    same(alone, subject.run(case, plain=True), "the run differs after another one")
    asked: list[int] = []

    def interrupt(*arguments: Any) -> None:
        asked.append(0)
        if len(asked) in (2, 4):
            subject.run(case.reversed(), plain=True)

    def interrupted(chosen: Chosen) -> Chosen:
        if not getattr(subject.policy, "constant", False):
            spy(chosen, subject.part, before=interrupt)
        return chosen

    same(alone, subject.run(case, plain=True, watched=interrupted), "the run differs with another one in its middle")


@check(
    "first run",
    "a tournament makes many runs in one process, and another command makes the same run alone: lists, dicts, sets and "
    "arrays outside the function, its default arguments and attributes of classes are kept from run to run; the "
    "`memory` of a policy begins anew",
    applies=lambda policy: not policy.compiled,  # compiled code cannot change what lies outside a function
    crowds=2,
)
def first_run(subject: Subject, case: Case) -> None:
    """Require that the first run of a process is that of every later one."""
    check_first_runs(_first_and_later, subject, case)


def _first_and_later(subject: Subject, case: Case) -> None:
    if all(job.user < 0 for job in case.jobs):  # of several users, in which most records of policies differ
        jobs = enumerate(case.jobs)
        case = replace(case, jobs=tuple(replace(job, user=k % 4, group=k % 3, queue=k % 2) for k, job in jobs))
    first = subject.run(case, plain=True)
    same(first, subject.run(case, plain=True), "the first run of a process and the second, of the same case, differ")
    for _ in range(3 if len(case.jobs) > 10 else 1):
        subject.run(case.reversed(), plain=True)
    same(first, subject.run(case, plain=True), "the first run of a process and one after runs of other cases differ")


@check(
    "plain",
    "the function means different things to numba and to Python, so that one of the two is not what was meant",
    applies=lambda policy: policy.compiled,
)
def plain(subject: Subject, case: Case) -> None:
    """Require the same schedule compiled and as plain Python."""
    same(subject.run(case), subject.run(case, plain=True), "compiled and as plain Python, the runs differ")
