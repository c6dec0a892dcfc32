"""One run of a field, in a thread here or in a Dask worker."""

import ctypes
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import harness
from harness.engine import loop, policy_kernels
from harness.engine.queue.holds import holds_in_use
from harness.engine.queue.queues_with_policies import compiled_by_queue
from harness.errors import HarnessError
from harness.experiment.run_identity import versions_of
from harness.experiment.simulation import choose_policies, simulate
from harness.platform.machine import Platform
from harness.policy.scheduler import Chosen, Scheduler
from harness.policy.timing import DecisionTiming
from harness.results.measures import extra_measures
from harness.workload.log import Workload
from harness.workload.signals import Signal

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

#: At most this many variations are kept in memory for the next runs.
KEPT_VARIATIONS = 16


@dataclass(frozen=True)
class Task:
    """All that a worker needs for a run, except the workload."""

    variation: int
    platform: Platform
    scheduler: Scheduler | Chosen
    seed: int
    plugins: tuple[str, ...]
    versions: dict[str, Any]  # the expected versions, as far as they are known
    keep: "Callable[[Schedule], bytes] | None" = None  # what to store of the schedule
    timing: DecisionTiming = field(default_factory=DecisionTiming)  # when starts are decided
    signal: Signal | None = None  # the external signal that policies read


@dataclass(frozen=True)
class Finished:
    """The result of a run."""

    error: str | None  # the reason of its failure
    jobs: int
    started: float  # [s since 1970]
    finished: float
    worker: str  # the machine it ran on
    seconds: float = float("nan")  # simulation alone
    measures: dict[str, float] = field(default_factory=dict)
    schedule_digest: str | None = None
    kept: bytes | None = None  # the stored form of the schedule


#: The error message when all workers are lost.
WORKERS_LOST = "the workers are gone; what has finished is kept, and the same command goes on from there"


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    """The run was abandoned because its result is no longer needed."""


def stopping_when(
    stop: Callable[[], bool], watch: Callable[[int, int], None] = lambda done, jobs: None
) -> Callable[[int, int], None]:
    """Return a `progress` function that raises `Stopped` when `stop()` is true. The simulation calls it a few times a
    second.
    """

    def look(done: int, jobs: int) -> None:
        if stop():
            raise Stopped
        watch(done, jobs)

    return look


def execute(
    task: Task,
    workload: Workload,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[int, int], None] = lambda done, jobs: None,
    ready: Callable[[], None] = lambda: None,
) -> Finished:
    """Do one run and return its result; an exception in it becomes the `error` of the result.

    `watch(done, jobs)` is called a few times a second. The run is abandoned with `Stopped` when `stop()` is true or
    `watch` raises it. `ready` is called when everything is compiled.
    """
    retain_freed_memory()
    look = stopping_when(stop, watch)
    started = time.time()
    jobs, error = len(workload), None
    came: dict[str, Any] = {}
    look(0, jobs)
    try:
        if task.variation:
            workload = variation(workload, task.variation)
            jobs = len(workload)
        schedule = replay(task, workload, look, ready)
        came = stored_results_of(schedule, task) | {"measures": schedule.measures(extra_measures(task.plugins))}
    except Stopped:
        raise
    except Exception as mishap:  # a user's policy may raise any exception
        error = error_line(mishap)
    return Finished(error, jobs, started, time.time(), socket.gethostname(), **came)


def replay(
    task: Task,
    workload: Workload,
    progress: Callable[[int, int], None] = lambda done, jobs: None,
    ready: Callable[[], None] = lambda: None,
) -> "Schedule":
    """Return the schedule of a run; `ready` is called when everything is compiled."""
    chosen = choose_policies(task.scheduler, task.platform, task.plugins, told=task.signal is not None)
    made = versions_of(chosen, task.plugins)
    if {name: made[name] for name in made if name in (*task.versions, "plugins")} != task.versions:
        raise HarnessError(
            f"{socket.gethostname()} has another version of the harness or of a plugin, or has loaded other plugins, "
            "than the process that leads the tournament: expected the same"
        )
    compile_policies(chosen)
    ready()
    kept: Any = {"seed": task.seed, "plugins": task.plugins, "timing": task.timing, "signal": task.signal}
    return simulate(workload, task.platform, chosen, progress=progress, **kept)


def stored_results_of(schedule: "Schedule", task: Task) -> dict[str, Any]:
    """Return what is stored of a schedule, without its measures."""
    kept = task.keep(schedule) if task.keep else None
    return {"seconds": schedule.outcome.seconds, "schedule_digest": schedule.digest, "kept": kept}


#: `mallopt` parameters: free memory kept before a trim, and the size from which each allocation is a mapping.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3

#: The values of both; the second is the largest that the library allows [bytes].
_FREE, _LARGEST = 1 << 28, 1 << 25


@cache
def retain_freed_memory() -> None:
    """Keep freed memory for the next run: returning it to the system and requesting it again takes 10–20 % of a run.

    This concerns only glibc and threads. Dask's workers gain most, as their nanny sets the library to return all
    memory.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library, another system
        adjust = ctypes.CDLL(None).mallopt
        adjust(_TRIM_THRESHOLD, _FREE)
        adjust(_MMAP_THRESHOLD, _LARGEST)


def error_line(error: BaseException) -> str:
    """Return an error in one line, with the notes that were added to it."""
    text = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}".rstrip(": ")
    return " ".join(", ".join([text, *getattr(error, "__notes__", [])]).split())


_binding = threading.Lock()


def compile_policies(chosen: Chosen) -> None:
    """Compile or load what these policies need, under a lock: numba does not promise that threads may do so at once."""
    if chosen.configured:
        return
    with _binding:
        loop.compiled_loop()
        others = [choice for part, choice in chosen.items() if part != "hold"]
        for choice in others + holds_in_use(chosen["hold"]):
            if choice.policy not in _warm and not (choice.policy.hook == "predict_runtime" and choice.policy.constant):
                policy_kernels.kernel_of(choice, 0)
                _warm.add(choice.policy)
        if chosen["start"].queues:
            compiled_by_queue()


_warm: set[Any] = set()

_drawing = threading.Lock()
_variations: OrderedDict[tuple[str, int], Workload] = OrderedDict()


def variation(workload: Workload, number: int) -> Workload:
    """Return a variation of `workload`; each is drawn once per process and shared by the runs that need it."""
    key = (workload.digest, number)
    with _drawing:
        if key not in _variations:
            _variations[key] = harness.resample(workload, number)
        _variations.move_to_end(key)
        if len(_variations) > KEPT_VARIATIONS:
            _variations.popitem(last=False)
        return _variations[key]
