"""Repeat the runs of a tournament that its page shows in detail, and compare them with the store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.experiment.field import PARTS
from harness.experiment.field_reading import field_from_store
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.stored_results import COLUMNS
from harness.results.charts.run_details import RunDetails, run_details

if TYPE_CHECKING:
    from harness.experiment.run_matrix import Run, RunMatrix
    from harness.experiment.stored_results import Results

#: Shown in detail: the first workloads, with this many of the best schedulers and the worst.
WORKLOADS = 6
BEST = 3

#: Runs of more jobs are not repeated for charts unless the user requests them (--look). Preemptive policies are slower:
#: their jobs count this many times. A limit in seconds would depend on the machine.
MOST_JOBS = 300_000
_PREEMPTING = 10

#: Pairs of repetitions for the repeatability of the best scheduler that is fast enough.
PAIRS = 3

#: Rectangles of all Gantt charts of a page.
RECTANGLES = 40_000

Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class _Wanted:
    """A run to show in detail."""

    row: "pd.Series[Any]"  # of the store's table
    place: int  # of its scheduler in the ranking
    repeated: bool  # whether its repeatability is measured too


def replays(
    results: "Results",
    frame: pd.DataFrame,
    schedulers: list[str],
    plugins: tuple[str, ...],
    watch: Watch,
    look: Sequence[str] = (),
) -> tuple[list[RunDetails], list[str]]:
    """Repeat the runs that are shown in detail; return them, and remarks on their choice."""
    wanted, remarks = choose(frame, schedulers, look)
    if not wanted:
        return [], remarks
    try:
        field = field_from_store(results.about["field"], plugins=plugins)
        known = _by_name(make_run_matrix(field, plugins))
    except (HarnessError, OSError) as error:
        return [], [f"No charts of single runs: the inputs are no longer available. {error}"]
    found, gone, other = [], [], []
    for number, one in enumerate(wanted):
        watch(number, len(wanted))
        by_name = tuple(one.row[name] for name in ("workload", "platform", "variation", "seed", *COLUMNS.values()))
        run = known.get(one.row["identity"]) or known.get(by_name)
        title = f"{one.row['scheduler']} on {one.row['workload']}"
        if run is None:
            gone.append(title)
            continue
        picture, digest = _repeated(run, one, RECTANGLES // len(wanted))
        if digest == one.row["schedule_digest"]:
            found.append(picture)
        else:
            other.append(title)
    watch(len(wanted), len(wanted))
    if found:
        same = "Every run shown was simulated again for this page, and its schedule has the digest in the store."
        remarks.insert(0, same)
    if gone:
        remarks.append(f"Cannot be repeated, as they are no longer in the field: {', '.join(gone)}.")
    if other:
        remarks.append(
            "Not shown, because their schedules are no longer those in the store (an input, a policy or the engine has "
            f"changed): {', '.join(other)}."
        )
    return found, remarks


def _by_name(plan: "RunMatrix") -> "dict[Any, Run]":
    """Return the runs of a plan by identity, and by name for runs of another version of the engine."""
    named = {
        (run.workload.name, run.platform.name, run.variation, run.seed, *(run.policies[part] for part in PARTS)): run
        for run in plan.runs
    }
    return named | {run.identity: run for run in plan.runs}


def choose(frame: pd.DataFrame, schedulers: list[str], look: Sequence[str] = ()) -> tuple[list[_Wanted], list[str]]:
    """Choose, on every workload, the schedulers to `look` at, or the best and the worst of those with few jobs."""
    for name in look:
        if name not in schedulers:
            raise HarnessError(f"there is no scheduler {name!r} to look at; {did_you_mean(name, schedulers)}")
    done = frame[(frame["status"] == "done") & frame["scheduler"].isin(schedulers)]
    workloads = list(done["workload"].unique())
    remarks, wanted, slow = [], [], dict[str, None]()
    for workload in workloads[:WORKLOADS]:
        runs = done[done["workload"] == workload]
        first = runs.iloc[0]
        block = [name for name in ("variation", "platform", "seed") if name in runs]
        runs = runs[(runs[block] == first[block]).all(axis=1)]
        runs = runs.assign(place=runs["scheduler"].map(schedulers.index)).sort_values("place")
        jobs = _jobs(runs)
        quick = runs[jobs <= MOST_JOBS]
        if look:
            shown = runs[runs["scheduler"].isin(look)]
        else:
            slow |= dict.fromkeys(f"{name} on {workload}" for name in runs["scheduler"][jobs > MOST_JOBS])
            shown = pd.concat([quick.head(BEST), quick.iloc[BEST:].tail(1)])
        quickest = shown.index[jobs[shown.index] * 2 * PAIRS <= MOST_JOBS][:1]  # which is also the best
        wanted += [_Wanted(row, int(row["place"]), index in quickest) for index, row in shown.iterrows()]
    if wanted and len(schedulers) > BEST + 1 and not look:
        remarks.append(
            f"Of {len(schedulers)} schedulers the first {BEST} of the ranking and the last are shown in detail; "
            "--look SCHEDULER chooses others."
        )
    if len(workloads) > WORKLOADS:
        remarks.append(f"Of {len(workloads)} workloads the first {WORKLOADS} are shown in detail.")
    if slow:
        remarks.append(f"Not repeated for charts because of their many jobs (--look includes them): {', '.join(slow)}.")
    return wanted, remarks


def _jobs(runs: pd.DataFrame) -> "pd.Series[float]":
    """Return the number of jobs of each run, weighted by the cost of preemption."""
    preempting = runs["preemptions"] > 0 if "preemptions" in runs else False
    return runs["jobs"].astype(float) * np.where(preempting, _PREEMPTING, 1)


def _repeated(run: "Run", wanted: _Wanted, rectangles: int) -> tuple[RunDetails, str]:
    schedule = run.simulate(timeline=True)
    name, scheduler = str(wanted.row["workload"]), str(wanted.row["scheduler"])
    pairs = PAIRS if wanted.repeated else 0
    return run_details(schedule, run.simulate, name, scheduler, wanted.place, rectangles, pairs), schedule.digest
