"""The types of a start policy's plan and of its walks through jobs, in compiled code.

In the machine each is the state of the run, so that a method costs as much as the function that it calls.
"""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.imputils import RefType, iternext_impl
from numba.core.typing.templates import AbstractTemplate, infer, signature
from numba.extending import lower_builtin, overload_method, register_model

from harness.numba_support.compile_options import COUNT_REFERENCES, ENGINE, NO_WRAPPERS
from harness.numba_support.pointer_tables import changes_only_the_type
from harness.numba_support.readonly_types import ReadOnly


class ViewType(ReadOnly):
    """A view of a run that has methods, or that a loop iterates over, and no fields; `view` is its name."""

    def __init__(self, inside: Any, view: str) -> None:
        self.view = view
        super().__init__(inside, label=view)

    @property
    def iterator_type(self) -> Any:
        """Return the type of a loop over a walk."""
        return StepsType(self)

    def part(self, name: str) -> Any:
        """Return None: there are no fields."""
        return None


class PlanType(ViewType):
    """A plan."""


class StepsType(types.SimpleIteratorType):  # type: ignore[misc]  # numba is untyped
    """A loop over a walk."""

    def __init__(self, walk: ViewType) -> None:
        self.walk = walk
        super().__init__(f"iter({walk})", types.int64)


for _kind in (ViewType, PlanType):
    register_model(_kind)(lambda manager, view: manager.lookup(view.inside))
register_model(StepsType)(lambda manager, steps: manager.lookup(steps.walk))


def makes_view(function: Any, view: str, *, plan: bool) -> None:
    """Compile calls of `function` to the view of a state, or of another view of it."""
    kind = PlanType if plan else ViewType
    changes_only_the_type(function, lambda state: kind(getattr(state, "inside", state), view))


def add_compiled_method(name: str, choose: Callable[..., Any], *, counted: bool = False) -> None:
    """Give plans a method; `choose` returns its function for the types of the plan and the arguments."""
    options = {**NO_WRAPPERS, **COUNT_REFERENCES} if counted else ENGINE
    overload_method(PlanType, name, jit_options={**options, "forceinline": True}, strict=False)(choose)


_steps: dict[str, tuple[Any, Any]] = {}


def add_compiled_walk(view: str, begin: Callable[..., Any] | None, step: Callable[..., int]) -> None:
    """Make loops over a view call `begin` once with the state, then `step` until it returns −1."""
    _steps[view] = begin, step


@infer
class _Loop(AbstractTemplate):  # type: ignore[misc]
    key = "getiter"

    def generic(self, arguments: Any, named: Any) -> Any:
        (walk,) = arguments
        return signature(walk.iterator_type, walk) if isinstance(walk, ViewType) and walk.view in _steps else None


def _call(context: Any, builder: Any, function: Any, walk: ViewType, value: Any) -> Any:
    """Call a function of the engine with the state behind a walk."""
    kind = context.typing_context.resolve_value_type(function)
    typed = kind.get_call_type(context.typing_context, (walk.inside,), {})
    return context.get_function(kind, typed)(builder, (value,))


@lower_builtin("getiter", ViewType)
def _iterate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    begin, _ = _steps[sig.args[0].view]
    if begin:
        _call(context, builder, begin, sig.args[0], arguments[0])
    return arguments[0]


@lower_builtin("iternext", StepsType)
@iternext_impl(RefType.UNTRACKED)
def _next(context: Any, builder: Any, sig: Any, arguments: Any, result: Any) -> None:
    walk = sig.args[0].walk
    job = _call(context, builder, _steps[walk.view][1], walk, arguments[0])
    result.set_valid(builder.icmp_signed(">=", job, job.type(0)))
    result.yield_(job)
