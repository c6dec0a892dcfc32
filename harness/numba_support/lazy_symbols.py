"""Functions that compiled code calls by name: each is compiled, or loaded, when it is called for the first time.

So a run compiles only the functions it uses. A name stands for a place in memory that holds the address of the
function, once it is compiled. A caller that finds no address requests it first (`pointer_tables.calling`).
"""

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import llvmlite.binding as llvm

#: The symbol that holds the address of the C function that compiles on request; it is given the empty place.
ASKER = "harness_asker"


class NotMadeError(Exception):
    """Raised by compiled code when a function that it calls could not be compiled; `why_not` returns the reason."""


@dataclass(frozen=True)
class _Offer:
    place: ctypes.c_int64
    make: Callable[[], int]


class _Asked(threading.local):
    """The time that a thread spent on compiling functions, and the error of the last one."""

    seconds = 0.0  # spent on making them, by the clock …
    computing = 0.0  # … and on a processor
    refusal: BaseException | None = None


asked = _Asked()
_offers: dict[int, _Offer] = {}  # by where their places lie
_one_at_a_time = threading.RLock()


def offer(name: str, make: Callable[[], int]) -> None:
    """Register a function that compiled code calls by a name; `make` compiles it and returns its address."""
    if llvm.address_of_symbol(name):
        raise ValueError(f"two functions are called {name}")
    found = _Offer(ctypes.c_int64(0), make)
    address = ctypes.addressof(found.place)
    _offers[address] = found
    llvm.add_symbol(name, address)


def why_not() -> BaseException:
    """Return why a function could not be made: whatever was raised meanwhile, or that Ctrl-C was pressed."""
    refusal, asked.refusal = asked.refusal, None
    return refusal or KeyboardInterrupt()


def make_all() -> None:
    """Compile every registered function, before any is called."""
    for found in _offers.values():
        _make(found)


def _make(found: _Offer) -> None:
    with _one_at_a_time:
        if not found.place.value:
            found.place.value = found.make()


@contextmanager
def _ctrl_c_kept() -> Iterator[list[int]]:
    """Delay Ctrl-C until the end of the block, which would lose it; yield a list that is not empty then."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # only the main thread gets the signal
        yield pressed
        return
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _fill(place: int) -> None:
    """Compile the function whose address belongs to a place, unless it is there. Nothing can be raised from here."""
    began, computing = time.perf_counter(), time.thread_time()
    found = _offers[place]
    with _ctrl_c_kept() as pressed:
        try:
            _make(found)
        except BaseException as refusal:
            asked.refusal = refusal
    if pressed:  # an empty place makes the caller raise
        found.place.value, asked.refusal = 0, KeyboardInterrupt()
    asked.seconds += time.perf_counter() - began
    asked.computing += time.thread_time() - computing


_callable = ctypes.CFUNCTYPE(None, ctypes.c_int64)(_fill)
_asker = ctypes.c_int64(ctypes.cast(_callable, ctypes.c_void_p).value or 0)
llvm.add_symbol(ASKER, ctypes.addressof(_asker))
