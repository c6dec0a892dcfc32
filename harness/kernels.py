"""From an author's function to a kernel that the compiled loop can call.

An author writes `wfp3(job, clock, power=3.0)`. The loop calls kernels of one fixed signature per hook, whose last
argument is the policy's own vector of numbers: parameters, memory, random state. A small piece of generated source
lies between the two; numba compiles both together, and keeps the result on disk under a name that contains
everything it was made from, so that the next process loads it in a few milliseconds.

A function that numba refuses is called back in Python instead: the loop calls a trampoline, the trampoline finds
the function by the number in the first place of its own vector.
"""

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import njit, objmode
from numba.core import config

# What policies may call must be known to numba.
from harness.engine import nodes, power, profile, queue, verbs  # noqa: F401
from harness.engine import state as layouts
from harness.keep import compile_and_keep
from harness.policy import Choice, Policy
from harness.version import fingerprint

# What a kernel of each hook looks like around the author's function; {call} is the author's call.
_KERNEL_SOURCE = {
    "order_queue": """
def kernel(state, who, scores, own):
    for k in range(len(who)):
        state.clock.culprit = who[k]
        scores[k] = function(state.jobs[who[k]], state.clock{extra})
""",
    "start_jobs": """
def kernel(state, own):
    function(state{extra})
""",
    "select_resources": """
def kernel(state, job, own):
    return bool(function(state, job{extra}))
""",
    "set_rate": """
def kernel(state, own):
    return float(function(state{extra}))
""",
    "set_sleep": """
def kernel(state, own):
    function(state{extra})
""",
    "account_energy": """
def kernel(nodes, slices, clock, piece, own):
    node = slices[piece].node if piece >= 0 else 0
    while node < len(nodes):
        watts = float(function(nodes[node], clock{extra}))
        nodes[node].watts = watts
        if not (watts >= 0.0 and watts < np.inf):
            return node
        if piece >= 0:
            piece = slices[piece].next
            if piece < 0:
                return -1
            node = slices[piece].node
        else:
            node += 1
    return -1
""",
}

SIGNATURES = {
    "order_queue": layouts.ORDER,
    "start_jobs": layouts.START,
    "select_resources": layouts.SELECT,
    "set_rate": layouts.RATE,
    "set_sleep": layouts.SLEEP,
    "account_energy": layouts.WATTS,
}


@dataclass(frozen=True)
class Kernel:
    """A policy ready to be called by the loop."""

    function: Any  # a numba dispatcher of the hook's signature
    own: np.ndarray[Any, Any]
    python: Callable[..., Any] | None  # what a trampoline calls; None when compiled


class PlainPython(UserWarning):
    """Tells an author, once, that a policy runs as plain Python, and why."""


def own_vector(choice: Choice, seed: int) -> np.ndarray[Any, Any]:
    """Parameters, memory and random state of one policy in one run."""
    policy = choice.policy
    parameters = [policy.number(name, value) for name, value in choice.values.items()]
    own = np.zeros(len(parameters) + policy.memory + 1)
    own[: len(parameters)] = parameters
    name = int.from_bytes(hashlib.sha256(f"{policy.hook} {policy.name}".encode()).digest()[:8], "little")
    dice = np.random.SeedSequence([seed, name]).generate_state(1, np.uint64)
    own[-1:].view(np.uint64)[0] = dice[0] | np.uint64(1)  # xorshift has no way out of zero
    return own


def _arguments(policy: Policy) -> str:
    """The author's arguments after the hook's own, taken from the vector."""
    parts = []
    count = len(policy.parameters)
    for name in policy.extras:
        where = f"{count}:{count + policy.memory}" if name == "memory" else "-1:"
        parts.append(f"own[{where}]" if name == "memory" else f"own[{where}].view(np.uint64)")
    casts = {bool: "own[{}] != 0.0", int: "int(own[{}])", float: "own[{}]", str: "int(own[{}])"}
    parts += [casts[policy.kind(name)].format(k) for k, name in enumerate(policy.parameters)]
    return "".join(f", {part}" for part in parts)


def source_of(policy: Policy) -> str:
    """The generated source between the loop and the author's function."""
    return _KERNEL_SOURCE[policy.hook].format(extra=_arguments(policy)).lstrip()


@cache
def compiled(policy: Policy) -> Any:
    """Compile the policy's kernel, or load it from disk. Raises whatever numba raises when it refuses."""
    function = getattr(policy.function, "py_func", policy.function)
    made_from = (function.__module__, fingerprint(function))

    def build(**options: Any) -> Any:
        names = {"function": njit(function, forceinline=True)}
        signature = SIGNATURES[policy.hook]
        return compile_and_keep(policy.hook, source_of(policy), names, signature, made_from=made_from, **options)

    try:
        return build(_nrt=False)  # as the engine: no references counted, a third of the time
    except Exception:  # it makes arrays of its own, or numba refuses it: the next attempt tells
        return build()


def kernel_of(choice: Choice, seed: int, *, plain: bool = False) -> Kernel:
    """The kernel of a chosen policy: compiled if possible, else a trampoline into Python."""
    own = own_vector(choice, seed)
    if config.DISABLE_JIT:
        return Kernel(_interpreted(choice.policy), own, None)
    if not plain and choice.policy.compiled:
        try:
            return Kernel(compiled(choice.policy), own, None)
        except Exception as refusal:  # numba refuses in many ways, not all of them errors of its own
            _tell_once(choice.policy, refusal)
    return Kernel(trampoline(choice.policy.hook), own, _interpreted(choice.policy))


def _interpreted(policy: Policy) -> Callable[..., Any]:
    """The kernel as a plain Python function."""
    function = getattr(policy.function, "py_func", policy.function)
    namespace: dict[str, Any] = {"function": function, "np": np}
    exec(source_of(policy), namespace)
    return namespace["kernel"]  # type: ignore[no-any-return]


_told: set[tuple[str, str]] = set()


def _tell_once(policy: Policy, refusal: Exception) -> None:
    import warnings

    if (policy.hook, policy.name) in _told:
        return
    _told.add((policy.hook, policy.name))
    lines = [line.strip() for line in str(refusal).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith("Failed in")), type(refusal).__name__)
    warnings.warn(
        f"the policy {policy.name!r} ({policy.hook}) runs as plain Python, because numba refuses it: {reason}",
        PlainPython,
        stacklevel=2,
    )


# ---------------------------------------------------------------- calling back into Python

#: The runs that have plain Python policies: number → (what to call, the state to call it with, own vector).
_callbacks: dict[int, tuple[Callable[..., Any], Any, Any]] = {}
_numbers = itertools.count(1)


def ticket() -> int:
    """A number that no other run has."""
    return next(_numbers)


def connect(number: int, kernel: Kernel, state: Any) -> None:
    """Let the trampoline that carries `number` find this kernel's function."""
    _callbacks[number] = (kernel.python, state, kernel.own)  # type: ignore[assignment]


def disconnect(number: int) -> None:
    """Forget a finished run's function."""
    del _callbacks[number]


#: A trampoline finds its function by the number in its own vector, and asks Python.
_TRAMPOLINES = {
    "order_queue": """
def kernel(state, who, scores, own):
    number = int(own[0])
    with objmode():
        ask(number, who, scores)
""",
    "start_jobs": """
def kernel(state, own):
    number = int(own[0])
    with objmode():
        ask(number)
""",
    "select_resources": """
def kernel(state, job, own):
    number = int(own[0])
    with objmode(answer="boolean"):
        answer = ask(number, job)
    return answer
""",
    "set_rate": """
def kernel(state, own):
    number = int(own[0])
    with objmode(answer="float64"):
        answer = ask(number)
    return answer
""",
    "account_energy": """
def kernel(nodes, slices, clock, piece, own):
    number = int(own[0])
    with objmode(answer="int64"):
        answer = watts_of(number, piece)
    return answer
""",
}
_TRAMPOLINES["set_sleep"] = _TRAMPOLINES["start_jobs"]


def ask(number: int, *arguments: Any) -> Any:
    """Call the plain Python policy that `number` stands for."""
    function, state, own = _callbacks[number]
    return function(state, *arguments, own)


def watts_of(number: int, piece: int) -> int:
    """Call the plain Python energy policy that `number` stands for."""
    function, state, own = _callbacks[number]
    return int(function(state.nodes, state.slices, state.clock, piece, own))


@cache
def trampoline(hook: str) -> Any:
    """The kernel that calls back into Python for this hook."""
    names = {"objmode": objmode, "ask": ask, "watts_of": watts_of}
    return compile_and_keep(f"{hook}_python", _TRAMPOLINES[hook], names, SIGNATURES[hook], module=__name__)
