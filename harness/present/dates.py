"""Times of users: seconds on the clock of a log, or dates."""

import math
from contextlib import suppress
from datetime import date, datetime
from numbers import Real
from typing import Any


def moment(value: Any) -> float | str | None:
    """Return seconds as a number, or a date in ISO form; None for other values."""
    if isinstance(value, date):  # as TOML reads it; datetimes are dates
        return value.isoformat()
    if isinstance(value, Real) and not isinstance(value, bool) and value == value:
        return float(value)
    if isinstance(value, str):
        with suppress(ValueError):
            if math.isfinite(number := float(value)):
                return number
        with suppress(ValueError):
            return datetime.fromisoformat(value.strip()).isoformat()
    return None
