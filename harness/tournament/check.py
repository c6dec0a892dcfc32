"""The regression check: run again what a baseline names, and say what moved."""

import json
import math
import platform
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from harness import __version__
from harness.errors import HarnessError, did_you_mean
from harness.results.metrics import MEASURES, Measure
from harness.run import choose_policies, extra_measures, simulate
from harness.tournament import baseline as kept
from harness.tournament.baseline import Baseline, Key, Past, Versions
from harness.tournament.difference import Difference, decided, first_difference
from harness.tournament.execute import Finished, Task, workload_of
from harness.tournament.identity import way_of_resampling
from harness.tournament.on_threads import Threads
from harness.tournament.page import Page
from harness.tournament.plan import Plan, Run, make_plan
from harness.tournament.reading import field_of, read_field
from harness.tournament.results import scheduler_names
from harness.tournament.runner import Progress, Watch, at_least, cores
from harness.tournament.verdict import Compared, Verdict, moves
from harness.version import engine_version, fingerprint

#: Of so many runs with other schedules it is told what was decided where they part: each runs once more for it.
EXPLAINED = 10


def check(
    baseline: str | Path,
    *,
    field: str | Path | None = None,
    update: bool = False,
    tolerances: Mapping[str, float] | None = None,
    plugins: Iterable[str | Path] = (),
    workers: int | None = None,
    watch: Watch = lambda progress: None,
) -> Verdict:
    """Run again what a baseline names; compare every schedule exactly and every measure within its tolerance.

    With `update` the baseline is written anew, with the `field` (a name or a path) if one is given; this is how a
    baseline is made. The verdict says what has changed all the same. `tolerances` are relative differences, by measure,
    that count as none: they go before those of the baseline, which go before the measures' own. 1 tolerates anything.
    """
    path = Path(baseline)
    workers = at_least(1, cores() if workers is None else workers, "workers")
    paths = (str(plugins),) if isinstance(plugins, str | Path) else tuple(map(str, plugins))
    old, text = kept.read_baseline(path) if path.exists() else (None, "")
    if field is not None and not update:
        raise HarnessError("a field is what a new baseline is made of: expected update (--update) beside it")
    if field is not None:
        read = read_field(field, plugins=paths)
        table = json.loads(json.dumps(tomllib.loads(read.page.text), default=str))
    elif old is not None:
        read, table = field_of(old.field, Page(path, text), plugins=paths), old.field
    else:
        raise HarnessError(f"{path}: no such baseline; harness check {path} --field FIELD --update makes one")
    if update and not path.parent.is_dir():
        raise HarnessError(f"{path}: cannot be written: expected a folder {path.parent}")
    measures = [*MEASURES.values(), *extra_measures(paths)]
    tolerated = {**(old.tolerances if old else {}), **(tolerances or {})}
    _refuse_tolerances(tolerated, measures)

    plan = make_plan(read, paths)
    runs = {_key(run): run for run in plan.runs}
    made = _described(plan, table, tolerated)
    names = {measure.name for measure in measures}
    problems = {} if old is None else _problems(old, made, runs, names)
    todo = {key: run for key, run in runs.items() if update or key not in problems}
    results = dict(_executed(plan, todo, workers, watch))
    failures = {key: f"it fails: {result.error}" for key, result in results.items() if result.error}
    if update and failures:
        key, why = next(iter(failures.items()))
        raise HarnessError(f"{path}: not written: {len(failures)} of {len(runs)} runs fail; {_words(key)}: {why}")
    verdict = Verdict(path, ())
    if old is not None:  # before its starts are replaced
        compared = _compared(path, old, plan, results, problems | failures, measures, tolerated)
        verdict = Verdict(path, tuple(compared), tuple(_stale(old, made, names)))
    if update:
        made = made.model_copy(update={"runs": tuple(_past(key, result) for key, result in results.items())})
        packed = {str(r.schedule_digest): r.kept for r in results.values() if r.kept is not None}
        kept.write_baseline(path, made, packed)
        verdict = replace(verdict, written=len(results))
    return verdict


# ---------------------------------------------------------------- before anything runs


def _refuse_tolerances(tolerances: Mapping[str, float], measures: Iterable[Measure]) -> None:
    known = [measure.name for measure in measures]
    for name, value in tolerances.items():
        if name not in known:
            raise HarnessError(f"tolerance of {name!r}: there is no such measure; {did_you_mean(name, known)}")
        if not 0 <= value < math.inf:
            raise HarnessError(f"tolerance of {name!r}: {value}: expected a relative difference, such as 0.01")


def _key(run: Run) -> Key:
    return run.workload.name, run.platform.name, run.variation, run.seed, tuple(sorted(run.policies.items()))


def _described(plan: Plan, table: dict[str, Any], tolerances: dict[str, float]) -> Baseline:
    """A baseline of a plan, before its runs are known."""
    policies: dict[str, dict[str, str]] = {}
    for scheduler, machine in {
        (run.scheduler, run.platform.name): (run.scheduler, run.platform) for run in plan.runs
    }.values():
        for choice in choose_policies(scheduler, machine, plan.plugins).values():
            policies.setdefault(choice.policy.hook, {})[choice.policy.name] = fingerprint(choice.policy.function)
    versions = Versions(
        harness=__version__,
        engine=engine_version(),
        measures=plan.runs[0].versions["measures"][0],
        resampling=way_of_resampling(),
        python=".".join(platform.python_version_tuple()[:2]),
    )
    return Baseline(
        versions=versions,
        field=table,
        tolerances=tolerances,
        workloads={workload.name: workload.digest for workload in plan.workloads},
        platforms={machine.name: machine.digest for machine in plan.platforms},
        policies=policies,
        runs=(),
    )


def _problems(old: Baseline, made: Baseline, runs: Mapping[Key, Run], measures: set[str]) -> dict[Key, str]:
    """Why runs cannot be compared with those of the baseline."""
    before = {past.key: past for past in old.runs}
    found = {}
    for key in dict.fromkeys([*runs, *before]):
        workload, machine, number, *_ = key
        if key not in before:
            found[key] = "it is not in the baseline"
        elif key not in runs:
            found[key] = "the field does not name it any more"
        elif old.workloads.get(workload) != made.workloads[workload]:
            found[key] = f"the workload {workload} is not the one that the baseline was made with"
        elif old.platforms.get(machine) != made.platforms[machine]:
            found[key] = f"the platform {machine} is not the one that the baseline was made with"
        elif number and old.versions.resampling != made.versions.resampling:
            found[key] = "variations are drawn in another way than when the baseline was made"
        elif lost := sorted(before[key].measures.keys() - measures):
            found[key] = f"nobody offers the measure {lost[0]!r} any more; {did_you_mean(lost[0], measures)}"
    return found


def _stale(old: Baseline, made: Baseline, measures: set[str]) -> Iterator[str]:
    """What else has changed since the baseline was made: information, in case results moved."""
    was, now = old.versions, made.versions
    if was.engine != now.engine:
        yield f"the engine has changed: {was.engine} (harness {was.harness}), now {now.engine} (harness {now.harness})"
    if was.measures != now.measures:
        yield "how measures are computed has changed"
    if lacking := sorted(measures - {name for past in old.runs for name in past.measures}):
        yield f"the baseline has nothing to compare with: {', '.join(lacking)}"
    if was.python != now.python:
        yield f"made under Python {was.python}, this is {now.python}: whether policies have changed cannot be told"
        return
    for hook, sources in made.policies.items():
        for name, version in sources.items():
            before = old.policies.get(hook, {}).get(name, version)
            if before != version:
                yield f"the policy {name} ({hook}) has changed: {before}, now {version}"


# ---------------------------------------------------------------- running


def _executed(plan: Plan, runs: Mapping[Key, Run], workers: int, watch: Watch) -> Iterator[tuple[Key, Finished]]:
    """What comes of runs, as they finish."""
    progress = Progress(len(runs), plan.jobs, found=0, jobs_to_do=sum(run.jobs for run in runs.values()))
    watch(progress)
    pool = Threads(workers, plan.plugins)
    try:
        pool.begin(runs.values())
        longest_first = sorted(runs, key=lambda key: runs[key].length, reverse=True)
        flying = {pool.submit(_task(runs[key], plan.plugins), runs[key]): key for key in longest_first}
        for future in as_completed(flying):
            key = flying[future]
            progress = replace(progress, done=progress.done + 1, done_jobs=progress.done_jobs + runs[key].jobs)
            watch(progress)
            yield key, future.result()
    finally:
        pool.close()


def _task(run: Run, plugins: tuple[str, ...]) -> Task:
    return Task(run.variation, run.platform, run.scheduler, run.seed, plugins, run.versions, kept.pack)


def _past(key: Key, result: Finished) -> Past:
    workload, machine, number, seed, policies = key
    return Past(
        workload=workload,
        platform=machine,
        variation=number,
        seed=seed,
        policies=dict(policies),
        schedule=str(result.schedule_digest),
        measures={name: value if math.isfinite(value) else None for name, value in result.measures.items()},
    )


# ---------------------------------------------------------------- comparing


def _compared(
    path: Path,
    old: Baseline,
    plan: Plan,
    results: Mapping[Key, Finished],
    problems: Mapping[Key, str],
    measures: Iterable[Measure],
    tolerances: Mapping[str, float],
) -> Iterator[Compared]:
    """Every run beside its baseline, in the order of the field, then those that the field lost."""
    before = {past.key: past for past in old.runs}
    runs = {_key(run): run for run in plan.runs}
    packed = kept.read_packed(path)
    keys = list(dict.fromkeys([*runs, *before]))
    explained = 0
    for key, scheduler in zip(keys, _names(keys), strict=True):
        if key in problems:
            yield Compared(key, scheduler, problems[key])
            continue
        was, now = before[key], _past(key, results[key])
        difference = None
        if was.schedule != now.schedule and was.schedule in packed:
            explained += 1
            kept_now = results[key].kept or b""
            difference = _difference(runs[key], plan.plugins, packed[was.schedule], kept_now, explained <= EXPLAINED)
        yield Compared(
            key,
            scheduler,
            rescheduled=was.schedule != now.schedule,
            moves=moves(was.measures, now.measures, measures, tolerances),
            difference=difference,
        )


def _difference(run: Run, plugins: tuple[str, ...], before: bytes, now: bytes, explained: bool) -> Difference | None:
    """Where the schedules part; `explained`: with what was decided there."""
    workload = workload_of(run)
    submit = workload.jobs["submit"].to_numpy()
    starts = kept.unpack(before, submit)
    difference = first_difference(starts, kept.unpack(now, submit), workload.jobs)
    if difference is None or not explained:
        return difference
    chosen = choose_policies(run.scheduler, run.platform, plugins)
    common = (
        not chosen["start"].policy.preemptive and chosen["rate"].policy.constant and chosen["sleep"].policy.constant
    )
    schedule = simulate(workload, run.platform, run.scheduler, seed=run.seed, plugins=plugins, placements=True)
    return replace(difference, decision=decided(schedule, starts, difference.instant, common=common))


def _names(keys: Iterable[Key]) -> list[str]:
    """The schedulers in a few words each."""
    return scheduler_names(pd.DataFrame([{"platform": key[1], **dict(key[4])} for key in keys]))


def _words(key: Key) -> str:
    return f"{key[0]} on {key[1]}, " + ", ".join(f"{part} {policy}" for part, policy in key[4])
