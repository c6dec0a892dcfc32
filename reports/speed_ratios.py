"""What the engine's speed is held to: ratios of processor times taken in turn in one run, so that machines compare.

Some are against a bare loop that does the same work, some say what four times as many jobs cost, some what a command
costs from its first import on. The bundled `bench.json` has those of the releases.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bare_loop import bare
from engine_speed import CLUSTER, METERED, stream
from felt_memory import apart
from speed_releases import kept

from harness.experiment.simulation import simulate
from harness.platform.machine import NodeType, Platform
from harness.policy.scheduler import Scheduler

#: How often each of the two is run, in turn.
ROUNDS = 3

#: As many resident bytes a job are to be enough for a run, beyond the log; and as many jobs tell.
BYTES = 250.0
JOBS_FELT = 1_000_000

Work = Callable[[], float]  # does it, and returns for how long it had a processor [s], or how many bytes it took


@dataclass(frozen=True)
class Ratio:
    """Two pieces of work, one of which is said to take so many times as long as the other."""

    name: str
    meaning: str
    goal: float  # the most that it should be
    pair: Callable[[], tuple[Work, Work]]  # what is measured, and beside what
    rounds: int = ROUNDS

    def measure(self) -> float:
        """Run both in turn; return the ratio of the least that they took."""
        pieces = self.pair()
        least = [float("inf"), float("inf")]
        for piece in pieces:  # compile
            piece()
        for _ in range(self.rounds):
            for k, piece in enumerate(pieces):
                least[k] = min(least[k], piece())
        return least[0] / least[1]


def run(jobs: int, load: float, platform: Platform = CLUSTER, **parts: Any) -> Work:
    """Return what replays a stream of so many jobs."""
    workload, scheduler = stream(jobs, load=load), Scheduler(**({"energy": "none"} | parts))
    return lambda: simulate(workload, platform, scheduler).outcome.processor_seconds


def beside_bare(start: str) -> tuple[Work, Work]:
    """Return the engine and the bare loop, on the same jobs."""
    frame = stream(40_000).jobs
    columns = [frame[name].to_numpy() for name in ("submit", "work", "estimate", "procs")]
    node = CLUSTER.types[0]

    def alone() -> float:
        began = time.thread_time()
        bare(*columns, node.count, node.cores, node.idle, node.peak, start == "easy")
        return time.thread_time() - began

    return run(40_000, 0.8, start=start, energy="cores"), alone


def with_everything() -> tuple[Work, Work]:
    """Return runs with rates, sleep and measured power, and without, on the same nodes."""
    plain = run(20_000, 0.5, METERED, start="easy", energy="cores")
    power: dict[str, Any] = {"energy": "spec", "rate": "hysteresis(low=8, high=16)", "sleep": "timeout(idle=600)"}
    return run(20_000, 0.5, METERED, start="easy", **power), plain


def by_itself(*arguments: str, **environment: str) -> float:
    """Run Python in a process of its own, as users do; return for how long that had a processor [s]."""
    before = os.times()
    known = {**os.environ, **environment}
    known.pop("PYTHONDONTWRITEBYTECODE", None)  # else our own files are compiled anew each time
    subprocess.run([sys.executable, *arguments], env=known, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def beginning(*, cold: bool) -> tuple[Work, Work]:
    """Return a first answer on a few jobs, with nothing compiled before or everything, beside bare imports."""
    lines = [f"{k} {9 * k} 0 {60 + k} {k % 64 + 1} -1 -1 {k % 64 + 1} 300{' -1' * 9}" for k in range(100)]

    folder = TemporaryDirectory()
    log = Path(folder.name) / "small.swf"
    log.write_text("\n".join(["; MaxProcs: 128", *lines]), encoding="utf-8")

    def first() -> float:
        with TemporaryDirectory(dir=folder.name) as empty:
            kept = {"HARNESS_CACHE": empty} if cold else {}
            return by_itself("-m", "harness", "run", str(log), **kept)

    return first, lambda: by_itself("-c", "import numba, pandas")


def memory() -> tuple[Work, Work]:
    """Return what a run takes of memory beside its workload, by job, and what it should take at most."""
    return lambda: apart(JOBS_FELT)[0], lambda: BYTES


def four_times(jobs: int, load: float = 1.3, **parts: Any) -> tuple[Work, Work]:
    """Return a stream four times as long as the other: four is as good as can be."""
    return run(4 * jobs, load, **parts), run(jobs, load, **parts)


def on_many_nodes() -> tuple[Work, Work]:
    """Return the same jobs on 100 times as many nodes."""
    many, few = (Platform(f"{count} nodes", (NodeType(count, 2),)) for count in (12_000, 120))
    return run(40_000, 0.8, many, start="easy"), run(40_000, 0.8, few, start="easy")


RATIOS = (
    Ratio("fcfs beside bare", "FCFS over a bare loop", 2.0, lambda: beside_bare("none")),
    Ratio("easy beside bare", "EASY over a bare loop", 2.0, lambda: beside_bare("easy")),
    Ratio("everything beside plain", "eleven levels of power, rates, timeouts over none of them", 1.8, with_everything),
    Ratio("many nodes beside few", "the same jobs on 12,000 nodes over 120", 3.0, on_many_nodes),
    Ratio("fcfs, 4 n over n", "FCFS, overloaded", 4.4, lambda: four_times(20_000, start="none")),
    Ratio("easy, 4 n over n", "EASY, overloaded", 8.0, lambda: four_times(20_000, start="easy")),
    Ratio(
        "easy-spf, 4 n over n",
        "EASY that tries the shortest first, overloaded",
        8.0,
        lambda: four_times(20_000, start="easy(backfill_order=spf)"),
    ),
    Ratio("wfp3, 4 n over n", "WFP3 and EASY, overloaded", 16.0, lambda: four_times(1_500, order="wfp3", start="easy")),
    Ratio(
        "conservative, 4 n over n", "conservative, overloaded", 16.0, lambda: four_times(1_500, start="conservative")
    ),
    Ratio(
        "conservative beside easy",
        "conservative over EASY, overloaded",
        20.0,
        lambda: (run(3_000, 1.3, start="conservative"), run(3_000, 1.3, start="easy")),
    ),
    Ratio(
        "cold start beside imports",
        "a first answer, nothing compiled before, over importing numba and pandas",
        16.0,
        lambda: beginning(cold=True),
        rounds=1,
    ),
    Ratio("warm start beside imports", "the same, all compiled before", 1.8, lambda: beginning(cold=False)),
    Ratio("resident beside 250 bytes", "what a run takes of memory for each job over 250 bytes", 1.0, memory, rounds=1),
)


@dataclass(frozen=True)
class Finding:
    """A ratio, what it was in the last release, and whether it is worse by more than so large a part of that."""

    ratio: Ratio
    value: float
    before: float | None
    within: float

    @property
    def worse(self) -> bool:
        """Return whether this is a regression."""
        return self.before is not None and self.value > self.before * (1 + self.within)

    @property
    def row(self) -> tuple[Any, ...]:
        """Return the row of the table."""
        verdict = "worse" if self.worse else "" if self.before is None else "as good"
        return self.ratio.name, self.value, self.before, self.ratio.goal, verdict, self.ratio.meaning


#: The columns of `Finding.row`.
HEADERS = ("ratio", "now", "last release", "goal, at most", "verdict", "meaning")


def check(within: float, attempts: int = 3, ratios: tuple[Ratio, ...] = RATIOS) -> list[Finding]:
    """Measure all ratios; those that seem worse again, since noise is seldom there three times."""
    before = kept()
    findings = []
    for ratio in ratios:
        value = float("inf")
        for _ in range(attempts):
            value = min(value, ratio.measure())
            found = Finding(ratio, value, before.get(ratio.name), within)
            if not found.worse:
                break
        findings.append(found)
    return findings
