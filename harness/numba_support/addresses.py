"""The addresses of kernels in memory."""

from functools import cache
from typing import Any


@cache
def address_of(kernel: Any) -> int:
    """Return the address of a kernel of one signature; compiled code calls it there."""
    (result,) = kernel.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
