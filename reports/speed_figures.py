"""Measures further goals for the engine's speed: large machines, long queues, many jobs.

`python reports/speed_figures.py --format markdown` measures all, for some minutes; with names, those figures alone.
Each is a ratio of processor times taken in turn in one run, or memory: both say little of the machine. For two of
them `HARNESS_DATA` must lead to RICC and HPC2N.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine_speed import CLUSTER, stream
from felt_memory import apart
from speed_pieces import Work, asleep_on, on_more_nodes, run

from harness.experiment.simulation import simulate
from harness.policy.scheduler import Scheduler
from harness.present.tables import known_format, render
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare

#: Jobs of the largest run.
MANY = 10_000_000


@dataclass(frozen=True)
class Figure:
    """A goal, and the function that measures it."""

    name: str
    asked: float
    unit: str
    measure: Callable[[], float]


def over(first: Work, second: Work, rounds: int = 2) -> float:
    """Run both in turn, once to compile; return the ratio of the least that they took."""
    took = [(first(), second()) for _ in range(rounds + 1)][1:]
    return min(one for one, _ in took) / min(other for _, other in took)


def on_large_over_small(select: str) -> float:
    """Return what a stream costs on 100,000 nodes of 64 cores, of two kinds, over what it costs on 1,000."""
    return over(*on_more_nodes(100_000, 1_000, 64, 50_000, select=select))


def overloaded(**parts: Any) -> float:
    """Return what 160,000 jobs cost that come faster than they can be served, over what a quarter of them does."""
    return over(run(160_000, 1.3, **parts), run(40_000, 1.3, **parts), 1)


def conservative_on(log: str) -> float:
    """Return for how long the conservative replay of a log has a processor [s], compiled before."""
    simulate(stream(100), CLUSTER, Scheduler(start="conservative"))
    read = read_workload(log)
    return simulate(prepare(read), read.procs, Scheduler(start="conservative")).outcome.processor_seconds


def many_jobs() -> float:
    """Return what a job costs in the largest run over one in a tenth of it."""
    return apart(MANY)[1] / MANY / (apart(MANY // 10)[1] / (MANY // 10))


FIGURES = (
    Figure("EASY, overloaded million over stable", 5.0, "", lambda: over(run(10**6, 1.3), run(10**6, 0.8), 1)),
    Figure("overloaded, 160,000 jobs over 40,000: EASY", 5.0, "", overloaded),
    Figure("… by spf among those behind", 5.0, "", lambda: overloaded(start="easy(backfill_order=spf)")),
    Figure("… by wfp3", 5.0, "", lambda: overloaded(order="wfp3")),
    Figure("… by unicef", 5.0, "", lambda: overloaded(order="unicef")),
    Figure("conservative on RICC", 20.0, "s", lambda: conservative_on("RICC")),
    Figure("conservative on HPC2N", 0.7, "s", lambda: conservative_on("HPC2N")),
    Figure("100,000 nodes over 1,000", 3.0, "", lambda: on_large_over_small("first-fit")),
    Figure("the same, best-fit", 3.0, "", lambda: on_large_over_small("best-fit")),
    Figure("the same, efficient", 3.0, "", lambda: on_large_over_small("efficient")),
    Figure("12,000 nodes that sleep over 120", 3.0, "", lambda: over(asleep_on(12_000), asleep_on(120))),
    Figure("ten million jobs over a million, a job", 1.0, "", many_jobs),
    Figure("ten million jobs, resident beyond the log", 250.0, "bytes a job", lambda: apart(MANY)[0]),
)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of figures; all without")
    parser.add_argument("--format", default="table")
    given = parser.parse_args()
    known_format(given.format)
    wanted = [one for one in FIGURES if not given.names or any(name in one.name for name in given.names)]
    rows = [(one.name, one.measure(), one.asked, one.unit) for one in wanted]
    print(render(("figure", "now", "asked, at most", "unit"), rows, given.format))


if __name__ == "__main__":
    main()
