"""Specifications of policies, such as `easy(reservations=2)`, and the policies with parameters that they name."""

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

    policy: Any  # of the kind of its part of a scheduler
    values: dict[str, Any]
    inner: "Choice | None" = None  # the order that an order wraps, or the next hold
    queues: tuple[Any, ...] = ()  # of a start policy: queues with their own policies, see `own_queues`

    @classmethod
    def plain(cls, policy: Policy) -> "Choice":
        """Return the policy with its default parameters."""
        return cls(policy, dict(policy.parameters))

    @property
    def chain(self) -> "tuple[Choice, ...]":
        """The choice, and all that it wraps; for holds, all holds."""
        return (self, *(self.inner.chain if self.inner else ()))

    def says(self, trait: str) -> bool:
        """Return whether the policy, or one that it wraps, has a trait such as `varies`."""
        return any(getattr(choice.policy, trait, False) for choice in self.chain)

    def __str__(self) -> str:
        if self.inner and self.policy.part == "hold":
            return f"{replace(self, inner=None)} + {self.inner}"
        if self.queues:
            return " + ".join(map(str, (replace(self, queues=()), *self.queues)))
        return self._written({k: v for k, v in self.values.items() if v != self.policy.parameters[k]})

    @property
    def in_full(self) -> str:
        """The choice with the values of all parameters, including defaults; of a hold, all holds."""
        if self.queues:
            return " + ".join([replace(self, queues=()).in_full, *map(str, self.queues)])
        whole = self._written({name: value for name, value in self.values.items() if value is not None})
        return f"{whole} + {self.inner.in_full}" if self.inner and self.policy.part == "hold" else whole

    def _written(self, values: Mapping[str, Any]) -> str:
        given = ", ".join(f"{name}={value_text(value)}" for name, value in values.items())
        return f"{self.policy.name}({given})" if given else str(self.policy.name)


_HYPHEN = "_hyphen_"  # replaces the hyphen of a name while Python's parser reads a specification


def parse(spec: str, first: str = "") -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of `name(parameter=value, …)`.

    Values are numbers, words, lists of them, or such specifications. The value of the parameter `first` may be given
    without a name, before the others.
    """
    text = re.sub(r"(?<=\w)-(?=[A-Za-z])", _HYPHEN, _FILE.sub(_in_quotes, spec))
    try:
        match syntax(text):
            case ast.Name(id=name):
                return name.replace(_HYPHEN, "-"), {}
            case ast.Call(func=ast.Name(id=name), args=nameless, keywords=keywords) if len(nameless) <= bool(first):
                keywords = [*(ast.keyword(first, value) for value in nameless), *keywords]
                values = {str(k.arg): _value(k.value) for k in keywords if k.arg}
                if len(values) == len(keywords):  # none without a name, none twice
                    return name.replace(_HYPHEN, "-"), values
    except (ValueError, RecursionError):
        pass
    raise HarnessError(f"{spec!r}: expected a name, or a name and parameters like easy(reservations=2)")


#: A text in quotes, or a value with a dot or a slash.
_FILE = re.compile(r"""'[^']*'|"[^"]*"|(?<=[(,=\s])[^\s'"(),=[\]]*[./][^\s'"(),=[\]]*(?=\s*[,)])""")


def _in_quotes(value: re.Match[str]) -> str:
    """Return the name of a file in quotes, as Python needs it; numbers and texts in quotes are unchanged."""
    if value[0][0] in "'\"":
        return value[0]
    try:
        float(value[0])
    except ValueError:
        return repr(value[0])
    return value[0]


def syntax(text: str) -> ast.expr:
    """Return the syntax tree of a Python expression without evaluating it; raise `ValueError` if it is none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's warnings about its code
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, MemoryError, RecursionError) as error:  # the last two: too many brackets
        raise ValueError("not an expression") from error


def bounded_number(number: float) -> float:
    """Return a number; whole numbers beyond 64 bits become the nearest float, or infinite."""
    return number if isinstance(number, float) or abs(number) < 2**63 else float(f"{number}")


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str(word)):
            return word.replace(_HYPHEN, "-")
        case ast.Constant(value=bool() | int() | float() as number):
            return bounded_number(number)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -bounded_number(number)
        case ast.Name(id="true" | "false" as word):
            return word == "true"
        case ast.Name(id=word):
            return word.replace(_HYPHEN, "-")
        case ast.Call():
            return ast.unparse(node).replace(_HYPHEN, "-")
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
    raise ValueError(f"{ast.unparse(node)}: unknown kind of value")


def value_text(value: Any) -> str:
    """Return a value as text that `parse` reads as the same value, with files in quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    text = f"f(x={value})"
    try:
        return str(value) if _FILE.sub(_in_quotes, text) == text and parse(text)[1]["x"] == value else repr(value)
    except HarnessError:
        return repr(value)


def summands(spec: str) -> list[str]:
    """Return the parts of a sum such as `limits(user_jobs=8) + begin`; a text without a sum is one part."""
    parts, rest = [], ""
    for piece in re.split(r"(\+)", spec):
        if piece == "+" and _balanced(rest):
            parts.append(rest.strip())
            rest = ""
        else:
            rest += piece
    return [*parts, rest.strip()]


def _balanced(text: str) -> bool:
    """Return whether all brackets and quotation marks in the text are closed."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    return not set("'\"") & set(text) and all(text.count(a) <= text.count(b) for a, b in ("()", "[]"))


def choose(spec: str, hook: str, known: Mapping[str, Policy]) -> Choice:
    """Return the policy that `spec` names, with checked parameters; of holds, several joined by +.

    After a start policy, each part that follows a + is a queue with its own policies.
    """
    if hook == "hold_jobs":
        return joined([_choose(part, hook, known) for part in summands(spec)])
    if hook == "start_jobs" and len(parts := summands(spec)) > 1:
        from harness.policy.own_queues import own_queue

        return replace(_choose(parts[0], hook, known), queues=tuple(map(own_queue, parts[1:])))
    return _choose(spec, hook, known)


def joined(choices: Sequence[Choice]) -> Choice:
    """Return several holds as one choice, without those that hold no job."""
    telling = [one for one in choices if not one.policy.constant] or choices[:1]
    first, *others = telling
    return replace(first, inner=joined(others)) if others else first


def first_table(spec: str, known: Mapping[str, Policy]) -> str:
    """Return the parameter that may be given as a file without its name, as in `calendar(kth-sp2)`; "" if there is
    none.
    """
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
    """Call `function` with parameters from the text `source`; raise an error for an unknown one."""
    known = list(inspect.signature(function).parameters)[len(arguments) :]
    for name in values:
        if name not in known:
            raise HarnessError(f"{source}: there is no parameter {name!r}; {did_you_mean(name, known)}")
    return function(*arguments, **values)
