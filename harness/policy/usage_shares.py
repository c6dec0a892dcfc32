"""Shares: what the engine counts of users, groups and queues, for policies whose functions name them."""

import inspect
import math
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.policy.kinds import Policy
    from harness.policy.spec import Choice

#: Of whom the engine keeps a record if a policy asks: of the one that the job in question belongs to …
WHOSE = ("user", "group", "queue")

#: … of all of them, by number, and of all jobs together.
OF_ALL = {f"{whose}s": whose for whose in WHOSE}
EVERYBODY = "everybody"

NAMES = (*WHOSE, *OF_ALL, EVERYBODY)

#: The parameter that says after how long usage counts half, and what it is where no policy says so [s].
HALF_LIFE = "half_life"
A_WEEK = 604_800.0


@lru_cache(maxsize=1024)
def asked(policy: "Policy") -> frozenset[str]:
    """Return which of `NAMES` the policy's functions ask for; a predictor's `user` is its own."""
    functions = (policy.function, *(getattr(policy, name, None) for name in ("learn", "correct")))
    named = {name for function in functions if function for name in inspect.signature(function).parameters}
    return frozenset(named & set(NAMES)) - set(policy.arguments)


def refuse_shares(where: str, arguments: Collection[str], named: Iterable[str]) -> None:
    """Refuse a function that asks for the record of a job's user, and is not asked about a job."""
    for name in named:
        if name in WHOSE and "job" not in arguments:
            raise HarnessError(
                f"{where}: its function names {name}, and is not asked about one job: expected {name}s, as in "
                f"{name}s[state.jobs[job].{name}]"
            )


def half_life_in(choices: Iterable["Choice"]) -> float | None:
    """Return the half-life of what is counted in a run [s], infinite for none; None if no policy asks for it."""
    asking = [choice for choice in _all_of(choices) if asked(choice.policy)]
    if not asking:
        return None
    naming = [choice for choice in asking if HALF_LIFE in choice.values]
    for choice in naming[1:]:
        if choice.values[HALF_LIFE] != naming[0].values[HALF_LIFE]:
            raise HarnessError(
                f"{naming[0]} and {choice}: their half-lives are {naming[0].values[HALF_LIFE]:g} s and "
                f"{choice.values[HALF_LIFE]:g} s: expected one for what is counted in a run"
            )
    return float(naming[0].values[HALF_LIFE] or math.inf) if naming else A_WEEK


def _all_of(choices: Iterable[Any]) -> Iterator["Choice"]:
    """Yield the choices and what they wrap."""
    for choice in choices:
        yield from choice.chain
