"""Run a tournament, from the field to the last result: on threads here, or on a Dask cluster."""

import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.experiment.environment_info import environment_info
from harness.experiment.field import PARTS, Field, with_first_jobs, with_snapshot
from harness.experiment.field_reading import read_field
from harness.experiment.isolation import isolating, limit_seconds
from harness.experiment.ledger import Ledger
from harness.experiment.pool import Pool, Progress, Watch, execute_all, pool_of, thread_count
from harness.experiment.run_matrix import Run, RunMatrix, make_run_matrix
from harness.experiment.store import Store, open_store
from harness.experiment.stored_results import Results
from harness.present.words import counted
from harness.results.schedule import Schedule

#: The interval between checks for runs that another process does [s].
PATIENCE = 0.5

#: The wait for such runs after which a warning names the process [s].
SILENCE = 5.0


def tournament(
    field: Field | str | Path,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    dask: str | None = None,
    resamples: int | None = None,
    jobs: int | None = None,
    state: str | Path | None = None,
    keep_schedules: bool = False,
    plugins: Iterable[str | Path] = (),
    isolate: bool = False,
    limit: str | float | None = None,
    command: str = "",
    watch: Watch = lambda progress: None,
) -> Results:
    """Run every combination of `field`, a bundled name or a path, and keep the results in the folder `out`.

    The default of `out` is `tournaments/NAME` below the working directory. Results that are there already are not
    computed again: the same call continues an interrupted tournament, and repeats failed runs. Runs are done by
    `workers` threads, by default one per core, or by the workers of the Dask scheduler at the address `dask`; the
    results are the same. A run that fails is recorded with its error, and the others continue.

    `resamples` replaces the field's number of variations, and only the first `jobs` jobs of each workload are replayed.
    With `state`, output of squeue or sacct, the workloads follow the jobs that ran and waited then. `watch` is called
    whenever a run has finished.

    With `isolate`, third-party plugins are not imported here: each run with one has a process of its own, and its
    results are computed here. With a `limit`, such as `60s`, processes do all runs, and a simulation that takes longer
    fails.
    """
    paths = tuple(map(str, plugins))
    if keep_schedules and find_spec("pyarrow") is None:
        raise HarnessError("keeping schedules needs pyarrow: pip install 'sched-harness[parquet]'")
    workers, most = thread_count(workers), limit_seconds(limit)
    with isolating(paths, isolate):
        field = _complete(field, paths, resamples, jobs, state)
        plan = make_run_matrix(field, paths)
        folder = Path(out) if out is not None else default_folder(field)
        with pool_of(workers, dask, isolate, most) as pool, open_store(folder) as store:
            store.begin(_about(plan, command, dask or f"{workers} threads"), _wanted(plan))
            _run_all(plan, store, pool, keep_schedules, watch)
            session = store.session
    return Results(folder, session)


def _complete(
    field: Field | str | Path, plugins: tuple[str, ...], resamples: int | None, jobs: int | None, state: Any
) -> Field:
    if not isinstance(field, Field):
        field = read_field(field, plugins=plugins)
    if resamples is not None:
        if resamples < 0:
            raise HarnessError(f"resamples = {resamples}: expected at least 0")
        field = replace(field, resamples=resamples)
    return with_first_jobs(with_snapshot(field, state), jobs)


def default_folder(field: Field) -> Path:
    """Return the default folder for the results of a field."""
    return Path("tournaments") / field.name


def _run_all(plan: RunMatrix, store: Store, pool: Pool, keep_schedules: bool, watch: Watch) -> None:
    settled = store.completed_runs()
    todo = sorted((run for run in plan.runs if run.identity not in settled), key=lambda run: run.length, reverse=True)
    progress = Progress(len(plan.runs), len(plan.runs) - len(todo), jobs_to_do=sum(run.jobs for run in todo))
    watch(progress)
    pool.begin(todo)
    ledger = Ledger(store)
    keep = _parquet if keep_schedules else None
    said: set[int] = set()
    waits_since = None
    while todo:
        elsewhere: list[Run] = []
        for run, result in execute_all(pool, _claimed(todo, store, elsewhere), keep):
            store.finish(run.identity, result, run.versions.get("plugins", ()))
            ledger.add(run.identity)
            watch(progress := progress.after(run))
            waits_since = None
        if elsewhere:  # another process does these; if it ends before, this process does them
            waits_since = waits_since or time.monotonic()
            if time.monotonic() - waits_since >= SILENCE:
                _name_holders(store, said)
            time.sleep(PATIENCE)
            store.mark_ended_sessions()
            settled = store.completed_runs()
        todo = [run for run in elsewhere if run.identity not in settled]
    ledger.refuse_changes()


def _name_holders(store: Store, said: set[int]) -> None:
    """Warn once about each process that this one waits for."""
    for holder in store.holders():
        if holder.process not in said:
            said.add(holder.process)
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder.since))
            warnings.warn(
                f"waiting for {counted(holder.runs, 'run')} that process {holder.process} on {holder.machine} has "
                f"claimed since {since}; if it is stopped, kill -CONT {holder.process} continues it; if it is ended "
                f"(kill -9 {holder.process}), its runs are done here",
                stacklevel=2,
            )


def _claimed(runs: Iterable[Run], store: Store, elsewhere: list[Run]) -> Iterator[Run]:
    """Claim and yield one run after the other; those that other processes have claimed go to `elsewhere`."""
    for run in runs:
        if store.claim(run.identity):
            yield run
        else:
            elsewhere.append(run)


def _parquet(schedule: Schedule) -> bytes:
    return schedule.frame.to_parquet(engine="pyarrow", index=False)


def _wanted(plan: RunMatrix) -> Iterator[tuple[Any, ...]]:
    for run in plan.runs:
        policies = (run.policies[part] for part in PARTS)
        yield run.identity, run.workload.name, run.platform.name, run.variation, run.seed, *policies


def _about(plan: RunMatrix, command: str, workers: str) -> dict[str, Any]:
    """Return a description of how the results were made, for their readers."""
    field = plan.field
    return {
        "field": {
            "name": field.name,
            "about": field.about,
            "text": field.written.text,
            "resamples": field.resamples,
            "jobs": field.jobs,
            "state": field.state,
        },
        "command": command,
        "workers": workers,
        **environment_info(),
        **plan.provenance(),
    }
