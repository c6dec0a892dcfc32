"""A run beside its baseline: which measures moved, by how much, and whether that is worse or better."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from harness.errors import HarnessError, did_you_mean
from harness.gate.baseline import Key
from harness.gate.difference import Difference
from harness.results.measures import Measure, known_measures

#: From what a gate must stop to what it need not look at.
Outcome = Literal["not compared", "worse", "better", "changed", "same"]
OUTCOMES: tuple[Outcome, ...] = ("not compared", "worse", "better", "changed", "same")


@dataclass(frozen=True)
class Move:
    """A measure that has another value than before."""

    measure: Measure
    before: float  # not a number where there is none
    now: float

    @property
    def outcome(self) -> Outcome:
        """Worse or better by the measure's own direction; a lost value is worse, a new one only a change."""
        if self.measure.better == "neither" or math.isnan(self.before):
            return "changed"
        if math.isnan(self.now):
            return "worse"
        return "better" if (self.now < self.before) == (self.measure.better == "less") else "worse"

    @property
    def share(self) -> float:
        """By how much it moved, relative to what it was."""
        return (self.now - self.before) / abs(self.before) if self.before else math.nan


#: The measures that a check judges by if nobody says otherwise, with the relative differences that count as none: what
#: hangs on the last job or on a few moves most by chance. Those of plugins are judged by, too, each as it says.
MATTER = {
    **dict.fromkeys(("mean_wait", "mean_response", "mean_bounded_slowdown", "area_weighted_response", "energy"), 0.01),
    **dict.fromkeys(("p95_wait", "makespan", "utilisation"), 0.02),
    "max_wait": 0.05,
    **dict.fromkeys(("unaccepted", "stranded", "killed"), 0.0),
}


def judged(known: Mapping[str, Measure], chosen: Iterable[str]) -> tuple[list[Measure], dict[str, float]]:
    """Return the `chosen` measures, or those that matter, and what is tolerated of each if nobody says otherwise."""
    names = list(chosen)
    for name in names:
        if name not in known:
            raise HarnessError(f"there is no measure {name!r}; {did_you_mean(name, known)}")
    built_in = known_measures(())
    names = names or [name for name in known if name in MATTER or name not in built_in]
    return [known[name] for name in names], {name: MATTER[name] for name in names if name in MATTER}


def moves(
    before: Mapping[str, float | None],
    now: Mapping[str, float | None],
    measures: Iterable[Measure],
    tolerances: Mapping[str, float],
) -> tuple[Move, ...]:
    """Find the measures, of those in both, that moved by more than is tolerated; the worse ones first."""
    found = []
    for measure in measures:
        if measure.name in before and measure.name in now:
            old, new = _value(before[measure.name]), _value(now[measure.name])
            tolerance = tolerances.get(measure.name, measure.tolerance)
            same = math.isclose(old, new, rel_tol=tolerance) or (math.isnan(old) and math.isnan(new))
            if not same:
                found.append(Move(measure, old, new))
    return tuple(sorted(found, key=lambda move: OUTCOMES.index(move.outcome)))


def _value(value: float | None) -> float:
    return math.nan if value is None else value


@dataclass(frozen=True)
class Compared:
    """One run beside its baseline."""

    key: Key
    scheduler: str  # in a few words
    problem: str = ""  # why it could not be compared
    rescheduled: bool = False  # whether any start differs
    moves: tuple[Move, ...] = ()
    difference: Difference | None = None  # the first of the schedule, if the old starts are there

    @property
    def workload(self) -> str:
        """What ran, with which variation of it."""
        return self.key[0] + (f", variation {self.key[2]}" if self.key[2] else "")

    @property
    def where(self) -> str:
        """What ran where, for people."""
        return f"{self.workload} on {self.key[1]}" + (f", seed {self.key[3]}" if self.key[3] else "")

    @property
    def outcome(self) -> Outcome:
        """Worse if any measure is."""
        if self.problem:
            return "not compared"
        found = {move.outcome for move in self.moves} | ({"changed"} if self.rescheduled else {"same"})
        return next(outcome for outcome in OUTCOMES if outcome in found)
