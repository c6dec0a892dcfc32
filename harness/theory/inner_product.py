"""The one loop under the recursions of this room: each new term is a long product with the earlier ones."""

from numba import njit, types

from harness.theory.inputs import READ_FLOATS, FloatArray


# Summed in any order, so that several products are made at once. Not `numpy.dot`, which shares long products
# among threads: on a busy machine they wait for one another, and a second becomes a minute.
@njit(types.f8(READ_FLOATS, READ_FLOATS), nogil=True, fastmath={"reassoc", "contract"})
def inner_product(left: FloatArray, right: FloatArray) -> float:
    """Return Σ left_i · right_i."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
