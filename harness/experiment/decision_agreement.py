"""One step from each logged state: does a policy start whom the log started? A score that does not add up errors.

A replay that departs once from its log is in other states ever after, so that P compares policies by what they do in
states of their own making. Here every decision is asked in the state that the log says there was: who ran since when,
who waited since when. Instants at which the log started jobs and left others waiting are drawn, and made into one
workload: before each instant the running jobs, and one that holds what was free until then, fill the machine; the queue
gathers behind them; at the instant the free processors become free, and what the policy starts then is its answer.
Afterwards everything ends within seconds, and the next state is set up. So any policy is asked by one ordinary run.

The score of an instant is the share of agreement: of the jobs that either started, those that both did. Who started
in the log less than `SLACK` later counts as started too, where the policy has it so: machines launch one job after the
other.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.results.adequacy import logged

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload

#: No more jobs are asked about and run beside them: queues of thousands say no more than those of tens.
MOST_JOBS = 50_000

#: Into so many parts a log is cut at most to see what is typical, each of so many states at least.
PARTS, FEWEST = 20, 15

#: A start in the log this much later is the same decision [s].
SLACK = 60.0

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Questions:
    """Logged states as one workload, and what the log did in each."""

    workload: "Workload"
    decided: Floats  # per job of the workload: the instant at which it may start; not a number: it is not asked about
    state: Ints  # per job: the number of its state
    started: npt.NDArray[np.bool_]  # per job: the log started it at the instant …
    soon: npt.NDArray[np.bool_]  # … or little later
    instants: Floats  # per state: when it was, by the log

    def __len__(self) -> int:
        return int(self.state.max(initial=-1)) + 1


def questions(workload: "Workload", procs: int, most: int = 400, seed: int = 0) -> Questions:
    """Draw at most `most` states of the machine of `procs` processors from the log of a prepared `workload`."""
    jobs = workload.jobs.take(np.argsort(workload.jobs["submit"].to_numpy(), kind="stable"))
    real = logged(workload)
    start = real.submit + real.wait
    end = real.submit + real.residence
    ran = end > start
    instants = np.unique(start[ran & (real.wait >= 0)])
    np.random.default_rng(seed).shuffle(instants)
    parts: list[pd.DataFrame] = []
    taken: list[float] = []
    begin, jobs_so_far = 0.0, 0
    for instant in instants:
        running = np.flatnonzero((start < instant) & (end > instant))
        queue = np.flatnonzero(ran & (real.submit <= instant) & (start >= instant))
        free = procs - real.procs[running].sum()
        begins = start[queue] == instant
        if begins.all() or real.procs[queue[begins]].sum() > free:  # no choice was left, or no such state can be
            continue
        part = _state(jobs, running, queue, instant, begin, free, start)
        part["started"] = np.concatenate([np.zeros(len(part) - len(queue), bool), begins])
        part["soon"] = np.concatenate([np.zeros(len(part) - len(queue), bool), start[queue] <= instant + SLACK])
        part["state"] = len(parts)
        begin = float(part["decided"].max()) + len(queue) + 60.0
        parts.append(part)
        taken.append(instant)
        jobs_so_far += len(part)
        if len(parts) == most or jobs_so_far > MOST_JOBS:
            break
    return _asked(workload, parts, np.array(taken))


class Asked:
    """The states of one log, for every policy that is asked."""

    def __init__(self, workload: "Workload", platform: "Platform | int | None", states: int, seed: int) -> None:
        procs = platform if isinstance(platform, int) else platform.cores if platform else workload.procs or 0
        self._questions = questions(workload, procs, states, seed) if states and procs else None

    def of(self, replay: "Callable[[Workload], Schedule]") -> tuple[float, float]:
        """Return how far the policies that `replay` runs agree: over all states, and in a typical part of the log.

        The second is the median over parts of equal length: an outage, or a month under other rules, leaves it alone.
        Not a number where no state leaves a choice.
        """
        if not self._questions:
            return math.nan, math.nan
        score = agreement(self._questions, replay(self._questions.workload))
        count = min(PARTS, max(1, len(score) // FEWEST))
        parts = np.array_split(score[np.argsort(self._questions.instants, kind="stable")], count)
        return float(score.mean()), float(np.median([part.mean() for part in parts if len(part)]))


def _state(
    jobs: pd.DataFrame, running: Ints, queue: Ints, instant: float, begin: float, free: float, start: Floats
) -> pd.DataFrame:
    """Return the jobs that bring the machine into a state, from `begin` on, and those asked about."""
    first = float(jobs["submit"].iloc[queue].min())
    until = 1.0 + instant - first  # from `begin` to the instant
    there, waits = jobs.iloc[running].copy(), jobs.iloc[queue].copy()
    left = start[running] + there["estimate"].to_numpy() - instant
    there = there.assign(submit=begin, work=until + 1.0, estimate=until + np.maximum(left, 1.0), decided=np.nan)
    waits = waits.assign(submit=begin + 1.0 + waits["submit"] - first, work=1.0, decided=begin + until)
    waits["estimate"] = np.maximum(waits["estimate"], 1.0)
    holder = waits.iloc[:1].assign(
        submit=begin, work=until, estimate=until, procs=int(free), memory=-1, partition=-1, decided=np.nan
    )
    return pd.concat([there, holder, waits], ignore_index=True)


def _asked(workload: "Workload", parts: list[pd.DataFrame], instants: Floats) -> Questions:
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if table.empty:
        return Questions(workload, np.zeros(0), np.zeros(0, int), np.zeros(0, bool), np.zeros(0, bool), instants)
    table = table[table["procs"] > 0].reset_index(drop=True)
    decided, state, started, soon = (np.asarray(table.pop(name)) for name in ("decided", "state", "started", "soon"))
    table = table.assign(job=np.arange(1, len(table) + 1), cancel=np.inf, killed=False)
    asked = replace(workload, jobs=table, digest=f"{workload.digest} states {len(parts)}", preparation=())
    return Questions(asked, decided, state, started, soon, instants)


def agreement(asked: Questions, schedule: "Schedule") -> Floats:
    """Return the score of each state: how far the policy that made `schedule` starts whom the log started."""
    about = ~np.isnan(asked.decided)
    ours = np.abs(schedule.frame["start"].to_numpy() - asked.decided) < 1e-6
    theirs = asked.started | (ours & asked.soon)

    def count(which: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(asked.state[about & which], minlength=len(asked)).astype(np.float64)

    both, either = count(ours & theirs), count(ours | theirs)
    return np.divide(both, either, out=np.zeros(len(asked)), where=either > 0)
