"""Moments as people write them: seconds on the clock of a log, or a date."""

import math
from contextlib import suppress
from datetime import date, datetime
from numbers import Real
from typing import Any


def moment(value: Any) -> float | str | None:
    """Return seconds as a number, and a date as ISO writes it; None if it is neither."""
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
