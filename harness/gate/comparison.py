"""Compare a run with its baseline: which measures changed, by how much, and whether that is worse or better."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from harness.errors import HarnessError, did_you_mean
from harness.gate.baseline import Key
from harness.gate.difference import Difference
from harness.results.measures import Measure, known_measures

#: The outcomes, the most severe first.
Outcome = Literal["not compared", "worse", "better", "changed", "same"]
OUTCOMES: tuple[Outcome, ...] = ("not compared", "worse", "better", "changed", "same")


@dataclass(frozen=True)
class MeasureChange:
    """A measure with another value than before."""

    measure: Measure
    before: float  # not a number if there is none
    now: float
    tolerance: float = 0.0  # relative, of the measure in this check

    @property
    def outcome(self) -> Outcome:
        """Worse or better by the measure's direction; a lost value is worse, a new one only a change."""
        if self.measure.better == "neither" or math.isnan(self.before):
            return "changed"
        if math.isnan(self.now):
            return "worse"
        return "better" if (self.now < self.before) == (self.measure.better == "less") else "worse"

    @property
    def share(self) -> float:
        """The relative change."""
        return (self.now - self.before) / abs(self.before) if self.before else math.nan


#: The measure of jobs that never started.
UNSTARTED = "unstarted"

#: The default measures of a check, each with the relative difference that counts as none. Measures that depend on the
#: last job, or on a few jobs, vary most by chance. The measures of plugins are judged too, with their own tolerances.
DEFAULT_TOLERANCES = {
    **dict.fromkeys(("mean_wait", "mean_response", "mean_bounded_slowdown", "area_weighted_response", "energy"), 0.01),
    **dict.fromkeys(("p95_wait", "makespan", "utilisation"), 0.02),
    "max_wait": 0.05,
    **dict.fromkeys(("unaccepted", "stranded", UNSTARTED, "killed"), 0.0),
}


def chosen_measures(known: Mapping[str, Measure], chosen: Iterable[str]) -> tuple[list[Measure], dict[str, float]]:
    """Return the measures of a check, and the default tolerances of those in `DEFAULT_TOLERANCES`.

    These are the `chosen` measures, by default those in `DEFAULT_TOLERANCES` and those of plugins. Jobs that never
    started always count, because most other measures leave them out.
    """
    names = list(chosen)
    for name in names:
        if name not in known:
            raise HarnessError(f"there is no measure {name!r}; {did_you_mean(name, known)}")
    built_in = known_measures(())
    names = names or [name for name in known if name in DEFAULT_TOLERANCES or name not in built_in]
    names = list(dict.fromkeys([*names, UNSTARTED]))
    return [known[name] for name in names], {
        name: DEFAULT_TOLERANCES[name] for name in names if name in DEFAULT_TOLERANCES
    }


def measure_changes(
    before: Mapping[str, float | None],
    now: Mapping[str, float | None],
    measures: Iterable[Measure],
    tolerances: Mapping[str, float],
) -> tuple[tuple[MeasureChange, ...], tuple[MeasureChange, ...]]:
    """Return the measures in both that changed beyond their tolerances, and those that changed within them; worse ones
    first.
    """
    beyond: list[MeasureChange] = []
    within: list[MeasureChange] = []
    for measure in measures:
        if measure.name in before and measure.name in now:
            old, new = _value(before[measure.name]), _value(now[measure.name])
            if old == new or (math.isnan(old) and math.isnan(new)):
                continue
            move = MeasureChange(measure, old, new, tolerances.get(measure.name, measure.tolerance))
            (within if math.isclose(old, new, rel_tol=move.tolerance) else beyond).append(move)
    return _gravest_first(beyond), _gravest_first(within)


def _gravest_first(moves: Iterable[MeasureChange]) -> tuple[MeasureChange, ...]:
    return tuple(sorted(moves, key=lambda move: OUTCOMES.index(move.outcome)))


def _value(value: float | None) -> float:
    return math.nan if value is None else value


@dataclass(frozen=True)
class ComparedRun:
    """The comparison of one run with its baseline."""

    key: Key
    scheduler: str  # its short name
    problem: str = ""  # the reason if it could not be compared
    rescheduled: bool = False  # whether any start differs
    moves: tuple[MeasureChange, ...] = ()  # beyond the tolerances
    within: tuple[MeasureChange, ...] = ()  # other moves
    difference: Difference | None = None  # the first difference of the schedules, if the old starts are known

    @property
    def workload(self) -> str:
        """The workload, with the number of its variation."""
        return self.key[0] + (f", variation {self.key[2]}" if self.key[2] else "")

    @property
    def where(self) -> str:
        """The workload, platform and seed, for readers."""
        return f"{self.workload} on {self.key[1]}" + (f", seed {self.key[3]}" if self.key[3] else "")

    @property
    def outcome(self) -> Outcome:
        """The most severe outcome of its measures."""
        if self.problem:
            return "not compared"
        found = {move.outcome for move in self.moves} | ({"changed"} if self.rescheduled else {"same"})
        return next(outcome for outcome in OUTCOMES if outcome in found)
