"""The steps of preparation: what each does to the jobs, and how many it touched."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.condition import COLUMNS, Condition
from harness.workload.content import EXACT
from harness.workload.log import Log, Step, Workload
from harness.workload.swf import procs_of

#: SWF status of a job that was cancelled before it started, or while it ran.
CANCELLED = 5

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Workbench:
    """The log's jobs under preparation, and the steps so far."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.jobs = log.jobs
        self.steps = list(log.reading)

    def column(self, name: str) -> Floats:
        return self.jobs[name].to_numpy(dtype=np.float64)

    def put(self, **columns: npt.NDArray[Any]) -> None:
        self.jobs = self.jobs.assign(**columns)

    def note(self, name: str, jobs: int | np.integer[Any], detail: str) -> None:
        self.steps.append(Step(name, int(jobs), detail))

    def keep(self, wanted: Bools, name: str, detail: str, *, asked: bool = False) -> None:
        """Drop the jobs that are not `wanted`; recorded if there are any, or if it was `asked` for."""
        before, left = len(wanted), int(wanted.sum())
        if left < before or asked:
            self.note(name, before - left, detail)
        if not left:
            raise HarnessError(
                f"{self.log.name}: no jobs are left: step {name!r} ({detail}) dropped the last {before} "
                f"of {len(self.log.jobs)}"
            )
        if left < before:
            self.jobs = self.jobs[wanted]

    def whole(self, name: str) -> npt.NDArray[np.int64]:
        values = self.column(name)
        broken = values != np.floor(values)
        if broken.any():
            row = int(np.argmax(broken))
            raise HarnessError(
                f"{self.log.name}: column {name!r} of job {self.jobs['job'].iloc[row]} is {values[row]}; "
                "expected a whole number"
            )
        return self.jobs[name].to_numpy(dtype=np.int64)

    def refuse_inexact(self, name: str, word: str) -> None:
        """Refuse numbers so large that floats do not tell them from the next."""
        values = self.column(name)
        row = int(np.argmax(values))
        if not values[row] < EXACT:
            raise HarnessError(
                f"{self.log.name}: the {word} of job {self.jobs['job'].iloc[row]} is {values[row]:.3g}, as read or as "
                f"scaled; expected less than {EXACT:.0g}"
            )

    def finished(self, digest: str) -> Workload:
        """The jobs as they will be replayed, in log order."""
        for name, word in (("submit", "submit time"), ("width", "width"), ("work", "runtime"), ("planned", "estimate")):
            self.refuse_inexact(name, word)
        unsorted = np.count_nonzero(np.diff(self.column("submit")) < 0)
        if unsorted:
            self.note("order", unsorted, "jobs submitted before the one above them; log order kept")
        whole = ("job", "width", "user", "group", "queue", "partition", "status")
        numbers = {name: self.whole(name) for name in whole}
        columns = {
            "job": numbers["job"],
            "submit": self.column("submit"),
            "procs": numbers["width"],
            "work": self.column("work"),
            "estimate": self.column("planned"),
            "memory": self.column("memory"),
            **{name: numbers[name] for name in ("user", "group", "queue", "partition")},
            "cancel": np.where(self.jobs["cancelled"], self.column("submit") + self.column("patience"), np.inf),
            "killed": self.jobs["killed"].to_numpy(dtype=np.bool_),
            "logged_wait": self.column("wait"),
            "logged_run": self.column("run"),
            "logged_status": numbers["status"],
        }
        return Workload(
            name=self.log.name,
            jobs=pd.DataFrame(columns),
            procs=procs_of(self.log),
            digest=digest,
            preparation=tuple(self.steps),
        )


# The steps, in their order


def slice_(work: Workbench, start: float | None, stop: float | None, jobs: int | None) -> None:
    """Keep what was submitted from `start` on, before `stop`, and of that the first `jobs`."""
    work.keep(work.column("submit") >= 0, "submit", "no submit time: dropped")
    if start is not None or stop is not None:
        after = work.column("submit") - work.column("submit").min()
        begin = -np.inf if start is None else start
        end = np.inf if stop is None else stop
        wanted = (begin <= after) & (after < end)
        work.keep(wanted, "interval", f"outside {begin:g} to {end:g} s after the first submit: dropped", asked=True)
    if jobs is not None:
        rank = np.argsort(np.argsort(work.column("submit"), kind="stable"))
        work.keep(rank < jobs, "jobs", f"after the first {jobs}: dropped", asked=True)


def choose_width(work: Workbench, procs_from: str) -> None:
    """Requested processors, or used ones."""
    requested, used = work.column("procs"), work.column("used_procs")
    first, second = (requested, used) if procs_from == "requested" else (used, requested)
    other = "used" if procs_from == "requested" else "requested"
    work.put(width=np.where(first > 0, first, second))
    borrowed = np.count_nonzero((first <= 0) & (second > 0))
    work.note("width", borrowed, f"{procs_from} processors; where unknown, {other} ones")
    work.keep(work.column("width") > 0, "no width", "neither requested nor used processors: dropped")


def choose_runtime(work: Workbench, unknown: str) -> None:
    """Drop jobs that never ran, or let those that were cancelled leave the queue."""
    run, wait, status = work.column("run"), work.column("wait"), work.column("status")
    cancelled = np.zeros(len(run), dtype=np.bool_)
    if unknown == "cancel":
        cancelled = (run <= 0) & (status == CANCELLED) & (wait >= 0)
        work.note("cancelled", cancelled.sum(), "cancelled before they ran: leave the queue after their wait")
    work.put(work=np.maximum(run, 0.0), cancelled=cancelled, patience=wait)
    work.keep((run > 0) | cancelled, "runtime", "unknown or zero runtime: dropped")


def choose_estimate(work: Workbench, estimates: str, factor: float | None) -> None:
    """What the scheduler is told about a job's length."""
    run, requested = work.column("work"), work.column("estimate")
    cancelled = work.jobs["cancelled"].to_numpy(dtype=np.bool_)
    if factor is not None:
        planned, touched = run * factor, np.ones(len(run), dtype=np.bool_)
        detail = f"{factor:g} times the runtime"
    elif estimates == "actual":
        planned, touched, detail = run, np.ones(len(run), dtype=np.bool_), "the runtime"
    else:
        touched = requested <= 0
        planned, detail = np.where(touched, run, requested), "requested; where missing, the runtime"
    planned = np.where(cancelled, np.where(requested > 0, requested, 1.0), planned)
    work.put(planned=planned)
    work.note("estimates", touched.sum(), detail)


def settle_overrun(work: Workbench, overrun: str) -> None:
    """No job is longer than its estimate: one of them gives way."""
    run, planned = work.column("work"), work.column("planned")
    over = run > planned
    if overrun == "raise":
        work.put(planned=np.maximum(planned, run), killed=np.zeros(len(run), dtype=np.bool_))
        work.note("overrun", over.sum(), "runtime above the estimate: estimate raised to it")
    else:
        work.put(work=np.minimum(run, planned), killed=over)
        work.note("overrun", over.sum(), "runtime above the estimate: killed at the estimate")


def choose_memory(work: Workbench, memory: str) -> None:
    """Forget requested memory, if asked to."""
    if memory == "ignored":
        asked = np.count_nonzero(work.column("memory") > 0)
        work.put(memory=np.full(len(work.jobs), -1.0))
        work.note("memory", asked, "requested memory ignored")


def filter_(work: Workbench, condition: Condition | None) -> None:
    """Keep the jobs for which the condition holds."""
    if condition is not None:
        columns = {name: work.column(column) for name, column in COLUMNS.items()}
        detail = f"not {condition.text}: dropped"
        work.keep(condition.holds(columns), "filter", detail, asked=True)


def scale_width(work: Workbench, factor: float | None) -> None:
    """Multiply widths, to fit another machine."""
    if factor is None:
        return
    width = work.column("width")
    scaled = np.maximum(1.0, np.floor(width * factor + 0.5))
    work.put(width=scaled, wait=np.full(len(width), -1.0))
    detail = f"multiplied by {factor:g}, halves rounded up, at least 1; the log's waits are another stream's"
    work.note("width scaled", np.count_nonzero(scaled != width), detail)


def scale_load(work: Workbench, factor: float | None) -> None:
    """Crowd or spread the submit times."""
    if factor is None:
        return
    submit = work.column("submit")
    first = submit.min()
    work.put(submit=first + (submit - first) / factor, wait=np.full(len(submit), -1.0))
    detail = f"time between submits divided by {factor:g}; the log's waits are another stream's"
    work.note("load", len(submit), detail)
