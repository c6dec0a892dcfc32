"""The steps of preparation: what each does to the jobs, and how many it touched."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.condition import COLUMNS, Condition
from harness.workload.content import EXACT, whole_numbers
from harness.workload.log import BEGIN, FURTHER, GAP, NO_LIMIT, NO_LIMIT_STEP, Log, LoggedStatus, Step, Workload
from harness.workload.preparation import Preparation
from harness.workload.resource_columns import is_asked
from harness.workload.widths import WIDTHS

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
        column = "procs" if name == "width" else name
        return whole_numbers(self.jobs[name].to_numpy(), f"{self.log.name}: column {column!r} of job", self.jobs["job"])

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
        """Return the jobs as they will be replayed, in log order."""
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
        further = {
            str(name): self.jobs[name].to_numpy() if is_asked(str(name)) else self.column(name)
            for name in self.jobs.columns
            if str(name).startswith(FURTHER) or is_asked(str(name))
        }
        if (self.column("preceding") > 0).any():  # for policies that know of dependencies
            further |= {f"{FURTHER}{name}": self.column(name) for name in ("preceding", "think")}
        return Workload(
            name=self.log.name,
            jobs=pd.DataFrame(columns | further),
            procs=self.log.procs,
            digest=digest,
            preparation=tuple(self.steps),
            header=self.log.header,
        )


# The steps


def keep_submitted(work: Workbench, _: Preparation) -> None:
    """Drop jobs without a submit time."""
    work.keep(work.column("submit") >= 0, "submit", "no submit time: dropped")


def place_gaps(work: Workbench, told: Preparation) -> None:
    """Let the time to the next arrival pass after its job, as it was read, or before it (`gap` "before")."""
    if told.gap == "before":
        if GAP not in work.jobs:
            raise HarnessError(
                f"{work.log.name}: gap='before', but its jobs have submit times; expected a log of times between "
                "arrivals, as hpcwld's are, or no such option"
            )
        work.put(submit=work.column("submit") + work.column(GAP))
        work.note("gap", len(work.jobs), "each time between arrivals passes before its job")


def keep_interval(work: Workbench, told: Preparation) -> None:
    """Drop jobs outside `start` ≤ submit < `stop`, in seconds after the log's first submit."""
    if told.start is None and told.stop is None:
        return
    after = work.column("submit") - work.column("submit").min()
    begin = -np.inf if told.start is None else float(told.start)
    end = np.inf if told.stop is None else float(told.stop)
    wanted = (begin <= after) & (after < end)
    work.keep(wanted, "interval", f"outside {begin:g} to {end:g} s after the first submit: dropped", asked=True)


def keep_first(work: Workbench, told: Preparation) -> None:
    """Keep the first `jobs` by (submit, log order)."""
    if told.jobs is not None:
        rank = np.argsort(np.argsort(work.column("submit"), kind="stable"))
        work.keep(rank < told.jobs, "jobs", f"after the first {told.jobs}: dropped", asked=True)


def choose_width(work: Workbench, told: Preparation) -> None:
    """Take `procs_from` "requested" processors, else used ones, or "used" the other way round; drop jobs without."""
    requested, used = work.column("procs"), work.column("used_procs")
    first, second = (requested, used) if told.procs_from == "requested" else (used, requested)
    other = "used" if told.procs_from == "requested" else "requested"
    work.put(width=np.where(first > 0, first, second))
    borrowed = np.count_nonzero((first <= 0) & (second > 0))
    work.note("width", borrowed, f"{told.procs_from} processors; where unknown, {other} ones")
    work.keep(work.column("width") > 0, "no width", "neither requested nor used processors: dropped")


def choose_runtime(work: Workbench, told: Preparation) -> None:
    """Drop jobs with unknown or zero runtime; `zeros` "keep" keeps those that took no time.

    With `unknown="cancel"` those that the log calls cancelled and gives a wait leave the queue that long after their
    submit instead.
    """
    run, wait, status = work.column("run"), work.column("wait"), work.column("status")
    cancelled = np.zeros(len(run), dtype=np.bool_)
    if told.unknown == "cancel":
        cancelled = (run <= 0) & (status == LoggedStatus.CANCELLED) & (wait >= 0)
        work.note("cancelled", cancelled.sum(), "cancelled before they ran: leave the queue after their wait")
    work.put(work=np.maximum(run, 0.0), cancelled=cancelled, patience=wait)
    kept = told.zeros == "keep"
    detail = "unknown runtime: dropped" if kept else "unknown or zero runtime: dropped"
    work.keep((run > 0) | cancelled | kept & (run == 0), "runtime", detail)


def choose_estimate(work: Workbench, told: Preparation) -> None:
    """Take `estimates` as "requested" (where missing, the runtime), "actual" (the runtime), or f times it.

    A job that asks for no limit has the longest limit of the log; if there is none, the longest runtime.

    A cancelled job has no runtime: its estimate is what it requested, or else one second; so is that of a job that took
    no time.
    """
    run, requested = work.column("work"), work.column("estimate")
    cancelled = work.jobs["cancelled"].to_numpy(dtype=np.bool_)
    if told.estimates == "requested":
        requested = _with_longest_limit(work, requested)
        touched = requested <= 0
        planned, detail = np.where(touched, run, requested), "requested; where missing, the runtime"
    else:
        touched = np.ones(len(run), dtype=np.bool_)
        planned, detail = run, "the runtime"
        if told.estimates != "actual":
            planned, detail = run * told.factor, f"{told.factor:g} times the runtime"
    planned = np.where(cancelled | (run <= 0), np.where(requested > 0, requested, 1.0), planned)
    work.put(planned=planned)
    work.note("estimates", touched.sum(), detail)


def _with_longest_limit(work: Workbench, requested: Floats) -> Floats:
    """Return requested times, with the longest limit of the log for jobs that ask for no limit."""
    if NO_LIMIT not in work.jobs:
        return requested
    without = (work.column(NO_LIMIT) > 0) & (requested <= 0)
    limit, run = (float(work.log.jobs[name].max()) for name in ("estimate", "run"))
    longest, what = (limit, "limit") if limit > 0 else (run, "runtime")
    work.note(
        NO_LIMIT_STEP, without.sum(), f"UNLIMITED or Partition_Limit: the longest {what} of the log, {longest:g} s"
    )
    return np.where(without, longest, requested)


def settle_overrun(work: Workbench, told: Preparation) -> None:
    """Raise the estimate where the runtime is above it, or clip the job, which then counts as killed."""
    run, planned = work.column("work"), work.column("planned")
    over = run > planned
    if told.overrun == "raise":
        work.put(planned=np.maximum(planned, run), killed=np.zeros(len(run), dtype=np.bool_))
        work.note("overrun", over.sum(), "runtime above the estimate: estimate raised to it")
    else:
        work.put(work=np.minimum(run, planned), killed=over)
        work.note("overrun", over.sum(), "runtime above the estimate: killed at the estimate")


def scale_seconds(work: Workbench, told: Preparation) -> None:
    """Multiply runtimes and estimates by `seconds_at`, the rate of the logged machine: 1 is full speed."""
    if told.seconds_at is not None:
        work.put(**{name: work.column(name) * told.seconds_at for name in ("work", "planned")})
        work.note("seconds", len(work.jobs), f"logged at rate {told.seconds_at:g}: work is seconds times this")


def choose_memory(work: Workbench, told: Preparation) -> None:
    """Take `memory` per processor as "requested", or leave it "ignored"."""
    if told.memory == "ignored":
        asked = np.count_nonzero(work.column("memory") > 0)
        work.put(memory=np.full(len(work.jobs), -1.0))
        work.note("memory", asked, "requested memory ignored")


def choose_resources(work: Workbench, told: Preparation) -> None:
    """Take what jobs ask for besides processors and memory (`resources`) as "requested", or leave it "ignored"."""
    asked = [name for name in work.jobs.columns if is_asked(str(name))]
    if told.resources == "ignored" and asked:
        touched = (work.jobs[asked] > 0).any(axis=1).sum()
        work.jobs = work.jobs.drop(columns=asked)
        work.note("resources", touched, f"requests ignored: {', '.join(map(str, asked))}")


def keep_matching(work: Workbench, told: Preparation) -> None:
    """Drop jobs for which `filter` does not hold: comparisons of columns with numbers and each other.

    The columns are job, submit, procs, run, estimate, wait, memory, status, user, group, executable, queue and
    partition, as the steps so far have made them: `procs <= 64 and not user == 3`.
    """
    if told.filter is not None:
        columns = {name: work.column(column) for name, column in COLUMNS.items()}
        work.keep(Condition(told.filter).holds(columns), "filter", f"not {told.filter}: dropped", asked=True)


def scale_width(work: Workbench, told: Preparation) -> None:
    """Multiply processors by `width`, halves rounded up, at least one; likewise nodes and the bounds of widths."""
    if told.width is None:
        return
    factor, width = told.width, work.column("width")

    def times(values: Floats) -> Floats:
        return np.maximum(1.0, np.floor(values * factor + 0.5))

    scaled = times(width)
    work.put(width=scaled, wait=np.full(len(width), -1.0))
    for name in {"nodes", *WIDTHS} & set(work.jobs):
        asked = work.column(name)
        fewer = np.minimum(times(asked), scaled) if name == "nodes" else times(asked)
        work.put(**{name: np.where(asked > 0, fewer, asked)})
    detail = f"multiplied by {told.width:g}, halves rounded up, at least 1; the log's waits are another stream's"
    work.note("width scaled", np.count_nonzero(scaled != width), detail)


def scale_load(work: Workbench, told: Preparation) -> None:
    """Divide the time from the first submit to each other by `load`."""
    if told.load is None:
        return
    before = work.column("submit")
    first = before.min()
    submit = first + (before - first) / told.load
    work.put(submit=submit, wait=np.full(len(submit), -1.0))
    if BEGIN in work.jobs:  # as long after the submission as it was
        begin = work.column(BEGIN)
        work.put(**{BEGIN: np.where(begin >= 0, submit + begin - before, -1.0)})
    detail = f"time between submits divided by {told.load:g}; the log's waits are another stream's"
    work.note("load", len(submit), detail)


#: Every step, in its order.
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
