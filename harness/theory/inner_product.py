"""The inner loop of the recursions: each new term is a long product with the earlier ones."""

from numba import njit, types

from harness.theory.inputs import READ_FLOATS, FloatArray


# The order of the sum is free, so that several products are made at once. `numpy.dot` would divide long products among
# threads, which wait for each other on a busy machine, and take a minute instead of a second.
@njit(types.f8(READ_FLOATS, READ_FLOATS), nogil=True, fastmath={"reassoc", "contract"})
def inner_product(left: FloatArray, right: FloatArray) -> float:
    """Return Σ left_i · right_i."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
