"""The class of measures, and the decorator that declares one."""

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
    """One number computed from a schedule. The docstring of `function` explains it in a sentence."""

    name: str
    unit: str  # empty: a plain number
    better: Better  # "less", "more", or "neither" if it does not judge the run
    formula: str
    function: Function
    #: The largest relative difference that counts as equal: sums of the same numbers differ between machines.
    tolerance: float = 1e-9
    #: Whether it compares the schedule with its log. Variations and generated jobs have no logged times. They have no
    #: such number, and means are over the other runs.
    against_log: bool = False
    headline: bool = False  # shown in the summary of a run
    share: bool = False  # shown as a percentage

    def __post_init__(self) -> None:
        if self.better not in get_args(Better):
            choices = ", ".join(get_args(Better))
            raise HarnessError(f"measure {self.name!r}: better={self.better!r}: expected one of {choices}")

    @property
    def group(self) -> str:
        """Its subject: jobs, machine, energy or log; extra for those of plugins."""
        home, _, module = self.function.__module__.rpartition(".")
        return module.removesuffix("_measures") if home == __name__.rpartition(".")[0] else "extra"

    @property
    def meaning(self) -> str:
        """Its explanation in one sentence."""
        return " ".join((inspect.getdoc(self.function) or "").split())


#: The measures that the modules of this package have declared.
DECLARED: list[Measure] = []


def measure(unit: str, better: Better, formula: str, **traits: bool) -> Callable[[Function], Function]:
    """Return a decorator that declares a function as a built-in measure; `traits` are fields of `Measure`."""

    def add(function: Function) -> Function:
        DECLARED.append(Measure(function.__name__, unit, better, formula, function, **traits))
        return function

    return add


def ratio(numerator: Any, denominator: Any) -> float:
    """Return the quotient; not a number if the denominator is 0."""
    return float(numerator) / float(denominator) if denominator > 0 else math.nan
