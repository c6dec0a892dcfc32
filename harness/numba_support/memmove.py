"""Making room in arrays and closing gaps, as fast as memory is copied."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from harness.numba_support.compile_options import NO_REFERENCES, NO_WRAPPERS


def shift(array: Any, to: int, since: int, count: int) -> None:
    """Copy `count` entries of an array from index `since` to index `to`; the two ranges may overlap."""
    array[to : to + count] = array[since : since + count]


@intrinsic
def _shift(context: Any, array: Any, to: Any, since: Any, count: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        parts = make_array(array)(context, builder, value=arguments[0])
        count = context.cast(builder, arguments[3], sig.args[3], types.intp)
        places = [context.cast(builder, arguments[k], sig.args[k], types.intp) for k in (1, 2)]
        target, source = (builder.gep(parts.data, [place]) for place in places)
        with cgutils.if_likely(builder, builder.icmp_signed(">", count, count.type(0))):
            cgutils.raw_memmove(builder, target, source, count, parts.itemsize)
        return context.get_dummy_value()

    return types.void(array, to, since, count), lower


@overload(shift, jit_options={**NO_WRAPPERS, **NO_REFERENCES}, strict=False)
def _shifted(array: Any, to: Any, since: Any, count: Any) -> Any:
    return lambda array, to, since, count: _shift(array, to, since, count)
