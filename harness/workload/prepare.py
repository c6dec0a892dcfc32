"""From a log to the jobs that are replayed: every choice explicit, every step counted."""

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.workload.log import Log, Step, Workload
from harness.workload.swf import procs_of

#: Part of every workload's identity; raised whenever a preparation means something else than before.
_RECIPE = 1

_CANCELLED = 5  # SWF status of a job that was cancelled before it started, or while it ran

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def prepare(
    log: Log,
    *,
    procs_from: str = "requested",
    estimates: str = "requested",
    overrun: str = "raise",
    unknown: str = "drop",
    memory: str = "requested",
    jobs: int | None = None,
    load: float | None = None,
    start: float | None = None,
    stop: float | None = None,
) -> Workload:
    """The jobs of `log`, ready to be replayed, after these steps in this order:

    1. submit: jobs without a submit time are dropped; then those outside `start` ≤ submit < `stop`, in
       seconds after the log's first submit; then all but the first `jobs` by (submit, log order).
    2. width: `procs_from` "requested" processors, else used ones, or "used" the other way round; jobs
       without either are dropped.
    3. runtime: jobs with unknown or zero runtime are dropped; with `unknown="cancel"` those that the log
       calls cancelled and gives a wait leave the queue that long after their submit instead.
    4. estimates: "requested" (where missing, the runtime), "actual" (the runtime), or "factor(f)" (f times
       it). A cancelled job has no runtime: its estimate is what it requested, or else one second.
    5. overrun, where the runtime is longer than the estimate: "raise" the estimate, or "clip" the job, which
       then counts as killed.
    6. memory: per processor, as "requested", or "ignored".
    7. load: the time from the first submit to each other is divided by `load`.

    What was done is in `Workload.preparation`, after what reading had to do.
    """
    options = _Options(procs_from, estimates, overrun, unknown, memory, jobs, load, start, stop)
    factor = options.checked_factor()
    work = _Workbench(log)
    _slice(work, options)
    _choose_width(work, options)
    _choose_runtime(work, options)
    _choose_estimate(work, options, factor)
    _settle_overrun(work, options)
    _choose_memory(work, options)
    _scale_load(work, options)
    return work.finished(options)


@dataclass(frozen=True)
class _Options:
    procs_from: str
    estimates: str
    overrun: str
    unknown: str
    memory: str
    jobs: int | None
    load: float | None
    start: float | None
    stop: float | None

    def checked_factor(self) -> float | None:
        """The factor of `factor(f)`, None for other estimates; complains about any option out of range."""
        _check_choice("procs_from", self.procs_from, "requested", "used")
        _check_choice("overrun", self.overrun, "raise", "clip")
        _check_choice("unknown", self.unknown, "drop", "cancel")
        _check_choice("memory", self.memory, "requested", "ignored")
        if self.jobs is not None and not (isinstance(self.jobs, int) and self.jobs > 0):
            raise HarnessError(f"jobs={self.jobs!r}: expected a whole number above 0")
        if self.load is not None and not 0 < self.load < math.inf:
            raise HarnessError(f"load={self.load!r}: expected a number above 0")
        begin, end = self.interval
        if not begin < end:
            raise HarnessError(f"start={self.start!r}, stop={self.stop!r}: expected start before stop, in seconds")
        if not self.estimates.startswith("factor"):
            _check_choice("estimates", self.estimates, "requested", "actual", "factor(f)")
            return None
        match = re.fullmatch(r"factor\(\s*(\d+\.?\d*|\.\d+)\s*\)", self.estimates)
        if match is None or float(match[1]) < 1:
            raise HarnessError(f"estimates={self.estimates!r}: expected factor(f), f at least 1, as in factor(2)")
        return float(match[1])

    @property
    def interval(self) -> tuple[float, float]:
        return (
            -math.inf if self.start is None else float(self.start),
            math.inf if self.stop is None else float(self.stop),
        )

    def digest(self, log: Log, factor: float | None) -> str:
        """One digest for the same jobs prepared in the same way, however the options were written."""
        options = asdict(self) | {"estimates": self.estimates if factor is None else factor}
        for name in ("load", "start", "stop"):
            options[name] = None if options[name] is None else float(options[name])
        return hashlib.sha256(json.dumps([_RECIPE, log.digest, options], sort_keys=True).encode()).hexdigest()


def _check_choice(option: str, value: str, *choices: str) -> None:
    if value not in choices:
        raise HarnessError(f"{option}={value!r}: {did_you_mean(value, choices)}")


class _Workbench:
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

    def finished(self, options: _Options) -> Workload:
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
            "cancel": np.where(self.jobs["cancelled"], self.column("submit") + self.column("wait"), np.inf),
            "killed": self.jobs["killed"].to_numpy(dtype=np.bool_),
            "logged_wait": self.column("wait"),
            "logged_run": self.column("run"),
            "logged_status": numbers["status"],
        }
        return Workload(
            name=self.log.name,
            jobs=pd.DataFrame(columns),
            procs=procs_of(self.log),
            digest=options.digest(self.log, options.checked_factor()),
            preparation=tuple(self.steps),
        )


# The steps, in their order


def _slice(work: _Workbench, options: _Options) -> None:
    work.keep(work.column("submit") >= 0, "submit", "no submit time: dropped")
    if options.start is not None or options.stop is not None:
        after = work.column("submit") - work.column("submit").min()
        begin, end = options.interval
        wanted = (begin <= after) & (after < end)
        work.keep(wanted, "interval", f"outside {begin:g} to {end:g} s after the first submit: dropped", asked=True)
    if options.jobs is not None:
        rank = np.argsort(np.argsort(work.column("submit"), kind="stable"))
        work.keep(rank < options.jobs, "jobs", f"after the first {options.jobs}: dropped", asked=True)


def _choose_width(work: _Workbench, options: _Options) -> None:
    requested, used = work.column("procs"), work.column("used_procs")
    first, second = (requested, used) if options.procs_from == "requested" else (used, requested)
    other = "used" if options.procs_from == "requested" else "requested"
    work.put(width=np.where(first > 0, first, second))
    borrowed = np.count_nonzero((first <= 0) & (second > 0))
    work.note("width", borrowed, f"{options.procs_from} processors; where unknown, {other} ones")
    work.keep(work.column("width") > 0, "no width", "neither requested nor used processors: dropped")


def _choose_runtime(work: _Workbench, options: _Options) -> None:
    run, wait, status = work.column("run"), work.column("wait"), work.column("status")
    cancelled = np.zeros(len(run), dtype=np.bool_)
    if options.unknown == "cancel":
        cancelled = (run <= 0) & (status == _CANCELLED) & (wait >= 0)
        work.note("cancelled", cancelled.sum(), "cancelled before they ran: leave the queue after their wait")
    work.put(work=np.maximum(run, 0.0), cancelled=cancelled)
    work.keep((run > 0) | cancelled, "runtime", "unknown or zero runtime: dropped")


def _choose_estimate(work: _Workbench, options: _Options, factor: float | None) -> None:
    run, requested = work.column("work"), work.column("estimate")
    cancelled = work.jobs["cancelled"].to_numpy(dtype=np.bool_)
    if factor is not None:
        planned, touched = run * factor, np.ones(len(run), dtype=np.bool_)
        detail = f"{factor:g} times the runtime"
    elif options.estimates == "actual":
        planned, touched, detail = run, np.ones(len(run), dtype=np.bool_), "the runtime"
    else:
        touched = requested <= 0
        planned, detail = np.where(touched, run, requested), "requested; where missing, the runtime"
    planned = np.where(cancelled, np.where(requested > 0, requested, 1.0), planned)
    work.put(planned=planned)
    work.note("estimates", touched.sum(), detail)


def _settle_overrun(work: _Workbench, options: _Options) -> None:
    run, planned = work.column("work"), work.column("planned")
    over = run > planned
    if options.overrun == "raise":
        work.put(planned=np.maximum(planned, run), killed=np.zeros(len(run), dtype=np.bool_))
        work.note("overrun", over.sum(), "runtime above the estimate: estimate raised to it")
    else:
        work.put(work=np.minimum(run, planned), killed=over)
        work.note("overrun", over.sum(), "runtime above the estimate: killed at the estimate")


def _choose_memory(work: _Workbench, options: _Options) -> None:
    if options.memory == "ignored":
        asked = np.count_nonzero(work.column("memory") > 0)
        work.put(memory=np.full(len(work.jobs), -1.0))
        work.note("memory", asked, "requested memory ignored")


def _scale_load(work: _Workbench, options: _Options) -> None:
    if options.load is None:
        return
    submit = work.column("submit")
    first = submit.min()
    work.put(submit=first + (submit - first) / options.load)
    work.note("load", len(submit), f"time between submits divided by {options.load:g}")
