"""Decorators of functions: those that the engine alone calls, and those that policies call.

A function that policies call is declared once, as a function of the engine's state. Its public form unwraps the view
that the policy has, refuses jobs that do not exist and policies that may not call it, and wraps the answer. The same
Python text is compiled and interpreted. The engine itself calls the function without these checks.
"""

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import config, njit, types
from numba.extending import overload, register_jitable

from harness.engine.faults import CAUGHT, NO_JOB, PolicyFault, note
from harness.engine.run_state import STATE
from harness.numba_support import separate_compilation
from harness.numba_support.compile_options import COUNT_REFERENCES, ENGINE, NO_WRAPPERS
from harness.numba_support.readonly_types import ReadOnly
from harness.numba_support.separate_compilation import CompileGroup, compile_separately
from harness.policy.permissions import Misuse
from harness.policy.reads import READ_BY
from harness.policy_api.readonly_views import explain_error, record_call, shown, unwrap

F = TypeVar("F", bound=Callable[..., Any])

#: Decorator of functions of the engine that only compiled code calls.
inner = njit(**ENGINE)


def seldom(function: F) -> F:
    """Declare a function of the engine that few runs call: it is compiled at its first call."""
    compiled = compile_separately(function, STATE)
    overload(function, jit_options=ENGINE, strict=False)(lambda *arguments: compiled(arguments[0]))
    return function


#: The same for functions that are called in one place, or are short: they are inlined into their caller.
once = njit(**ENGINE, forceinline=True)

#: How the functions of plugins are compiled: part of their caller, and their arrays checked.
CHECKED = {**NO_WRAPPERS, "forceinline": True, "boundscheck": True}


def jit(function: F) -> F:
    """Declare a function of a plugin that its policies call: it is compiled with them, and Python can call it, too."""
    return register_jitable(**CHECKED)(function)


#: The hook whose policies alone may call a function: its number in the engine, and its words.
Only = tuple[int, str] | None

_JOBS = ("job", "reserved")  # parameters of verbs that are jobs


@register_jitable(**ENGINE)
def expect_job(state: Any, job: int) -> None:
    """Refuse a job that does not exist, or is not submitted yet."""
    if not 0 <= job < state.clock.next:
        note(state.clock, NO_JOB, job, -1, state.clock.next)
        raise PolicyFault


@register_jitable(**ENGINE)
def expect_no_fault(state: Any) -> None:
    """Stop the run if a policy caught the error of a fault of its own: its work is incomplete."""
    if state.clock.fault != 0:
        raise PolicyFault


@register_jitable(**ENGINE)
def expect_done(state: Any, hook: int) -> None:
    """Stop the run also if a policy of `hook` caught an exception of another policy that it had called."""
    expect_no_fault(state)
    if state.clock.hook != hook:
        state.clock.hook = hook
        note(state.clock, CAUGHT, -1, -1, 0.0)
        raise PolicyFault


_NO_DICE = "drew a number from something else than its dice (name the argument dice, and hand it on as it is)"


def expect_dice(dice: Any) -> None:
    """Refuse to draw from anything but a generator, which is written to: it might be an array of the engine."""
    if not isinstance(dice, np.ndarray) or dice.dtype != np.uint64 or dice.shape != (1,) or not dice.flags.writeable:
        raise Misuse(_NO_DICE)


@overload(expect_dice, jit_options=ENGINE, strict=False)
def _expect_dice(dice: Any) -> Any:
    if not isinstance(dice, types.Array) or dice.dtype != types.uint64 or dice.ndim != 1 or not dice.mutable:
        raise Misuse(_NO_DICE)

    def check(dice: Any) -> None:
        if len(dice) != 1:
            raise Misuse(_NO_DICE)

    return check


@typing.overload
def verb(function: F, /) -> F: ...
@typing.overload
def verb(
    *, only: Only = ..., apart: bool = ..., family: CompileGroup | None = ..., crosses: bool = ..., window: bool = ...
) -> Callable[[F], F]: ...
def verb(
    function: Any = None,
    *,
    only: Only = None,
    apart: bool = False,
    family: CompileGroup | None = None,
    crosses: bool = False,
    window: bool = False,
) -> Any:
    """Declare a function that policies call: it is compiled with them, and Python can call it, too.

    `only` is the hook whose policies may call it; such functions check their arguments themselves. Long functions are
    `apart`: they are compiled once and called. Those of a `family` are compiled together, for runs that need them.
    Functions with `crosses` call `inner` ones: from plain Python they run compiled. A `window` returns a part of an
    array, or a new array.
    """
    if function is None:
        return functools.partial(verb, only=only, apart=apart, family=family, crosses=crosses, window=window)
    flags = {**NO_WRAPPERS, **COUNT_REFERENCES, "forceinline": True} if window else ENGINE
    compiled: Callable[[Any], Any] = lambda state: function  # noqa: E731
    if apart or family or crosses:
        compiled = compile_separately(function, STATE, family)
    body = crossing(function) if crosses else functools.wraps(function)(lambda *arguments: function(*arguments))
    overload(body, jit_options=flags, strict=False)(lambda *arguments: compiled(arguments[0]))
    public, door = _doors(function, body, only, window)
    unshown = next(iter(inspect.signature(function).parameters)) == "dice"  # a generator has no view

    @overload(public, jit_options={**flags, "forceinline": True}, strict=False)
    def chosen(*arguments: Any, **named: Any) -> Any:
        first = arguments[0] if arguments else next(iter(named.values()))
        return door if unshown or isinstance(first, ReadOnly) else compiled(first)

    return public


#: Decorator of functions for policies that return a part of an array, or a new array.
window: Callable[[F], F] = functools.partial(verb, window=True)


def _doors(function: Any, body: Any, only: Only, window: bool) -> tuple[Any, Any]:
    """Return the public form of a function, for Python and to be compiled; its text comes from the signature."""
    parameters = list(inspect.signature(function).parameters.values())
    first, *others = (p.name for p in parameters)
    defaults = {f"default_{p.name}": p.default for p in parameters if p.default is not p.empty}
    wanted = ", ".join(p.name + ("" if p.default is p.empty else f"=default_{p.name}") for p in parameters)
    checks = [f"expect_job(inside, {name})" for name in others if name in _JOBS and not only]
    if first == "dice":
        checks = ["expect_dice(dice)"]
    if only:
        refusal = f"called harness.{function.__name__}, which only {only[1]} policies may"
        checks = ["expect_no_fault(inside)", f"if inside.clock.hook != {only[0]}:", f"    raise Misuse({refusal!r})"]
    answer = f"body({', '.join(['inside', *others])})"
    lines = [f"inside = unwrap({first})", *checks, f"return shown({answer})" if window else f"return {answer}"]
    said = f"explain_error({function.__name__!r}, {first!r}, {first}, error)"
    noting = [f"record_call({function.__name__!r}, {first})"] if function.__name__ in READ_BY else []
    guarded = [*noting, "try:", *(f"    {line}" for line in lines), "except Exception as error:", f"    raise {said}"]
    names = {"unwrap": unwrap, "shown": shown, "expect_job": expect_job, "expect_dice": expect_dice}
    names |= {
        "expect_no_fault": expect_no_fault,
        "Misuse": Misuse,
        "record_call": record_call,
        "body": body,
        **defaults,
    }
    names["explain_error"] = explain_error
    made = []
    for text in (guarded, lines):
        exec(f"def {function.__name__}({wanted}):\n    " + "\n    ".join(text) + "\n", names)
        made.append(functools.update_wrapper(names[function.__name__], function))
    return made[0], made[1]


def crossing(function: Any) -> Callable[..., Any]:
    """Return a function that plain Python calls, and that runs compiled; it is compiled at the first call."""

    def crossed(state: Any, *arguments: Any) -> Any:
        if config.DISABLE_JIT:
            return function(state, *arguments)
        kernel = separate_compilation.entrance_to(function, STATE)
        return kernel(getattr(state, "real", state).table, *arguments)

    return crossed


def entrance(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    """Return a function that calls an `inner` one, compiled, with the state and other arguments.

    The signature is that of the function, with `INDICES` in the place of the state.
    """
    if config.DISABLE_JIT:
        return function
    kernel = separate_compilation.entrance(function, STATE, signature)
    return lambda state, *arguments: kernel(state.table, *arguments)
