"""The search for better parameters: Optuna proposes them, and replays of the training streams evaluate them."""

import hashlib
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError
from harness.experiment.field import Source
from harness.experiment.pool import thread_count
from harness.experiment.simulation import machine_of, simulate
from harness.platform.sizing import OF_THE_LOG, of_the_log
from harness.platform.windows import reserved
from harness.policy.scheduler import Scheduler
from harness.ranking.inference import log_ratios
from harness.tuning.ranges import Range, Search
from harness.workload.log import Workload
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare
from harness.workload.resampling import resample

if TYPE_CHECKING:
    from harness.platform.machine import Platform

#: Logs are divided at a multiple of a week [s].
_WEEK = 7 * 86400.0


@dataclass(frozen=True)
class Trial:
    """A point that was tried: its values, and the ratio to the default of each objective, on the training streams."""

    scheduler: Scheduler
    values: Mapping[str, float]
    ratios: tuple[float, ...]  # geometric means; inverted if necessary, so that less is better


@dataclass(frozen=True)
class SearchResult:
    """The results of a search so far: every trial, and those that no other dominates."""

    trials: tuple[Trial, ...]
    best: tuple[Trial, ...]


def split_time(source: Source, plugins: tuple[str, ...]) -> float:
    """Return the time at which a log is divided [s after its first submit]: the first part trains, the second
    judges.
    """
    if {"start", "stop", "jobs"} & set(source.options):
        raise HarnessError(
            f"{source.source}: start, stop or jobs given: expected the whole log: its first half trains, its "
            "second half judges"
        )
    submit = prepare(read_workload(source.source, plugins=plugins), **source.options).jobs["submit"].to_numpy()
    half = float(submit.max() - submit.min()) / 2
    return math.floor(half / _WEEK) * _WEEK or half


class Training:
    """The training streams of a search: the first halves of the field's logs, and variations of them."""

    def __init__(self, search: Search, plugins: tuple[str, ...], workers: int | None) -> None:
        self.search, self.plugins = search, plugins
        self.workers = thread_count(workers)
        self.streams: list[tuple[Workload, Platform]] = []
        field = search.field
        for source in field.workloads:
            log = read_workload(source.source, plugins=plugins)
            jobs = prepare(log, **{**source.options, "stop": split_time(source, plugins)})
            for platform in field.platforms:
                given = None if platform == OF_THE_LOG else of_the_log(platform, jobs.procs, jobs.name)
                machine = machine_of(int(given) if given and given.isdecimal() else given, jobs, plugins)
                machine = reserved(machine, field.reservations) if field.reservations else machine
                varied = [jobs, *(resample(jobs, number) for number in range(1, field.resamples + 1))]
                self.streams += [(one, machine) for one in varied]
        self._default = self.measured(search.default)

    def measured(self, scheduler: Scheduler) -> Any:
        """Replay every stream under a scheduler; return a row for each stream and a column for each objective."""

        def replay(stream: tuple[Workload, "Platform"]) -> list[float]:
            field = self.search.field
            asked: dict[str, Any] = {"seed": field.seeds[0], "timing": field.timing, "signal": field.signal}
            schedule = simulate(*stream, scheduler, plugins=self.plugins, **asked)
            return [float(one.function(schedule)) for one in self.search.objectives]

        with ThreadPoolExecutor(self.workers) as pool:
            return np.array(list(pool.map(replay, self.streams)))

    def ratios(self, scheduler: Scheduler) -> tuple[float, ...]:
        """Return the geometric mean of the ratios to the default of each objective, so that less is better."""
        found = self.measured(scheduler)
        if not np.isfinite(found).all():
            names = ", ".join(one.name for one in self.search.objectives)
            raise HarnessError(f"{names}: no value on some training streams: expected other objectives, or a platform")
        signs = [-1.0 if one.better == "more" else 1.0 for one in self.search.objectives]
        return tuple(np.exp(log_ratios(found, self._default).mean(axis=0) * signs).tolist())


def search_for(
    search: Search,
    folder: Path,
    *,
    trials: int,
    seed: int = 0,
    plugins: tuple[str, ...] = (),
    workers: int | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> SearchResult:
    """Try points until `trials` trials are done, including those of earlier calls; the default is the first."""
    try:
        import optuna
    except ImportError:
        raise HarnessError("tuning needs optuna, which is not installed: pip install 'sched-harness[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    training = Training(search, plugins, workers)
    study = optuna.create_study(
        storage=f"sqlite:///{folder / 'trials.sqlite'}",
        study_name=_identity(search, training),
        directions=["minimize"] * len(search.objectives),
        sampler=optuna.samplers.TPESampler(seed=seed),
        load_if_exists=True,
    )
    if not study.trials:
        study.enqueue_trial({one.label: one.default for one in search.ranges if one.low <= one.default <= one.high})

    def objective(trial: Any) -> tuple[float, ...]:
        return training.ratios(search.scheduler({one.label: _suggested(trial, one) for one in search.ranges}))

    finished = optuna.trial.TrialState.COMPLETE
    while (done := len(study.get_trials(deepcopy=False, states=(finished,)))) < trials:
        watch(done, trials)
        study.optimize(objective, n_trials=1)
    watch(trials, trials)
    tried = study.get_trials(deepcopy=False, states=(finished,))
    best = study.best_trials if len(search.objectives) > 1 else [study.best_trial]
    return SearchResult(tuple(_trial(search, one) for one in tried), _distinct(_trial(search, one) for one in best))


def _identity(search: Search, training: Training) -> str:
    """Return the name of the study, a digest of all that its trials depend on: another field begins a new study."""
    told = [search.field.written.text, *(one.name for one in search.objectives)]
    told += sorted({machine.digest for _, machine in training.streams if machine.windows})  # of files that it names
    told += [search.field.signal.digest] if search.field.signal else []
    told += [repr(search.queues)] if search.queues else []
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _suggested(trial: Any, one: Range) -> float:
    if one.whole:
        return float(trial.suggest_int(one.label, int(one.low), int(one.high), log=one.logarithmic))
    # Four digits are easy to type, and more make no difference.
    return float(f"{trial.suggest_float(one.label, one.low, one.high, log=one.logarithmic):.4g}")


def _trial(search: Search, one: Any) -> Trial:
    values = {name: float(f"{value:.4g}") for name, value in one.params.items()}
    values = {r.label: min(max(values[r.label], r.low), r.high) for r in search.ranges}
    return Trial(search.scheduler(values), values, tuple(one.values))


def _distinct(trials: Any) -> tuple[Trial, ...]:
    found = {trial.scheduler: trial for trial in trials}
    return tuple(sorted(found.values(), key=lambda trial: trial.ratios))
