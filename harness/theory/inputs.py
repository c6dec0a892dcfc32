"""Checks of the arguments of formulas. Each message names the error and the expected value."""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from harness.errors import HarnessError
from harness.workload.content import whole_numbers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Arguments that compiled kernels only read. They may be read-only, like columns of a DataFrame.
READ_FLOATS = types.Array(types.f8, 1, "C", readonly=True)
READ_INTEGERS = types.Array(types.i8, 1, "C", readonly=True)

#: The largest deviation of a sum of probabilities from one: printed digits are cut, but no entry is forgotten.
SUM_TOLERANCE = 1e-9

#: The most processors of a formula. The time of some formulas grows with the square of the number.
MOST_PROCS = 10_000_000


def positive(value: float, name: str) -> float:
    """Return `value`, or refuse it if it is not a finite number above zero."""
    if not 0 < value < np.inf:
        raise HarnessError(f"{name} is {value:g}; it must be a finite number above zero")
    return float(value)


def nonnegative(value: float, name: str) -> float:
    """Return `value`, or refuse it if it is not a finite number of at least zero."""
    if not 0 <= value < np.inf:
        raise HarnessError(f"{name} is {value:g}; it must be a finite number, zero or more")
    return float(value)


def fraction(value: float, name: str) -> float:
    """Return `value`, or refuse it if it is not strictly between zero and one."""
    if not 0 < value < 1:
        raise HarnessError(f"{name} is {value:g}; it must lie strictly between 0 and 1")
    return float(value)


def proc_count(procs: int) -> int:
    """Return `procs`, or refuse it if it is not a whole number of at least one."""
    if not 1 <= procs <= MOST_PROCS or procs != int(procs):
        raise HarnessError(f"procs is {procs}; it must be a whole number from 1 to {MOST_PROCS:,}")
    return int(procs)


def shares(widths: ArrayLike, name: str = "the width distribution") -> FloatArray:
    """Return the probabilities p_1, p_2, … of the widths 1, 2, …, scaled so that their sum is exactly one."""
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
    """Return one number for each job. Refuse negative and infinite ones."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise HarnessError(f"{name} must hold one number for each job; it has shape {array.shape}")
    wrong = np.flatnonzero(~((array >= 0) & (array < np.inf)))
    if wrong.size:
        job = wrong[0]
        raise HarnessError(f"{name} of job {job} is {array[job]:g}; it must be finite and not negative")
    return array


def whole_widths(values: ArrayLike, procs: int | None = None) -> IntArray:
    """Return the width of each job. Refuse numbers that are not whole or not from 1 to `procs`."""
    array = series(values, "width")
    most = np.inf if procs is None else procs
    wrong = np.flatnonzero((array != np.floor(array)) | (array < 1) | (array > most))
    if wrong.size:
        job = wrong[0]
        bound = "at least 1" if procs is None else f"from 1 to the {procs} processors there are"
        raise HarnessError(f"width of job {job} is {array[job]:g}; it must be a whole number {bound}")
    return whole_numbers(array, "width of job", np.arange(array.size))


def same_length(**columns: NDArray[Any]) -> None:
    """Refuse columns of different lengths."""
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise HarnessError(f"the columns describe different numbers of jobs: {shown}")
