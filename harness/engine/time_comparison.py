"""Comparing instants.

Rates, speeds and the two clocks make of one instant several sums that differ in their last digits. Whoever compares
instants, the loop and the plans of policies alike, compares them with `later`.
"""

from harness.engine.decorators import verb

#: Two instants closer than this, relative to their size, are one: some hundreds of roundings, a microsecond in a year.
ROUNDING = 2.0**-44


@verb
def later(time: float, than: float) -> bool:
    """Return whether an instant comes after another one by more than rounding."""
    return time > than + ROUNDING * abs(than)
