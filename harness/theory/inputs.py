"""Checks of what the formulas take: each says in one sentence what is wrong and what is right."""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from harness.errors import HarnessError
from harness.workload.content import whole_numbers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# What compiled kernels only read: columns of a DataFrame cannot be written, others can; both are accepted.
READ_FLOATS = types.Array(types.f8, 1, "C", readonly=True)
READ_INTEGERS = types.Array(types.i8, 1, "C", readonly=True)

#: How far from one a list of probabilities may sum: a dozen printed digits, not a forgotten entry.
SUM_TOLERANCE = 1e-9

#: The most processors that a formula takes: the time of some grows with the square of their number.
MOST_PROCS = 10_000_000


def positive(value: float, name: str) -> float:
    """Return `value`; refuse what is not a number above zero."""
    if not 0 < value < np.inf:
        raise HarnessError(f"{name} is {value:g}; it must be a finite number above zero")
    return float(value)


def nonnegative(value: float, name: str) -> float:
    """Return `value`; refuse what is not a number of at least zero."""
    if not 0 <= value < np.inf:
        raise HarnessError(f"{name} is {value:g}; it must be a finite number, zero or more")
    return float(value)


def fraction(value: float, name: str) -> float:
    """Return `value`; refuse what does not lie strictly between zero and one."""
    if not 0 < value < 1:
        raise HarnessError(f"{name} is {value:g}; it must lie strictly between 0 and 1")
    return float(value)


def proc_count(procs: int) -> int:
    """Return `procs`; refuse fewer than one, and parts of one."""
    if not 1 <= procs <= MOST_PROCS or procs != int(procs):
        raise HarnessError(f"procs is {procs}; it must be a whole number from 1 to {MOST_PROCS:,}")
    return int(procs)


def shares(widths: ArrayLike, name: str = "the width distribution") -> FloatArray:
    """Return the probabilities p_1, p_2, … of the widths 1, 2, …, scaled to sum to one to the last bit."""
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
    """Return one number for each job; refuse what is below zero or not finite."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise HarnessError(f"{name} must hold one number for each job; it has shape {array.shape}")
    wrong = np.flatnonzero(~((array >= 0) & (array < np.inf)))
    if wrong.size:
        job = wrong[0]
        raise HarnessError(f"{name} of job {job} is {array[job]:g}; it must be finite and not negative")
    return array


def whole_widths(values: ArrayLike, procs: int | None = None) -> IntArray:
    """Return how many processors each job needs; refuse what is not a whole number from 1 to `procs`."""
    array = series(values, "width")
    most = np.inf if procs is None else procs
    wrong = np.flatnonzero((array != np.floor(array)) | (array < 1) | (array > most))
    if wrong.size:
        job = wrong[0]
        bound = "at least 1" if procs is None else f"from 1 to the {procs} processors there are"
        raise HarnessError(f"width of job {job} is {array[job]:g}; it must be a whole number {bound}")
    return whole_numbers(array, "width of job", np.arange(array.size))


def same_length(**columns: NDArray[Any]) -> None:
    """Refuse columns that describe different numbers of jobs."""
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise HarnessError(f"the columns describe different numbers of jobs: {told}")
