"""Checks of the traits that policies declare; they raise when a policy is made."""

import inspect
import itertools
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, did_you_mean
from harness.policy.per_key_memory import refuse_memory
from harness.policy.table import Table
from harness.policy.usage_shares import refuse_shares

if TYPE_CHECKING:
    from harness.policy.kinds import Order, Policy, Start


SIGNAL = "signal"

#: The data that policies may need, in words: about the nodes, or the external signal.
NEEDED = {
    "idle": "the idle power of every node",
    "peak": "the peak power of every node",
    "curve": "the load curve of every node",
    "performance": "the performance states of a node",
    "sleep": "the sleep states of a node",
    SIGNAL: "a signal, what energy emits or costs over time",
}


#: The functions that may replace that of a start policy.
INSTEAD = ("molding",)

#: The functions that policies may consist of.
FUNCTIONS = ("function", "fits", *INSTEAD, "learn", "correct")


def _words(given: Any) -> bool:
    return isinstance(given, tuple | list | Set) and all(isinstance(word, str) for word in given)


def _named(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, Mapping) and all(isinstance(k, str) and fits(v) for k, v in given.items())


#: Traits, the check of their values, and the expected values in words.
_KINDS_OF_TRAITS: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
    (("needs", "guarantees", "columns"), _words, "several words, as in ('idle', 'peak')"),
    (
        ("choices",),
        _named(lambda words: _words(words) and len(words) > 0),
        "the words of each parameter, as in {'first': ('narrow', 'wide')}",
    ),
    (
        ("least", "most"),
        _named(lambda bound: isinstance(bound, int | float) and bound == bound),
        "a number for each parameter, as in {'power': 1}",
    ),
    (
        ("rising",),
        lambda given: isinstance(given, tuple | list) and all(_words(pair) and len(pair) == 2 for pair in given),
        "pairs of parameters, as in (('low', 'high'),)",
    ),
    (("readers",), _named(callable), "a function for each table"),
    (("order", "cap"), lambda given: isinstance(given, str), "the name of a parameter"),
    (FUNCTIONS[1:], lambda given: given is None or callable(given), "a function"),
)


def check_traits(policy: "Policy") -> None:
    """Refuse names that cannot be written on a command line, and trait values of another kind."""
    where = f"policy {policy.name!r}"
    if not re.fullmatch(r"[A-Za-z]\w*(-[A-Za-z]\w*)*", str(policy.name)) or keyword.iskeyword(policy.name):
        raise HarnessError(
            f"policy name {policy.name!r}: expected letters, digits and single hyphens, each before a letter"
        )
    if not callable(policy.function):
        raise HarnessError(f"{where}: expected a function, not {policy.function!r:.40}")
    for trait in ("needs", "guarantees", "columns"):
        if isinstance(given := getattr(policy, trait, ()), str):
            raise HarnessError(f"{where}: {trait}={given!r:.40}: expected several, as in {trait}=({given!r:.40},)")
    for traits, fits, expected in _KINDS_OF_TRAITS:
        for trait in traits:
            if hasattr(policy, trait) and not fits(given := getattr(policy, trait)):
                raise HarnessError(f"{where}: {trait}={given!r:.40}: expected {expected}")
    for figure in policy.needs:
        if figure not in NEEDED:
            raise HarnessError(f"{where} needs {figure!r:.40}; {did_you_mean(figure, NEEDED)}")


def check_extras(policy: "Policy") -> None:
    """Refuse arguments for memory and columns that are not declared, and invalid declarations."""
    where = f"policy {policy.name!r}"
    refuse_undeclared(policy, policy.extras)
    refuse_shares(where, policy.arguments, policy.extras)
    if policy.fresh and (
        not callable(policy.fresh) or policy.compiled or policy.memory or "memory" not in policy.extras
    ):
        raise HarnessError(
            f"{where}: fresh={policy.fresh!r:.40}: expected a callable that makes its memory for a run, with "
            "compiled=False, without memory=, and a function that names memory"
        )
    if ("columns" in policy.extras) != bool(policy.columns) or (policy.columns and policy.hook == "account_energy"):
        raise HarnessError(
            f"{where}: columns={policy.columns!r:.60}: expected the names of further columns of the workload, as in "
            "columns=('x_priority',), and a function that names columns, which those of account_energy may not"
        )
    for column in policy.columns:
        if not re.fullmatch(r"x_\w+", str(column)):
            raise HarnessError(
                f"{where} names the column {column!r:.40}: expected a further one, with a name that begins with x_; "
                "the others are in the records"
            )


def refuse_undeclared(policy: "Policy", asked: Iterable[str]) -> None:
    """Refuse a function with an argument for memory that is neither declared nor made at the beginning of a run."""
    asked = [name for name in asked if not (policy.fresh and name == "memory")]
    refuse_memory(f"policy {policy.name!r}", policy.memory, asked)


def check_parameters(policy: "Policy") -> None:
    """Refuse defaults of unknown kinds, and declarations about parameters that do not exist."""
    named = (*policy.choices, *policy.least, *policy.most, *itertools.chain(*policy.rising), policy.cap)
    for name in filter(None, named):
        if name not in policy.parameters:
            known = did_you_mean(name, policy.parameters)
            raise HarnessError(f"policy {policy.name!r} declares a parameter {name!r} that its function lacks; {known}")
    if policy.cap and policy.kind(policy.cap) not in (int, float):
        raise HarnessError(f"policy {policy.name!r}: cap={policy.cap!r}: expected a parameter that is a number [W]")
    for name in policy.parameters:
        try:
            if policy.kind(name) is Table and policy.parameters[name]:  # users must give an empty one
                policy.value(name, list(policy.parameters[name]))
        except StopIteration:
            raise HarnessError(
                f"policy {policy.name!r}: the default of {name!r} is {policy.parameters[name]!r}; expected a number, "
                "numbers, yes or no, or a word out of `choices`"
            ) from None


def check_agreement(policy: "Policy", name: str, arguments: list[str], own: list[inspect.Parameter]) -> None:
    """Refuse a further function, `name`, unless it takes its arguments and the additional ones of the first
    function.
    """
    function = getattr(policy, name)
    theirs = list(inspect.signature(function).parameters.values())
    if [p.name for p in theirs[: len(arguments)]] != arguments or theirs[len(arguments) :] != own:
        expected = ", ".join([*arguments, *map(str, own)])
        raise HarnessError(
            f"policy {policy.name!r}: its {name} {function.__name__}{inspect.signature(function)} should be written "
            f"{function.__name__}({expected}), with the additional arguments of its function"
        )


def _own(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a start policy's function but for the plan, the queue and the state."""
    parameters = inspect.signature(function).parameters.values()
    return [one for one in parameters if one.name not in ("plan", "queue", "state")]


def check_instead(policy: "Start") -> None:
    """Refuse a replacing function with other arguments than the policy's function."""
    for trait in INSTEAD:
        other = getattr(policy, trait)
        if other and _own(other) != _own(policy.function):
            raise HarnessError(f"policy {policy.name!r}: its {trait} should have the arguments of its function")


def check_wrapping(policy: "Order") -> None:
    """Refuse a parameter for a wrapped order without the name of an order as its default."""
    check_traits(policy)
    if policy.order and not isinstance(policy.parameters.get(policy.order), str):
        raise HarnessError(
            f"policy {policy.name!r}: order={policy.order!r:.40}: expected a parameter of its function with the name "
            "of an order as default, as in order='inner' and inner='fcfs'"
        )


#: The fields that `same_answer_for` may name: those that never change.
KEPT_FIELDS = ("procs", "requested", "memory", "partition", "user", "group", "queue")


def check_words(policy: "Policy", trait: str, known: tuple[str, ...]) -> None:
    """Refuse a trait unless it is several of the known words."""
    given = getattr(policy, trait)
    if isinstance(given, str) or not isinstance(given, tuple | list):
        raise HarnessError(f"policy {policy.name!r}: {trait}={given!r:.40}: expected several out of {known}")
    for word in given:
        if word not in known:
            raise HarnessError(f"policy {policy.name!r}: {trait}={given!r:.60}; {did_you_mean(str(word), known)}")


def check_same_answer(policy: "Policy") -> None:
    """Refuse `same_answer_for` with fields that may change, or with arguments in which such jobs may differ."""
    check_words(policy, "same_answer_for", KEPT_FIELDS)
    told = [name for name in policy.extras if name in ("columns", "memory", "dice") or name.startswith("per_")]
    if getattr(policy, "same_answer_for", ()) and told:
        raise HarnessError(
            f"policy {policy.name!r}: same_answer_for is given, and its function names {' and '.join(told)}, in "
            "which they may differ: expected none of these, or no same_answer_for="
        )
