"""The canonical form of a log's columns, and the digest of a log."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError

#: All whole numbers below this are exact as floats.
EXACT = 2.0**53

Column = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def canonical(values: npt.NDArray[Any]) -> Column:
    """Return `values` as int64 if all are whole numbers, else as float64."""
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64, copy=False)
    floats = values.astype(np.float64, copy=False)
    if np.all((np.abs(floats) < EXACT) & (floats == np.floor(floats))):
        return floats.astype(np.int64)
    return floats


def whole_numbers(values: npt.NDArray[Any], what: str, names: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
    """Return `values` as int64. Refuse fractions, and numbers too large to be exact as floats.

    `what` begins the error message; `names` name the values (default: their positions). Convert floats to integers
    only with this function: numpy turns a number that is too large into an arbitrary one.
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
    """Return whole numbers in the smallest type that can hold them. Many columns of logs are −1 throughout."""
    if values.dtype != np.int64:
        return values
    smallest = np.promote_types(np.min_scalar_type(int(values.min())), np.min_scalar_type(int(values.max())))
    return values.astype(smallest if smallest.kind in "iu" else np.int64)


def content_digest(jobs: pd.DataFrame, header: Iterable[str]) -> str:
    """Return the SHA-256 of a log's jobs and header, which does not depend on the file format."""
    sha = hashlib.sha256()
    for line in header:
        sha.update(line.encode() + b"\n")
    for name in jobs.columns:
        values = jobs[name].to_numpy()
        sha.update(f"{name} {values.dtype.kind} {len(values)}\n".encode())
        sha.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data)
    return sha.hexdigest()
