"""Later submissions of a forecast: the jobs of a random earlier week, at the same weekdays and hours."""

from dataclasses import replace

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.forecasting.usage import Usage
from harness.workload.log import Log, Workload
from harness.workload.prepare import prepare
from harness.workload.snapshot import Snapshot, limits
from harness.workload.wall_clock import WallClock

WEEK = 7 * 86400.0

#: Weeks are drawn from this many before the instant: half a year.
MOST_WEEKS = 26

#: Assumptions about later submissions.
ASSUMED = ("weeks", "none")


class Arrivals:
    """The weeks before an instant. Their jobs may be submitted again after it."""

    def __init__(self, snapshot: Snapshot, usage: Usage, assumed: str, draw: np.random.Generator) -> None:
        if assumed not in ASSUMED:
            raise HarnessError(f"arrivals {assumed!r}: {did_you_mean(assumed, ASSUMED)}")
        self._now = snapshot.now
        past = snapshot.past
        length = (self._now - float(past["submit"].min())) / WEEK if len(past) else 0.0
        self.weeks = min(int(length), MOST_WEEKS) if assumed == "weeks" else 0
        self._jobs = _prepared(snapshot, usage, self._now - self.weeks * WEEK, draw) if self.weeks else None
        if self._jobs is None:
            self.weeks = 0
            why = "" if assumed == "none" else ": there is no whole week before"
            self.remark = f"no later submissions are assumed{why}"
        else:
            of = "the week before" if self.weeks == 1 else f"one of the {self.weeks} weeks before, drawn for each run"
            self.remark = f"submissions of the next week are those of {of}"

    def drawn(self, draw: np.random.Generator) -> tuple[Workload, float] | None:
        """Return the jobs of a week, and the delay by which they are submitted again; None if there are none."""
        if self._jobs is None:
            return None
        delay = WEEK * int(draw.integers(1, self.weeks + 1))
        submit = self._jobs.jobs["submit"].to_numpy() + delay
        rows = (submit > self._now) & (submit <= self._now + WEEK)
        if not rows.any():
            return None
        jobs = self._jobs.jobs[rows].reset_index(drop=True)
        return Workload(self._jobs.name, jobs, None, f"{self._jobs.digest} {delay}"), delay


def _prepared(snapshot: Snapshot, usage: Usage, since: float, draw: np.random.Generator) -> Workload | None:
    """Return the jobs submitted since then, ready to be replayed. Runtimes of unfinished jobs are drawn."""
    past = snapshot.past[(snapshot.past["submit"] > since)]
    limit = limits(past, snapshot.past) if len(past) else np.zeros(0)
    run = np.array(past["run"], dtype=np.float64)
    unknown = (run < 0) & (past["status"] == -1).to_numpy()
    user = past["user"].to_numpy(dtype=np.int64)
    run[unknown] = usage.runtimes(user[unknown], limit[unknown], np.zeros(int(unknown.sum())), draw, 1)[0]
    if not (run > 0).any():
        return None
    return prepare(Log(snapshot.name, past.assign(run=run, estimate=limit), snapshot.header, snapshot.name, "past"))


def with_history(snapshot: Snapshot, log: Log) -> Snapshot:
    """Return the snapshot with the finished jobs of `log`, of other users, as its past.

    If both have dates, the jobs are moved by whole weeks to before the snapshot, else so that the last ends then.
    """
    jobs = log.jobs[(log.jobs["run"] > 0) & (log.jobs["wait"] >= 0)]
    if not len(jobs):
        raise HarnessError(f"{log.name}: none of its jobs has a wait and a runtime: expected a log of finished jobs")
    last = float((jobs["submit"] + jobs["wait"] + jobs["run"]).max())
    ours, theirs = WallClock.of(snapshot.header).start, WallClock.of(log.header).start
    if ours is None or theirs is None:
        moved = snapshot.now - last
    else:
        moved = float(theirs - ours)
        moved -= WEEK * np.ceil(max(0.0, last + moved - snapshot.now) / WEEK)
    first_user = int(max(snapshot.past["user"].max(), snapshot.present["user"].max(), 0)) + 1
    user = np.where(jobs["user"] >= 0, jobs["user"] + first_user, -1)
    number = jobs["job"] + int(snapshot.past["job"].max()) + 1
    moved_jobs = jobs.assign(job=number, submit=jobs["submit"] + moved, user=user)
    past = pd.concat([moved_jobs, snapshot.past], ignore_index=True)
    past = past.fillna(dict.fromkeys(map(str, past.columns), -1))
    return replace(snapshot, past=past, procs=snapshot.procs or log.procs)
