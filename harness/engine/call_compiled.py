"""From Python into the engine: the state crosses as the table of where it lies."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core import config

from harness.engine.decorators import inner
from harness.engine.run_state import INDICES, entered
from harness.engine.separate_compilation import kinds_of
from harness.numba_support.code_cache import compile_and_keep


def entrance(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    """Return what calls an `inner` function with the state and further arguments, compiled; other threads may go on.

    The signature is that of the function, with `INDICES` in the place of the state.
    """
    if config.DISABLE_JIT:
        return function
    kernel = _kernel(function, function.__name__, signature, nogil=True, _nrt=False)
    return lambda state, *arguments: kernel(state.table, *arguments)


def _kernel(function: Any, name: str, signature: Any, **options: Any) -> Any:
    further = "".join(f", {name}" for name in list(inspect.signature(function.py_func).parameters)[1:])
    source = f"def kernel(table{further}):\n    return function(entered(table){further})\n"
    return compile_and_keep(name, source, {"entered": entered, "function": function}, signature, **options)


@cache
def cross(function: Callable[..., Any]) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Return what calls a function of the engine with the state and its further arguments, as its annotations say."""
    returns, taken = kinds_of(function)
    kernel = _kernel(inner(function), f"cross_{function.__name__}", returns(INDICES, *taken))
    return lambda state, arguments: kernel(getattr(state, "real", state).table, *arguments)
