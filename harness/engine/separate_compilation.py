"""Functions that are compiled once and called by policies and the loop, of which they are no part.

Everything else that a policy calls becomes part of it, and is compiled again with every policy. So what is long and is
not asked for every job at every instant stands apart. It is called with the types that its annotations say.

Most of these are called by name (`harness.numba_support.lazy_symbols`): each is compiled at its first call.
Those of a `Family` are called through the table of the run instead, and compiled together, for runs that need them:
what calls them asks first whether this is one.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic, register_jitable

from harness.engine.run_state import INDICES, STATE, entered, whole
from harness.numba_support.addresses import address_of
from harness.numba_support.code_cache import NO_WRAPPERS, compile_and_keep
from harness.numba_support.front_end import ShortPipeline
from harness.numba_support.lazy_symbols import make_all, offer
from harness.numba_support.pointer_tables import add_kernel, calling, slot_in

_KINDS: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean, None: types.void}
_KINDS[tuple[int, int]] = types.UniTuple(types.int64, 2)
_KINDS[tuple[float, int]] = types.Tuple((types.float64, types.int64))
_KINDS[tuple[float, float]] = types.UniTuple(types.float64, 2)

#: How functions of the engine are compiled: none of these is ever called from Python in compiled form. The engine does
#: not count references either: Python holds the arrays for the whole run.
ENGINE: dict[str, Any] = {**NO_WRAPPERS, "_nrt": False, "error_model": "numpy", "pipeline_class": ShortPipeline}


class Family:
    """Functions that stand apart and are compiled together, for runs that need them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: dict[str, Callable[..., Any]] = {}  # by the names under which the table has them

    def get_ready(self, state: Any) -> None:
        """Compile them, and write down in the table of a run where they lie."""
        if not config.DISABLE_JIT:
            _publisher(self)(state.table)


#: What only runs call in which jobs ask for more than cores and memory.
DEMANDS = Family("demands")

#: What only runs call in which jobs may be held.
HOLDING = Family("holding")


def compile_all() -> None:
    """Compile all that stands apart, and keep it: runs that need it find it."""
    make_all()
    for family in (DEMANDS, HOLDING):
        _publisher(family)


@cache
def kinds_of(function: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """Return what a function of the engine returns and takes besides the state, as its annotations say."""
    signature = inspect.signature(function)
    taken = [_KINDS[parameter.annotation] for parameter in list(signature.parameters.values())[1:]]
    return _KINDS[signature.return_annotation], taken


def set_apart(function: Callable[..., Any], family: Family | None = None) -> Callable[[Any], Any]:
    """Let a function stand apart; say what compiled code that has such a state calls in its stead.

    With a view alone, which has no kernels, that is the function itself; unless it is of a family.
    """
    name = f"apart_{function.__name__}"
    returns, taken = kinds_of(function)
    asked = returns(STATE, *taken)
    names = ", ".join(inspect.signature(function).parameters)
    first, *others = inspect.signature(function).parameters
    if family is None:
        offer(name, lambda: address_of(_kernel(function)))
        called = _written(f"return call({names})", names, {"call": calling(asked, name)})
        return lambda state: called if state == STATE else function
    add_kernel(STATE, name, asked)
    family.members[name] = function
    called = _written(f"return {first}.{name}({names})", names, {})
    known = {"whole": whole, "through": register_jitable(_nrt=False)(called)}
    viewed = _written(f"return through({', '.join([f'whole({first})', *others])})", names, known)
    return lambda state: called if state == STATE else viewed


def _written(body: str, names: str, known: dict[str, Any]) -> Any:
    """Return a function of one line, in which names are known."""
    exec(f"def called({names}):\n    {body}\n", known)
    return known["called"]


@cache
def _kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that is called by its name, or load it from disk."""
    names = ", ".join(inspect.signature(function).parameters)
    source = f"def kernel({names}):\n    return function({names})\n"
    returns, taken = kinds_of(function)
    known = {"function": njit(**ENGINE)(function)}
    return compile_and_keep(f"apart_{function.__name__}", source, known, returns(STATE, *taken), **ENGINE)


@cache
def _publisher(family: Family) -> Any:
    """Return what compiles a family, or loads it, and writes into a table where its members lie."""

    @intrinsic
    def publish(typing_context: Any, state: Any) -> Any:
        compiled = {name: _compiled(function) for name, function in sorted(family.members.items())}

        def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            number = context.get_value_type(types.intp)
            for name, result in compiled.items():
                context.add_linking_libs([result.library])
                function = context.declare_function(builder.module, result.fndesc)
                builder.store(builder.ptrtoint(function, number), slot_in(context, builder, STATE, arguments[0], name))
            return cgutils.get_null_value(context.get_value_type(types.none))

        return types.none(state), lower

    source = "def kernel(table):\n    publish(entered(table))\n"
    names = {"entered": entered, "publish": publish}
    made_from = tuple(sorted(family.members))
    return compile_and_keep(family.name, source, names, types.void(INDICES), made_from=made_from, _nrt=False)


def _compiled(function: Callable[..., Any]) -> Any:
    returns, taken = kinds_of(function)
    dispatcher = njit(**ENGINE)(function)
    dispatcher.compile(returns(STATE, *taken))
    (result,) = dispatcher.overloads.values()
    return result
