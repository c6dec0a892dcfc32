"""Pools of workers that execute runs: threads of this process, other processes, or a Dask cluster."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from harness.errors import HarnessError
from harness.experiment.execution import WORKERS_LOST, Finished, Task, compile_policies, error_line, execute

if TYPE_CHECKING:
    from harness.experiment.on_dask import DaskWorkers
    from harness.experiment.run_matrix import Run
    from harness.results.schedule import Schedule

T = TypeVar("T")
R = TypeVar("R")

Stop = Callable[[], bool]
Pool: TypeAlias = "Threads | DaskWorkers"

#: The largest accepted number of threads.
MOST_THREADS = 10_000


@dataclass(frozen=True)
class Progress:
    """The progress of the runs of a field."""

    runs: int  # of the field
    found: int  # runs that the store already had
    done: int = 0  # runs finished by this call, including failed ones
    done_jobs: int = 0
    jobs_to_do: int = 0

    @property
    def to_do(self) -> int:
        """The number of runs that were not in the store."""
        return self.runs - self.found

    def after(self, run: "Run") -> "Progress":
        """Return the progress after one more run."""
        return replace(self, done=self.done + 1, done_jobs=self.done_jobs + run.jobs)


Watch = Callable[[Progress], None]


class Threads:
    """Threads of this process; the compiled event loop runs without Python's global lock."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.threads = ThreadPoolExecutor(workers, thread_name_prefix="run")
        self.stopping = threading.Event()

    def begin(self, runs: "Iterable[Run]") -> None:
        """Compile what these runs need, in the main thread so that Ctrl-C works."""
        for chosen in {id(run.scheduler): run.scheduler for run in runs}.values():
            compile_policies(chosen)

    def room(self) -> int:
        """Return the number of tasks to keep submitted: two for each thread."""
        return 2 * self.workers

    def submit(self, task: Task, run: "Run") -> "Future[Finished]":
        """Do a task in the next free thread."""
        return self.threads.submit(execute, task, run.workload, self.stopping.is_set)

    def call(self, function: Callable[[T, Stop], R], thing: T) -> "Future[R]":
        """Call a function in a thread with `thing` and a function that returns whether to stop."""
        return self.threads.submit(function, thing, self.stopping.is_set)

    def close(self) -> None:
        """Stop within a fifth of a second."""
        self.stopping.set()
        self.threads.shutdown(cancel_futures=True)


def cores() -> int:
    """Return the number of cores that this process may use; on a shared node, those allocated to it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(workers: int | None) -> int:
    """Return the requested number of threads, by default one per core."""
    if workers is None:
        return cores()
    if not 1 <= workers <= MOST_THREADS:
        raise HarnessError(f"workers = {workers}: expected at least 1, at most {MOST_THREADS:,}")
    return workers


@contextmanager
def pool_of(workers: int, dask: str | None = None, isolate: bool = False, limit: float | None = None) -> Iterator[Pool]:
    """Open a pool of threads, or the workers of the Dask scheduler at the address `dask`, and close it at the end.

    With `isolate` or a `limit` [s], processes of this machine do the runs.
    """
    pool: Pool
    own = isolate or limit is not None
    if dask is not None:
        from harness.experiment.on_dask import DaskWorkers

        if own:
            raise HarnessError(
                "--dask with --isolate or --limit, which are for processes of this machine: expected only one of them"
            )
        pool = DaskWorkers(dask)
    elif own:
        from harness.experiment.isolation import ProcessPool

        pool = ProcessPool(workers, limit)
    else:
        pool = Threads(workers)
    try:
        yield pool
    finally:
        pool.close()


def completed(
    things: Iterable[T], begin: "Callable[[T], Future[R]]", room: Callable[[], int]
) -> "Iterator[tuple[T, Future[R]]]":
    """Begin work on each of `things` as soon as `room` allows it, and yield them as they finish."""
    waiting = iter(things)
    flying: dict[Future[R], T] = {}
    while True:
        for thing in islice(waiting, max(0, room() - len(flying))):
            flying[begin(thing)] = thing
        if not flying:
            return
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            yield flying.pop(future), future


def execute_all(
    pool: Pool, runs: "Iterable[Run]", keep: "Callable[[Schedule], bytes] | None" = None
) -> "Iterator[tuple[Run, Finished]]":
    """Do `runs` in a pool and yield the result of each, also if its worker died.

    `keep` returns what is stored of a schedule.
    """
    for run, future in completed(runs, lambda run: pool.submit(run.task(keep), run), pool.room):
        try:
            result = future.result()
        except CancelledError as error:  # not cancelled by this process
            raise HarnessError(WORKERS_LOST) from error
        except Exception as error:  # several workers died while they did it
            now = time.time()
            result = Finished(error_line(error), run.jobs, now, now, worker="")
        yield run, result
