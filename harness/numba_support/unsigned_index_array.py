"""Arrays of the engine as its compiled code indexes them: from the first entry on, never from the end.

numba lets an index below zero count from the end of an array, which takes three instructions at every access. The
engine has no use for that but where a number of −1 stands for unknown: those arrays are left as they are.
"""

import operator
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import ArrayModel
from numba.extending import lower_builtin, register_model
from numba.np.arrayobj import load_item, make_array, store_item


class Entries(types.Array):  # type: ignore[misc]  # numba is untyped
    """One dimension of entries side by side; parts of it are arrays as others are."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype, 1, "C", name=f"entries({dtype})")


register_model(Entries)(ArrayModel)


def _place(context: Any, builder: Any, kinds: Any, given: Any) -> Any:
    array = make_array(kinds[0])(context, builder, given[0])
    index = context.cast(builder, given[1], kinds[1], types.intp)
    if context.enable_boundscheck:
        cgutils.do_boundscheck(context, builder, index, array.nitems, 0)
    return builder.gep(array.data, [index])


@lower_builtin(operator.getitem, Entries, types.Integer)
def _get(context: Any, builder: Any, sig: Any, given: Any) -> Any:
    return load_item(context, builder, sig.args[0], _place(context, builder, sig.args, given))


@lower_builtin(operator.setitem, Entries, types.Integer, types.Any)
def _set(context: Any, builder: Any, sig: Any, given: Any) -> Any:
    value = context.cast(builder, given[2], sig.args[2], sig.args[0].dtype)
    store_item(context, builder, sig.args[0], value, _place(context, builder, sig.args, given))
    return context.get_dummy_value()
