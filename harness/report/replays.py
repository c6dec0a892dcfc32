"""The runs of a tournament that its page looks at closely: simulated again, and held against what the store says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.experiment.field import PARTS
from harness.experiment.field_reading import field_again
from harness.experiment.run_matrix import make_plan
from harness.experiment.stored_results import COLUMNS
from harness.results.charts.close_up import CloseUp, close_up

if TYPE_CHECKING:
    from harness.experiment.run_matrix import Plan, Run
    from harness.experiment.stored_results import Results

#: Looked at closely: on the first so many workloads, the so many best schedulers and the worst.
WORKLOADS = 6
BEST = 3

#: A run of more jobs than this is not repeated for pictures, unless somebody asks to look at it. Who preempts looks at
#: everybody at every event: its jobs count as many times as this. Seconds would choose others on another machine.
MOST_JOBS = 300_000
_PREEMPTING = 10

#: Pairs of repetitions that tell how far the replay of the best scheduler that is quick enough is from itself.
PAIRS = 3

#: Rectangles of all Gantt charts of a page together.
RECTANGLES = 40_000

Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class _Wanted:
    """A run to look at closely."""

    row: "pd.Series[Any]"  # of the store's frame
    place: int  # of its scheduler
    repeated: bool  # whether it is also held against repetitions of itself


def replays(
    results: "Results",
    frame: pd.DataFrame,
    schedulers: list[str],
    plugins: tuple[str, ...],
    watch: Watch,
    look: Sequence[str] = (),
) -> tuple[list[CloseUp], list[str]]:
    """Repeat the runs that are looked at closely; return them, and what a reader must know about their choice."""
    wanted, remarks = choose(frame, schedulers, look)
    if not wanted:
        return [], remarks
    try:
        field = field_again(results.about["field"], plugins=plugins)
        known = _by_name(make_plan(field, plugins))
    except (HarnessError, OSError) as error:
        return [], [f"No pictures of single runs: what was run is not at hand any more. {error}"]
    found, gone, other = [], [], []
    for number, one in enumerate(wanted):
        watch(number, len(wanted))
        run = known.get(one.row["identity"]) or known.get(_name(one.row))
        title = f"{one.row['scheduler']} on {one.row['workload']}"
        if run is None:
            gone.append(title)
            continue
        picture, digest = _again(run, one, RECTANGLES // len(wanted))
        if digest == one.row["schedule_digest"]:
            found.append(picture)
        else:
            other.append(title)
    watch(len(wanted), len(wanted))
    if found:
        same = "Every run shown was simulated again for this page, and gave the schedule whose digest the store holds."
        remarks.insert(0, same)
    if gone:
        remarks.append(f"Cannot be repeated, as the field does not have them any more: {', '.join(gone)}.")
    if other:
        remarks.append(
            "Not shown, because repeated here they gave another schedule than the store holds (an input, a policy or "
            f"the engine has changed): {', '.join(other)}."
        )
    return found, remarks


def _by_name(plan: "Plan") -> "dict[Any, Run]":
    """Return the runs of a plan by identity; and by name, for what another version of the engine has run."""
    named = {
        (run.workload.name, run.platform.name, run.variation, run.seed, *(run.policies[part] for part in PARTS)): run
        for run in plan.runs
    }
    return named | {run.identity: run for run in plan.runs}


def _name(row: "pd.Series[Any]") -> tuple[Any, ...]:
    """Return what a run is called in the store's frame."""
    return tuple(row[name] for name in ("workload", "platform", "variation", "seed", *COLUMNS.values()))


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
        quickest = shown.index[jobs[shown.index] * 2 * PAIRS <= MOST_JOBS][:1]  # and best
        wanted += [_Wanted(row, int(row["place"]), index in quickest) for index, row in shown.iterrows()]
    if wanted and len(schedulers) > BEST + 1 and not look:
        remarks.append(
            f"Of {len(schedulers)} schedulers the first {BEST} of the ranking are looked at closely, and the last; "
            "--look SCHEDULER chooses others."
        )
    if len(workloads) > WORKLOADS:
        remarks.append(f"Of {len(workloads)} workloads the first {WORKLOADS} are looked at closely.")
    if slow:
        remarks.append(f"Too many jobs to be repeated for pictures, unless --look asks for it: {', '.join(slow)}.")
    return wanted, remarks


def _jobs(runs: pd.DataFrame) -> "pd.Series[float]":
    """Return how many jobs each run has, as if all took as long."""
    preempting = runs["preemptions"] > 0 if "preemptions" in runs else False
    return runs["jobs"].astype(float) * np.where(preempting, _PREEMPTING, 1)


def _again(run: "Run", wanted: _Wanted, rectangles: int) -> tuple[CloseUp, str]:
    """Simulate a run again; return it looked at closely, and the digest of its schedule."""
    schedule = run.simulate(timeline=True)
    name, scheduler = str(wanted.row["workload"]), str(wanted.row["scheduler"])
    pairs = PAIRS if wanted.repeated else 0
    return close_up(schedule, run.simulate, name, scheduler, wanted.place, rectangles, pairs), schedule.digest
