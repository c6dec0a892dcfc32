"""Verbs that are compiled once, with the loop, and called by policies through the table of the run.

Everything else that a policy calls becomes part of it, and is compiled again with every policy. So what is long and is
not asked for every job at every instant stands apart. It is called with the types that its annotations say.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from harness.engine.bundles import STATE, whole
from harness.engine.pointers import add_kernel, slot_in

_KINDS: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean, None: types.void}
_KINDS[tuple[int, int]] = types.UniTuple(types.int64, 2)
_KINDS[tuple[float, int]] = types.Tuple((types.float64, types.int64))
_KINDS[tuple[float, float]] = types.UniTuple(types.float64, 2)

#: The functions that stand apart, by the names under which the table has them.
_apart: dict[str, Callable[..., Any]] = {}

#: Those of them that are compiled only for runs that need them.
_late: dict[str, Callable[..., Any]] = {}


@cache
def kinds_of(function: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """Return what a function of the engine returns and takes besides the state, as its annotations say."""
    signature = inspect.signature(function)
    taken = [_KINDS[parameter.annotation] for parameter in list(signature.parameters.values())[1:]]
    return _KINDS[signature.return_annotation], taken


def set_apart(function: Callable[..., Any], *, late: bool = False) -> Callable[[Any], Any]:
    """Let a function have a place in the table; say what compiled code that has such a state calls in its stead.

    With a view alone, which has no kernels, that is the function itself; unless it is `late`.
    """
    name = f"verb_{function.__name__}"
    returns, taken = kinds_of(function)
    add_kernel(STATE, name, returns(STATE, *taken))
    (_late if late else _apart)[name] = function
    names = ", ".join(inspect.signature(function).parameters)
    first, *_ = inspect.signature(function).parameters
    found: dict[str, Any] = {}
    exec(f"def called({names}):\n    return {first}.{name}({names})\n", found)
    if not late:
        return lambda state: found["called"] if state == STATE else function
    _, *others = inspect.signature(function).parameters
    seen = {"whole": whole, "called": register_jitable(_nrt=False)(found["called"])}
    exec(f"def viewed({names}):\n    return called({', '.join([f'whole({first})', *others])})\n", seen)
    return lambda state: found["called"] if state == STATE else seen["viewed"]


def publishing(options: dict[str, Any], *, late: bool = False) -> Any:
    """Return what compiled code writes into the table with where the functions that stand apart lie, or late ones."""

    @intrinsic
    def publish(typing_context: Any, state: Any) -> Any:
        apart = _late if late else _apart
        compiled = {name: _compiled(function, options) for name, function in sorted(apart.items())}

        def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            number = context.get_value_type(types.intp)
            for name, result in compiled.items():
                context.add_linking_libs([result.library])
                function = context.declare_function(builder.module, result.fndesc)
                builder.store(builder.ptrtoint(function, number), slot_in(context, builder, STATE, arguments[0], name))
            return cgutils.get_null_value(context.get_value_type(types.none))

        return types.none(state), lower

    return publish


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    returns, taken = kinds_of(function)
    dispatcher = njit(**options)(function)
    dispatcher.compile(returns(STATE, *taken))
    (result,) = dispatcher.overloads.values()
    return result
