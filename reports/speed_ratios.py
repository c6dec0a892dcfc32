"""Goals for the engine's speed: ratios of times that are taken in turn in one run, to compare machines.

Some are against a bare loop that does the same work, some say what four times as many jobs cost, some what a command
costs from its first import on, some what a second worker brings. The bundled `bench.json` has those of the releases.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from speed_pieces import (
    Pair,
    asleep_on,
    beginning,
    empty_runs,
    four_times,
    memory,
    of_log,
    on_more_nodes,
    on_two,
    over_bare,
    reading,
    run,
    selecting,
    with_everything,
)
from speed_releases import kept

from harness.errors import HarnessError

#: How often each of the two is run, in turn.
ROUNDS = 3


@dataclass(frozen=True)
class Ratio:
    """Two pieces of work, and the goal for the ratio of their times."""

    name: str
    meaning: str
    goal: float  # the most that it should be
    pair: Callable[[], Pair]  # what is measured, and its reference
    rounds: int = ROUNDS
    slow: bool = False  # takes more than a few seconds

    def measure(self) -> float:
        """Run both in turn; return the ratio of the least that they took."""
        pieces = self.pair()
        least = [float("inf"), float("inf")]
        for _ in range(self.rounds):
            for k, piece in enumerate(pieces):
                least[k] = min(least[k], piece())
        return least[0] / least[1]


# Goals in seconds are divided by the time of the other piece on the machine of the goal.
RATIOS = (
    Ratio("fcfs over bare", "FCFS over a bare loop", 2.0, partial(over_bare, "none")),
    Ratio("easy over bare", "EASY over a bare loop", 2.0, partial(over_bare, "easy")),
    Ratio("everything over plain", "eleven levels of power, rates, timeouts over none of them", 1.8, with_everything),
    Ratio(
        "nodes that sleep",
        "the same jobs on 12,000 nodes of which idle ones sleep over 120",
        3.0,
        lambda: (asleep_on(12_000), asleep_on(120)),
    ),
    *(
        Ratio(
            f"many nodes, {select}",
            f"the same jobs on 100,000 nodes of 64 cores over 1,000, {select}",
            3.0,
            partial(on_more_nodes, 100_000, 1_000, 64, 10_000, select=select),
        )
        for select in ("first-fit", "best-fit", "efficient")
    ),
    *(
        Ratio(f"{select} over first-fit", "a selection over the simplest", 3.0, partial(selecting, select))
        for select in ("best-fit", "efficient", "contiguous", "random", "whole-nodes")
    ),
    Ratio("fcfs, 4 n over n", "FCFS, overloaded", 4.4, partial(four_times, 20_000, start="none")),
    Ratio("easy, 4 n over n", "EASY, overloaded", 8.0, partial(four_times, 20_000, start="easy")),
    Ratio(
        "easy-spf, 4 n over n",
        "EASY that tries the shortest first, overloaded",
        8.0,
        partial(four_times, 20_000, start="easy(backfill_order=spf)"),
    ),
    Ratio(
        "overloaded over stable",
        "EASY with more work than the machine can do, over less",
        5.0,
        lambda: (run(200_000, 1.3, start="easy"), run(200_000, 0.8, start="easy")),
    ),
    Ratio(
        "wfp3, 4 n over n", "WFP3 and EASY, overloaded", 16.0, partial(four_times, 1_500, order="wfp3", start="easy")
    ),
    Ratio(
        "conservative, 4 n over n", "conservative, overloaded", 16.0, partial(four_times, 1_500, start="conservative")
    ),
    Ratio(
        "conservative over easy",
        "conservative over EASY, overloaded",
        20.0,
        lambda: (run(3_000, 1.3, start="conservative"), run(3_000, 1.3, start="easy")),
    ),
    Ratio("conservative on HPC2N", "conservative on a log over EASY in the bare loop", 21.0, partial(of_log, "HPC2N")),
    Ratio("conservative on RICC", "the same on an overloaded one", 14.0, partial(of_log, "RICC"), rounds=1, slow=True),
    Ratio(
        "cold start over imports",
        "a first answer, nothing compiled before, over importing numba and pandas",
        16.0,
        partial(beginning, None),
        rounds=1,
        slow=True,
    ),
    Ratio(
        "second start over imports",
        "the same, conservative, all of EASY compiled before",
        6.0,
        partial(beginning, "easy", "conservative"),
        rounds=1,
        slow=True,
    ),
    Ratio("warm start over imports", "the same, all compiled before", 1.8, partial(beginning, "easy"), slow=True),
    Ratio("reading over pandas", "reading a log over what pandas takes for its table", 2.0, partial(reading, 100_000)),
    Ratio("reading, 4 n over n", "reading a log", 4.4, partial(reading, 200_000, 50_000)),
    Ratio(
        "two threads over one",
        "a tournament of compiled policies",
        1 / 1.9,
        partial(on_two, dask=False),
        rounds=1,
        slow=True,
    ),
    Ratio("two Dask workers over one thread", "the same", 1 / 1.7, partial(on_two, dask=True), rounds=1, slow=True),
    Ratio("empty run over bare", "a run of one job in a tournament over 10,000 in the bare loop", 1.2, empty_runs),
    Ratio(
        "resident over 250 bytes",
        "memory of a run for each job over 250 bytes",
        1.0,
        memory,
        rounds=1,
        slow=True,
    ),
)


@dataclass(frozen=True)
class Finding:
    """A ratio, what it was in the last release, and whether it is worse by more than so large a part of that."""

    ratio: Ratio
    value: float | None  # None where it could not be measured …
    before: float | None
    within: float
    why: str = ""  # … for this reason

    @property
    def worse(self) -> bool:
        """Return whether this is a regression."""
        return self.value is not None and self.before is not None and self.value > self.before * (1 + self.within)

    @property
    def row(self) -> tuple[Any, ...]:
        """Return the row of the table."""
        verdict = "worse" if self.worse else "" if None in (self.value, self.before) else "as good"
        return self.ratio.name, self.value, self.before, self.ratio.goal, verdict, self.ratio.meaning


#: The columns of `Finding.row`.
HEADERS = ("ratio", "now", "last release", "goal, at most", "verdict", "meaning")


def check(within: float, attempts: int = 3, ratios: tuple[Ratio, ...] = RATIOS) -> list[Finding]:
    """Measure all ratios; those that seem worse again, since noise is seldom there three times."""
    before = kept()
    return [_found(ratio, before.get(ratio.name), within, attempts) for ratio in ratios]


def _found(ratio: Ratio, before: float | None, within: float, attempts: int) -> Finding:
    """Measure one ratio, several times if it seems worse."""
    value = float("inf")
    for _ in range(attempts):
        try:
            value = min(value, ratio.measure())
        except HarnessError as error:  # a log that is not here
            return Finding(ratio, None, before, within, str(error))
        found = Finding(ratio, value, before, within)
        if not found.worse:
            break
    return found
