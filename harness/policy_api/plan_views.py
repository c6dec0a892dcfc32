"""The plan and the queue as start policies see them: objects whose methods are functions of the engine.

The kind of the plan is chosen when a run is prepared. The classes are for policies in plain Python;
`harness.numba_support.plan_types` has the types for compiled ones.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from harness.numba_support.plan_types import add_compiled_method, add_compiled_walk, makes_view
from harness.policy_api.readonly_views import State, UnknownFieldError, shown_as

#: The kinds of plans: by numbers of processors, and by nodes.
PLAN_KINDS = ("count", "node")


class View(State):
    """A view of a run that has methods, or that a loop iterates over, and no fields."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise UnknownFieldError(name, [name for name in dir(type(self)) if not name.startswith("_")])


class Walk(View):
    """Waiting jobs, one after the other."""

    __slots__ = ()

    def __iter__(self) -> Iterator[int]:
        begin, step = _walks[type(self)]
        if begin:
            begin(self)
        job = step(self)
        while job >= 0:
            yield job
            job = step(self)


#: The functions that begin a walk and take a step. They are kept here: a policy finds no way to them.
_walks: dict[type[View], tuple[Callable[..., Any] | None, Callable[..., int]]] = {}

#: The class of each view in plain Python, and the function that makes the view of a state, compiled or not.
_classes: dict[str, type[View]] = {}
VIEWS: dict[str, Callable[[Any], Any]] = {}


def _declare(view: str, kind: type[View], *, plan: bool) -> None:
    _classes[view] = kind

    def seen_as(state: Any) -> Any:
        return shown_as(kind, state)

    seen_as.__name__ = seen_as.__qualname__ = view
    globals()[view] = seen_as  # numba finds a function by its name
    makes_view(seen_as, view, plan=plan)
    VIEWS[view] = seen_as


for _name in PLAN_KINDS:
    _declare(f"{_name}_plan", type(f"{_name.title()}Plan", (View,), {"__slots__": ()}), plan=True)
for _name in ("queue", "candidates"):
    _declare(_name, type(_name.title(), (Walk,), {"__slots__": ()}), plan=False)


def add_method(name: str, functions: dict[str, Callable[..., Any]], *, counted: bool = False, answer: str = "") -> None:
    """Give every kind of plan a method that calls a function of the engine; `answer` is the view it returns, if any."""
    taken = list(inspect.signature(next(iter(functions.values()))).parameters.values())[1:]
    wanted = ", ".join(["plan", *(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in taken)])
    given = ", ".join(["plan", *(p.name for p in taken)])
    call = f"call({given})"
    body = f"{call}\n    return seen_as(plan)" if answer else f"return {call}"
    made = {}
    for kind, function in functions.items():
        known: dict[str, Any] = {"call": function, "seen_as": VIEWS.get(answer), "inf": float("inf")}
        exec(f"def {name}({wanted}):\n    {body}\n", known)
        made[f"{kind}_plan"] = known[name]
        known[name].__doc__ = inspect.getdoc(function)
        setattr(_classes[f"{kind}_plan"], name, known[name])
    known = {"made": made, "inf": float("inf")}
    exec(f"def chosen({wanted}):\n    return made[plan.view]\n", known)
    add_compiled_method(name, known["chosen"], counted=counted)


def add_walk(view: str, begin: Callable[..., Any] | None, step: Callable[..., int]) -> None:
    """Make loops over a view call these functions of the engine: `begin` once, then `step` until it returns −1."""
    _walks[_classes[view]] = begin, step
    add_compiled_walk(view, begin, step)
