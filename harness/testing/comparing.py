"""Compare two schedules."""

import math

from harness.results.schedule import Schedule
from harness.testing.subject import CheckError


def close(one: float, other: float) -> bool:
    """Return whether two numbers are equal, up to rounding errors."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)


def history(schedule: Schedule) -> dict[str, dict[str, str]]:
    """Return the start, end, suspensions and energy of each job, and the energy of each node."""
    columns = {"start": ".15g", "end": ".15g", "preemptions": "d", "energy": ".9g"}
    found = {
        f"job {job['job']}": {name: format(job[name], digits) for name, digits in columns.items()}
        for job in schedule.frame.to_dict("records")
    }
    drawn = schedule.outcome.nodes["energy"]
    return found | {f"node {number}": {"energy": format(joules, ".9g")} for number, joules in enumerate(drawn)}


def require_same(one: Schedule, other: Schedule, what: str) -> None:
    """Raise `CheckError` if two schedules differ."""
    second = history(other)
    for who, first in history(one).items():
        for name, value in first.items():
            if second[who][name] != value:
                raise CheckError(f"{what}: for {who}, {name} is {value} and {second[who][name]}")
