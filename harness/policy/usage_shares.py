"""Shares: the engine's counts for users, groups and queues, which functions of policies use by naming them."""

import inspect
import math
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.policy.kinds import Policy
    from harness.policy.spec import Choice

#: Arguments with the counts for the user, group or queue of the job.
WHOSE = ("user", "group", "queue")

#: Arguments with the counts for all of them, by number, and for all jobs.
OF_ALL = {f"{whose}s": whose for whose in WHOSE}
EVERYBODY = "everybody"

NAMES = (*WHOSE, *OF_ALL, EVERYBODY)

#: The parameter with the half-life of usage, and its default [s].
HALF_LIFE = "half_life"
A_WEEK = 604_800.0


@lru_cache(maxsize=1024)
def share_arguments(policy: "Policy") -> frozenset[str]:
    """Return which of `NAMES` the policy's functions name; a predictor's `user` is its own record."""
    functions = (policy.function, *(getattr(policy, name, None) for name in ("learn", "correct")))
    named = {name for function in functions if function for name in inspect.signature(function).parameters}
    return frozenset(named & set(NAMES)) - set(policy.arguments)


def refuse_shares(where: str, arguments: Collection[str], named: Iterable[str]) -> None:
    """Refuse a function that names the record of a job's user, but is not called for a job."""
    for name in named:
        if name in WHOSE and "job" not in arguments:
            raise HarnessError(
                f"{where}: its function names {name}, but is not called for a job: expected {name}s, as in "
                f"{name}s[state.jobs[job].{name}]"
            )


def half_life_in(choices: Iterable["Choice"]) -> float | None:
    """Return the half-life of the usage in a run [s], infinite for none; None if no policy uses the counts."""
    asking = [one for choice in choices for one in choice.chain if share_arguments(one.policy)]
    if not asking:
        return None
    naming = [choice for choice in asking if HALF_LIFE in choice.values]
    for choice in naming[1:]:
        if choice.values[HALF_LIFE] != naming[0].values[HALF_LIFE]:
            raise HarnessError(
                f"{naming[0]} and {choice}: their half-lives are {naming[0].values[HALF_LIFE]:g} s and "
                f"{choice.values[HALF_LIFE]:g} s: expected the same half-life in a run"
            )
    return float(naming[0].values[HALF_LIFE] or math.inf) if naming else A_WEEK
