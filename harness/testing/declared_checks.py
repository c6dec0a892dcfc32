"""The declaration of checks. A check is a function of a policy and a case that raises `CheckError`, with a reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.policy.kinds import Policy
from harness.testing.cases import Case
from harness.testing.subject import Subject


@dataclass(frozen=True)
class Check:
    """A check for all policies to which it applies."""

    name: str
    run: Callable[[Subject, Case], Any]
    why: str  # the reason why it matters
    applies: Callable[[Policy], bool]
    never: str  # the error if `run` returns true for no case; for traits that must have an effect
    crowds: int  # the number of cases with many jobs
    cases: Mapping[str, Any]  # the options of `cases.cases`


#: Name → check, in the order in which they run.
CHECKS: dict[str, Check] = {}

#: The guarantees that start policies may declare; each has a check.
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
    """Return a decorator that declares a function as a check."""

    def declare(function: Function) -> Function:
        CHECKS[name] = Check(name, function, why, applies, never, crowds, cases)
        return function

    return declare


def of(*hooks: str) -> Callable[[Policy], bool]:
    """Return a function that returns whether a policy is of one of the hooks."""
    return lambda policy: policy.hook in hooks


def guarantee(name: str, **options: Any) -> Callable[[Function], Function]:
    """Return a decorator that declares a function as the check of a guarantee of start policies."""
    GUARANTEES.append(name)
    why = f"the policy declares guarantees={name!r}, and users rely on it"
    return check(name, why, applies=lambda policy: name in getattr(policy, "guarantees", ()), crowds=4, **options)
