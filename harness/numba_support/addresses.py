"""Where a kernel lies in memory."""

from functools import cache
from typing import Any


@cache
def address_of(kernel: Any) -> int:
    """Return where the code of a kernel begins, which has one signature: what compiled code calls, not Python."""
    (result,) = kernel.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
