"""Who may come later: the jobs of a week of before, drawn by lot, at the same hours of the same days."""

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

#: Weeks are drawn from the last half year.
MOST_WEEKS = 26

#: What may be assumed of later arrivals.
ASSUMED = ("weeks", "none")


class Arrivals:
    """The weeks before an instant, whose jobs may come again after it."""

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
            self.remark = f"nobody is assumed to come later{why}"
        else:
            of = "the week before" if self.weeks == 1 else f"one of the {self.weeks} weeks before, drawn anew each time"
            self.remark = f"who comes later is as in {of}, for a week"

    def drawn(self, draw: np.random.Generator) -> tuple[Workload, float] | None:
        """Return the jobs of a week, and by how much later they come; None if nobody does."""
        if self._jobs is None:
            return None
        moved = WEEK * int(draw.integers(1, self.weeks + 1))
        submit = self._jobs.jobs["submit"].to_numpy() + moved
        rows = (submit > self._now) & (submit <= self._now + WEEK)
        if not rows.any():
            return None
        jobs = self._jobs.jobs[rows].reset_index(drop=True)
        return Workload(self._jobs.name, jobs, None, f"{self._jobs.digest} {moved}"), moved


def _prepared(snapshot: Snapshot, usage: Usage, since: float, draw: np.random.Generator) -> Workload | None:
    """Return the jobs submitted since then, ready to be replayed; who has not ended takes as long as others did."""
    past = snapshot.past[(snapshot.past["submit"] > since)]
    told = limits(past, snapshot.past) if len(past) else np.zeros(0)
    run = np.array(past["run"], dtype=np.float64)
    unknown = (run < 0) & (past["status"] == -1).to_numpy()
    user = past["user"].to_numpy(dtype=np.int64)
    drawn = usage.runtimes(user[unknown], told[unknown], np.zeros(int(unknown.sum())), draw, 1)[0]
    run[unknown] = drawn
    if not (run > 0).any():
        return None
    return prepare(Log(snapshot.name, past.assign(run=run, estimate=told), snapshot.header, snapshot.name, "past"))


def with_history(snapshot: Snapshot, log: Log) -> Snapshot:
    """Return the snapshot with the jobs of `log` for its past, as far as they have ended: of other users.

    They are moved by whole weeks if both say when they were, so that all had ended at the instant of the snapshot; else
    to end then.
    """
    jobs = log.jobs[(log.jobs["run"] > 0) & (log.jobs["wait"] >= 0)]
    if not len(jobs):
        raise HarnessError(f"{log.name}: none of its jobs says how long it waited and ran: expected a log of what was")
    last = float((jobs["submit"] + jobs["wait"] + jobs["run"]).max())
    ours, theirs = WallClock.of(snapshot.header).start, WallClock.of(log.header).start
    if ours is None or theirs is None:
        moved = snapshot.now - last
    else:
        moved = float(theirs - ours)
        moved -= WEEK * np.ceil(max(0.0, last + moved - snapshot.now) / WEEK)
    strangers = int(max(snapshot.past["user"].max(), snapshot.there["user"].max(), 0)) + 1
    user = np.where(jobs["user"] >= 0, jobs["user"] + strangers, -1)
    number = jobs["job"] + int(snapshot.past["job"].max()) + 1
    moved_jobs = jobs.assign(job=number, submit=jobs["submit"] + moved, user=user)
    past = pd.concat([moved_jobs, snapshot.past], ignore_index=True)
    past = past.fillna(dict.fromkeys(map(str, past.columns), -1))
    return replace(snapshot, past=past, procs=snapshot.procs or log.procs)
