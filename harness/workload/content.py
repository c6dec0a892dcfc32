"""The columns of a log in their one canonical form, and the identity that follows from it."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError

#: Below this, a float holds every whole number exactly.
EXACT = 2.0**53

Column = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def canonical(values: npt.NDArray[Any]) -> Column:
    """Return `values` as int64 if they are whole numbers throughout, else as float64."""
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64, copy=False)
    floats = values.astype(np.float64, copy=False)
    if np.all((np.abs(floats) < EXACT) & (floats == np.floor(floats))):
        return floats.astype(np.int64)
    return floats


def whole_numbers(values: npt.NDArray[Any], what: str, names: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
    """Return `values` as int64; refuse parts of numbers, and numbers that a float cannot tell from the next.

    `what` begins the error; `names` are those of the values, else their places. Every float that becomes an integer
    passes here: numpy makes any number of one that is too large.
    """
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64, copy=False)
    floats = values.astype(np.float64, copy=False)
    wrong = ~((np.abs(floats) < EXACT) & (floats == np.floor(floats)))
    if wrong.any():
        place = int(np.argmax(wrong))
        name = place + 1 if names is None else np.asarray(names)[place]
        raise HarnessError(f"{what} {name} is {floats[place]:.12g}; expected a whole number below {EXACT:.0g}")
    return floats.astype(np.int64)


def narrowed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return whole numbers in the smallest type that holds them: most columns of most logs are −1 throughout."""
    if values.dtype != np.int64:
        return values
    smallest = np.promote_types(np.min_scalar_type(int(values.min())), np.min_scalar_type(int(values.max())))
    return values.astype(smallest if smallest.kind in "iu" else np.int64)


def content_digest(jobs: pd.DataFrame, header: Iterable[str]) -> str:
    """Return the SHA-256 of a log's jobs and header: the same for the same content, however it was stored."""
    sha = hashlib.sha256()
    for line in header:
        sha.update(line.encode() + b"\n")
    for name in jobs.columns:
        values = jobs[name].to_numpy()
        sha.update(f"{name} {values.dtype.kind} {len(values)}\n".encode())
        sha.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data)
    return sha.hexdigest()
