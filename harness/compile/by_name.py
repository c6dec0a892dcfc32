"""Functions that compiled code calls by name: each is compiled, or loaded, when it is called for the first time.

So a run compiles what it does, not what it could do. A name stands for a place in memory where the address of the
function is, once there is one; whoever calls it and finds none asks for it first (`harness.engine.pointers.calling`).
"""

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba import objmode, types
from numba.core import config

from harness.compile.addresses import address_of
from harness.compile.code_cache import compile_and_keep

#: Where the address of what asks for a function lies: it takes the place that is empty.
ASKER = "harness_asker"
ASKED = types.void(types.int64)


@dataclass(frozen=True)
class _Offer:
    place: ctypes.c_int64
    make: Callable[[], int]


_offers: dict[int, _Offer] = {}  # by where their places lie
_one_at_a_time = threading.RLock()
_asker = ctypes.c_int64(0)


class _Taken(threading.local):
    """How long this thread has spent on making functions that it called [s]: by the clock, and on a processor."""

    seconds = 0.0
    computing = 0.0


taken = _Taken()


def offer(name: str, make: Callable[[], int]) -> None:
    """Let compiled code call a function by a name; `make` is asked at the first call, and returns where it lies."""
    if llvm.address_of_symbol(name):
        raise ValueError(f"two functions are called {name}")
    found = _Offer(ctypes.c_int64(0), make)
    address = ctypes.addressof(found.place)
    _offers[address] = found
    llvm.add_symbol(name, address)


@cache
def get_ready() -> None:
    """Let compiled code ask for what it calls. Once, before any that does is called."""
    if config.DISABLE_JIT:
        return
    source = "def kernel(place):\n    with objmode():\n        make(place)\n"
    names = {"objmode": objmode, "make": make}
    wrappers: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    _asker.value = address_of(compile_and_keep("asker", source, names, ASKED, module=__name__, **wrappers))


def make(place: int) -> None:
    """Make the function whose address belongs to a place, unless somebody has."""
    found = _offers[place]
    began, computing = time.perf_counter(), time.thread_time()
    with _one_at_a_time:
        if not found.place.value:
            found.place.value = found.make()
    taken.seconds += time.perf_counter() - began
    taken.computing += time.thread_time() - computing


llvm.add_symbol(ASKER, ctypes.addressof(_asker))
