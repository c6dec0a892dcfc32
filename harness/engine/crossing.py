"""From plain Python into the engine: the state crosses as the table of where it lies."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from harness.compile.code_cache import compile_and_keep
from harness.engine.apart import kinds_of
from harness.engine.bundles import INDICES, entered
from harness.engine.marks import inner


@cache
def cross(function: Callable[..., Any]) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Return what calls a function of the engine with the state and its further arguments, as its annotations say."""
    further = "".join(f", {name}" for name in list(inspect.signature(function).parameters)[1:])
    source = f"def kernel(table{further}):\n    return function(entered(table){further})\n"
    returns, taken = kinds_of(function)
    known = {"entered": entered, "function": inner(function)}
    kernel = compile_and_keep(f"cross_{function.__name__}", source, known, returns(INDICES, *taken))
    return lambda state, arguments: kernel(getattr(state, "real", state).table, *arguments)
