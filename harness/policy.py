"""Policies: what a plugin offers, how a user names one, and the six of them that make a scheduler."""

import ast
import inspect
import itertools
import keyword
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

from harness.errors import HarnessError, did_you_mean

#: What an author's function may ask for besides the hook's own arguments, by naming it without a default.
EXTRAS = ("memory", "dice")


@dataclass(frozen=True, eq=False)
class Policy:
    """One named answer to the question of a hook.

    `function` takes the hook's arguments, then, if it names them, `memory` (an array of `memory` floats that are
    its own for the run) and `dice` (its own random generator, for `harness.uniform`), then parameters, which all
    have defaults. A parameter's default gives its kind: whole number, number, yes/no, or a word out of `choices`.
    """

    name: str
    function: Callable[..., Any]
    memory: int = field(default=0, kw_only=True)  # how many floats it may keep from one call to the next
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict, kw_only=True)
    least: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # the least value of a parameter
    most: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # … and the greatest
    rising: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)  # parameters that must not be below another
    needs: tuple[str, ...] = field(default=(), kw_only=True)  # which of idle, peak, curve, … the platform must give
    compiled: bool = field(default=True, kw_only=True)  # False: never compile it, it needs Python
    hook: ClassVar[str]
    arguments: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*(-[A-Za-z]\w*)*", self.name) or keyword.iskeyword(self.name):
            raise HarnessError(
                f"policy name {self.name!r}: expected letters, digits and single hyphens, each before a letter"
            )
        names = self._names(required=True)
        wanted = list(self.arguments)
        if names[: len(wanted)] != wanted or set(names[len(wanted) :]) - set(EXTRAS):
            expected = ", ".join([*wanted, "…=default"])
            raise HarnessError(
                f"policy {self.name!r}: its function {self.function.__name__}{inspect.signature(self.function)} "
                f"should be written {self.function.__name__}({expected}); only {' and '.join(EXTRAS)} may stand "
                "between, and every parameter needs a default"
            )
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Refuse defaults of no known kind, and declarations about parameters that do not exist."""
        for name in (*self.choices, *self.least, *self.most, *itertools.chain(*self.rising)):
            if name not in self.parameters:
                known = did_you_mean(name, self.parameters)
                raise HarnessError(
                    f"policy {self.name!r} declares a parameter {name!r} that its function lacks; {known}"
                )
        for name in self.parameters:
            try:
                self.kind(name)
            except StopIteration:
                raise HarnessError(
                    f"policy {self.name!r}: the default of {name!r} is {self.parameters[name]!r}; expected a number, "
                    "yes or no, or a word out of `choices`"
                ) from None

    def _names(self, *, required: bool) -> list[str]:
        parameters = inspect.signature(self.function).parameters.values()
        return [p.name for p in parameters if (p.default is p.empty) == required]

    @cached_property
    def extras(self) -> tuple[str, ...]:
        """Which of `EXTRAS` the function asks for."""
        return tuple(self._names(required=True)[len(self.arguments) :])

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their defaults, words where there are `choices`."""
        parameters = inspect.signature(self.function).parameters
        defaults = {name: parameters[name].default for name in self._names(required=False)}
        places = {name: words for name, words in self.choices.items() if isinstance(defaults[name], int)}
        return defaults | {name: words[defaults[name]] for name, words in places.items()}

    @property
    def stochastic(self) -> bool:
        """Whether it flips coins."""
        return "dice" in self.extras

    @property
    def summary(self) -> str:
        """The first line of its function's documentation."""
        return str(inspect.getdoc(self.function) or "").split("\n")[0]

    def kind(self, name: str) -> type:
        """The kind of a parameter, from its default: str for a word, bool, int or float."""
        if name in self.choices:
            return str
        return next(kind for kind in (bool, int, float) if isinstance(self.parameters[name], kind))

    def number(self, name: str, value: Any) -> float:
        """A parameter's value as the number its kernel gets; refuses values of another kind."""
        kind = self.kind(name)
        where = f"{self.name}({name}={value!r})"
        if name in self.choices:
            words = self.choices[name]
            if isinstance(value, str):
                if value not in words:
                    raise HarnessError(f"{where}: expected one of {', '.join(words)}; {did_you_mean(value, words)}")
                return float(words.index(value))
            if value in range(len(words)):
                return float(value)
            raise HarnessError(f"{where}: expected one of {', '.join(words)}")
        if isinstance(value, str) or not isinstance(value, int | float):
            raise HarnessError(f"{where}: expected a number")
        if kind is bool and value not in (0, 1):
            raise HarnessError(f"{where}: expected true or false")
        if kind is int and not float(value).is_integer():
            raise HarnessError(f"{where}: expected a whole number")
        if not value >= self.least.get(name, -math.inf):
            raise HarnessError(f"{where}: expected at least {self.least[name]:g}")
        if not value <= self.most.get(name, math.inf):
            raise HarnessError(f"{where}: expected at most {self.most[name]:g}")
        return float(value)


@dataclass(frozen=True, eq=False)
class Order(Policy):
    """Who is next: `score(job, clock, …) -> float`, lowest first."""

    varies: bool = field(default=False, kw_only=True)  # the score of a waiting job changes with time
    hook = "order_queue"
    arguments = ("job", "clock")


@dataclass(frozen=True, eq=False)
class Start(Policy):
    """Who starts now: `start(state, …)`, calling `harness.start` for each."""

    preemptive: bool = field(default=False, kw_only=True)  # it may suspend running jobs
    guarantees: tuple[str, ...] = field(default=(), kw_only=True)  # what conformance may hold it to
    order: str = field(default="", kw_only=True)  # the parameter that names another order
    hook = "start_jobs"
    arguments = ("state",)

    def kind(self, name: str) -> type:
        """An order is passed as a handle, a whole number."""
        return int if name == self.order else super().kind(name)

    def number(self, name: str, value: Any) -> float:
        """An order is passed as a handle: 0 for the one that was named, −1 for the queue's."""
        if name == self.order:
            if value is not None and not isinstance(value, str):
                raise HarnessError(f"{self.name}({name}={value!r}): expected the name of an order policy")
            return 0.0 if value else -1.0
        return super().number(name, value)


@dataclass(frozen=True, eq=False)
class Select(Policy):
    """On which nodes: `select(state, job, …) -> bool`, calling `harness.take`; False to decline."""

    hook = "select_resources"
    arguments = ("state", "job")


@dataclass(frozen=True, eq=False)
class Rate(Policy):
    """How fast: `rate(state, …) -> float`, 1 is full speed."""

    constant: bool = field(default=False, kw_only=True)  # its answer never changes: it is asked once
    hook = "set_rate"
    arguments = ("state",)


@dataclass(frozen=True, eq=False)
class Sleep(Policy):
    """Which nodes sleep: `sleep(state, …)`, calling `harness.put_to_sleep` and `harness.wake`."""

    constant: bool = field(default=False, kw_only=True)  # it never does anything: it is called once
    hook = "set_sleep"
    arguments = ("state",)


@dataclass(frozen=True, eq=False)
class Energy(Policy):
    """How many watts a node draws: `watts(node, clock, …) -> float`."""

    hook = "account_energy"
    arguments = ("node", "clock")


KINDS: dict[str, type[Policy]] = {kind.hook: kind for kind in (Order, Start, Select, Rate, Sleep, Energy)}


@dataclass(frozen=True)
class Choice:
    """A policy with the values of its parameters."""

    policy: Any
    values: dict[str, Any]

    def __str__(self) -> str:
        given = [f"{k}={v}" for k, v in self.values.items() if v != self.policy.parameters[k]]
        return str(self.policy.name) + (f"({', '.join(given)})" if given else "")


@dataclass(frozen=True)
class Scheduler:
    """Six policies, one for each decision, as a user writes them: `easy`, `easy(reservations=2)`, …"""

    order: str = "fcfs"
    start: str = "easy"
    select: str = "first-fit"
    rate: str = "full"
    sleep: str = "never"
    energy: str = ""  # the richest that the platform's figures allow

    #: The hook that each field answers.
    HOOKS: ClassVar[dict[str, str]] = dict(
        zip(("order", "start", "select", "rate", "sleep", "energy"), KINDS, strict=True)
    )

    def choose(self, policies: Mapping[str, Mapping[str, Policy]]) -> dict[str, Choice]:
        """Find every policy among `policies` (hook → name → policy), and the second order if one is named."""
        chosen = {}
        for part in fields(self):
            hook = self.HOOKS[part.name]
            spec = getattr(self, part.name) or ("none" if part.name == "energy" else "")
            chosen[part.name] = choose(spec, hook, policies[hook])
        start = chosen["start"]
        named = start.values.get(start.policy.order)
        orders = policies["order_queue"]
        chosen["second"] = choose(named, "order_queue", orders) if isinstance(named, str) and named else chosen["order"]
        return chosen


_HYPHEN = "_hyphen_"  # stands for the hyphen of a name while Python's own parser reads a specification


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """Take `name(parameter=value, …)` apart. Values are numbers, words, lists of them, or such specifications."""
    text = re.sub(r"(?<=\w)-(?=[A-Za-z])", _HYPHEN, spec.strip())
    try:
        tree = ast.parse(text, mode="eval").body
        match tree:
            case ast.Name(id=name):
                return name.replace(_HYPHEN, "-"), {}
            case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
                values = {str(k.arg): _value(k.value) for k in keywords if k.arg}
                if len(values) == len(keywords):  # none is nameless, none given twice
                    return name.replace(_HYPHEN, "-"), values
    except (SyntaxError, ValueError) as error:
        raise HarnessError(f"{spec!r}: expected a name, or a name and parameters like easy(reservations=2)") from error
    raise HarnessError(f"{spec!r}: expected a name, or a name and parameters like easy(reservations=2)")


def _value(node: ast.expr) -> Any:
    """The value that stands behind a parameter's name."""
    match node:
        case ast.Constant(value=str(word)):
            return word.replace(_HYPHEN, "-")
        case ast.Constant(value=bool() | int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name(id="true" | "false" as word):
            return word == "true"
        case ast.Name(id=word):
            return word.replace(_HYPHEN, "-")
        case ast.Call():
            return ast.unparse(node).replace(_HYPHEN, "-")
        case ast.List(elts=items):
            return [_value(item) for item in items]
    raise ValueError(f"what {ast.unparse(node)} stands for is not clear")


def choose(spec: str, hook: str, known: Mapping[str, Policy]) -> Choice:
    """Find the policy that `spec` names, and check its parameters."""
    name, given = parse(spec)
    if name not in known:
        what = KINDS[hook].__name__.lower()
        raise HarnessError(f"there is no {what} policy {name!r}; {did_you_mean(name, known)}")
    policy = known[name]
    for parameter in given:
        if parameter not in policy.parameters:
            raise HarnessError(f"{name!r} has no parameter {parameter!r}; {did_you_mean(parameter, policy.parameters)}")
    choice = Choice(policy, {**policy.parameters, **given})
    for parameter, value in choice.values.items():
        policy.number(parameter, value)
    for low, high in policy.rising:
        below, above = choice.values[low], choice.values[high]
        if below > above:
            raise HarnessError(f"{spec!r}: {low} = {below} lies above {high} = {above}; expected {low} ≤ {high}")
    return choice
