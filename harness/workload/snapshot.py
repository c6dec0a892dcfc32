"""What was known of a machine at one instant: who ran since when, who waited, and what had ended before.

Of a log nothing else is taken: what its lines say of later times never gets here.
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

#: What a log learns of a job only when it has ended.
_AFTERWARDS = ("run", "cpu", "used_memory", "status")


@dataclass(frozen=True)
class Snapshot:
    """A machine at one instant. Frames have a log's columns; times are by its clock [s]."""

    name: str
    now: float
    there: pd.DataFrame  # who runs or waits, with `STARTED`; what is known afterwards only is −1
    past: pd.DataFrame  # all who were submitted before; of those that have not ended no runtime, nor start
    labels: tuple[str, ...]  # what those who are there are called, by their users
    header: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    procs: int | None = None  # of the machine, where known
    live: bool = False  # read from a running machine, on which all running jobs fit; logs may have some that do not

    @property
    def running(self) -> Bools:
        """Which of those who are there run."""
        return self.there[STARTED].to_numpy() >= 0

    @property
    def elapsed(self) -> Floats:
        """For how long those who are there have run [s]: 0 if they wait."""
        return np.where(self.running, self.now - self.there[STARTED].to_numpy(), 0.0)

    @property
    def limits(self) -> Floats:
        """What those who are there may take at most [s]."""
        return limits(self.there, self.past)

    def workload(self) -> Workload:
        """Return the jobs that are there, ready to be continued, each with its limit for a runtime."""
        longest = np.maximum(self.limits, np.ceil(self.elapsed))  # who runs for longer than that ends now
        jobs = self.there.assign(run=longest, estimate=longest)
        digest = content_digest(jobs, self.header)
        prepared = prepare(Log(self.name, jobs, self.header, self.name, digest, self.steps, self.procs))
        unlimited = np.count_nonzero(self.there["estimate"] <= 0)
        steps = [Step("state", len(jobs), f"{self.running.sum():,} run, {(~self.running).sum():,} wait")]
        steps.append(Step("runtimes", len(jobs), "unknown yet: the limits"))
        if unlimited:
            steps.append(Step("limits", int(unlimited), "unknown: the longest that is known"))
        digest = hashlib.sha256(f"{prepared.digest} from {self.now!r}".encode()).hexdigest()
        return replace(prepared, now=self.now, digest=digest, preparation=(*prepared.preparation, *steps))


def limits(jobs: pd.DataFrame, past: pd.DataFrame) -> Floats:
    """Return what jobs may take at most [s]: where that is unknown, the longest that is known of anybody."""
    told = jobs["estimate"].to_numpy(dtype=np.float64)
    known = float(max(told.max(initial=0), past["estimate"].max() if len(past) else 0))
    if known <= 0:
        known = float(past["run"].max()) if len(past) else 0.0
    if not known > 0 and (told <= 0).any():
        raise HarnessError(
            f"job {jobs['job'].iloc[int(np.argmax(told <= 0))]} has no limit, nor has anybody else, and nobody has "
            "ended: expected a time limit of some job at least"
        )
    return np.where(told > 0, told, known)


def at_instant(log: Log, now: float) -> Snapshot:
    """Return what was known of the machine of `log` at `now` [s on the log's clock].

    Who is started at that very instant waits still. Jobs of which the log does not know the wait are left out.
    """
    submitted = log.jobs["submit"].to_numpy(dtype=np.float64)
    jobs = log.jobs[(submitted >= 0) & (submitted <= now)]
    submit, wait, run = (jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "wait", "run"))
    known = (wait >= 0) & (widths(jobs) > 0)
    start = submit + wait
    begun = known & (start < now)
    ended = begun & (start + np.maximum(run, 0.0) <= now)
    there = known & ~ended
    if not there.any():
        raise HarnessError(
            f"{log.name}: nobody runs or waits then: expected a time between its first submit, which is 0, and its end"
        )
    hidden = dict.fromkeys(_AFTERWARDS, -1)
    started = np.where(begun & there, start, -1.0)
    unfinished = jobs[~ended].assign(**hidden)
    unfinished["wait"] = np.where(started[~ended] >= 0, wait[~ended], -1.0)
    past = pd.concat([jobs[ended], unfinished]).sort_index()
    frame = unfinished[there[~ended]].assign(**{STARTED: started[there]}).reset_index(drop=True)
    steps = []
    if not known.all():
        steps.append(Step("waits", int((~known).sum()), "or widths of jobs submitted before: unknown, left out"))
    labels = tuple(map(str, frame["job"]))
    return Snapshot(log.name, now, frame, past.reset_index(drop=True), labels, log.header, tuple(steps), log.procs)


def widths(jobs: pd.DataFrame) -> Floats:
    """Return how many processors jobs of a log ask for, or have used where that is unknown."""
    found: Floats = np.where(jobs["procs"] > 0, jobs["procs"], jobs["used_procs"]).astype(np.float64)
    return found


def time_in(log: Log, told: str) -> float:
    """Return the time of `told`, seconds after the first submit or a date, on the clock of `log` [s]."""
    try:
        seconds = Preparation(start=told).in_seconds(log.header, log.name, _first(log)).start
    except HarnessError as error:
        raise HarnessError(str(error).replace("start=", "--at ").replace(" (--from)", "")) from None
    return _first(log) + float(seconds or 0.0)


def _first(log: Log) -> float:
    return float(log.jobs["submit"].min())


def cancelled(jobs: pd.DataFrame) -> Bools:
    """Say which jobs of a log never ran, but were cancelled."""
    status, run = jobs["status"].to_numpy(), jobs["run"].to_numpy()
    return np.asarray((run <= 0) & (status != LoggedStatus.COMPLETED))


def followed_by(state: Workload, further: Workload, *, moved: float | None = None) -> Workload:
    """Let the jobs of `further` arrive after those of `state`, the first of them at its instant.

    They are numbered on, and are other users' and groups': numbers of two files do not stand for the same people. With
    `moved` they come so much later than they did [s], and belong to the same people.
    """
    assert state.now is not None
    ours, theirs = state.jobs, further.jobs
    strangers = ("user", "group") if moved is None else ()
    moved = state.now - float(theirs["submit"].min()) if moved is None else moved
    changed: dict[str, Any] = {name: theirs[name] + moved for name in ("submit", "cancel")}
    for name in strangers:
        changed[name] = np.where(theirs[name] >= 0, theirs[name] + max(0, int(ours[name].max())) + 1, -1)
    numbers = int(ours["job"].max())
    changed["job"] = theirs["job"] + numbers
    changed[STARTED] = -1.0
    for name in (PRECEDING, *ALSO_PRECEDING):
        if name in theirs:
            changed[name] = np.where(theirs[name] > 0, theirs[name] + numbers, -1.0)
    if BEGIN in theirs:
        changed[BEGIN] = np.where(theirs[BEGIN] >= 0, theirs[BEGIN] + moved, -1.0)
    jobs = pd.concat([ours, theirs.assign(**changed)], ignore_index=True)
    jobs = jobs.fillna(dict.fromkeys(map(str, jobs.columns), -1))  # columns that only one of them has
    detail = f"of {further.name}, the first at the instant of the state, by other users and groups"
    return replace(
        state,
        parts=(state, further),
        name=f"{state.name}, then {further.name}",
        jobs=jobs,
        procs=state.procs or further.procs,
        digest=hashlib.sha256(f"{state.digest} then {further.digest}".encode()).hexdigest(),
        preparation=(*state.preparation, *further.preparation, Step("further jobs", len(theirs), detail)),
    )
