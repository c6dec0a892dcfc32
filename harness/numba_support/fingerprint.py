"""Short digests of the source of the engine and of policies: compiled code and results are named by them."""

import hashlib
import itertools
import os
import sys
import sysconfig
import types
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np


def engine_version() -> str:
    """Return a short digest of the engine's own source: results of different engines are not compared."""
    return _version_of("engine")


def compiler_version() -> str:
    """Return a short digest of the code that compiles and keeps: code that another version kept is not read."""
    return _version_of("numba_support", "policy_api")


@cache
def _version_of(*packages: str) -> str:
    digest = hashlib.sha256()
    for path in files_of(*packages):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def files_of(*packages: str) -> list[Path]:
    """Return the source files of packages of the harness, those in their folders included."""
    return [path for name in packages for path in sorted((Path(__file__).parent.parent / name).rglob("*.py"))]


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a short digest of a function's code, and of all code of the author's that it refers to."""
    walk = _Walk()
    walk.add(function)
    return walk.digest.hexdigest()[:12]


class _Walk:
    """A digest of a function and, from there, of all that its compiled code will contain."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: set[int] = set()

    def add(self, thing: Any) -> None:
        """Add one thing that code refers to."""
        thing = getattr(thing, "py_func", thing)  # a compiled function is its source
        if isinstance(thing, types.FunctionType):
            self.add_function(thing)
        elif isinstance(thing, partial):
            self.add((thing.func, *thing.args, *itertools.chain(*sorted(thing.keywords.items()))))
        elif isinstance(thing, types.ModuleType):
            self.digest.update(_module(thing))
        elif isinstance(thing, np.ndarray | np.generic):  # numba freezes their values into the kernel
            self.digest.update(repr((thing.dtype, thing.shape)).encode() + thing.tobytes())
        elif isinstance(thing, tuple | list):
            for item in thing:
                self.add(item)
        elif isinstance(thing, int | float | complex | str | bytes | bool | type(None)):
            self.digest.update(repr(thing).encode())
        elif isinstance(thing, type) and self.of_author(thing):  # its methods and its values
            self.add_class(thing)
        elif isinstance(thing, type | types.BuiltinFunctionType | np.ufunc):
            self.digest.update(f"{getattr(thing, '__module__', '')}.{thing.__name__}".encode())
        else:  # it may do anything: its code is never found again
            self.digest.update(os.urandom(16))

    def add_function(self, function: types.FunctionType) -> None:
        """Add a function, its defaults, and the globals and closures it refers to."""
        self.digest.update(function.__qualname__.encode())
        if id(function) in self.seen or function.__module__.split(".")[0] in ("harness", "numpy", "numba"):
            return
        self.seen.add(id(function))
        self.add_code(function.__code__)
        self.add(function.__defaults__)
        for name in _names_in(function.__code__):
            if name in function.__globals__:
                self.digest.update(name.encode())
                self.add(function.__globals__[name])
        for cell in function.__closure__ or ():
            self.add(cell.cell_contents)

    @staticmethod
    def of_author(made: type) -> bool:
        """Return whether a class is the author's: plugins are not imported by name."""
        return made.__module__ not in sys.modules or is_own(sys.modules[made.__module__])

    def add_class(self, made: type) -> None:
        """Add a class of the author's, with its attributes and its bases."""
        self.digest.update(made.__qualname__.encode())
        if id(made) in self.seen:
            return
        self.seen.add(id(made))
        for base in made.__bases__:
            self.add(base)
        for name, thing in vars(made).items():
            if isinstance(thing, types.FunctionType) or not name.startswith("__"):
                self.digest.update(name.encode())
                self.add(thing)

    def add_code(self, code: types.CodeType) -> None:
        """Add the code that was imported, not the text of its file, which may have been edited since."""
        self.digest.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.add_code(constant)
            else:
                self.digest.update(repr(constant).encode())


def is_own(module: Any) -> bool:
    """Return whether a module is an author's own: neither installed nor part of the harness."""
    path = getattr(module, "__file__", None) or ""
    installed = "site-packages" in path or path.startswith(sysconfig.get_path("stdlib"))
    return path.endswith(".py") and not installed and module.__name__.split(".")[0] != "harness"


def _module(module: types.ModuleType) -> bytes:
    """Return the text of a module of the author's; of an installed one its name and version."""
    if is_own(module):
        return Path(str(module.__file__)).read_bytes()
    return f"{module.__name__} {getattr(module, '__version__', '')}".encode()


def _names_in(code: types.CodeType) -> list[str]:
    """Return the global names that code and the functions nested in it refer to."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _names_in(constant)
    return names
