"""When two schedules are the same."""

import math

from harness.results.schedule import Schedule
from harness.testing.subject import Wrong


def close(one: float, other: float) -> bool:
    """Equal but for rounding."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)


def history(schedule: Schedule) -> dict[int, dict[str, str]]:
    """Job → when it started and ended, how often it was suspended, what it drew."""
    columns = {"start": ".15g", "end": ".15g", "preemptions": "d", "energy": ".9g"}
    jobs = schedule.frame.to_dict("records")
    return {job["job"]: {name: format(job[name], digits) for name, digits in columns.items()} for job in jobs}


def same(one: Schedule, other: Schedule, what: str) -> None:
    """Refuse two schedules that differ."""
    second = history(other)
    for number, first in history(one).items():
        for name, value in first.items():
            if second[number][name] != value:
                raise Wrong(f"{what}: for job {number}, {name} is {value} and {second[number][name]}")
