"""Mistakes in a policy's function, as sentences: unknown names, functions of other hooks, answers of a wrong kind."""

import dis
import re
import types as python
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import TypingError, types
from numba.extending import overload

import harness
from harness.errors import HarnessError, did_you_mean
from harness.numba_support.compile_options import NO_REFERENCES
from harness.policy import records
from harness.policy.kinds import Policy, functions_of
from harness.policy.reads import READ_BY, covers
from harness.policy.vocabulary import VERBS

_RECORDS = tuple(getattr(records, name) for name in ("Job", "Node", "Clock", "Share", "Slice", "Pace", "Nap", "State"))


class MisuseError(HarnessError):
    """A policy's function cannot work: it names what does not exist, or does not answer."""


@cache
def refuse_misuse(policy: Policy) -> None:
    """Refuse a policy that calls a function which does not exist, or which policies of its hook may not call."""
    _refuse_names(policy, policy.function, (policy.hook,))
    for what in ("learn", "correct") if policy.hook == "predict_runtime" else ():
        if function := getattr(policy, what):
            _refuse_names(policy, function, (policy.hook,))
    learn = getattr(policy, "learn", None) if policy.hook == "order_queue" else None
    if learn:  # it is given what rates and selections are, and nothing may be done
        _refuse_names(policy, learn, ("select_resources", "set_rate"))


def _refuse_names(policy: Policy, function: Any, hooks: tuple[str, ...]) -> None:
    """Refuse a function that refers to names which policies of one of these hooks may not call."""
    verbs = {id(getattr(harness, name)): name for name in VERBS}
    for thing, name, line in _names(function):
        if thing is harness and name and name not in harness.__all__ and not hasattr(harness, name):
            meant = did_you_mean(name, harness.__all__, "see `harness list verbs`")
            raise MisuseError(f"{_who(policy)} asks for harness.{name}, which does not exist; {meant} ({line})")
        verb = name if thing is harness else verbs.get(id(thing), "")
        if verb == "reject" and not getattr(policy, "rejects", False) and policy.hook in VERBS[verb]:
            raise MisuseError(f"{_who(policy)} calls harness.reject and does not say rejects=True ({line})")
        topic = READ_BY.get(verb, "")
        if topic and policy.reads is not None and not covers(policy.reads, topic):
            raise MisuseError(
                f"{_who(policy)} calls harness.{verb}, and its reads= lacks {topic!r}: expected it there ({line})"
            )
        if verb in VERBS and not set(hooks) <= set(VERBS[verb]):
            raise MisuseError(
                f"{_who(policy)} calls harness.{verb}, which only policies of {' and '.join(VERBS[verb])} may call "
                f"({line}); see `harness list verbs`"
            )


@cache
def calls(function: Any, *verbs: str) -> bool:
    """Return whether a function, or one of the author's that it calls, calls one of these functions of `harness`."""
    wanted = [getattr(harness, name) for name in verbs]
    return any(
        (thing is harness and name in verbs) or any(thing is one for one in wanted)
        for thing, name, _ in _names(function)
    )


def reads_the_time(order: Policy) -> bool:
    """Return whether the score of an order uses `clock.now`, for a warning."""
    return any(name == "now" for _, name, _ in _names(order.function))


def refusal_explained(policy: Policy, refusal: BaseException) -> MisuseError | None:
    """Return numba's error as a sentence, if it is about a field that does not exist or a wrong answer."""
    functions = functions_of(policy)
    if answer := re.search(r"TypingError: (\w+) answered (.+)", without_colours(refusal)):
        said = f"{_where(answer[1])}returns {answer[2].strip()}, where {policy.answer} was expected"
        return MisuseError(f"{_who(policy)}{said} ({_line(functions[answer[1]])})")
    if missing := missing_field(refusal):
        found = ((what, line) for what in functions for _, name, line in _names(functions[what]) if name == missing[0])
        what, line = next(found, ("function", _line(policy.function)))
        return MisuseError(f"{_who(policy)}{_where(what)}{missing[1]} ({line})")
    return None


def _where(function: str) -> str:
    """Return the words for one of a policy's functions; none for the one that answers the hook."""
    return " " if function == "function" else f", in its {function}, "


def without_colours(refusal: BaseException) -> str:
    """Return the text of an error of numba without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(refusal))


def missing_field(error: BaseException) -> tuple[str, str] | None:
    """Return the name of the field whose lack an error reports, and a sentence about it; None for other errors."""
    text = without_colours(error)
    if written := re.search(r"Cannot resolve setattr: \(ReadOnly\((Record\(.*?)\)\.((?!__)\w+) = ", text):
        columns = _columns(written[1])
        return None if written[2] in columns else _lacks(written[2], columns)
    if unknown := re.search(r"Unknown attribute '((?!__)\w+)' of type ReadOnly\((.*)", text):
        if "Record(" in unknown[2]:
            return _lacks(unknown[1], _columns(unknown[2]))
        return _lacks(unknown[1], set(records.State.__annotations__)) if unknown[2].startswith("<") else None
    fields = getattr(error, "fields", None)  # as a face of the engine says it
    return _lacks(str(error.name), set(fields)) if isinstance(error, AttributeError) and fields else None


def _lacks(name: str, fields: set[str]) -> tuple[str, str]:
    """Return the words for a field that a record lacks, with the nearest one."""
    record = next((kind for kind in _RECORDS if set(vars(kind)["__dataclass_fields__"]) <= fields), None)
    whose = f"the {record.__name__.lower()}" if record else "a record"
    return name, f"asks for {name!r}, which {whose} does not have; {did_you_mean(name, fields)}"


def _columns(text: str) -> set[str]:
    return set(re.findall(r"(\w+)\[type=", text.partition(";True)")[0]))


def _who(policy: Policy) -> str:
    return f"the policy {policy.name!r} ({policy.hook})"


# ---------------------------------------------------------------- what a function refers to


def _names(*functions: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield what functions and the author's functions they call refer to: (thing, attribute of it, file and line)."""
    seen: set[int] = set()
    todo = [getattr(function, "py_func", function) for function in functions]
    while todo:
        one = todo.pop()
        if id(one) in seen or not isinstance(one, python.FunctionType):
            continue
        seen.add(id(one))
        for code in _codes(one.__code__):
            thing: Any = None
            for step in dis.get_instructions(code):
                line = f"{Path(code.co_filename).name}, line {step.positions.lineno if step.positions else '?'}"
                if step.opname == "LOAD_GLOBAL":
                    thing = one.__globals__.get(step.argval)
                    yield thing, "", line
                    called = getattr(thing, "py_func", thing)
                    if not str(getattr(called, "__module__", "")).startswith("harness."):
                        todo.append(called)
                elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"):
                    yield thing, str(step.argval), line
                    thing = None
                elif step.opname != "PUSH_NULL":
                    thing = None


def _codes(code: python.CodeType) -> Iterator[python.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, python.CodeType):
            yield from _codes(constant)


def returns(function: Any) -> bool:
    """Return whether a function has an end: one that always raises seems to numba to return nothing."""
    return any(step.opname in ("RETURN_VALUE", "RETURN_CONST") for step in dis.get_instructions(function))


def _line(function: Any) -> str:
    code = getattr(function, "py_func", function).__code__
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


# ---------------------------------------------------------------- answers


class WrongAnswer(Exception):  # noqa: N818 - the engine makes a PolicyError of it
    """A policy in plain Python returned something of a wrong kind."""

    where = ""  # the words for the function, unless it is the one that answers the hook


def number(answer: Any) -> float:
    """Return a policy's answer as a number; refuse anything else."""
    if isinstance(answer, int | float | np.number | np.bool_) or (isinstance(answer, np.ndarray) and answer.ndim == 0):
        return float(answer)
    raise WrongAnswer("nothing" if answer is None else f"{answer!r:.50}")


def corrected(answer: Any) -> float:
    """Return the answer of a predictor's `correct` as a number; refuse anything else."""
    try:
        return number(answer)
    except WrongAnswer as wrong:
        wrong.where = "in its correct, "
        raise


def instant(answer: Any) -> float:
    """Return a policy's answer as a time; refuse True and False, too."""
    if isinstance(answer, bool | np.bool_):
        raise WrongAnswer(f"{answer}")
    return number(answer)


def truth(answer: Any) -> bool:
    """Return a policy's answer as True or False; refuse anything but a number."""
    return bool(number(answer))


#: Name in the kernel templates → function that converts and checks an author's answer.
ANSWERS = {"number": number, "corrected": corrected, "instant": instant, "truth": truth}


def _checked(answer: Any, function: str = "function") -> None:
    """Refuse a type that no answer can have, while a policy is compiled."""
    if isinstance(answer, types.Optional):
        raise TypingError(f"{function} answered nothing on one of its ways")
    if not isinstance(answer, types.Number | types.Boolean) or isinstance(answer, types.Complex):
        kind = "record" if "Record(" in str(answer) else "function" if "unction" in str(answer) else str(answer)
        raise TypingError(f"{function} answered {'nothing' if answer is types.none else f'a {kind}'}")


def _as_number(answer: Any, function: str) -> Any:
    _checked(answer, function)
    if isinstance(answer, types.Boolean):
        return lambda answer: 1.0 if answer else 0.0
    return lambda answer: float(answer)


@overload(number, strict=False, jit_options={**NO_REFERENCES, "forceinline": True})
def _number(answer: Any) -> Any:
    return _as_number(answer, "function")


@overload(corrected, strict=False, jit_options={**NO_REFERENCES, "forceinline": True})
def _corrected(answer: Any) -> Any:
    return _as_number(answer, "correct")


@overload(instant, strict=False, jit_options={**NO_REFERENCES, "forceinline": True})
def _instant(answer: Any) -> Any:
    if isinstance(answer, types.Boolean):
        raise TypingError("function answered True or False")
    return _as_number(answer, "function")


@overload(truth, strict=False, jit_options={**NO_REFERENCES, "forceinline": True})
def _truth(answer: Any) -> Any:
    _checked(answer)
    return lambda answer: bool(answer)
