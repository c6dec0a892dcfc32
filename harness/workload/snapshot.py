"""The state of a machine at one instant: running, waiting and finished jobs.

A snapshot of a log contains nothing that the log records after that instant.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.content import content_digest
from harness.workload.log import ALSO_PRECEDING, BEGIN, PRECEDING, STARTED, Log, LoggedStatus, Step, Workload
from harness.workload.preparation import Preparation
from harness.workload.prepare import prepare

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: Columns that are known only after the end of a job.
_AFTERWARDS = ("run", "cpu", "used_memory", "status")


@dataclass(frozen=True)
class Snapshot:
    """A machine at one instant. Data frames have the columns of a log. Times are on the log's clock [s]."""

    name: str
    now: float
    present: pd.DataFrame  # running and waiting jobs, with `STARTED`; values known only later are −1
    past: pd.DataFrame  # all jobs submitted before; unfinished ones without runtime and start
    labels: tuple[str, ...]  # the job numbers of `present`, as users know them
    header: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    procs: int | None = None  # of the machine, if known
    live: bool = False  # read from a running machine, on which all running jobs fit; in logs some may not

    @property
    def running(self) -> Bools:
        """Which of the present jobs run."""
        return self.present[STARTED].to_numpy() >= 0

    @property
    def elapsed(self) -> Floats:
        """For how long the present jobs have run [s]; 0 for waiting ones."""
        return np.where(self.running, self.now - self.present[STARTED].to_numpy(), 0.0)

    @property
    def limits(self) -> Floats:
        """The time limits of the present jobs [s]."""
        return limits(self.present, self.past)

    def workload(self) -> Workload:
        """Return the present jobs as a warm start, with their limits as runtimes."""
        longest = np.maximum(self.limits, np.ceil(self.elapsed))  # a job beyond its limit ends now
        jobs = self.present.assign(run=longest, estimate=longest)
        digest = content_digest(jobs, self.header)
        prepared = prepare(Log(self.name, jobs, self.header, self.name, digest, self.steps, self.procs))
        unlimited = np.count_nonzero(self.present["estimate"] <= 0)
        steps = [Step("state", len(jobs), f"{self.running.sum():,} run, {(~self.running).sum():,} wait")]
        steps.append(Step("runtimes", len(jobs), "unknown yet: the limits"))
        if unlimited:
            steps.append(Step("limits", int(unlimited), "unknown: the longest known one"))
        digest = hashlib.sha256(f"{prepared.digest} from {self.now!r}".encode()).hexdigest()
        return replace(prepared, now=self.now, digest=digest, preparation=(*prepared.preparation, *steps))


def limits(jobs: pd.DataFrame, past: pd.DataFrame) -> Floats:
    """Return the time limits of jobs [s]. An unknown one is the longest known limit, else the longest runtime."""
    own = jobs["estimate"].to_numpy(dtype=np.float64)
    known = float(max(own.max(initial=0), past["estimate"].max() if len(past) else 0))
    if known <= 0:
        known = float(past["run"].max()) if len(past) else 0.0
    if not known > 0 and (own <= 0).any():
        raise HarnessError(
            f"job {jobs['job'].iloc[int(np.argmax(own <= 0))]} has no limit, no other job has one, and no job has "
            "ended: expected a time limit of at least one job"
        )
    return np.where(own > 0, own, known)


def at_instant(log: Log, now: float) -> Snapshot:
    """Return the state of the machine of `log` at `now` [s on the log's clock].

    A job that starts at that instant still waits. Jobs with unknown waits are left out.
    """
    submitted = log.jobs["submit"].to_numpy(dtype=np.float64)
    jobs = log.jobs[(submitted >= 0) & (submitted <= now)]
    submit, wait, run = (jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "wait", "run"))
    known = (wait >= 0) & (widths(jobs) > 0)
    start = submit + wait
    begun = known & (start < now)
    ended = begun & (start + np.maximum(run, 0.0) <= now)
    present = known & ~ended
    if not present.any():
        raise HarnessError(
            f"{log.name}: no job runs or waits then: expected a time between its first submit, which is 0, and its end"
        )
    hidden = dict.fromkeys(_AFTERWARDS, -1)
    started = np.where(begun & present, start, -1.0)
    unfinished = jobs[~ended].assign(**hidden)
    unfinished["wait"] = np.where(started[~ended] >= 0, wait[~ended], -1.0)
    past = pd.concat([jobs[ended], unfinished]).sort_index()
    frame = unfinished[present[~ended]].assign(**{STARTED: started[present]}).reset_index(drop=True)
    steps = []
    if not known.all():
        steps.append(Step("waits", int((~known).sum()), "or widths of earlier jobs are unknown: left out"))
    labels = tuple(map(str, frame["job"]))
    return Snapshot(log.name, now, frame, past.reset_index(drop=True), labels, log.header, tuple(steps), log.procs)


def widths(jobs: pd.DataFrame) -> Floats:
    """Return the requested processors of jobs, or the used ones where those are unknown."""
    found: Floats = np.where(jobs["procs"] > 0, jobs["procs"], jobs["used_procs"]).astype(np.float64)
    return found


def time_in(log: Log, text: str) -> float:
    """Return the time of `text`, seconds after the first submit or a date, on the clock of `log` [s]."""
    try:
        seconds = Preparation(start=text).in_seconds(log.header, log.name, _first(log)).start
    except HarnessError as error:
        raise HarnessError(str(error).replace("start=", "--at ").replace(" (--from)", "")) from None
    return _first(log) + float(seconds or 0.0)


def _first(log: Log) -> float:
    return float(log.jobs["submit"].min())


def cancelled(jobs: pd.DataFrame) -> Bools:
    """Return which jobs of a log were cancelled before they ran."""
    status, run = jobs["status"].to_numpy(), jobs["run"].to_numpy()
    return np.asarray((run <= 0) & (status != LoggedStatus.COMPLETED))


def followed_by(state: Workload, further: Workload, *, delay: float | None = None) -> Workload:
    """Return the jobs of `state`, followed by those of `further`, of which the first is submitted at the state's time.

    Numbers of jobs continue. Users and groups get new numbers, since numbers of two files mean different people. With
    `delay` the jobs of `further` are submitted this much later than before [s], and keep their users and groups.
    """
    assert state.now is not None
    ours, theirs = state.jobs, further.jobs
    renumbered = ("user", "group") if delay is None else ()
    delay = state.now - float(theirs["submit"].min()) if delay is None else delay
    changed: dict[str, Any] = {name: theirs[name] + delay for name in ("submit", "cancel")}
    for name in renumbered:
        changed[name] = np.where(theirs[name] >= 0, theirs[name] + max(0, int(ours[name].max())) + 1, -1)
    numbers = int(ours["job"].max())
    changed["job"] = theirs["job"] + numbers
    changed[STARTED] = -1.0
    for name in (PRECEDING, *ALSO_PRECEDING):
        if name in theirs:
            changed[name] = np.where(theirs[name] > 0, theirs[name] + numbers, -1.0)
    if BEGIN in theirs:
        changed[BEGIN] = np.where(theirs[BEGIN] >= 0, theirs[BEGIN] + delay, -1.0)
    jobs = pd.concat([ours, theirs.assign(**changed)], ignore_index=True)
    jobs = jobs.fillna(dict.fromkeys(map(str, jobs.columns), -1))  # of columns that only one of them has
    detail = f"of {further.name}, the first at the time of the state, with other users and groups"
    return replace(
        state,
        parts=(state, further),
        name=f"{state.name}, then {further.name}",
        jobs=jobs,
        procs=state.procs or further.procs,
        digest=hashlib.sha256(f"{state.digest} then {further.digest}".encode()).hexdigest(),
        preparation=(*state.preparation, *further.preparation, Step("further jobs", len(theirs), detail)),
    )
