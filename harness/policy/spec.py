"""What users write to name a policy, `easy(reservations=2)`, and the policy with its parameters that it names."""

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.errors import HarnessError, did_you_mean
from harness.policy.kinds import KINDS, Policy


@dataclass(frozen=True)
class Choice:
    """A policy with the values of its parameters."""

    policy: Any  # of the kind that its part of a scheduler has
    values: dict[str, Any]
    inner: "Choice | None" = None  # the order that an order wraps, or the hold beside a hold
    queues: tuple[Any, ...] = ()  # beside a start policy: those who have their own, see `harness.policy.own_queues`

    @classmethod
    def plain(cls, policy: Policy) -> "Choice":
        """Return the policy with the values that its parameters have by default."""
        return cls(policy, dict(policy.parameters))

    @property
    def chain(self) -> "tuple[Choice, ...]":
        """Return the choice, and what it wraps, and what that wraps; of holds, all."""
        return (self, *(self.inner.chain if self.inner else ()))

    def says(self, trait: str) -> bool:
        """Return whether the policy, or one that it wraps, has a trait: `varies`, say."""
        return any(getattr(choice.policy, trait, False) for choice in self.chain)

    def __str__(self) -> str:
        if self.inner and self.policy.part == "hold":
            return f"{replace(self, inner=None)} + {self.inner}"
        if self.queues:
            return " + ".join(map(str, (replace(self, queues=()), *self.queues)))
        return self._written({k: v for k, v in self.values.items() if v != self.policy.parameters[k]})

    @property
    def in_full(self) -> str:
        """Return the choice with the values of all parameters, those by default too; of a hold, all holds."""
        if self.queues:
            return " + ".join([replace(self, queues=()).in_full, *map(str, self.queues)])
        whole = self._written({name: value for name, value in self.values.items() if value is not None})
        return f"{whole} + {self.inner.in_full}" if self.inner and self.policy.part == "hold" else whole

    def _written(self, values: Mapping[str, Any]) -> str:
        given = ", ".join(f"{name}={written(value)}" for name, value in values.items())
        return f"{self.policy.name}({given})" if given else str(self.policy.name)


_HYPHEN = "_hyphen_"  # stands for the hyphen of a name while Python's own parser reads a specification


def parse(spec: str, first: str = "") -> tuple[str, dict[str, Any]]:
    """Take `name(parameter=value, …)` apart. Values are numbers, words, lists of them, or such specifications.

    `first` is the parameter whose value may stand without a name, before the others.
    """
    text = re.sub(r"(?<=\w)-(?=[A-Za-z])", _HYPHEN, _FILE.sub(_in_quotes, spec))
    try:
        match syntax(text):
            case ast.Name(id=name):
                return name.replace(_HYPHEN, "-"), {}
            case ast.Call(func=ast.Name(id=name), args=nameless, keywords=keywords) if len(nameless) <= bool(first):
                keywords = [*(ast.keyword(first, value) for value in nameless), *keywords]
                values = {str(k.arg): _value(k.value) for k in keywords if k.arg}
                if len(values) == len(keywords):  # none is nameless, none given twice
                    return name.replace(_HYPHEN, "-"), values
    except (ValueError, RecursionError):
        pass
    raise HarnessError(f"{spec!r}: expected a name, or a name and parameters like easy(reservations=2)")


#: What stands in quotes; and a value that has a dot or a slash.
_FILE = re.compile(r"""'[^']*'|"[^"]*"|(?<=[(,=\s])[^\s'"(),=[\]]*[./][^\s'"(),=[\]]*(?=\s*[,)])""")


def _in_quotes(value: re.Match[str]) -> str:
    """Return the name of a file in quotes, as Python needs it; numbers, and what is in quotes, as they are."""
    if value[0][0] in "'\"":
        return value[0]
    try:
        float(value[0])
    except ValueError:
        return repr(value[0])
    return value[0]


def syntax(text: str) -> ast.expr:
    """Return what an expression in Python's grammar consists of, evaluating nothing; `ValueError` if it is none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's advice on its own code
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, MemoryError, RecursionError) as error:  # the last two: brackets without end
        raise ValueError("not an expression") from error


def figure(number: float) -> float:
    """Return a number as it is written, but whole ones that 64 bits do not hold as the nearest float, or infinite."""
    return number if isinstance(number, float) or abs(number) < 2**63 else float(f"{number}")


def _value(node: ast.expr) -> Any:
    """Return the value that stands behind a parameter's name."""
    match node:
        case ast.Constant(value=str(word)):
            return word.replace(_HYPHEN, "-")
        case ast.Constant(value=bool() | int() | float() as number):
            return figure(number)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -figure(number)
        case ast.Name(id="true" | "false" as word):
            return word == "true"
        case ast.Name(id=word):
            return word.replace(_HYPHEN, "-")
        case ast.Call():
            return ast.unparse(node).replace(_HYPHEN, "-")
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
    raise ValueError(f"what {ast.unparse(node)} stands for is not clear")


def written(value: Any) -> str:
    """Return a value as it is written behind a parameter's name: what `parse` reads as the same, files in quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    text = f"f(x={value})"
    try:
        return str(value) if _FILE.sub(_in_quotes, text) == text and parse(text)[1]["x"] == value else repr(value)
    except HarnessError:
        return repr(value)


def summands(spec: str) -> list[str]:
    """Take `limits(user_jobs=8) + begin` apart; what is no sum is one part, as it was written."""
    parts, rest = [], ""
    for piece in re.split(r"(\+)", spec):
        if piece == "+" and _balanced(rest):
            parts.append(rest.strip())
            rest = ""
        else:
            rest += piece
    return [*parts, rest.strip()]


def _balanced(text: str) -> bool:
    """Return whether nothing is left open at the end of the text: no bracket, no quotation mark."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    return not set("'\"") & set(text) and all(text.count(a) <= text.count(b) for a, b in ("()", "[]"))


def choose(spec: str, hook: str, known: Mapping[str, Policy]) -> Choice:
    """Find the policy that `spec` names, or of holds, those that it names with a + between; check their parameters.

    Behind a start policy what follows a + is a queue that has its own.
    """
    if hook == "hold_jobs":
        return joined([_choose(part, hook, known) for part in summands(spec)])
    if hook == "start_jobs" and len(parts := summands(spec)) > 1:
        from harness.policy.own_queues import own_queue

        return replace(_choose(parts[0], hook, known), queues=tuple(map(own_queue, parts[1:])))
    return _choose(spec, hook, known)


def joined(choices: Sequence[Choice]) -> Choice:
    """Return several holds as one choice; one that holds nobody is left out beside others."""
    telling = [one for one in choices if not one.policy.constant] or choices[:1]
    first, *others = telling
    return replace(first, inner=joined(others)) if others else first


def first_table(spec: str, known: Mapping[str, Policy]) -> str:
    """Return the parameter whose file may be given without its name, as in `calendar(kth-sp2)`; "" if there is none."""
    policy = known.get(spec.partition("(")[0].strip())
    return next(iter(policy.readers), "") if policy else ""


def _choose(spec: str, hook: str, known: Mapping[str, Policy]) -> Choice:
    name, given = parse(spec, first_table(spec, known))
    if name not in known:
        what = KINDS[hook].__name__.lower()
        raise HarnessError(f"there is no {what} policy {name!r}; {did_you_mean(name, known)}")
    policy = known[name]
    for parameter in given:
        if parameter not in policy.parameters:
            raise HarnessError(f"{name!r} has no parameter {parameter!r}; {did_you_mean(parameter, policy.parameters)}")
    choice = Choice(policy, policy.parameters | {name: policy.value(name, value) for name, value in given.items()})
    for low, high in policy.rising:
        below, above = choice.values[low], choice.values[high]
        if below > above:
            raise HarnessError(f"{spec!r}: {low} = {below} lies above {high} = {above}; expected {low} ≤ {high}")
    return choice


def call(function: Callable[..., Any], values: dict[str, Any], source: str, *arguments: Any) -> Any:
    """Call `function` with parameters that a user wrote in `source`; unknown ones are refused by name."""
    known = list(inspect.signature(function).parameters)[len(arguments) :]
    for name in values:
        if name not in known:
            raise HarnessError(f"{source}: there is no parameter {name!r}; {did_you_mean(name, known)}")
    return function(*arguments, **values)
