"""What the formulas of this room accept: each check says in one sentence what is wrong and what is right."""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from harness.errors import HarnessError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# What compiled kernels only read: columns of a DataFrame cannot be written, others can; both are accepted.
READ_FLOATS = types.Array(types.f8, 1, "C", readonly=True)
READ_INTEGERS = types.Array(types.i8, 1, "C", readonly=True)

#: How far from one a list of probabilities may sum: a dozen printed digits, not a forgotten entry.
SUM_TOLERANCE = 1e-9


def positive(value: float, name: str) -> float:
    """`value`, if it is a number above zero."""
    if not 0 < value < np.inf:
        raise HarnessError(f"{name} is {value:g}; it must be a finite number above zero")
    return float(value)


def nonnegative(value: float, name: str) -> float:
    """`value`, if it is a number not below zero."""
    if not 0 <= value < np.inf:
        raise HarnessError(f"{name} is {value:g}; it must be a finite number, zero or more")
    return float(value)


def fraction(value: float, name: str) -> float:
    """`value`, if it lies strictly between zero and one."""
    if not 0 < value < 1:
        raise HarnessError(f"{name} is {value:g}; it must lie strictly between 0 and 1")
    return float(value)


def server_count(servers: int) -> int:
    """`servers`, if there is at least one and none is split."""
    if servers != int(servers) or servers < 1:
        raise HarnessError(f"servers is {servers}; it must be a whole number, at least 1")
    return int(servers)


def shares(widths: ArrayLike, name: str = "the width distribution") -> FloatArray:
    """p_1, p_2, …: probabilities that a job needs 1, 2, … servers, rescaled to sum to one to the last bit."""
    p = np.asarray(widths, dtype=np.float64)
    if p.ndim != 1 or p.size == 0:
        raise HarnessError(f"{name} must be a list of probabilities p1, p2, …; it has shape {p.shape}")
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if wrong.size:
        raise HarnessError(f"{name} gives width {wrong[0] + 1} the probability {p[wrong[0]]:g}, not from 0 to 1")
    total = float(p.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise HarnessError(f"{name} sums to {total:.10g}; probabilities must sum to 1")
    return p / total


def series(values: ArrayLike, name: str) -> FloatArray:
    """One finite number not below zero for each customer."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise HarnessError(f"{name} must hold one number for each customer; it has shape {array.shape}")
    wrong = np.flatnonzero(~((array >= 0) & (array < np.inf)))
    if wrong.size:
        customer = wrong[0]
        raise HarnessError(f"{name} of customer {customer} is {array[customer]:g}; it must be finite and not negative")
    return array


def whole_widths(values: ArrayLike, servers: int | None = None) -> IntArray:
    """How many servers each customer needs: whole numbers from 1 to `servers`."""
    array = series(values, "width")
    most = np.inf if servers is None else servers
    wrong = np.flatnonzero((array != np.floor(array)) | (array < 1) | (array > most))
    if wrong.size:
        customer = wrong[0]
        bound = "at least 1" if servers is None else f"from 1 to the {servers} servers there are"
        raise HarnessError(f"width of customer {customer} is {array[customer]:g}; it must be a whole number {bound}")
    return array.astype(np.int64)


def same_length(**columns: NDArray[Any]) -> None:
    """Nothing, if every column describes the same number of customers."""
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise HarnessError(f"the columns describe different numbers of customers: {told}")
