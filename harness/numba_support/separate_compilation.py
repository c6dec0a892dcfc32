"""Functions that are compiled once and called, rather than compiled again as a part of each caller.

The first argument of such a function is a pointer to a table (`pointer_tables`). Its annotations give the types of
its other arguments and of its result. Most functions are called by name: each is compiled at its first call
(`lazy_symbols`). Those of a `CompileGroup` are called through the table, and compiled together for runs that need them.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from harness.numba_support.addresses import address_of
from harness.numba_support.code_cache import compile_and_keep
from harness.numba_support.compile_options import ENGINE, NO_REFERENCES
from harness.numba_support.lazy_symbols import make_all, offer
from harness.numba_support.pointer_tables import (
    TABLE,
    Bundle,
    add_kernel,
    calling,
    entering,
    slot_in,
)

_TYPES: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean, None: types.void}
_TYPES[tuple[int, int]] = types.UniTuple(types.int64, 2)
_TYPES[tuple[float, int]] = types.Tuple((types.float64, types.int64))
_TYPES[tuple[float, float]] = types.UniTuple(types.float64, 2)

_groups: list["CompileGroup"] = []


class CompileGroup:
    """Functions that are compiled together, for runs that need them; `bundle` is the type of their first argument."""

    def __init__(self, name: str, bundle: Bundle) -> None:
        self.name = name
        self.bundle = bundle
        self.members: dict[str, Callable[..., Any]] = {}  # by their names in the table
        _groups.append(self)

    def link(self, state: Any) -> None:
        """Compile the functions, and write their addresses into the table of a run."""
        if not config.DISABLE_JIT:
            _linker(self)(state.table)


def compile_all() -> None:
    """Compile every separate function and keep the code, so that runs that need it load it."""
    make_all()
    for group in _groups:
        _linker(group)


@cache
def types_of(function: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """Return the types of a function's result and of its arguments after the first, by its annotations."""
    signature = inspect.signature(function)
    taken = [_TYPES[parameter.annotation] for parameter in list(signature.parameters.values())[1:]]
    return _TYPES[signature.return_annotation], taken


def compile_separately(
    function: Callable[..., Any], bundle: Bundle, group: CompileGroup | None = None
) -> Callable[[Any], Any]:
    """Return a function that maps the type of the first argument to the callable for compiled code.

    With another first argument than `bundle`, such as a part of it without kernels, that is the function itself. A
    function of a group is called with the bundle, whatever the type of the argument.
    """
    name = f"apart_{function.__name__}"
    returns, taken = types_of(function)
    signature = returns(bundle, *taken)
    first, *others = inspect.signature(function).parameters
    names = ", ".join([first, *others])
    if group is None:
        offer(name, lambda: address_of(_kernel(function, bundle)))
        called = _one_line(f"return call({names})", names, {"call": calling(signature, name)})
        return lambda state: called if state == bundle else function
    add_kernel(bundle, name, signature)
    group.members[name] = function
    called = _one_line(f"return {first}.{name}({names})", names, {})
    known = {"whole": _whole(bundle), "through": register_jitable(**NO_REFERENCES)(called)}
    viewed = _one_line(f"return through({', '.join([f'whole({first})', *others])})", names, known)
    return lambda state: called if state == bundle else viewed


@cache
def _whole(bundle: Bundle) -> Any:
    """Return a function that turns a pointer of another type into one to the bundle."""

    @intrinsic
    def whole(context: Any, pointer: Any) -> Any:
        return bundle(pointer), lambda context, builder, signature, arguments: arguments[0]

    return whole


def _one_line(body: str, names: str, known: dict[str, Any]) -> Any:
    """Return a function of one line, in which names are known."""
    exec(f"def called({names}):\n    {body}\n", known)
    return known["called"]


@cache
def _kernel(function: Callable[..., Any], bundle: Bundle) -> Any:
    """Compile a function that is called by its name, or load it from disk."""
    names = ", ".join(inspect.signature(function).parameters)
    source = f"def kernel({names}):\n    return function({names})\n"
    returns, taken = types_of(function)
    known = {"function": njit(**ENGINE)(function)}
    return compile_and_keep(f"apart_{function.__name__}", source, known, returns(bundle, *taken), **ENGINE)


@cache
def _linker(group: CompileGroup) -> Any:
    """Return a compiled function that writes the addresses of a group's functions into a table."""
    bundle = group.bundle

    @intrinsic
    def link(typing_context: Any, state: Any) -> Any:
        compiled = {name: _compiled(function, bundle) for name, function in sorted(group.members.items())}

        def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            number = context.get_value_type(types.intp)
            for name, result in compiled.items():
                context.add_linking_libs([result.library])
                function = context.declare_function(builder.module, result.fndesc)
                slot = slot_in(context, builder, bundle, arguments[0], name)
                builder.store(builder.ptrtoint(function, number), slot)
            return cgutils.get_null_value(context.get_value_type(types.none))

        return types.none(state), lower

    source = "def kernel(table):\n    link(entered(table))\n"
    names = {"entered": entering(bundle), "link": link}
    made_from = tuple(sorted(group.members))
    return compile_and_keep(group.name, source, names, types.void(TABLE), made_from=made_from, **NO_REFERENCES)


def _compiled(function: Callable[..., Any], bundle: Bundle) -> Any:
    returns, taken = types_of(function)
    dispatcher = njit(**ENGINE)(function)
    dispatcher.compile(returns(bundle, *taken))
    (result,) = dispatcher.overloads.values()
    return result


# ---------------------------------------------------------------- from Python


def entrance(
    function: Callable[..., Any], bundle: Bundle, signature: Any, *, name: str = "", nogil: bool = True
) -> Callable[..., Any]:
    """Return a compiled function that calls `function` with a bundle; Python calls it with the table instead.

    The signature is that of the function, with `TABLE` in the place of the bundle. Other threads may go on meanwhile.
    """
    names = "".join(f", {name}" for name in list(inspect.signature(function.py_func).parameters)[1:])  # type: ignore[attr-defined]
    source = f"def kernel(table{names}):\n    return function(entered(table){names})\n"
    known = {"entered": entering(bundle), "function": function}
    options = {**NO_REFERENCES, **({"nogil": True} if nogil else {})}
    return compile_and_keep(name or function.__name__, source, known, signature, **options)


@cache
def entrance_to(function: Callable[..., Any], bundle: Bundle) -> Callable[..., Any]:
    """Return the same for a function that is not compiled yet, by its annotations; it keeps the interpreter's lock."""
    returns, taken = types_of(function)
    name = f"cross_{function.__name__}"
    return entrance(njit(**ENGINE)(function), bundle, returns(TABLE, *taken), name=name, nogil=False)
