"""Measures the cost of the checks of policies' indices: the same runs with the checks and without.

Each is a process of its own that compiles into a folder of its own; they take turns, and the best of all rounds counts,
in time of the processor, which what else runs on the machine disturbs less.
The checks cannot be switched off: the process without them replaces the function that compiles them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from engine_speed import CLUSTER, stream

from harness.experiment.simulation import simulate
from harness.policy.scheduler import Scheduler

#: Kinds of policies by their work: little, visits to all waiting jobs, plans, new scores of all jobs.
SCHEDULERS = (
    Scheduler(start="none", energy="cores"),
    Scheduler(start="easy", energy="cores"),
    Scheduler(start="conservative", energy="cores"),
    Scheduler(order="wfp3", start="easy", energy="cores"),
)

#: The columns of the table, and their units.
HEADERS = ("order and start", "with checks", "without", "cost")
UNITS = ("", "s", "s", "%")


def bounds_cost(jobs: int, rounds: int = 2) -> list[tuple[Any, ...]]:
    """Return rows of the table: the time of a stream of `jobs` jobs with the checks and without, and the ratio."""
    best: dict[bool, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for checked in (True, False) * rounds:
            cache = os.path.join(folder, "checked" if checked else "unchecked")
            call = [sys.executable, __file__, json.dumps(checked), str(jobs)]
            answer = subprocess.run(
                call, env=os.environ | {"HARNESS_CACHE": cache}, capture_output=True, check=True, text=True
            )
            found = json.loads(answer.stdout)
            best[checked] = [min(pair) for pair in zip(best.get(checked, found), found, strict=True)]
    rows = zip(SCHEDULERS, best[True], best[False], strict=True)
    return [(f"{one.order} + {one.start}", slow, fast, 100 * (slow / fast - 1)) for one, slow, fast in rows]


def leave_checks_out() -> None:
    """Compile policies without the checks in this process."""
    from numba import config

    from harness.numba_support import readonly_types

    config.BOUNDSCHECK = 0
    readonly_types.refuse_beyond = lambda *arguments: None


def seconds(jobs: int, rounds: int = 5) -> list[float]:
    """Return what the simulation takes under each of the schedulers, the best of the rounds [s]."""
    time.perf_counter = time.process_time
    workload = stream(jobs)
    for scheduler in SCHEDULERS:
        simulate(stream(100), CLUSTER, scheduler)  # compile
    found = [[simulate(workload, CLUSTER, one).outcome.seconds for one in SCHEDULERS] for _ in range(rounds)]
    return [min(times) for times in zip(*found, strict=True)]


if __name__ == "__main__":
    if not json.loads(sys.argv[1]):
        leave_checks_out()
    print(json.dumps(seconds(int(sys.argv[2]))))
