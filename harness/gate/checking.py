"""The regression check: repeat the runs of a baseline, and report the changes."""

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

#: The number of changed schedules with an explanation of the first difference; each needs one more run.
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
    """Repeat the runs of a baseline; compare every schedule exactly and every measure within its tolerance.

    With `update` the baseline is rewritten, with the `field` (a name or a path) if given; this also makes a first
    baseline. The verdict still contains the changes. `tolerances` are relative differences by measure that count as
    none, between 0 and 1, where 1 tolerates anything. They precede those of the baseline, then `tolerance` for all
    measures, then the defaults. `measures` are those to judge by, by default those in `DEFAULT_TOLERANCES`. Jobs that
    never started always count.

    `schedules` are files with external schedules by workload. Each replaces the one run of its workload, with the
    runtimes of the workload. `scheduler_name` names their scheduler; the default is the file's name. Other runtimes in
    a schedule are refused unless `starts_only`.
    """
    path = Path(baseline)
    workers = thread_count(workers)
    paths = (str(plugins),) if isinstance(plugins, str | Path) else tuple(map(str, plugins))
    old, text = kept.read_baseline(path) if os.path.lexists(path) else (None, "")
    read, table = _field(path, old, text, field, update, paths)
    # Measures against the log follow from the starts, which are compared exactly.
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
        lacking = _without_baseline_value(old, results, known)
        startless = not kept.starts_path(path).exists()
        verdict = Verdict(path, tuple(compared), tuple(_stale(old, made)), lacking, startless)
    if update:
        _write(path, old, made, results, known, given)
        verdict = replace(verdict, written=len(results))
    return verdict


# ---------------------------------------------------------------- before anything runs


def _field(
    path: Path, old: Baseline | None, text: str, field: str | Path | None, update: bool, plugins: tuple[str, ...]
) -> tuple[Field, dict[str, Any]]:
    """Read the given field, or else that of the baseline at `path`; return it and its table."""
    if field is not None and not update:
        raise HarnessError("a field is for a new baseline only: expected update (--update) with it")
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
    """Return a baseline of a run matrix, without results."""
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
    """Return why runs cannot be compared with those of the baseline."""
    before = {past.key: past for past in old.runs}
    found = {}
    for key in dict.fromkeys([*runs, *before]):
        workload, machine, number, *_ = key
        if key not in before:
            found[key] = "it is not in the baseline"
        elif key not in runs:
            found[key] = "it is no longer in the field"
        elif old.workloads.get(workload) != made.workloads[workload]:
            found[key] = f"the workload {workload} is not that of the baseline"
        elif old.platforms.get(machine) != made.platforms[machine]:
            found[key] = f"the platform {machine} is not that of the baseline"
        elif number and old.versions.resampling != made.versions.resampling:
            found[key] = "variations are drawn in another way than those of the baseline"
        elif lost := sorted(before[key].measures.keys() - measures.keys()):
            found[key] = f"the measure {lost[0]!r} no longer exists; {did_you_mean(lost[0], measures)}"
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
        yield "the computation of measures has changed"
    if was.python != now.python:
        yield f"made under Python {was.python}, this is {now.python}: changes of policies cannot be detected"
        return
    for hook, sources in made.policies.items():
        for name, version in sources.items():
            before = old.policies.get(hook, {}).get(name, version)
            if before != version:
                yield f"the policy {name} ({hook}) has changed: {before}, now {version}"


# ---------------------------------------------------------------- running


def _executed(runs: Mapping[Key, Run], workers: int, watch: Watch) -> Iterator[tuple[Key, Finished]]:
    progress = Progress(len(runs), found=0, jobs_to_do=sum(run.jobs for run in runs.values()))
    watch(progress)
    longest_first = sorted(runs.values(), key=lambda run: run.length, reverse=True)
    with closing(Threads(workers)) as pool:
        pool.begin(runs.values())
        for run, result in execute_all(pool, longest_first, kept.pack):
            watch(progress := progress.after(run))
            yield _key(run), result


def _write(
    path: Path,
    old: Baseline | None,
    made: Baseline,
    results: Mapping[Key, Finished],
    measures: Measures,
    given: Mapping[Key, GivenSchedule],
) -> None:
    past = tuple(_past(key, result, measures, given.get(key)) for key, result in results.items())
    made = made.model_copy(update={"runs": past})
    former = {"former": former_baselines(old, made)} if old else {}
    packed = {str(one.schedule_digest): one.kept for one in results.values() if one.kept is not None}
    kept.write_baseline(path, made.model_copy(update=former), packed)


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
    """Yield the comparison of every run with its baseline, in the order of the field, then those that the field
    lost.
    """
    before = {past.key: past for past in old.runs}
    packed = kept.read_packed(path, len(old.runs))
    measures = list(measures)
    keys = list(dict.fromkeys([*runs, *before]))
    explained = 0
    names = scheduler_names(pd.DataFrame([{"platform": key[1], **dict(key[4])} for key in keys]))
    for key, scheduler in zip(keys, names, strict=True):
        if key in given or (key in before and before[key].scheduler):
            scheduler = _by(scheduler, before.get(key), given.get(key))
        if key in problems:
            yield ComparedRun(key, scheduler, problems[key])
            continue
        was, now = before[key], _past(key, results[key], [one.name for one in measures])
        difference = None
        if was.schedule != now.schedule and was.schedule in packed:
            starts = packed[was.schedule], results[key].kept or b""
            explained += key not in given  # of an external schedule only the starts are known
            difference = _difference(runs[key], *starts, key not in given and explained <= EXPLAINED)
        beyond, within = measure_changes(was.measures, now.measures, measures, tolerances)
        rescheduled = was.schedule != now.schedule
        yield ComparedRun(key, scheduler, "", rescheduled, beyond, within, difference)


def _without_baseline_value(old: Baseline, results: Mapping[Key, Finished], known: Measures) -> tuple[str, ...]:
    """Return the measures of this check that have no value in the baseline.

    Measures without any value, such as carbon without a signal, are left out; if nothing ran, none is.
    """
    values = [item for result in results.values() for item in finite(result.measures).items()]
    measured = {name for name, value in values if value is not None} & known.keys() or known.keys()
    return tuple(sorted(measured - {name for run in old.runs for name in run.measures}))


def _difference(run: Run, before: bytes, now: bytes, explained: bool) -> Difference | None:
    """Return the first difference of the schedules; if `explained`, with the decisions there."""
    workload = run.replayed
    submit = workload.jobs["submit"].to_numpy()
    starts = kept.unpack(before, submit)
    difference = first_difference(starts, kept.unpack(now, submit), workload.jobs)
    if difference is None or not explained:
        return difference
    schedule = run.simulate(workload, placements=True)
    decision = decision_at(schedule, starts, difference.instant, common=run.scheduler.steady)
    return replace(difference, decision=decision)


def _by(policies: str, was: BaselineRun | None, now: GivenSchedule | None) -> str:
    """Return the name of the scheduler of a run with an external schedule, now or in the baseline."""
    before = was.scheduler if was else ""
    if now is None:
        return before
    if before:
        return now.scheduler if now.scheduler == before else f"{now.scheduler}, before {before}"
    return f"{now.scheduler}, instead of {policies}"


def _words(key: Key) -> str:
    return f"{key[0]} on {key[1]}, " + ", ".join(f"{part} {policy}" for part, policy in key[4])
