"""Measures that compare a schedule with its log; not a number if the log has no such times."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.results import adequacy as comparing
from harness.results import adequacy_scale as scale
from harness.results.measures.declaring import measure

if TYPE_CHECKING:
    from harness.results.schedule import Schedule


@measure(
    "s",
    "less",
    "sqrt(Σ (V − v)² / n), V and v a job's residence time here and in the log",
    against_log=True,
    headline=True,
)
def adequacy(schedule: "Schedule") -> float:
    """Difference P between the residence times of the replay and those of its log, as a root mean square."""
    return _unless_undefined(schedule, lambda: comparing.adequacy(schedule).P)


@measure(
    "",
    "more",
    "1 − P / P_null, P_null if all jobs had the log's mean wait",
    against_log=True,
    headline=True,
)
def skill(schedule: "Schedule") -> float:
    """Closeness to the log compared with one constant wait for all jobs: 1 is the log itself, 0 is no closer."""

    def found() -> float:
        return scale.skill(comparing.simulated_stream(schedule), comparing.logged_stream(schedule.workload))

    return _unless_undefined(schedule, found)


def _unless_undefined(schedule: "Schedule", value: Callable[[], float]) -> float:
    """Return a value, or not a number if the log has no waits or ran on another machine."""
    if comparing.machine_mismatch(schedule):
        return math.nan
    try:
        return value()
    except comparing.UndefinedError:
        return math.nan
