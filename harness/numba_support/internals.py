"""Private parts of numba that keep compiled code: the target processor, writing code to bytes and reading it again."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from harness.numba_support.front_end import operators_remembered
from harness.numba_support.late_linking import late_linking


def processor() -> str:
    """Return the processor that code is compiled for, with its features."""
    return repr(cpu_target.target_context.codegen().magic_tuple())


@contextmanager
def compiling_fast() -> Iterator[None]:
    """Compile within the block with late linking, and type the operators of numbers once."""
    with late_linking(), operators_remembered():
        yield


def written(result: Any) -> bytes | None:
    """Return compiled code as bytes; None if it holds addresses of this process."""
    # It is made machine code here at the latest.
    result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    if result.library.has_dynamic_globals or not all(lifted.can_cache for lifted in result.lifted):
        return None
    return bytes(serialize.dumps((result._reduce(), _undefined(result.library._final_module))))


def read(kept: bytes, context: Any) -> Any:
    """Return compiled code from its bytes; None if a module that it refers to cannot be imported here."""
    try:
        parts, wanted = pickle.loads(kept)
    except ImportError:
        return None
    rtsys.initialize(context)
    # Mostly that is all that code needs of numba, which takes a quarter of a second to get ready to compile.
    if not all(map(llvm.address_of_symbol, wanted)):
        context.refresh()
    return CompileResult._rebuild(context, *parts)


def _undefined(module: Any) -> list[str]:
    """List the names that code expects in the process: ours, numba's, Python's, the mathematical library's."""
    things = (*module.functions, *module.global_variables)
    return [thing.name for thing in things if thing.is_declaration and not thing.name.startswith("llvm.")]
