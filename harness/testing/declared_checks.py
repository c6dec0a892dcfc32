"""How a check is declared: a function of a policy and a case that raises `Wrong`, below a line that says why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.policy.kinds import Policy
from harness.testing.cases import Case
from harness.testing.subject import Subject


@dataclass(frozen=True)
class Check:
    """One thing that is checked of every policy to which it applies."""

    name: str
    run: Callable[[Subject, Case], Any]
    why: str  # it matters
    applies: Callable[[Policy], bool]
    never: str  # what is wrong if `run` is true of no case, for a claim that must show somewhere
    crowds: int  # how many cases of many jobs it is put to
    cases: Mapping[str, Any]  # what kind of cases: the options of `cases.cases`


#: Name → every check, in the order in which they are made.
CHECKS: dict[str, Check] = {}

#: What start policies may guarantee: a check stands behind each.
GUARANTEES: list[str] = []

Function = Callable[[Subject, Case], Any]


def check(
    name: str,
    why: str,
    *,
    applies: Callable[[Policy], bool] = lambda policy: True,
    never: str = "",
    crowds: int = 1,
    **cases: Any,
) -> Callable[[Function], Function]:
    """Declare the function below to be a check."""

    def declare(function: Function) -> Function:
        CHECKS[name] = Check(name, function, why, applies, never, crowds, cases)
        return function

    return declare


def of(*hooks: str) -> Callable[[Policy], bool]:
    """Return what tells whether a policy is of one of the hooks."""
    return lambda policy: policy.hook in hooks


def guarantee(name: str, **options: Any) -> Callable[[Function], Function]:
    """Declare the function below to be the check behind a guarantee that start policies may give."""
    GUARANTEES.append(name)
    why = f"the policy says guarantees={name!r}, and users choose it for that"
    return check(name, why, applies=lambda policy: name in getattr(policy, "guarantees", ()), crowds=4, **options)
