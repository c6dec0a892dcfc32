"""Judge tuned parameters: whether they beat the default on data that were not used for tuning, and how certain
that is.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.disk.atomic import replacing
from harness.errors import HarnessError
from harness.experiment.field import PARTS
from harness.experiment.pool import Progress
from harness.experiment.runner import tournament
from harness.platform.sizing import OF_THE_LOG
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Scheduler
from harness.present.words import counted, readable, spoken
from harness.ranking.inference import ALPHA, FEWEST, infer, log_ratios
from harness.results.measures import Measure
from harness.tuning.ranges import Search
from harness.tuning.search import Trial, split_time

#: The largest number of judged trials of a front, spread over it.
MOST = 5


@dataclass(frozen=True)
class Judgement:
    """One objective of a tuned scheduler against the default, outside the training data."""

    trial: Trial
    measure: Measure
    ratio: float  # of its values to those of the default: the geometric mean over all units
    interval: tuple[float, float]  # 95 %; not a number if there are too few units
    better: bool | None  # None: not distinguishable
    units: int
    unit: str  # "workload" or "variation"

    @property
    def sentence(self) -> str:
        """A sentence on whether the tuned parameters beat the default outside the training data."""
        low, high = self.interval
        within = f", 95 % interval {readable(low, 3)}–{readable(high, 3)}" if low == low else ""
        ratio = f"{readable(self.ratio, 3)} times its {spoken(self.measure.name)}{within}"
        verdicts = {
            True: "beats the default",
            False: "is worse than the default",
            None: "is indistinguishable from the default",
        }
        few = "" if self.units >= FEWEST else f" (a test needs {FEWEST})"
        over = f"over {counted(self.units, self.unit)}{few}"
        return f"Outside the training data, the tuned scheduler {verdicts[self.better]}: {ratio}, {over}."


def judge(
    search: Search,
    best: Sequence[Trial],
    folder: Path,
    *,
    plugins: tuple[str, ...] = (),
    workers: int | None = None,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> tuple[list[Judgement], int]:
    """Run a tournament of the default and the best trials on held-out weeks and logs.

    Returns the judgements, and how many different choices these data have judged.
    """
    chosen = [best[k] for k in np.unique(np.linspace(0, len(best) - 1, min(MOST, len(best))).round().astype(int))]
    field = folder / "judge.toml"
    with replacing(field) as temporary:
        temporary.write_text(_field(search, [search.default, *(trial.scheduler for trial in chosen)], plugins))
    results = tournament(field, folder / "judge", plugins=plugins, workers=workers, watch=watch)
    frame = results.frame()
    frame = frame[frame["status"] == "done"]
    if frame.empty:
        raise HarnessError(f"{folder / 'judge'}: no run of the judgement was done")
    return [one for trial in chosen for one in _compared(search, frame, trial, plugins)], _counted(folder, chosen)


def _compared(search: Search, frame: Any, trial: Trial, plugins: tuple[str, ...]) -> list[Judgement]:
    tuned_parts, usual_parts = (_written(one, plugins) for one in (trial.scheduler, search.default))
    if tuned_parts == usual_parts:
        return []
    tables = [frame[(frame[list(parts)] == list(parts.values())).all(axis=1)] for parts in (tuned_parts, usual_parts)]
    names = [one.name for one in search.objectives]
    block = ["workload", "variation", "platform", "seed"]
    tuned, usual = (table.set_index(block)[names].sort_index() for table in tables)
    common = tuned.index.intersection(usual.index)
    ratios = log_ratios(tuned.loc[common].to_numpy(float), usual.loc[common].to_numpy(float))
    workloads = common.get_level_values("workload")
    unit = "workload" if workloads.nunique() >= FEWEST or frame["variation"].max() == 0 else "variation"
    if unit == "workload":
        ratios = np.array([ratios[workloads == name].mean(axis=0) for name in workloads.unique()])
    told = infer(ratios, 0)
    found = []
    for k, measure in enumerate(search.objectives):
        mean, half = float(told.means[k]), float(told.half[k])
        interval = (np.exp(mean - half), np.exp(mean + half)) if np.isfinite(half) else (np.nan, np.nan)
        surely = told.p_values[k] <= ALPHA and len(ratios) >= FEWEST
        better = (mean < 0) == (measure.better == "less") if surely else None
        found.append(Judgement(trial, measure, float(np.exp(mean)), interval, better, len(ratios), unit))
    return found


def _written(scheduler: Scheduler, plugins: tuple[str, ...]) -> dict[str, str]:
    """Return the parts of a scheduler as results write them, without the energy policy, which the platform chooses."""
    names = scheduler.choose(load_plugins(*plugins).policies).names
    return {part: names[part] for part in PARTS if part in names and part != "energy"}


def _counted(folder: Path, chosen: Sequence[Trial]) -> int:
    """Return how many different choices the held-out data have judged: only the first judgement is unbiased."""
    path = folder / "judged.json"
    before = json.loads(path.read_text()) if path.is_file() else []
    now = [str(trial.scheduler) for trial in chosen]
    if now not in before:
        before.append(now)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(before, indent=1))
    return before.index(now) + 1


def _field(search: Search, schedulers: Sequence[Scheduler], plugins: tuple[str, ...]) -> str:
    about = "The default and the results of a search, on weeks and logs that the search did not use."
    lines = [f"about = {json.dumps(about)}", "workloads = ["]
    for source in search.field.workloads:
        options = {**source.options, "start": split_time(source, plugins)}
        told = ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
        name = json.dumps(f"{source.name or source.source}, later weeks")
        lines.append(f"  {{source = {json.dumps(source.source)}, {told}, name = {name}}},")
    lines += [f"  {json.dumps(name)}," for name in search.held_out]
    platforms = ", ".join(json.dumps(one) for one in search.field.platforms or (OF_THE_LOG,))
    lines += ["]", f"platforms = [{platforms}]", f"resamples = {search.field.resamples}"]
    lines += [
        f"seeds = {list(search.field.seeds)}",
        *(f"{key} = {json.dumps(value)}" for key, value in search.field.timing.as_dict().items()),
    ]
    lines += [f"{key} = {json.dumps(given)}" for key, given in search.surroundings.items()]
    for scheduler in dict.fromkeys(schedulers):
        lines.append("\n[[scheduler]]")
        lines += [f"{part} = {json.dumps(str(value))}" for part, value in vars(scheduler).items() if value]
    return "\n".join(lines) + "\n"
