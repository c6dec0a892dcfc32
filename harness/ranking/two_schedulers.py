"""Compare two schedulers on one log and its variations: by measure, by class of jobs, and by user."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.experiment.execution import stopping_when, variation
from harness.experiment.external_schedule import ExternalSchedule
from harness.experiment.pool import Stop, Threads, completed, thread_count
from harness.experiment.simulation import simulate
from harness.ranking.inference import ALPHA, Inference, Matrix, infer, log_ratios
from harness.results.measures import Measure, known_measures
from harness.workload.signals import read_signal

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.policy.scheduler import Chosen, Scheduler
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload

#: The default measures of a comparison; those without values are left out.
MEASURES = (
    *("mean_wait", "median_wait", "p95_wait", "max_wait", "mean_response", "mean_bounded_slowdown"),
    *("area_weighted_response", "utilisation", "energy", "carbon", "cost"),
)

#: The measure of jobs that never started, shown if it differs, because the others leave these jobs out.
UNSTARTED = "unstarted"

#: The upper limits of the classes of runtime [s].
_LENGTHS = {"up to 10 min": 600.0, "up to 2 h": 7200.0, "longer": np.inf}

#: The number of users listed with the largest losses, and the fewest jobs of such a user.
_USERS, _JOBS_OF_A_USER = 3, 10


@dataclass(frozen=True)
class Line:
    """One measure of both schedulers."""

    measure: Measure
    one: float  # on the log itself
    other: float
    ratio: float  # of the second to the first: the geometric mean over all streams; not a number if a value is 0
    interval: tuple[float, float]  # 95 %; not a number if there are too few streams, or no ratio
    p_value: float  # corrected for the number of measures
    lower: bool  # the second has less of it on average

    @property
    def verdict(self) -> str:
        """ "better" or "worse" if the second scheduler differs significantly, else empty."""
        if self.p_value > ALPHA or self.measure.better == "neither":
            return ""
        return "better" if self.lower == (self.measure.better == "less") else "worse"


@dataclass(frozen=True)
class JobClass:
    """A class of jobs, and its waits on the log itself."""

    whose: str
    jobs: int
    one: float  # mean wait [s]
    other: float
    one_longest: float  # [s]
    other_longest: float


@dataclass(frozen=True)
class Comparison:
    """The comparison of two schedulers."""

    units: int  # the log and its variations
    lines: tuple[Line, ...]
    classes: tuple[JobClass, ...]
    users: tuple[JobClass, ...]  # those whose waits grow most under the second
    load: float  # offered to the machine
    needed: int | None  # units needed to detect a difference of 10 % by the first measure


def compare_two(
    workload: "Workload",
    platform: "Platform | int | None",
    schedulers: "tuple[Scheduler | Chosen | ExternalSchedule, Scheduler | Chosen | ExternalSchedule]",
    *,
    resamples: int = 0,
    measures: Sequence[str] = (),
    extra: Iterable[Measure] = (),
    seed: int = 0,
    signal: "str | None" = None,
    plugins: Iterable[str | Path] = (),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Replay `workload` and `resamples` variations of it under two schedulers, and compare them by `measures`.

    An external schedule may replace a scheduler. It has no variations and may lack jobs: the comparison is then on the
    jobs that it has.
    """
    known = known_measures(extra)
    for name in measures:
        if name not in known:
            raise HarnessError(f"there is no measure {name!r}; {did_you_mean(name, known)}")

    heard = None if signal is None else read_signal(signal)
    workload = shared_workload(workload, schedulers, resamples)

    def replayed(run: tuple[int, int], stop: Stop) -> "tuple[dict[str, float], Schedule | None]":
        number, whose = run
        jobs = variation(workload, number) if number else workload
        how: Any = schedulers[whose]
        kept: Any = {"seed": seed, "signal": heard, "progress": stopping_when(stop)}
        if isinstance(how, ExternalSchedule):
            schedule = how.simulate(jobs, platform, **kept)
        else:
            schedule = simulate(jobs, platform, how, plugins=plugins, **kept)
        return schedule.measures(extra), None if number else schedule

    runs = [(number, whose) for number in range(resamples + 1) for whose in (0, 1)]
    found = {}
    with closing(Threads(thread_count(workers))) as threads:
        for run, future in completed(runs, partial(threads.call, replayed), threads.room):
            found[run] = future.result()
            if progress is not None:
                progress(len(found), len(runs))
    tables = [pd.DataFrame([found[number, whose][0] for number in range(resamples + 1)]) for whose in (0, 1)]
    names = [name for name in measures or MEASURES if all(np.isfinite(table[name]).all() for table in tables)]
    if not measures and tables[0][UNSTARTED][0] != tables[1][UNSTARTED][0]:
        names.append(UNSTARTED)
    one, other = (table[names].to_numpy(dtype=np.float64) for table in tables)
    if not names:
        raise HarnessError("no measure has a value for both schedulers on every stream of jobs: expected others")
    judged = infer(log_ratios(other, one), seed)
    frames = [schedule.ran for schedule in (found[0, 0][1], found[0, 1][1]) if schedule is not None]
    return Comparison(
        len(one),
        tuple(_line(known[name], place, (one, other), judged) for place, name in enumerate(names)),
        tuple(_classes(*frames)),
        tuple(_losers(*frames)),
        max(float(table["offered_load"].iloc[0]) for table in tables),
        judged.needed(0, float(np.log(1.1))) if len(one) > 1 else None,
    )


def shared_workload(
    workload: "Workload", schedulers: "Iterable[Scheduler | Chosen | ExternalSchedule]", resamples: int
) -> "Workload":
    """Return the jobs that all external schedules among the schedulers have."""
    for one in schedulers:
        if isinstance(one, ExternalSchedule):
            if resamples:
                raise HarnessError(f"{one.name} is a schedule of the log itself: expected no variations (--resamples)")
            if workload.now is not None:
                raise HarnessError(f"{one.name}: a schedule cannot continue from a state: expected two schedulers")
            workload = one.shared_jobs(workload)
    return workload


def _line(measure: Measure, place: int, values: tuple[Matrix, Matrix], judged: Inference) -> Line:
    """Return the line of a measure; it has no ratio if a value is 0."""
    mean, half = judged.means[place], judged.half[place]
    ratio, interval = float(np.exp(mean)), (np.nan, np.nan)
    if not all((table[:, place] > 0).all() for table in values):
        ratio = np.nan
    elif np.isfinite(half):
        interval = (float(np.exp(mean - half)), float(np.exp(mean + half)))
    one, other = (float(table[0, place]) for table in values)
    return Line(measure, one, other, ratio, interval, float(judged.p_values[place]), bool(mean < 0))


def _share(whose: str, one: pd.DataFrame, other: pd.DataFrame) -> JobClass:
    waits = one["wait"].mean(), other["wait"].mean(), one["wait"].max(), other["wait"].max()
    return JobClass(whose, len(one), *map(float, waits))


def _classes(one: pd.DataFrame, other: pd.DataFrame) -> Iterable[JobClass]:
    """Yield classes of jobs by width and by runtime; the widest tenth is a class of its own."""
    wide = float(one["procs"].quantile(0.9))
    widths = {"1 processor": 1.0, f"up to {wide:.0f} processors": wide, "wider": np.inf}
    for column, bounds in (("procs", widths), ("run", _LENGTHS)):
        least = -np.inf
        for whose, most in bounds.items():
            parts = [frame[(frame[column] > least) & (frame[column] <= most)] for frame in (one, other)]
            least = max(least, float(most))
            if len(parts[0]) and len(parts[1]):
                yield _share(whose, *parts)


def _losers(one: pd.DataFrame, other: pd.DataFrame) -> Iterable[JobClass]:
    """Yield the users with the largest growth of their total wait under the second scheduler."""
    waits = pd.DataFrame({"one": one["wait"], "other": other["wait"], "user": one["user"]}).dropna()
    waits = waits[waits["user"] >= 0]
    lost = (waits["other"] - waits["one"]).groupby(waits["user"])
    worst = lost.sum()[(lost.size() >= _JOBS_OF_A_USER) & (lost.sum() > 0)].sort_values(ascending=False)
    for user in worst.index[:_USERS]:
        yield _share(f"user {user}", *(frame[frame["user"] == user] for frame in (one, other)))
