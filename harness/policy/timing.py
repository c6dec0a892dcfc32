"""When starts are decided: how the events of one instant are read, and whether starts wait for a pass."""

import math
from dataclasses import dataclass
from typing import Any

from harness.errors import HarnessError, did_you_mean
from harness.policy.spec import parse

#: Everything that falls on one instant is applied before anyone decides, or every event is followed by a decision: with
#: `each` submissions before completions, as pyss and its descendants have it; with `ends` after them, as ElastiSim.
READINGS = ("together", "each", "ends")

#: What a heading says of a run that reads an instant so.
_REMARKS = {
    "together": "",
    "each": ", a decision after each event, submissions before ends",
    "ends": ", a decision after each event, ends before submissions",
}

#: The shortest time between two passes [s], and how many jobs one may look at.
SHORTEST = 0.01
MOST_DEPTH = 2**31 - 1

_WORDS = ("main", "backfill", "depth", "window")
_EXPECTED = "expected a number of seconds, as in 60, or words, as in 'backfill=60, main=0, depth=100, window=86400'"


@dataclass(frozen=True)
class Timing:
    """A property of a run, beside its seed: it says of no policy what it decides, but when it is asked."""

    instants: str = "together"  # out of READINGS
    passing: str = ""  # as a user writes it: starts are decided every so many seconds

    def __post_init__(self) -> None:
        if self.instants not in READINGS:
            raise HarnessError(f"instants = {self.instants!r}: {did_you_mean(str(self.instants), READINGS)}")
        object.__setattr__(self, "passing", str(self.passing).strip())
        _ = self.words

    @property
    def words(self) -> dict[str, float]:
        """Return what a pass is: `backfill`, the time between two of them [s], and what else is given.

        A pass asks the start policy, at multiples of its time. Of the waiting jobs it is shown the first `depth`; it
        plans no further than `window` seconds ahead (Slurm's bf_window): who could begin only later is promised
        nothing, so that others may overtake and delay it. With `main`, jobs also start in order, up to the first that
        does not fit: at multiples of so many seconds, or at every event if it is 0; before a pass of the same instant.
        A number alone is a pass without it, among words it is 0 unless they say otherwise.
        """
        if not self.passing:
            return {}
        try:
            values: dict[str, Any] = {"backfill": float(self.passing)}
        except ValueError:
            try:
                values = parse(f"passing({self.passing})")[1]
            except HarnessError:
                raise HarnessError(f"pass = {self.passing!r}: {_EXPECTED}") from None
            if values and "backfill" in values:
                values = {"main": 0} | values
        for word, value in values.items():
            if word not in _WORDS:
                raise HarnessError(f"pass = {self.passing!r}: there is no {word!r}; {did_you_mean(word, _WORDS)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise HarnessError(f"pass = {self.passing!r}: {word} = {value!r}; {_EXPECTED}")
        depth = values.get("depth", 1)
        whole = 1 <= depth <= MOST_DEPTH and float(depth).is_integer()
        if not whole or values.get("backfill", 0) < SHORTEST or 0 < values.get("main", 0) < SHORTEST:
            raise HarnessError(
                f"pass = {self.passing!r}: expected backfill of at least {SHORTEST:g} s, a depth from 1 to "
                f"{MOST_DEPTH:,} jobs, a whole number, and main of as many seconds as backfill has at least, or 0, "
                "which is at every event"
            )
        return values

    @property
    def usual(self) -> bool:
        """Whether a run is as most are."""
        return self == Timing()

    @property
    def remark(self) -> str:
        """Return what a heading says of it; nothing where it is as usual."""
        return _REMARKS[self.instants] + (f", pass {self.passing}" if self.passing else "")

    def as_dict(self) -> dict[str, str]:
        """Return it by the names of the options."""
        return {"instants": self.instants, "pass": self.passing or "every event"}
