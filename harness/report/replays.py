"""The runs of a tournament that its page looks at closely: simulated again, and held against what the store says."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.errors import HarnessError
from harness.report.details import Detail, detail
from harness.tournament.field import PARTS
from harness.tournament.results import COLUMNS

if TYPE_CHECKING:
    from harness.results.schedule import Schedule
    from harness.tournament.plan import Plan, Run
    from harness.tournament.results import Results
    from harness.workload.log import Workload

#: Looked at closely: on the first so many workloads, the so many best schedulers and the worst.
WORKLOADS = 6
BEST = 3

#: A run that took longer than this is not repeated for pictures [s].
PATIENCE = 3.0

#: Pairs of repetitions that tell how far the replay of the best scheduler that is quick enough is from itself.
PAIRS = 3

#: Rectangles of all Gantt charts of a page together.
RECTANGLES = 40_000

Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class _Wanted:
    """A run to look at."""

    row: "pd.Series[Any]"  # of the store's frame
    place: int  # of its scheduler
    repeated: bool  # whether it is also held against repetitions of itself


def replays(
    results: "Results", frame: pd.DataFrame, schedulers: list[str], plugins: tuple[str, ...], watch: Watch
) -> tuple[list[Detail], list[str]]:
    """The runs that pictures show, and what a reader must know about their choice."""
    wanted, remarks = choose(frame, schedulers)
    if not wanted:
        return [], remarks
    try:
        known = _by_name(_plan(results, plugins))
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
        picture, digest = _again(run, one, plugins, RECTANGLES // len(wanted))
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
    """The runs of a plan by identity; and by name, for what another version of the engine has run."""
    named = {
        (run.workload.name, run.platform.name, run.variation, run.seed, *(run.policies[part] for part in PARTS)): run
        for run in plan.runs
    }
    return named | {run.identity: run for run in plan.runs}


def _name(row: "pd.Series[Any]") -> tuple[Any, ...]:
    """What a run is called in the store's frame."""
    return tuple(row[name] for name in ("workload", "platform", "variation", "seed", *COLUMNS.values()))


def choose(frame: pd.DataFrame, schedulers: list[str]) -> tuple[list[_Wanted], list[str]]:
    """On every workload the best schedulers and the worst, as far as they are done and did not take long."""
    done = frame[(frame["status"] == "done") & frame["scheduler"].isin(schedulers)]
    workloads = list(done["workload"].unique())
    remarks, wanted, slow = [], [], dict[str, None]()
    for workload in workloads[:WORKLOADS]:
        runs = done[done["workload"] == workload]
        first = runs.iloc[0]
        block = [name for name in ("variation", "platform", "seed") if name in runs]
        runs = runs[(runs[block] == first[block]).all(axis=1)]
        runs = runs.assign(place=runs["scheduler"].map(schedulers.index)).sort_values("place")
        quick = runs[runs["seconds"] <= PATIENCE]
        slow |= dict.fromkeys(f"{row.scheduler} on {workload}" for row in runs[runs["seconds"] > PATIENCE].itertuples())
        shown = pd.concat([quick.head(BEST), quick.iloc[BEST:].tail(1)])
        quickest = shown.index[shown["seconds"] * 2 * PAIRS <= PATIENCE][:1]  # and best
        wanted += [_Wanted(row, int(row["place"]), index in quickest) for index, row in shown.iterrows()]
    if wanted and len(schedulers) > BEST + 1:
        remarks.append(
            f"Of {len(schedulers)} schedulers the first {BEST} of the ranking are looked at closely, and the last."
        )
    if len(workloads) > WORKLOADS:
        remarks.append(f"Of {len(workloads)} workloads the first {WORKLOADS} are looked at closely.")
    if slow:
        remarks.append(f"Too long to be repeated for pictures (over {PATIENCE:.0f} s): {', '.join(slow)}.")
    return wanted, remarks


def _plan(results: "Results", plugins: tuple[str, ...]) -> "Plan":
    """What the store's field would run here and now."""
    from harness.tournament.plan import make_plan
    from harness.tournament.reading import read_field

    about = results.about["field"]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{Path(about['name']).name}.toml"
        path.write_text(about["text"], encoding="utf-8")
        field = read_field(path, plugins=plugins)
    return make_plan(replace(field, resamples=about["resamples"]), plugins)


def _again(run: "Run", wanted: _Wanted, plugins: tuple[str, ...], rectangles: int) -> tuple[Detail, str]:
    """A run's pictures, and the digest of its schedule."""
    from harness.tournament.execute import variation

    workload = variation(run.workload, run.variation) if run.variation else run.workload

    replay = partial(_simulate, run, plugins)
    schedule = replay(workload, timeline=True)
    name, scheduler = str(wanted.row["workload"]), str(wanted.row["scheduler"])
    pairs = PAIRS if wanted.repeated else 0
    return detail(schedule, replay, name, scheduler, wanted.place, rectangles, pairs), schedule.digest


def _simulate(run: "Run", plugins: tuple[str, ...], workload: "Workload", **kept: Any) -> "Schedule":
    from harness.run import simulate

    return simulate(workload, run.platform, run.scheduler, seed=run.seed, plugins=plugins, **kept)
