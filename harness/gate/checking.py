"""The regression check: run again what a baseline names, and say what moved."""

import json
import os
import platform
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from harness import __version__
from harness.errors import HarnessError, did_you_mean
from harness.experiment.execution import Finished
from harness.experiment.field import Field
from harness.experiment.field_reading import field_of, read_field
from harness.experiment.pool import Progress, Threads, Watch, execute_all, thread_count
from harness.experiment.run_identity import resampling_digest
from harness.experiment.run_matrix import Run, RunMatrix, make_run_matrix
from harness.experiment.source_text import SourceText
from harness.experiment.stored_results import scheduler_names
from harness.gate import baseline as kept
from harness.gate.baseline import Baseline, BaselineRun, Key, Versions
from harness.gate.comparison import UNSTARTED, ComparedRun, chosen_measures, measure_changes
from harness.gate.difference import Difference, decision_at, first_difference
from harness.gate.given_schedules import GivenSchedule, given_schedules
from harness.gate.history import former_baselines
from harness.gate.verdict import Verdict
from harness.numba_support.fingerprint import engine_version, fingerprint
from harness.policy.scheduler import SLURM
from harness.present.json_text import finite
from harness.results.measures import Measure, extra_measures, known_measures
from harness.slurm.slurm_scheduler import SlurmScheduler

Measures = Mapping[str, Measure]

#: Of so many runs with other schedules it is told what was decided where they part: each runs once more for it.
EXPLAINED = 10


def check(
    baseline: str | Path,
    *,
    field: str | Path | None = None,
    update: bool = False,
    tolerances: Mapping[str, float] | None = None,
    tolerance: float | None = None,
    measures: Iterable[str] = (),
    schedules: Mapping[str, str | Path] | None = None,
    scheduler_name: str = "",
    starts_only: bool = False,
    plugins: Iterable[str | Path] = (),
    workers: int | None = None,
    watch: Watch = lambda progress: None,
) -> Verdict:
    """Run again what a baseline names; compare every schedule exactly and every measure within its tolerance.

    With `update` the baseline is written anew, with the `field` (a name or a path) if one is given; this is how a
    baseline is made. The verdict contains what has changed all the same. `tolerances` are relative differences between
    0 and 1 by measure, that count as none: they go before those of the baseline, which go before `tolerance`, that of
    all measures, which goes before the defaults. 1 tolerates anything. `measures` are those to judge by, by default
    those that matter. Jobs that never started always count.

    `schedules` are files with schedules made elsewhere, by workload: each takes the place of its workload's one run,
    with the runtimes of the workload. `scheduler_name` names their scheduler; the default is the file's name. Other
    runtimes in a schedule are refused unless `starts_only`.
    """
    path = Path(baseline)
    workers = thread_count(workers)
    paths = (str(plugins),) if isinstance(plugins, str | Path) else tuple(map(str, plugins))
    old, text = kept.read_baseline(path) if os.path.lexists(path) else (None, "")
    read, table = _field(path, old, text, field, update, paths)
    # What a schedule has against its log follows from its starts, which are compared exactly.
    known = {name: one for name, one in known_measures(extra_measures(paths)).items() if not one.against_log}
    judging, usual = chosen_measures(known, measures)
    tolerated = {**(old.tolerances if old else {}), **(tolerances or {})}
    _refuse_tolerances(tolerated, known)
    if tolerance is not None:
        _refuse_tolerances(dict.fromkeys(usual, tolerance), known)
        usual = {one.name: tolerance for one in judging}

    plan = make_run_matrix(read, paths)
    if plan.refused:
        raise HarnessError(f"{read.written.path}: {plan.refused[0].reason}; or [[exclude]] what cannot run")
    made = _described(plan, table, tolerated)
    runs = {_key(run): run for run in plan.runs}
    given = given_schedules(schedules or {}, runs, paths, scheduler_name)
    problems = {} if old is None else _problems(old, made, runs, known, given)
    todo = {key: run for key, run in runs.items() if update or key not in problems}
    results = {key: given[key].result(todo[key], paths, starts_only=starts_only) for key in given if key in todo}
    results |= _executed({key: run for key, run in todo.items() if key not in given}, workers, watch)
    failures = {key: f"it fails: {result.error}" for key, result in results.items() if result.error}
    if update and failures:
        key, why = next(iter(failures.items()))
        raise HarnessError(f"{path}: not written: {len(failures)} of {len(runs)} runs fail; {_words(key)}: {why}")
    verdict = Verdict(path, ())
    if old is not None:  # before its starts are replaced
        compared = _compared(path, old, runs, results, problems | failures, judging, usual | tolerated, given)
        # Without a signal no run has a value of carbon; where nothing ran, any measure may have one.
        values = [item for result in results.values() for item in finite(result.measures).items()]
        measured = {name for name, value in values if value is not None} & known.keys() or known.keys()
        lacking = tuple(sorted(measured - {name for run in old.runs for name in run.measures}))
        startless = not kept.starts_path(path).exists()
        verdict = Verdict(path, tuple(compared), tuple(_stale(old, made)), lacking, startless)
    if update:
        past = tuple(_past(key, result, known, given.get(key)) for key, result in results.items())
        packed = {str(r.schedule_digest): r.kept for r in results.values() if r.kept is not None}
        made = made.model_copy(update={"runs": past})
        kept.write_baseline(
            path, made.model_copy(update={"former": former_baselines(old, made)} if old else {}), packed
        )
        verdict = replace(verdict, written=len(results))
    return verdict


# ---------------------------------------------------------------- before anything runs


def _field(
    path: Path, old: Baseline | None, text: str, field: str | Path | None, update: bool, plugins: tuple[str, ...]
) -> tuple[Field, dict[str, Any]]:
    """Read the field that is asked for, or else that of the baseline at `path`; return it and its table."""
    if field is not None and not update:
        raise HarnessError("a field is what a new baseline is made of: expected update (--update) beside it")
    if field is not None:
        read = read_field(field, plugins=plugins)
        table = json.loads(json.dumps(tomllib.loads(read.written.text), default=str))
    elif old is not None:
        read, table = field_of(old.field, SourceText(path, text), plugins=plugins), old.field
    else:
        raise HarnessError(f"{path}: no such baseline; harness check {path} --field FIELD --update makes one")
    if update and not path.parent.is_dir():
        raise HarnessError(f"{path}: cannot be written: expected a folder {path.parent}")
    return read, table


def _refuse_tolerances(tolerances: Mapping[str, float], measures: Iterable[str]) -> None:
    for name, value in tolerances.items():
        if name not in measures:
            raise HarnessError(f"tolerance of {name!r}: there is no such measure; {did_you_mean(name, measures)}")
        if not 0 <= value <= 1:
            raise HarnessError(
                f"tolerance of {name!r}: {value:.15g}: expected a relative difference between 0 and 1, such as 0.05 "
                "for 5 %; 1 tolerates anything"
            )


def _key(run: Run) -> Key:
    return run.workload.name, run.platform.name, run.variation, run.seed, tuple(sorted(run.policies.items()))


def _described(plan: RunMatrix, table: dict[str, Any], tolerances: dict[str, float]) -> Baseline:
    """Make a baseline of a plan, before its runs are known."""
    policies: dict[str, dict[str, str]] = {}
    for run in {id(run.scheduler): run for run in plan.runs}.values():
        for policy in (one.policy for choice in run.scheduler.values() for one in choice.chain):
            policies.setdefault(policy.hook, {})[policy.name] = fingerprint(policy.function)
        if isinstance(run.scheduler, SlurmScheduler):
            policies.setdefault(SLURM, {})[run.scheduler.written_as] = run.scheduler.digest[:12]
    versions = Versions(
        harness=__version__,
        engine=engine_version(),
        measures=plan.runs[0].versions["measures"][0],
        resampling=resampling_digest(),
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


def _problems(
    old: Baseline, made: Baseline, runs: Mapping[Key, Run], measures: Measures, given: Mapping[Key, GivenSchedule]
) -> dict[Key, str]:
    """Say why runs cannot be compared with those of the baseline."""
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
        elif lost := sorted(before[key].measures.keys() - measures.keys()):
            found[key] = f"nobody offers the measure {lost[0]!r} any more; {did_you_mean(lost[0], measures)}"
        elif key in given and UNSTARTED not in before[key].measures:
            found[key] = f"the baseline lacks the measure {UNSTARTED}: expected a newer one (--update)"
        elif before[key].scheduler and key not in given:
            found[key] = f"the baseline has a schedule by {before[key].scheduler}: give its schedule now (--schedule)"
    return found


def _stale(old: Baseline, made: Baseline) -> Iterator[str]:
    """Yield a sentence for each version that differs from the baseline's."""
    was, now = old.versions, made.versions
    if was.engine != now.engine:
        yield f"the engine has changed: {was.engine} (harness {was.harness}), now {now.engine} (harness {now.harness})"
    if was.measures != now.measures:
        yield "how measures are computed has changed"
    if was.python != now.python:
        yield f"made under Python {was.python}, this is {now.python}: whether policies have changed cannot be told"
        return
    for hook, sources in made.policies.items():
        for name, version in sources.items():
            before = old.policies.get(hook, {}).get(name, version)
            if before != version:
                yield f"the policy {name} ({hook}) has changed: {before}, now {version}"


# ---------------------------------------------------------------- running


def _executed(runs: Mapping[Key, Run], workers: int, watch: Watch) -> Iterator[tuple[Key, Finished]]:
    """Have runs done, the longest first, and yield what comes of them as they finish."""
    progress = Progress(len(runs), found=0, jobs_to_do=sum(run.jobs for run in runs.values()))
    watch(progress)
    longest_first = sorted(runs.values(), key=lambda run: run.length, reverse=True)
    with closing(Threads(workers)) as pool:
        pool.begin(runs.values())
        for run, result in execute_all(pool, longest_first, kept.pack):
            watch(progress := progress.after(run))
            yield _key(run), result


def _past(key: Key, result: Finished, measures: Iterable[str], given: GivenSchedule | None = None) -> BaselineRun:
    workload, machine, number, seed, policies = key
    return BaselineRun(
        workload=workload,
        platform=machine,
        variation=number,
        seed=seed,
        policies=dict(policies),
        schedule=str(result.schedule_digest),
        measures=finite({name: value for name, value in result.measures.items() if name in measures}),
        scheduler=given.scheduler if given else "",
    )


# ---------------------------------------------------------------- comparing


def _compared(
    path: Path,
    old: Baseline,
    runs: Mapping[Key, Run],
    results: Mapping[Key, Finished],
    problems: Mapping[Key, str],
    measures: Iterable[Measure],
    tolerances: Mapping[str, float],
    given: Mapping[Key, GivenSchedule],
) -> Iterator[ComparedRun]:
    """Put every run beside its baseline, in the order of the field, then those that the field lost."""
    before = {past.key: past for past in old.runs}
    packed = kept.read_packed(path, len(old.runs))
    measures = list(measures)
    keys = list(dict.fromkeys([*runs, *before]))
    explained = 0
    for key, scheduler in zip(keys, _names(keys), strict=True):
        if key in given or (key in before and before[key].scheduler):
            scheduler = _by(scheduler, before.get(key), given.get(key))
        if key in problems:
            yield ComparedRun(key, scheduler, problems[key])
            continue
        was, now = before[key], _past(key, results[key], [one.name for one in measures])
        difference = None
        if was.schedule != now.schedule and was.schedule in packed:
            starts = packed[was.schedule], results[key].kept or b""
            explained += key not in given  # of a schedule made elsewhere only the starts are known
            difference = _difference(runs[key], *starts, key not in given and explained <= EXPLAINED)
        beyond, within = measure_changes(was.measures, now.measures, measures, tolerances)
        rescheduled = was.schedule != now.schedule
        yield ComparedRun(key, scheduler, "", rescheduled, beyond, within, difference)


def _difference(run: Run, before: bytes, now: bytes, explained: bool) -> Difference | None:
    """Find where the schedules part; if `explained`, with what was decided there."""
    workload = run.replayed
    submit = workload.jobs["submit"].to_numpy()
    starts = kept.unpack(before, submit)
    difference = first_difference(starts, kept.unpack(now, submit), workload.jobs)
    if difference is None or not explained:
        return difference
    schedule = run.simulate(workload, placements=True)
    decision = decision_at(schedule, starts, difference.instant, common=run.scheduler.steady)
    return replace(difference, decision=decision)


def _names(keys: Iterable[Key]) -> list[str]:
    """Name the schedulers in a few words each."""
    return scheduler_names(pd.DataFrame([{"platform": key[1], **dict(key[4])} for key in keys]))


def _by(policies: str, was: BaselineRun | None, now: GivenSchedule | None) -> str:
    """Name the scheduler of a run that was made elsewhere, now or in the baseline."""
    before = was.scheduler if was else ""
    if now is None:
        return before
    if before:
        return now.scheduler if now.scheduler == before else f"{now.scheduler}, before {before}"
    return f"{now.scheduler}, in the place of {policies}"


def _words(key: Key) -> str:
    return f"{key[0]} on {key[1]}, " + ", ".join(f"{part} {policy}" for part, policy in key[4])
