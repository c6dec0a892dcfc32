"""What numba does to a function of the engine before LLVM has it, as short as such functions allow.

Most of the time that compiling takes is spent here. Functions of policies go the usual way: their authors may write
what numba understands. Functions of the engine are written without closures and without whole-array expressions.
"""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.registry import cpu_target
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

_OPERATORS = {function for function in vars(operator).values() if callable(function)}

#: (operator, types of its arguments) → the operator as numba knows it, and the type of its result.
_remembered: dict[tuple[int, Any], tuple[Any, Any]] = {}


class _Passes(PassManager):  # type: ignore[misc]  # numba is untyped
    """The passes one after the other: no events for listeners, nothing brought up to date that the next one does."""

    def run(self, state: Any) -> None:
        for kind, _ in self.passes:
            one = _pass_registry.get(kind).pass_inst
            one.analysis = self._analysis
            one.run_pass(state)


class ShortPipeline(CompilerBase):  # type: ignore[misc]
    """The way of a function of the engine through numba."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes, without those for closures, inlined Python, unrolled literals and array expressions."""
        passes = _Passes("short")
        for one in (
            *(TranslateByteCode, FixupArgs, IRProcessing, DeadBranchPrune, GenericRewrites, ReconstructSSA),
            *(NopythonTypeInference, PreLowerStripPhis),
            *(IRLegalization, AnnotateTypes, NativeLowering, NoPythonBackend),
        ):
            passes.add_pass(one, one.__name__)
        passes.finalize()
        return [passes]


@contextmanager
def operators_remembered() -> Iterator[None]:
    """Resolve the type of an operator of numbers once for each pair of types, instead of at each use.

    numba tries every definition of `+`, those for sets and strings too, and formats each refusal. The caller must hold
    the compiler's lock.
    """
    context = cpu_target.typing_context
    if "resolve_function_type" in vars(context):  # already
        yield
        return
    resolve_anew = context.resolve_function_type

    def resolve(function: Any, arguments: Any, named: Any) -> Any:
        simple = type(function) is types.Function and function.typing_key in _OPERATORS and not named
        if not (simple and all(isinstance(one, types.Number | types.Boolean) for one in arguments)):
            return resolve_anew(function, arguments, named)
        found = _remembered.get((id(function), arguments))
        if found is None or found[0] is not function:  # it was defined for more kinds meanwhile
            found = _remembered[id(function), arguments] = function, resolve_anew(function, arguments, named)
        return found[1]

    context.resolve_function_type = resolve
    try:
        yield
    finally:
        del context.resolve_function_type
