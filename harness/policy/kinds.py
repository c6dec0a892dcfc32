"""Policies: one class for the policies of each hook."""

import inspect
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from harness.errors import HarnessError, did_you_mean
from harness.policy import declared_traits, hooks, usage_shares
from harness.policy.declared_traits import check_agreement, check_extras, check_parameters, check_traits, check_wrapping
from harness.policy.per_key_memory import KEYS, Keyed, floats, keyed
from harness.policy.reads import QUEUE, check_reads
from harness.policy.table import Table

if TYPE_CHECKING:
    from harness.policy.records import Clock, Columns, Dice, Job, Memory, Node, State

    A = TypeVar("A")
    B = TypeVar("B")
    R = TypeVar("R")

    # The functions of policies: the hook's arguments, optional memory and dice, then parameters with defaults.
    OfOne = (
        Callable[[A], R]
        | Callable[[A, Memory], R]
        | Callable[[A, Dice], R]
        | Callable[[A, Memory, Dice], R]
        | Callable[[A, Dice, Memory], R]
        | Callable[[A, Memory, Columns], R]
    )
    OfTwo = (
        Callable[[A, B], R]
        | Callable[[A, B, Memory], R]
        | Callable[[A, B, Dice], R]
        | Callable[[A, B, Memory, Dice], R]
        | Callable[[A, B, Dice, Memory], R]
        | Callable[[A, B, Memory, Columns], R]
    )

#: Arguments without default that a function may have in addition to those of the hook.
EXTRAS = ("memory", "dice", "columns", *(f"per_{key}" for key in KEYS), *usage_shares.NAMES)


@dataclass(frozen=True, eq=False)
class Policy:
    """One named policy for a hook.

    `function` takes the arguments of the hook, then, if it names them, `memory` (an array of `memory` floats of its own
    for the run, or the object that `fresh()` returns at its beginning), `per_user` and similar (records of its own, by
    key), `dice` (its own random generator, for `harness.uniform`) and `columns` (the further columns of the workload
    that it declared). Parameters follow, which all have defaults. The default determines the kind: whole number,
    number, truth value, a tuple of numbers, or a word out of `choices`.
    """

    name: str
    function: Callable[..., Any]
    memory: "int | Keyed | tuple[int | Keyed, ...]" = field(default=0, kw_only=True)  # kept between calls
    fresh: Callable[[], Any] | None = field(
        default=None, kw_only=True
    )  # makes its memory, of any kind, if not compiled
    columns: tuple[str, ...] = field(default=(), kw_only=True)  # further columns of the workload that it reads
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict, kw_only=True)
    least: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # the minimum of a parameter
    most: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # the maximum of a parameter
    rising: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)  # parameters that must not be below another
    cap: str = field(default="", kw_only=True)  # the parameter above which the platform's power is reported [W]
    readers: Mapping[str, Callable[[str], list[float]]] = field(
        default_factory=dict, kw_only=True
    )  # of files, by table
    needs: tuple[str, ...] = field(
        default=(), kw_only=True
    )  # the data that the platform must have: idle, peak, …; signal
    reads: tuple[str, ...] | None = field(default=None, kw_only=True)  # the state that it reads; None: all it can
    timed: bool = field(default=False, kw_only=True)  # its answers may depend on the date or on time alone
    compiled: bool = field(default=True, kw_only=True)  # False: it runs as plain Python
    part: ClassVar[str]  # its name in a scheduler
    plural: ClassVar[str]  # the name of a list of them
    hook: ClassVar[str]  # the hook that returns them
    arguments: ClassVar[tuple[str, ...]]  # the arguments of the hook
    further: ClassVar[tuple[str, ...]] = ()  # further optional arguments, in addition to `EXTRAS`
    answer: ClassVar[str] = ""  # the result of the function in words

    @classmethod
    def question(cls) -> str:
        """Return the question of the hook, the first line of its documentation."""
        return inspect.cleandoc(getattr(hooks, cls.hook).__doc__).split("\n")[0]

    def __new__(cls, *_: Any, **traits: Any) -> "Policy":
        """Refuse unknown traits, and the base class itself."""
        if cls is Policy:
            raise HarnessError("harness.Policy is no kind of policy: expected one of them, such as harness.Order")
        known = [one.name for one in fields(cls)]
        for name in traits:
            if name not in known:
                raise HarnessError(f"harness.{cls.__name__} has no {name!r}; {did_you_mean(name, known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        check_traits(self)
        names = self._names(required=True)
        wanted = list(self.arguments)
        if names[: len(wanted)] != wanted or set(names[len(wanted) :]) - {*EXTRAS, *self.further}:
            expected = ", ".join([*wanted, "…=default"])
            raise HarnessError(
                f"policy {self.name!r}: its function {self.function.__name__}{inspect.signature(self.function)} "
                f"should be written {self.function.__name__}({expected}); only memory, dice, columns, per_user and "
                "similar may be between, and every parameter needs a default"
            )
        check_extras(self)
        check_parameters(self)
        check_reads(self)

    def _names(self, *, required: bool) -> list[str]:
        parameters = inspect.signature(self.function).parameters.values()
        return [p.name for p in parameters if (p.default is p.empty) == required]

    @cached_property
    def extras(self) -> tuple[str, ...]:
        """The names in `EXTRAS` and `further` that the function has as arguments."""
        return tuple(self._names(required=True)[len(self.arguments) :])

    @property
    def floats(self) -> int:
        """The number of floats that it keeps for the run."""
        return floats(self.memory)

    @property
    def keyed(self) -> tuple[Keyed, ...]:
        """The records that it keeps by key."""
        return keyed(self.memory)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their defaults, as words if there are `choices`."""
        parameters = inspect.signature(self.function).parameters
        defaults = {name: parameters[name].default for name in self._names(required=False)}
        places = {name: words for name, words in self.choices.items() if isinstance(defaults.get(name), int)}
        tables = {name: Table(value) for name, value in defaults.items() if isinstance(value, list | tuple)}
        return defaults | tables | {name: words[defaults[name]] for name, words in places.items()}

    @property
    def stochastic(self) -> bool:
        """Whether it makes random decisions."""
        return "dice" in self.extras

    @property
    def summary(self) -> str:
        """The first line of its function's documentation."""
        return str(inspect.getdoc(self.function) or "").split("\n")[0]

    def kind(self, name: str) -> type:
        """Return the kind of a parameter, from its default: str for a word, bool, int, float or Table."""
        if name in self.choices:
            return str
        return next(kind for kind in (bool, int, float, Table) if isinstance(self.parameters[name], kind))

    def value(self, name: str, given: Any) -> Any:
        """Return a user's value of a parameter as it is stored; refuse values of another kind or out of bounds."""
        kind = self.kind(name)
        if kind is Table:
            table = Table.of(given, f"{self.name}({name}={given!r})", self.readers.get(name))
            for number in table:
                self._check_bounds(name, number)
            return table
        if kind is bool and given in ("yes", "no"):
            given = given == "yes"
        self.number(name, given)
        return given

    def number(self, name: str, value: Any) -> float:
        """Return a parameter's value as the number that its kernel gets; refuse values of another kind."""
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
        if kind is bool and value not in (0, 1):
            raise HarnessError(f"{where}: expected yes or no, true or false")
        if not isinstance(value, int | float) or (isinstance(value, int) and abs(value) > 1e308):
            raise HarnessError(f"{where}: expected a number")
        if kind is int and not (abs(value) <= 1 << 53 and float(value).is_integer()):
            raise HarnessError(f"{where}: expected a whole number, at most 2⁵³")
        self._check_bounds(name, value)
        return float(value)

    def _check_bounds(self, name: str, value: float) -> None:
        where = f"{self.name}({name}={value!r})"
        if not value >= self.least.get(name, -math.inf):
            raise HarnessError(f"{where}: expected at least {self.least[name]:g}")
        if not value <= self.most.get(name, math.inf):
            raise HarnessError(f"{where}: expected at most {self.most[name]:g}")


def functions_of(policy: Policy) -> dict[str, Any]:
    """Return the author's functions of a policy by the names of their fields."""
    found = {name: getattr(policy, name, None) for name in declared_traits.FUNCTIONS}
    return {name: getattr(function, "py_func", function) for name, function in found.items() if function}


@dataclass(frozen=True, eq=False)
class Order(Policy):
    """Which job is next: `score(job, clock, …) -> float`, lowest first.

    `learn(state, …)` is called once an instant, before the jobs of that instant are scored. It takes the arguments of
    the score after job and clock, and keeps data in `memory`. An order may wrap another one: the parameter named by
    `order` is the score that the order of that name gives to the job.
    """

    function: "OfTwo[Job, Clock, float]"
    varies: bool = field(default=False, kw_only=True)  # the score of a waiting job changes with time
    falls: bool = field(default=False, kw_only=True)  # the score only falls, and only because of clock.now
    learn: "Callable[..., None] | None" = field(default=None, kw_only=True)
    order: str = field(default="", kw_only=True)  # the parameter that names the order it wraps
    same_answer_for: tuple[str, ...] = field(default=(), kw_only=True)  # fields: jobs equal in them get one score
    part, plural = "order", "orders"
    hook = "order_queue"
    arguments = ("job", "clock")
    answer = "a number"

    def __post_init__(self) -> None:
        check_wrapping(self)
        if self.falls and not self.varies:
            raise HarnessError(
                f"order {self.name!r}: falls=True is for a score that changes: expected varies=True with it"
            )
        super().__post_init__()
        declared_traits.check_same_answer(self)
        if self.learn:
            own = list(inspect.signature(self.function).parameters.values())[2:]
            check_agreement(
                self, "learn", ["state"], [p for p in own if p.name not in (self.order, *usage_shares.WHOSE)]
            )

    def kind(self, name: str) -> type:
        """Return the kind of a parameter; a wrapped order is passed as its score, a number."""
        return float if name == self.order else super().kind(name)

    def number(self, name: str, value: Any) -> float:
        """Return the number that the kernel gets; not a number for the order that it wraps."""
        if name == self.order:
            if not isinstance(value, str):
                raise HarnessError(f"{self.name}({name}={value!r}): expected the name of an order policy")
            return math.nan
        return super().number(name, value)


#: The arguments that the function of a start policy may take before its parameters.
STARTING = ("plan", "queue", "state")


@dataclass(frozen=True, eq=False)
class Start(Policy):
    """Which jobs start now: `start(plan, queue, state, …)`, which names those of the three that it uses, in any order.

    `plan` is the availability profile of the run, with methods; `queue` iterates over the waiting jobs in order.
    `molding` replaces the function if jobs are moldable.
    """

    function: "Callable[..., None]"
    molding: "Callable[..., None] | None" = field(default=None, kw_only=True)
    preemptive: bool = field(default=False, kw_only=True)  # it may suspend or requeue running jobs
    rejects: bool = field(default=False, kw_only=True)  # it may reject waiting jobs
    guarantees: tuple[str, ...] = field(default=(), kw_only=True)  # guarantees that the conformance checks test
    order: str = field(default="", kw_only=True)  # the parameter that names another order
    part, plural = "start", "starts"
    hook = "start_jobs"

    def __post_init__(self) -> None:
        super().__post_init__()
        declared_traits.check_instead(self)

    @cached_property
    def arguments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names among `plan`, `queue` and `state` that the function takes, in its order."""
        names = itertools.takewhile(STARTING.__contains__, self._names(required=True))
        return tuple(names) or ("plan", "queue", "state")

    @cache  # noqa: B019 - one object for each policy: what is compiled is kept by it
    def instead(self, trait: str) -> "Start":
        """Return the policy for moldable jobs (`molding`)."""
        other = getattr(self, trait)
        reads = None if self.reads is None else (*self.reads, QUEUE)
        return replace(self, function=other, molding=None, reads=reads) if other else self

    def kind(self, name: str) -> type:
        """Return the kind of a parameter; another order is passed as a handle, a whole number."""
        return int if name == self.order else super().kind(name)

    def number(self, name: str, value: Any) -> float:
        """Return the number that the kernel gets; for another order 0 if one is named, else −1 for the queue's
        order.
        """
        if name == self.order:
            if value is not None and not isinstance(value, str):
                raise HarnessError(f"{self.name}({name}={value!r}): expected the name of an order policy")
            return 0.0 if value else -1.0
        return super().number(name, value)


@dataclass(frozen=True, eq=False)
class Rate(Policy):
    """How fast nodes run: `rate(state, …) -> float`, 1 is full speed."""

    function: "OfOne[State, float]"
    constant: bool = field(default=False, kw_only=True)  # its answer never changes: it is called once
    part, plural = "rate", "rates"
    hook = "set_rate"
    arguments = ("state",)
    answer = "a number"


@dataclass(frozen=True, eq=False)
class Sleep(Policy):
    """Which nodes sleep: `sleep(state, …)`, calling `harness.put_to_sleep` and `harness.wake`."""

    function: "OfOne[State, None]"
    constant: bool = field(default=False, kw_only=True)  # it never does anything: it is called once
    part, plural = "sleep", "sleeps"
    hook = "set_sleep"
    arguments = ("state",)


@dataclass(frozen=True, eq=False)
class Energy(Policy):
    """How much power a node draws: `watts(node, clock, …) -> float`."""

    function: "OfTwo[Node, Clock, float]"
    part, plural = "energy", "energies"
    hook = "account_energy"
    arguments = ("node", "clock")
    answer = "a number of watts"


from harness.policy.hold_policy import Hold as Hold  # noqa: E402 - uses the classes above
from harness.policy.predictor import Predict as Predict  # noqa: E402
from harness.policy.selection import Prefer as Prefer  # noqa: E402
from harness.policy.selection import Select as Select  # noqa: E402

_KINDS: tuple[type[Policy], ...] = (Order, Start, Select, Rate, Sleep, Energy, Predict, Hold)
KINDS: dict[str, type[Policy]] = {kind.hook: kind for kind in _KINDS}
