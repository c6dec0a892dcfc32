"""Numbers as programs read them back: exactly, and without a decimal point where they are whole."""

from typing import Any

import numpy as np
import numpy.typing as npt


def whole(value: float) -> int | float:
    """Return `value` as an integer if it is one."""
    return int(value) if value.is_integer() else value


def numeral(value: float) -> str:
    """Return a number as it is written in CSV: empty if it is none."""
    return "" if value != value else repr(whole(value))


def numerals(column: npt.ArrayLike) -> list[str]:
    """Return the numbers of a column as they are written in CSV."""
    values: npt.NDArray[Any] = np.asarray(column)
    if values.dtype.kind in "iu":
        return list(map(str, values.tolist()))
    # As `numeral`, but with the column as one text, because logs are long.
    lines = "\n".join(map(repr, values.astype(np.float64).tolist())) + "\n"
    return lines.replace(".0\n", "\n").replace("nan\n", "\n").split("\n")[:-1]
