"""The steps of preparation, and a record of how many jobs each of them changed."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.condition import COLUMNS, Condition
from harness.workload.content import EXACT, whole_numbers
from harness.workload.log import BEGIN, FURTHER, GAP, NO_LIMIT, NO_LIMIT_STEP, Log, LoggedStatus, Step, Workload
from harness.workload.preparation import Preparation
from harness.workload.resource_columns import is_request_column
from harness.workload.widths import WIDTHS

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Workbench:
    """The jobs of a log under preparation, and the steps so far."""

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

    def keep(self, wanted: Bools, name: str, detail: str, *, always: bool = False) -> None:
        """Drop the jobs that are not `wanted`. Record the step if there are any, or `always`."""
        before, left = len(wanted), int(wanted.sum())
        if left < before or always:
            self.note(name, before - left, detail)
        if not left:
            raise HarnessError(
                f"{self.log.name}: no jobs are left: step {name!r} ({detail}) dropped the last {before} "
                f"of {len(self.log.jobs)}"
            )
        if left < before:
            self.jobs = self.jobs[wanted]

    def whole(self, name: str) -> npt.NDArray[np.int64]:
        column = "procs" if name == "width" else name
        return whole_numbers(self.jobs[name].to_numpy(), f"{self.log.name}: column {column!r} of job", self.jobs["job"])

    def refuse_inexact(self, name: str, word: str) -> None:
        """Refuse numbers so large that they are not exact as floats."""
        values = self.column(name)
        row = int(np.argmax(values))
        if not values[row] < EXACT:
            raise HarnessError(
                f"{self.log.name}: the {word} of job {self.jobs['job'].iloc[row]} is {values[row]:.3g}, as read or as "
                f"scaled; expected less than {EXACT:.0g}"
            )

    def finished(self, digest: str) -> Workload:
        """Return the jobs of the replay, in log order."""
        for name, word in (("submit", "submit time"), ("width", "width"), ("work", "runtime"), ("planned", "estimate")):
            self.refuse_inexact(name, word)
        unsorted = np.count_nonzero(np.diff(self.column("submit")) < 0)
        if unsorted:
            self.note("order", unsorted, "jobs submitted before the previous one; log order kept")
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
        further = {
            str(name): self.jobs[name].to_numpy() if is_request_column(str(name)) else self.column(name)
            for name in self.jobs.columns
            if str(name).startswith(FURTHER) or is_request_column(str(name))
        }
        if (self.column("preceding") > 0).any():
            further |= {f"{FURTHER}{name}": self.column(name) for name in ("preceding", "think")}
        return Workload(
            name=self.log.name,
            jobs=pd.DataFrame(columns | further),
            procs=self.log.procs,
            digest=digest,
            preparation=tuple(self.steps),
            header=self.log.header,
        )


def keep_submitted(work: Workbench, _: Preparation) -> None:
    """Drop jobs without a submit time."""
    work.keep(work.column("submit") >= 0, "submit", "no submit time: dropped")


def place_gaps(work: Workbench, options: Preparation) -> None:
    """Let each interarrival time pass after its job, as it was read, or with `gap` "before" in front of it."""
    if options.gap == "before":
        if GAP not in work.jobs:
            raise HarnessError(
                f"{work.log.name}: gap='before', but its jobs have submit times; expected a log of interarrival times, "
                "as hpcwld's are, or no such option"
            )
        work.put(submit=work.column("submit") + work.column(GAP))
        work.note("gap", len(work.jobs), "each interarrival time passes before its job")


def keep_interval(work: Workbench, options: Preparation) -> None:
    """Drop jobs outside `start` ≤ submit < `stop`, in seconds after the log's first submit."""
    if options.start is None and options.stop is None:
        return
    after = work.column("submit") - work.column("submit").min()
    begin = -np.inf if options.start is None else float(options.start)
    end = np.inf if options.stop is None else float(options.stop)
    wanted = (begin <= after) & (after < end)
    work.keep(wanted, "interval", f"outside {begin:g} to {end:g} s after the first submit: dropped", always=True)


def keep_first(work: Workbench, options: Preparation) -> None:
    """Keep the first `jobs` by (submit, log order)."""
    if options.jobs is not None:
        rank = np.argsort(np.argsort(work.column("submit"), kind="stable"))
        work.keep(rank < options.jobs, "jobs", f"after the first {options.jobs}: dropped", always=True)


def choose_width(work: Workbench, options: Preparation) -> None:
    """Use `procs_from` "requested" processors, else used ones, or "used" the other way round; drop jobs without."""
    requested, used = work.column("procs"), work.column("used_procs")
    first, second = (requested, used) if options.procs_from == "requested" else (used, requested)
    other = "used" if options.procs_from == "requested" else "requested"
    work.put(width=np.where(first > 0, first, second))
    borrowed = np.count_nonzero((first <= 0) & (second > 0))
    work.note("width", borrowed, f"{options.procs_from} processors; where unknown, {other} ones")
    work.keep(work.column("width") > 0, "no width", "neither requested nor used processors: dropped")


def choose_runtime(work: Workbench, options: Preparation) -> None:
    """Drop jobs with unknown or zero runtime. With `zeros` "keep", those with zero runtime stay.

    With `unknown` "cancel", a cancelled job without a runtime leaves the queue after its logged wait.
    """
    run, wait, status = work.column("run"), work.column("wait"), work.column("status")
    cancelled = np.zeros(len(run), dtype=np.bool_)
    if options.unknown == "cancel":
        cancelled = (run <= 0) & (status == LoggedStatus.CANCELLED) & (wait >= 0)
        work.note("cancelled", cancelled.sum(), "before they ran: leave the queue after their logged wait")
    work.put(work=np.maximum(run, 0.0), cancelled=cancelled, patience=wait)
    kept = options.zeros == "keep"
    detail = "unknown runtime: dropped" if kept else "unknown or zero runtime: dropped"
    work.keep((run > 0) | cancelled | kept & (run == 0), "runtime", detail)


def choose_estimate(work: Workbench, options: Preparation) -> None:
    """Use `estimates` as "requested" (where missing, the runtime), "actual" (the runtime), or f times the runtime.

    A job without a limit of its own has the longest limit of the log, else the longest runtime. A cancelled job, or one
    with zero runtime, has its requested time, else one second.
    """
    run, requested = work.column("work"), work.column("estimate")
    cancelled = work.jobs["cancelled"].to_numpy(dtype=np.bool_)
    if options.estimates == "requested":
        requested = _with_longest_limit(work, requested)
        touched = requested <= 0
        planned, detail = np.where(touched, run, requested), "requested; where missing, the runtime"
    else:
        touched = np.ones(len(run), dtype=np.bool_)
        planned, detail = run, "the runtime"
        if options.estimates != "actual":
            planned, detail = run * options.factor, f"{options.factor:g} times the runtime"
    planned = np.where(cancelled | (run <= 0), np.where(requested > 0, requested, 1.0), planned)
    work.put(planned=planned)
    work.note("estimates", touched.sum(), detail)


def _with_longest_limit(work: Workbench, requested: Floats) -> Floats:
    """Return requested times, with the longest limit of the log for jobs without a limit of their own."""
    if NO_LIMIT not in work.jobs:
        return requested
    without = (work.column(NO_LIMIT) > 0) & (requested <= 0)
    limit, run = (float(work.log.jobs[name].max()) for name in ("estimate", "run"))
    longest, what = (limit, "limit") if limit > 0 else (run, "runtime")
    work.note(
        NO_LIMIT_STEP, without.sum(), f"UNLIMITED or Partition_Limit: the longest {what} of the log, {longest:g} s"
    )
    return np.where(without, longest, requested)


def settle_overrun(work: Workbench, options: Preparation) -> None:
    """Raise the estimate to a longer runtime, or with `overrun` "clip" end the job at the estimate, as killed."""
    run, planned = work.column("work"), work.column("planned")
    over = run > planned
    if options.overrun == "raise":
        work.put(planned=np.maximum(planned, run), killed=np.zeros(len(run), dtype=np.bool_))
        work.note("overrun", over.sum(), "runtime above the estimate: estimate raised to it")
    else:
        work.put(work=np.minimum(run, planned), killed=over)
        work.note("overrun", over.sum(), "runtime above the estimate: killed at the estimate")


def scale_seconds(work: Workbench, options: Preparation) -> None:
    """Multiply runtimes and estimates by `seconds_at`, the rate of the logged machine; 1 is full speed."""
    if options.seconds_at is not None:
        work.put(**{name: work.column(name) * options.seconds_at for name in ("work", "planned")})
        work.note("seconds", len(work.jobs), f"logged at rate {options.seconds_at:g}: work is seconds times this")


def choose_memory(work: Workbench, options: Preparation) -> None:
    """Use the requested `memory` per processor, or with "ignored" none."""
    if options.memory == "ignored":
        asked = np.count_nonzero(work.column("memory") > 0)
        work.put(memory=np.full(len(work.jobs), -1.0))
        work.note("memory", asked, "requested memory ignored")


def choose_resources(work: Workbench, options: Preparation) -> None:
    """Use other requests (`resources`), or with "ignored" none."""
    requests = [name for name in work.jobs.columns if is_request_column(str(name))]
    if options.resources == "ignored" and requests:
        touched = (work.jobs[requests] > 0).any(axis=1).sum()
        work.jobs = work.jobs.drop(columns=requests)
        work.note("resources", touched, f"requests ignored: {', '.join(map(str, requests))}")


def keep_matching(work: Workbench, options: Preparation) -> None:
    """Drop jobs that do not meet the `filter`, which compares columns with numbers and each other.

    The columns are job, submit, procs, run, estimate, wait, memory, status, user, group, executable, queue and
    partition, with their values after the steps so far: `procs <= 64 and not user == 3`.
    """
    if options.filter is not None:
        columns = {name: work.column(column) for name, column in COLUMNS.items()}
        work.keep(Condition(options.filter).holds(columns), "filter", f"not {options.filter}: dropped", always=True)


def scale_width(work: Workbench, options: Preparation) -> None:
    """Multiply processors by `width`, rounded half up, to at least one; also nodes and the limits of widths."""
    if options.width is None:
        return
    factor, width = options.width, work.column("width")

    def times(values: Floats) -> Floats:
        return np.maximum(1.0, np.floor(values * factor + 0.5))

    scaled = times(width)
    work.put(width=scaled, wait=np.full(len(width), -1.0))
    for name in {"nodes", *WIDTHS} & set(work.jobs):
        asked = work.column(name)
        fewer = np.minimum(times(asked), scaled) if name == "nodes" else times(asked)
        work.put(**{name: np.where(asked > 0, fewer, asked)})
    detail = f"multiplied by {options.width:g}, halves rounded up, at least 1; logged waits become unknown"
    work.note("width scaled", np.count_nonzero(scaled != width), detail)


def scale_load(work: Workbench, options: Preparation) -> None:
    """Divide the time since the first submission by `load`."""
    if options.load is None:
        return
    before = work.column("submit")
    first = before.min()
    submit = first + (before - first) / options.load
    work.put(submit=submit, wait=np.full(len(submit), -1.0))
    if BEGIN in work.jobs:  # the delay after the submission stays
        begin = work.column(BEGIN)
        work.put(**{BEGIN: np.where(begin >= 0, submit + begin - before, -1.0)})
    detail = f"time between submits divided by {options.load:g}; logged waits become unknown"
    work.note("load", len(submit), detail)


#: All steps, in their order.
STEPS = (
    keep_submitted,
    place_gaps,
    keep_interval,
    keep_first,
    choose_width,
    choose_runtime,
    choose_estimate,
    settle_overrun,
    scale_seconds,
    choose_memory,
    choose_resources,
    keep_matching,
    scale_width,
    scale_load,
)
