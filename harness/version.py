"""What a result was made with: the versions of the engine and of each policy's source."""

import hashlib
import inspect
import sysconfig
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


@cache
def engine_version() -> str:
    """A short digest of the engine's own source: results of different engines are not compared."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "engine").glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def fingerprint(function: Callable[..., Any]) -> str:
    """A short digest of what a function does: its source, and that of everything of the author's it refers to."""
    digest = hashlib.sha256()
    seen: set[int] = set()

    def add(thing: Any) -> None:
        thing = getattr(thing, "py_func", thing)  # a compiled function is its source
        if isinstance(thing, types.FunctionType):
            digest.update(thing.__qualname__.encode())
            if id(thing) in seen or thing.__module__.split(".")[0] in ("harness", "numpy", "numba"):
                return
            seen.add(id(thing))
            digest.update(_source(thing))
            digest.update(repr((thing.__defaults__, thing.__kwdefaults__)).encode())
            for name in _names_in(thing.__code__):
                if name in thing.__globals__:
                    digest.update(name.encode())
                    add(thing.__globals__[name])
            for cell in thing.__closure__ or ():
                add(cell.cell_contents)
        elif isinstance(thing, types.ModuleType):
            digest.update(_module(thing))
        elif isinstance(thing, int | float | complex | str | bytes | bool | tuple | frozenset | type(None)):
            digest.update(repr(thing).encode())
        else:
            digest.update(repr(type(thing)).encode())

    add(function)
    return digest.hexdigest()[:12]


def _source(function: types.FunctionType) -> bytes:
    """The text of a function; its byte code where there is no text to be had."""
    try:
        return inspect.getsource(function).encode()
    except (OSError, TypeError):
        code = function.__code__
        return code.co_code + repr((code.co_consts, code.co_names)).encode()


def _module(module: types.ModuleType) -> bytes:
    """An author's own module counts with its text; an installed one by its name and version."""
    path = getattr(module, "__file__", None) or ""
    installed = "site-packages" in path or path.startswith(sysconfig.get_path("stdlib"))
    if path.endswith(".py") and not installed and module.__name__.split(".")[0] != "harness":
        return Path(path).read_bytes()
    return f"{module.__name__} {getattr(module, '__version__', '')}".encode()


def _names_in(code: types.CodeType) -> list[str]:
    """The global names that code and the functions nested in it refer to."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _names_in(constant)
    return names
