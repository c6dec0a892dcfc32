"""Measured values in convenient units, to be printed: 1.9 h, 70 %, 25.7 MWh."""

from harness.present.words import MISSING, lasting, readable

#: Unit → larger units, with their size.
_LARGE = {
    "kWh": (("GWh", 1e6), ("MWh", 1e3)),
    "W": (("MW", 1e6), ("kW", 1e3)),
}

#: Unit → a more common one, and the divisor.
_OTHERS = {"procs·s": ("procs·h", 3600.0)}


def with_units(value: float, unit: str, *, share: bool = False) -> str:
    """Return a value with its unit, to be printed."""
    if value != value:
        return MISSING
    if share:
        return f"{readable(100.0 * value, 3)} %"
    if unit == "s":
        return ("−" if value < 0 else "") + lasting(abs(value))
    unit, divisor = _OTHERS.get(unit, (unit, 1.0))
    value /= divisor
    for name, size in _LARGE.get(unit, ()):
        if abs(value) >= size:
            return f"{readable(value / size, 3)} {name}"
    number = readable(value, 3)
    return f"{number} {unit}" if unit else number
