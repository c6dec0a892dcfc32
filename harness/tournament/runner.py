"""A tournament from the field to the last result: on threads here, or on a Dask cluster."""

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from harness.errors import HarnessError
from harness.results.schedule import Schedule
from harness.tournament.execute import GONE, Finished, Task, sentence
from harness.tournament.field import PARTS, Field
from harness.tournament.plan import Plan, Run, make_plan
from harness.tournament.reading import read_field
from harness.tournament.results import Results
from harness.tournament.store import Store
from harness.version import surroundings

#: How long to wait for runs that another process is doing before looking again [s].
PATIENCE = 0.5


@dataclass(frozen=True)
class Progress:
    """How far a tournament is."""

    runs: int  # of the field
    jobs: int
    found: int  # runs that were in the store already
    done: int = 0  # runs finished now, failed ones too
    done_jobs: int = 0
    jobs_to_do: int = 0

    @property
    def to_do(self) -> int:
        """Runs that were not in the store."""
        return self.runs - self.found


Watch = Callable[[Progress], None]


class Pool(Protocol):
    """Who executes tasks."""

    def begin(self, runs: Iterable[Run]) -> None:
        """Make ready for these runs."""

    def room(self) -> int:
        """How many tasks it should have at once, waiting ones included."""

    def submit(self, task: Task, run: Run) -> "Future[Finished]":
        """Have a task done."""

    def close(self) -> None:
        """Give up what is not done, soon."""


def tournament(
    field: Field | str | Path,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    dask: str | None = None,
    resamples: int | None = None,
    keep_schedules: bool = False,
    plugins: Iterable[str | Path] = (),
    command: str = "",
    watch: Watch = lambda progress: None,
) -> Results:
    """Run every combination of `field`, a preset's name or a path, and keep the results in the folder `out`.

    Without `out` that is `tournaments/NAME` below the working directory. What is there already is not repeated: the
    same call goes on where an earlier one was interrupted, and tries again what had failed. Runs are done by
    `workers` threads, by default as many as there are cores, or by the workers of the Dask scheduler at the address
    `dask`; the results are the same. A run that fails is recorded with its error, and the rest goes on.

    `resamples` takes the place of the field's; `watch` is called whenever a run has finished.
    """
    paths = tuple(map(str, plugins))
    if not isinstance(field, Field):
        field = read_field(field, plugins=paths)
    if resamples is not None:
        field = replace(field, resamples=at_least(0, resamples, "resamples"))
    if keep_schedules and find_spec("pyarrow") is None:
        raise HarnessError("keeping schedules needs pyarrow: pip install 'sched-harness[parquet]'")
    workers = at_least(1, cores() if workers is None else workers, "workers")
    plan = make_plan(field, paths)
    folder = Path(out) if out is not None else default_folder(field)
    with _pool(plan, workers, dask) as pool, _store(folder) as store:
        store.begin(_about(plan, command, dask or f"{workers} threads"), _wanted(plan))
        _run_all(plan, store, pool, keep_schedules, watch)
    return Results(folder)


def default_folder(field: Field) -> Path:
    """Where the results of a field go if nobody says where."""
    return Path("tournaments") / field.name


def cores() -> int:
    """How many cores this process may use: on a shared node, those it was given."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_least(least: int, number: int, name: str) -> int:
    """The number, unless it is too small."""
    if number < least:
        raise HarnessError(f"{name} = {number}: expected at least {least}")
    return number


def _run_all(plan: Plan, store: Store, pool: Pool, keep_schedules: bool, watch: Watch) -> None:
    """Have every run done that is not in the store, the longest first."""
    settled = store.settled()
    todo = sorted((run for run in plan.runs if run.identity not in settled), key=lambda run: run.length, reverse=True)
    progress = Progress(len(plan.runs), plan.jobs, len(plan.runs) - len(todo), jobs_to_do=sum(run.jobs for run in todo))
    watch(progress)
    pool.begin(todo)
    queue, elsewhere = deque(todo), list[Run]()
    flying: dict[Future[Finished], Run] = {}
    while queue or flying or elsewhere:
        while queue and len(flying) < pool.room():
            run = queue.popleft()
            if not store.claim(run.identity):
                elsewhere.append(run)
                continue
            flying[pool.submit(_task(run, plan.plugins, keep_schedules), run)] = run
        if not flying:  # another process has the rest; should it end without having done it, it is ours
            time.sleep(PATIENCE)
            store.bury()
            settled = store.settled()
            queue, elsewhere = deque(run for run in elsewhere if run.identity not in settled), []
            continue
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            run = flying.pop(future)
            store.finish(run.identity, _answer(future, run))
            progress = replace(progress, done=progress.done + 1, done_jobs=progress.done_jobs + run.jobs)
            watch(progress)


def _task(run: Run, plugins: tuple[str, ...], keep_schedules: bool) -> Task:
    keep = _parquet if keep_schedules else None
    return Task(run.variation, run.platform, run.scheduler, run.seed, plugins, run.versions, keep)


def _parquet(schedule: Schedule) -> bytes:
    return schedule.frame.to_parquet(engine="pyarrow", index=False)


def _answer(future: "Future[Finished]", run: Run) -> Finished:
    """What came of a run, even if who did it is no more."""
    try:
        return future.result()
    except CancelledError as error:  # by nobody here
        raise HarnessError(GONE) from error
    except Exception as error:  # the workers that tried it died, one after the other
        now = time.time()
        return Finished(sentence(error), run.jobs, now, now, worker="")


@contextmanager
def _pool(plan: Plan, workers: int, dask: str | None) -> Iterator[Pool]:
    pool: Pool
    if dask is None:
        from harness.tournament.on_threads import Threads

        pool = Threads(workers, plan.plugins)
    else:
        from harness.tournament.on_dask import DaskWorkers

        pool = DaskWorkers(dask)
    try:
        yield pool
    finally:
        pool.close()


# ---------------------------------------------------------------- what is kept


@contextmanager
def _store(folder: Path) -> Iterator[Store]:
    store = Store(folder, create=True)
    try:
        yield store
    except sqlite3.Error as error:
        raise HarnessError(f"{store.path}: cannot be written: {error}") from error
    finally:
        store.close()


def _wanted(plan: Plan) -> Iterator[tuple[Any, ...]]:
    for run in plan.runs:
        policies = (run.policies[part] for part in PARTS)
        yield run.identity, run.workload.name, run.platform.name, run.variation, run.seed, *policies


def _about(plan: Plan, command: str, workers: str) -> dict[str, Any]:
    """What a reader of the results will want to know about how they came to be."""
    field = plan.field
    return {
        "field": {"name": field.name, "about": field.about, "text": field.page.text, "resamples": field.resamples},
        "command": command,
        "workers": workers,
        **surroundings(),
        **plan.provenance(),
    }
