"""Numbers as text from which programs read the same number, without a decimal point if they are whole."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt


def whole(value: float) -> int | float:
    """Return `value` as an integer if it is one."""
    return int(value) if value.is_integer() else value


def integer(value: object) -> int:
    """Return a whole number of at most 64 bits, from a number or digits. Raise `ValueError` for other values."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,19}", value, re.ASCII):
        number = int(value)
    if number is None or number % 1 or not -(2**63) <= number < 2**63:
        raise ValueError(f"{str(value)[:30]!r} is not a whole number of 64 bits")
    return int(number)


def numeral(value: float) -> str:
    """Return a number in its CSV form; empty for NaN."""
    return "" if value != value else repr(whole(value))


def numerals(column: npt.ArrayLike) -> list[str]:
    """Return the numbers of a column in their CSV form."""
    values: npt.NDArray[Any] = np.asarray(column)
    if values.dtype.kind in "iu":
        return list(map(str, values.tolist()))
    # The same as `numeral`, but much faster for long columns.
    lines = "\n".join(map(repr, values.astype(np.float64).tolist())) + "\n"
    return lines.replace(".0\n", "\n").replace("nan\n", "\n").split("\n")[:-1]


def wrong_value(error: Exception) -> str:
    """Return the message about a value that a reader could not convert, from Python's exception."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) if isinstance(error, ValueError) else "a value is of another type than expected"
