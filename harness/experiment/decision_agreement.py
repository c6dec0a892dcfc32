"""Decision agreement: compare single decisions of a policy with those of a log, each in the state that the log records.

A replay that departs once from its log is in other states ever after. Its measure P therefore compares decisions that
were made in different states. Here each decision is made in a logged state: which jobs ran and waited, and since when.

The states are drawn from the instants at which the log started some jobs and left others waiting. They form one
workload, so one ordinary run answers for any policy. In each state the running jobs and one filler job occupy all
processors until the instant, and the waiting jobs queue up behind them. At the instant the filler job ends. The jobs
that the policy starts then are its decision. All jobs end within seconds, and the next state follows.

The score of a state is the number of jobs that both started, divided by the number that either started. A job that the
log started at most `SLACK` later counts as started by the log if the policy starts it: machines launch jobs one after
the other.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.results.adequacy import logged_stream

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload

#: The states stop at this total of jobs: queues of thousands give no better score than those of tens.
MAX_JOBS = 50_000

#: A log is cut into at most this many parts for the typical agreement, each of at least this many states.
PARTS, FEWEST = 20, 15

#: A start in the log this much later is the same decision [s].
SLACK = 60.0

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LoggedStates:
    """Logged states as one workload, and the log's decision in each."""

    workload: "Workload"
    decided: Floats  # per job: the instant at which it may start; not a number for jobs that only fill the machine
    state: Ints  # per job: the number of its state
    started: npt.NDArray[np.bool_]  # per job: the log started it at the instant
    soon: npt.NDArray[np.bool_]  # per job: the log started it at most SLACK later
    instants: Floats  # per state: its time in the log

    def __len__(self) -> int:
        return int(self.state.max(initial=-1)) + 1


def draw_states(workload: "Workload", procs: int, most: int = 400, seed: int = 0) -> LoggedStates:
    """Draw at most `most` states of a machine of `procs` processors from the log of a prepared `workload`."""
    jobs = workload.jobs.take(np.argsort(workload.jobs["submit"].to_numpy(), kind="stable"))
    real = logged_stream(workload)
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
        if begins.all() or real.procs[queue[begins]].sum() > free:  # no decision, or an impossible state
            continue
        part = _state(jobs, running, queue, instant, begin, free, start)
        part["started"] = np.concatenate([np.zeros(len(part) - len(queue), bool), begins])
        part["soon"] = np.concatenate([np.zeros(len(part) - len(queue), bool), start[queue] <= instant + SLACK])
        part["state"] = len(parts)
        begin = float(part["decided"].max()) + len(queue) + 60.0
        parts.append(part)
        taken.append(instant)
        jobs_so_far += len(part)
        if len(parts) == most or jobs_so_far > MAX_JOBS:
            break
    return _joined(workload, parts, np.array(taken))


class DecisionAgreement:
    """The logged states of one log, with which any policy is compared."""

    def __init__(self, workload: "Workload", platform: "Platform | int | None", states: int, seed: int) -> None:
        procs = platform if isinstance(platform, int) else platform.cores if platform else workload.procs or 0
        self._questions = draw_states(workload, procs, states, seed) if states and procs else None

    def of(self, replay: "Callable[[Workload], Schedule]") -> tuple[float, float]:
        """Return the agreement of the policies that `replay` runs: the mean over all states, and the typical value.

        The typical value is the median over parts of the log with equally many states, so an outage or a month under
        other rules does not change it. Both are not a number if no state leaves a decision.
        """
        if not self._questions:
            return math.nan, math.nan
        score = agreement_by_state(self._questions, replay(self._questions.workload))
        count = min(PARTS, max(1, len(score) // FEWEST))
        parts = np.array_split(score[np.argsort(self._questions.instants, kind="stable")], count)
        return float(score.mean()), float(np.median([part.mean() for part in parts if len(part)]))


def _state(
    jobs: pd.DataFrame, running: Ints, queue: Ints, instant: float, begin: float, free: float, start: Floats
) -> pd.DataFrame:
    """Return the jobs that bring the machine into a state, from time `begin` on, and the jobs of its queue."""
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


def _joined(workload: "Workload", parts: list[pd.DataFrame], instants: Floats) -> LoggedStates:
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if table.empty:
        return LoggedStates(workload, np.zeros(0), np.zeros(0, int), np.zeros(0, bool), np.zeros(0, bool), instants)
    table = table[table["procs"] > 0].reset_index(drop=True)
    decided, state, started, soon = (np.asarray(table.pop(name)) for name in ("decided", "state", "started", "soon"))
    table = table.assign(job=np.arange(1, len(table) + 1), cancel=np.inf, killed=False)
    asked = replace(workload, jobs=table, digest=f"{workload.digest} states {len(parts)}", preparation=())
    return LoggedStates(asked, decided, state, started, soon, instants)


def agreement_by_state(asked: LoggedStates, schedule: "Schedule") -> Floats:
    """Return the score of each state for the policy that made `schedule`."""
    about = ~np.isnan(asked.decided)
    ours = np.abs(schedule.frame["start"].to_numpy() - asked.decided) < 1e-6
    theirs = asked.started | (ours & asked.soon)

    def count(which: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(asked.state[about & which], minlength=len(asked)).astype(np.float64)

    both, either = count(ours & theirs), count(ours | theirs)
    return np.divide(both, either, out=np.zeros(len(asked)), where=either > 0)
