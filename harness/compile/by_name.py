"""Functions that compiled code calls by name: each is made when something is linked that calls it.

So a policy brings along what it calls, and nothing else is compiled. The names are in the machine code that is kept:
whoever loads it knows what it needs as well.
"""

from collections.abc import Callable, Iterable

import llvmlite.binding as llvm

#: By name, what makes a function and returns where it lies.
_makers: dict[str, Callable[[], int]] = {}


def offer(name: str, make: Callable[[], int]) -> None:
    """Let compiled code call a function by a name; `make` is asked once, when code is linked that does."""
    _makers[name] = make


def make_known(names: Iterable[str]) -> None:
    """Make those of the named functions that are offered and not there yet."""
    for name in names:
        if name in _makers and not llvm.address_of_symbol(name):
            llvm.add_symbol(name, _makers[name]())
