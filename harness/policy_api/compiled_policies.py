"""From an author's function to a kernel that the compiled loop can call.

An author writes `wfp3(job, clock, power=3.0)`. The loop calls kernels of one fixed signature per hook, whose last
argument is the policy's own vector of numbers: parameters, memory, random state. A small piece of generated source
lies between the two; numba compiles both together, and keeps the result on disk under a name that contains
everything it was made from, so that the next process loads it in a few milliseconds.

A function that numba refuses is called back in Python instead: the loop calls a trampoline, the trampoline finds
the function by the number in the first place of its own vector.
"""

import hashlib
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numba import config, njit, objmode

from harness.numba_support.code_cache import KeptCodeError, compile_and_keep
from harness.numba_support.compile_options import NO_REFERENCES, NO_WRAPPERS
from harness.numba_support.fingerprint import fingerprint
from harness.policy.kinds import Policy, Prefer, functions_of
from harness.policy.spec import Choice
from harness.policy.table import Table
from harness.policy.usage_shares import EVERYBODY, OF_ALL
from harness.policy_api.policy_diagnostics import ANSWERS, refusal_explained, refuse_misuse, returns, without_colours


@dataclass(frozen=True, eq=False)
class KernelTemplate:
    """The source of the kernels with which the loop calls the policies of a hook."""

    # Of the kernel around the author's function: {extra} are the author's other arguments, {learning} the calls that
    # take the place of scoring when an order is called for no job.
    source: str
    signature: Any  # of the kernel
    trampoline: str  # the source of the kernel that calls back into Python
    names: Mapping[str, Any]  # the names in `source`, where it is compiled …
    interpreted: Callable[["Policies"], Mapping[str, Any]]  # … and where it is not, made anew for each run
    options: Mapping[str, Any]  # with which the author's function is compiled
    misuse: type[Exception]  # raised for a mistake of the author, compiled or not
    with_fits: str = ""  # the source for a selection that declares which jobs it would decline …
    by_merit: str = ""  # … and for one that ranks nodes
    otherwise: Mapping[str, str] = field(default_factory=dict)  # replacements of functions that a policy lacks
    job: str = ""  # the name of the job in `source`, if there is one
    arguments: Mapping[str, str] = field(default_factory=dict)  # of the hook, where a policy may take some of them


@dataclass(frozen=True)
class Kernel:
    """A policy ready to be called by the loop."""

    function: Any  # a numba dispatcher of the hook's signature
    own: np.ndarray[Any, Any]
    python: Callable[..., Any] | None  # the function that a trampoline calls; None when compiled


class PlainPython(UserWarning):
    """Tells an author, once, that a policy runs as plain Python, and why."""


Columns = Callable[[str], Any]  # a further column of the workload, by its name, in the order of the jobs
Policies = tuple[Policy, ...]  # an order and those that it wraps, outermost first; of other policies, one


def no_columns(name: str) -> Any:
    """Return an empty column, where there is no workload."""
    return ()


def own_vector(
    choice: Choice, seed: int, sizes: Mapping[str, int] | None = None, columns: Columns = no_columns
) -> np.ndarray[Any, Any]:
    """Return the numbers of one policy in one run, and behind them those of the order that it wraps.

    That is a head of one place for each parameter, for each memory by key and for columns, then the memory of floats
    and the random state; and behind it what has no fixed length, its length before it: tables, records by key, of
    which there are as many as `sizes` says, and columns. Where these begin stands in their places of the head; in that
    of the order that is wrapped, where that begins.
    """
    pieces: list[np.ndarray[Any, Any]] = []
    dice = []
    for one in choice.chain:
        base = sum(map(len, pieces))
        head = np.zeros(_dice_at(one.policy) + 1)
        behind = [head]
        for place, (parameter, value) in enumerate(one.values.items()):
            head[place] = 0.0 if isinstance(value, Table) else one.policy.number(parameter, value)
        for place, numbers in _long_parts(one, sizes, columns):
            behind += [np.array([float(len(numbers))]), numbers]
            head[place] = base + sum(map(len, behind)) - len(numbers)
        if one.inner:
            head[list(one.values).index(one.policy.order)] = base + sum(map(len, behind))
        dice.append(base + len(head) - 1)
        pieces += behind
    own = np.concatenate(pieces)
    for place, one in zip(dice, choice.chain, strict=True):
        name = int.from_bytes(hashlib.sha256(f"{one.policy.hook} {one.policy.name}".encode()).digest()[:8], "little")
        state = np.random.SeedSequence([seed, name]).generate_state(1, np.uint64)
        own[place : place + 1].view(np.uint64)[0] = state[0] | np.uint64(1)  # xorshift has no way out of zero
    return own


def _long_parts(choice: Choice, sizes: Mapping[str, int] | None, columns: Columns) -> Iterator[tuple[int, Any]]:
    """Yield the numbers of no fixed length, each with its place in the head of the policy's vector."""
    policy, place = choice.policy, len(choice.values)
    for k, value in enumerate(choice.values.values()):
        if isinstance(value, Table):
            yield k, np.array([float(number) for number in value])
    for part in policy.keyed:
        yield place, np.zeros(len(part.fields) * (sizes[part.key] if sizes else 0))
        place += 1
    if policy.columns:
        yield place, np.column_stack([columns(name) for name in policy.columns]).astype(np.float64).ravel()


def _dice_at(policy: Policy) -> int:
    """Return the place of the random state in the head of a policy's numbers."""
    return len(policy.parameters) + len(policy.keyed) + bool(policy.columns) + policy.floats


def _arguments(policies: Policies, level: int = 0, base: str = "", *, about: str, job: str = "") -> str:
    """Return the author's arguments after the hook's own, taken from the vector."""
    given = _given(policies, level, base, about=about, job=job)
    names = (*policies[level].extras, *policies[level].parameters)
    return "".join(f", {given[name]}" for name in names if name in given)


def _given(policies: Policies, level: int = 0, base: str = "", *, about: str, job: str = "") -> dict[str, str]:
    """Return the other arguments that an author's function may name, and their expressions in the generated source.

    `level` is how many orders wrap this one, whose numbers begin at `base`; `about` is the job that is asked about, or
    nothing where the state is shown; `job` is the one that is asked about there, if there is one.
    """
    policy = policies[level]

    def at(place: int) -> str:
        return f"{base} + {place}" if base else f"{place}"

    table = "own[int(own[{0}]) : int(own[{0}]) + int(own[int(own[{0}]) - 1])]"
    count, dice, width = len(policy.parameters), _dice_at(policy), len(policy.columns)
    begin = f"int(own[{at(count + len(policy.keyed))}])"
    rows = f"own[{begin} : {begin} + {width} * state.clock.next].reshape(state.clock.next, {width})"
    given = {
        "memory": f"fresh{level or ''}" if policy.fresh else f"own[{at(dice - policy.floats)}:{at(dice)}]",
        "dice": f"own[{at(dice)}:{at(dice + 1)}].view(np.uint64)",
        "columns": f"own[{begin} + {width} * {about} : {begin} + {width} * ({about} + 1)]" if about else rows,
    }
    for place, part in enumerate(policy.keyed, count):
        given[part.name] = f"{table.format(at(place))}.view({part.name}{level or ''})"
    given |= _counted(about or job) | {name: name for name in policy.further}
    casts = {bool: "own[{0}] != 0.0", int: "int(own[{0}])", float: "own[{0}]", str: "int(own[{0}])", Table: table}
    for place, name in enumerate(policy.parameters):
        if name != getattr(policy, "order", "") or policy.hook != "order_queue":
            given[name] = casts[policy.kind(name)].format(at(place))
        elif about:
            inner = _arguments(policies, level + 1, f"int(own[{at(place)}])", about=about)
            given[name] = f"number(function{level + 1}(jobs[{about}], shown(state).clock{inner}))"
    return given


def _counted(job: str) -> dict[str, str]:
    """Return the expressions for the records of usage, see `harness.policy.usage_shares`."""
    of_all = {name: f"shown(all_up_to_date(state, state.{name}))" for name in OF_ALL}
    of_one = {
        whose: f"shown(state.{name})[up_to_date(state, state.{name}, state.jobs[{job}].{whose})]"
        for name, whose in OF_ALL.items()
        if job
    }
    return of_all | of_one | {EVERYBODY: f"shown(state.{EVERYBODY})[up_to_date(state, state.{EVERYBODY}, 0)]"}


def source_of(policies: Policies, template: KernelTemplate) -> str:
    """Return the generated source between the loop and the author's functions."""
    functions = functions_of(policies[0])
    source = template.with_fits if "fits" in functions else template.source
    if isinstance(policies[0], Prefer):
        source = template.by_merit.replace("SIZED", str("procs" in policies[0].extras))
    about = "who[k]" if "{learning}" in source else ""
    if template.otherwise:
        return _with_calls(policies[0], source, template.otherwise)
    learning, base = [], ""
    for level, policy in enumerate(policies):
        if "learn" in functions_of(policy):
            learning.append(f"learn{level or ''}(shown(state){_arguments(policies, level, base, about='')})")
        if level + 1 < len(policies):
            place = list(policy.parameters).index(policy.order)  # type: ignore[attr-defined]
            base = f"int(own[{f'{base} + {place}' if base else place}])"
    if learning:
        learning = ["if len(who) == 1 and who[0] < 0:", *(f"    {line}" for line in learning[::-1]), "    return"]
    text = "".join(f"    {line}\n" for line in learning)
    taken = ", ".join(template.arguments[name] for name in policies[0].arguments) if template.arguments else ""
    extra = _arguments(policies, about=about, job=template.job)
    return source.format(extra=extra, learning=text, arguments=taken).lstrip()


def _with_calls(policy: Policy, source: str, otherwise: Mapping[str, str]) -> str:
    """Return a source that calls the policy's other functions with the arguments that they name, where it has them."""
    given = _given((policy,), about="index") | {"job": "job", "user": "user", "clock": "clock"}
    functions, calls = functions_of(policy), dict(otherwise)
    for name in calls.keys() & functions.keys():
        calls[name] = f"{name}({', '.join(given[one] for one in inspect.signature(functions[name]).parameters)})"
    user = f"{given['per_user']}[job.user]" if "per_user" in given else "None"
    return source.format(extra=_arguments((policy,), about="index"), user=user, **calls).lstrip()


def _functions(policies: Policies) -> dict[str, Any]:
    """Return the functions of an order and of those that it wraps, which are numbered."""
    return {
        f"{name}{level or ''}": function
        for level, policy in enumerate(policies)
        for name, function in functions_of(policy).items()
    }


def _layouts(policies: Policies) -> dict[str, Any]:
    """Return the layouts of the policies' records by key, as the generated source calls them."""
    numbered = enumerate(policies)
    return {f"{part.name}{level or ''}": part.layout for level, policy in numbered for part in policy.keyed}


@cache
def compiled(policies: Policies, template: KernelTemplate) -> Any:
    """Compile the policy's kernel, or load it from disk. Raises whatever numba raises when it refuses."""
    functions = _functions(policies)
    prints = map(fingerprint, functions.values())
    memories = repr([policy.memory for policy in policies])
    modules = repr([function.__module__ for function in functions.values()])  # kept code refers to them by name
    made_from = (modules, *prints, repr(sorted(template.options.items())), memories)

    def build(**options: Any) -> Any:
        answers = ANSWERS if returns(functions["function"]) else {**ANSWERS, "truth": bool}
        own = {name: njit(function, **template.options) for name, function in functions.items()}
        names = {**template.names, **_layouts(policies), **answers, **own}
        source = source_of(policies, template)
        words = f"the {policies[0].part} policy {policies[0].name!r}"
        given: dict[str, Any] = {"made_from": made_from, "words": words, **NO_WRAPPERS, **options}
        return compile_and_keep(policies[0].hook, source, names, template.signature, **given)

    try:
        return build(**NO_REFERENCES)  # as the engine: no references counted, a third of the time
    except (KeptCodeError, template.misuse):
        raise
    except Exception:  # it makes arrays of its own, or numba refuses it: the next attempt tells
        return build()


def kernel_of(
    choice: Choice,
    seed: int,
    template: KernelTemplate,
    *,
    plain: bool = False,
    sizes: Mapping[str, int] | None = None,
    columns: Columns = no_columns,
) -> Kernel:
    """Make the kernel of a chosen policy: compiled if possible, else a trampoline into Python."""
    policies = tuple(one.policy for one in choice.chain)
    for policy in policies:
        refuse_misuse(policy)
    own = own_vector(choice, seed, sizes, columns)
    if config.DISABLE_JIT:
        return Kernel(_interpreted(policies, template), own, None)
    if not plain and all(policy.compiled for policy in policies):
        try:
            return Kernel(compiled(policies, template), own, None)
        except (KeptCodeError, template.misuse):
            raise
        except Exception as refusal:  # numba refuses in many ways, not all of them errors of its own
            if mistake := refusal_explained(choice.policy, refusal):
                raise mistake from None
            _tell_once(choice.policy, refusal)
    return Kernel(trampoline(choice.policy.hook, template), own, _interpreted(policies, template))


def _interpreted(policies: Policies, template: KernelTemplate) -> Callable[..., Any]:
    """Return the kernel as a plain Python function, with a memory of its own where the policy makes it."""
    names = {**template.interpreted(policies), **_layouts(policies), **_functions(policies)}
    names |= {**ANSWERS, "np": np}
    names |= {f"fresh{level or ''}": _made_fresh(policy) for level, policy in enumerate(policies) if policy.fresh}
    exec(source_of(policies, template), names)
    return names["kernel"]


def _made_fresh(policy: Policy) -> Any:
    """Return the memory that a policy makes at the beginning of a run."""
    assert policy.fresh is not None
    try:
        return policy.fresh()
    except Exception as error:
        error.add_note(f"in the fresh of the policy {policy.name!r} ({policy.hook})")
        raise


_told: set[tuple[str, str]] = set()


def _tell_once(policy: Policy, refusal: Exception) -> None:
    import warnings

    if (policy.hook, policy.name) in _told:
        return
    _told.add((policy.hook, policy.name))
    lines = [line.strip() for line in without_colours(refusal).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith("Failed in")), type(refusal).__name__)
    warnings.warn(
        f"the policy {policy.name!r} ({policy.hook}) runs as plain Python, because numba refuses it: {reason}",
        PlainPython,
        stacklevel=2,
    )


# ---------------------------------------------------------------- calling back into Python

#: The runs that have plain Python policies: number → (function, state, the policy's own vector).
_callbacks: dict[int, tuple[Callable[..., Any], Any, Any]] = {}
_numbers = itertools.count(1)


def ticket() -> int:
    """Return a number that no other run has."""
    return next(_numbers)


def connect(number: int, kernel: Kernel, state: Any) -> None:
    """Let the trampoline that carries `number` find this kernel's function."""
    _callbacks[number] = (kernel.python or kernel.function, state, kernel.own)


def disconnect(number: int) -> None:
    """Forget a finished run's function."""
    del _callbacks[number]


def ask(number: int, *arguments: Any) -> Any:
    """Call the plain Python policy that `number` stands for."""
    function, state, own = _callbacks[number]
    return function(state, *arguments, own)


@cache
def trampoline(hook: str, template: KernelTemplate) -> Any:
    """Return the kernel that calls back into Python for this hook."""
    names = {"objmode": objmode, "ask": ask}
    source, signature = template.trampoline, template.signature
    return compile_and_keep(f"{hook}_python", source, names, signature, module=__name__, **NO_WRAPPERS)
