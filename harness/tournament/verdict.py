"""What a check found: which runs are worse than their baseline, better, or otherwise changed, and what moved."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from harness.results.metrics import Measure
from harness.tournament.baseline import Key
from harness.tournament.difference import Difference

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
        """By the measure's own direction; a value that is lost is worse, one that is won only a change."""
        if self.measure.better == "neither" or math.isnan(self.before):
            return "changed"
        if math.isnan(self.now):
            return "worse"
        return "better" if (self.now < self.before) == (self.measure.better == "less") else "worse"

    @property
    def share(self) -> float:
        """By how much it moved, relative to what it was."""
        return (self.now - self.before) / abs(self.before) if self.before else math.nan


def moves(
    before: Mapping[str, float | None],
    now: Mapping[str, float | None],
    measures: Iterable[Measure],
    tolerances: Mapping[str, float],
) -> tuple[Move, ...]:
    """The measures, of those that are in both, that moved by more than is tolerated; the worse ones first."""
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


@dataclass(frozen=True)
class Verdict:
    """A check as a whole. `str` of it is a summary for people."""

    baseline: Path
    runs: tuple[Compared, ...]
    stale: tuple[str, ...] = ()  # what else than results has changed since the baseline was made
    written: int = 0  # runs in the baseline that was written, if one was

    @cached_property
    def counts(self) -> dict[Outcome, int]:
        """How many runs came out how, the gravest first."""
        counts = Counter(run.outcome for run in self.runs)
        return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}

    @property
    def outcome(self) -> Outcome:
        """That of the gravest run."""
        return next(iter(self.counts), "same")

    @property
    def changed(self) -> bool:
        """Whether anything that was compared differs, for better or worse."""
        return self.outcome != "same"

    @property
    def status(self) -> int:
        """0: the same or better; 1: worse, or changed and written down anew; 2: something could not be compared."""
        if self.written:
            return int(self.changed)
        return {"not compared": 2, "worse": 1}.get(self.outcome, 0)

    def __str__(self) -> str:
        from harness.tournament.summary import as_text

        return as_text(self)
