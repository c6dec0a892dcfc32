"""What a measure is, and how a function becomes one."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from harness.errors import HarnessError
from harness.present.tables import Better

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

Function = Callable[["Schedule"], float]


@dataclass(frozen=True, eq=False)
class Measure:
    """One number that says something about a schedule. The docstring of `function` says what, in a sentence."""

    name: str
    unit: str  # empty: a plain number
    better: Better  # "less", "more", or "neither": it describes the run and does not judge it
    formula: str
    function: Function
    #: Relative differences up to this say nothing: sums of the same numbers differ so much from machine to machine.
    tolerance: float = 1e-9
    #: Whether it compares the schedule with its log. Where that does not say how it went, as of variations and of
    #: generated jobs, there is no number, and means are taken over the other runs.
    against_log: bool = False
    headline: bool = False  # among the first things to know of a run
    share: bool = False  # of a whole: people read it as so many per cent

    def __post_init__(self) -> None:
        if self.better not in get_args(Better):
            choices = ", ".join(get_args(Better))
            raise HarnessError(f"measure {self.name!r}: better={self.better!r}: expected one of {choices}")

    @property
    def group(self) -> str:
        """What it is about: jobs, machine, energy, log; of a plugin's, extra."""
        home, _, module = self.function.__module__.rpartition(".")
        return module.removesuffix("_measures") if home == __name__.rpartition(".")[0] else "extra"

    @property
    def meaning(self) -> str:
        """What it measures, in one sentence."""
        return " ".join((inspect.getdoc(self.function) or "").split())


#: What the modules of this package have declared so far.
DECLARED: list[Measure] = []


def measure(unit: str, better: Better, formula: str, **traits: bool) -> Callable[[Function], Function]:
    """Make the function below a built-in measure of its name; `traits` are those of `Measure`."""

    def add(function: Function) -> Function:
        DECLARED.append(Measure(function.__name__, unit, better, formula, function, **traits))
        return function

    return add


def ratio(numerator: Any, denominator: Any) -> float:
    """Divide; what is over nothing is not a number."""
    return float(numerator) / float(denominator) if denominator > 0 else math.nan
