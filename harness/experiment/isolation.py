"""Runs in separate processes: only these import third-party plugins, and a run that takes too long is ended.

The process that leads a tournament imports no third-party plugin. It reads descriptions of them, prepares the runs,
computes the results from the schedules that the other processes return, and alone writes to the store.
"""

import json
import math
import pickle
import re
import socket
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.disk.child_process import ChildProcess
from harness.engine.prepared_run import Outcome
from harness.engine.records.loop_records import LOOP
from harness.engine.records.private import NOTES, SUMS
from harness.engine.records.public import CLOCK, JOB, NODE
from harness.errors import HarnessError
from harness.experiment import isolated_worker
from harness.experiment.execution import Finished, Stopped, Task, stored_results_of
from harness.experiment.pool import Threads
from harness.experiment.simulation import run_inputs
from harness.experiment.stand_ins import StandIn
from harness.numba_support.code_cache import on_progress
from harness.policy import registry
from harness.results.schedule import Schedule
from harness.workload.log import Workload

if TYPE_CHECKING:
    from harness.experiment.run_matrix import Run

#: The longest time for the import of a plugin, and for a run to load and compile [s].
LOADING, COMPILING = 120.0, 1200.0

_LAYOUTS = {"jobs": JOB, "nodes": NODE, "clock": CLOCK, "sums": SUMS, "notes": NOTES, "loop": LOOP}

#: The columns of a workload, and the fields of a returned schedule that must equal them.
_GIVEN = {"job": "number", "submit": "submit", "user": "user"}


@contextmanager
def isolating(plugins: Iterable[str | Path], isolate: bool = True) -> Iterator[None]:
    """Within the block, other processes describe the plugins that are not bundled; this process does not import
    them.
    """
    if not isolate:
        yield
        return
    if any(isinstance(plugin, StandIn) for _, plugin in registry.loaded):  # within such a block
        yield
        return
    if registry.loaded:
        names = ", ".join(sorted({name for name, _ in registry.loaded}))
        raise HarnessError(f"{names}: this process has imported it already: expected isolate=True before that")
    paths = tuple(map(str, plugins))
    sources = list(registry.plugin_sources(paths))
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda source: _described(source, paths), sources))
    stand_ins = {source.origin: one for source, one in zip(sources, found, strict=True)}
    with registry.loading_by(lambda source: stand_ins[source.origin]):
        try:
            yield
        finally:
            registry.loaded.clear()


def _described(source: registry.PluginSource, paths: tuple[str, ...]) -> StandIn:
    name = isolated_worker.__name__
    with ChildProcess(name, "describe", source.origin, json.dumps(paths)) as child:
        try:
            while (line := child.line(LOADING)) is not None:
                answer = _parsed(line)
                if "refused" in answer:
                    raise HarnessError(str(answer["refused"]))
                if "described" in answer:
                    break
            else:
                raise HarnessError(f"{source.origin}: its import {child.ending(LOADING)}")
            described = answer["described"]
            for hook in described["readers"]:
                warnings.warn(f"{source.origin}: its {hook} is not used (--isolate)", stacklevel=2)
            return StandIn(source, described)
        except TimeoutError:
            raise HarnessError(f"{source.origin}: its import did not end within {LOADING:g} s") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise HarnessError(f"{source.origin}: its process described it in another form: {error}") from error


def _parsed(line: bytes) -> dict[str, Any]:
    """Return the object in a line from a process; empty if it is none, as when a plugin writes to the pipe."""
    with suppress(ValueError, RecursionError):
        answer = json.loads(line)
        if isinstance(answer, dict):
            return answer
    return {}


def limit_seconds(limit: str | float | None) -> float | None:
    """Return a time limit in seconds: a number of them, or a text such as 60s, 5min, 2h, 1d."""
    if limit is None:
        return None
    units = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(s|min|h|d|)\s*", str(limit))
    seconds = float(match[1]) * units[match[2]] if match else 0.0
    if not 0 < seconds < 1e9:
        raise HarnessError(f"limit {limit!r}: expected a time above 0, such as 60s, 5min or 2h")
    return seconds


class ProcessPool(Threads):
    """Threads that pass runs to processes: each run with a third-party plugin has its own process.

    With a `limit` [s], processes do all runs, and a run that takes longer fails.
    """

    def __init__(self, workers: int, limit: float | None = None) -> None:
        super().__init__(workers)
        self.limit = limit
        self._kept: list[ChildProcess] = []  # idle processes without plugins, for the next runs without plugins
        self._keeping = threading.Lock()

    def begin(self, runs: "Iterable[Run]") -> None:
        """Compile what runs without third-party plugins need; other processes then load it."""
        super().begin(run for run in runs if not _origins(run))

    def submit(self, task: Task, run: "Run") -> "Future[Finished]":
        """Do a task in the next free thread, or in a process that this thread waits for."""
        origins = _origins(run)
        if not origins and self.limit is None:
            return super().submit(task, run)
        return self.threads.submit(self._in_process, task, run, origins)

    def close(self) -> None:
        """Stop within a fifth of a second, and end the processes."""
        super().close()
        for child in self._kept:
            child.kill()

    def _in_process(self, task: Task, run: "Run", origins: list[str]) -> Finished:
        began = time.time()
        came, error = None, ""
        with TemporaryDirectory(prefix="harness-run-") as folder:
            child = self._process(origins)
            try:
                replayed = run.replayed
                # Without those of policies: another process may compute other digests for them.
                versions = {name: version for name, version in task.versions.items() if name != "policies"}
                sent = replace(task, variation=0, keep=task.keep if not origins else None, versions=versions)
                child.send(pickle.dumps((sent, replayed, folder)))
                answer = self._answer(child)
                if origins:
                    came = _results(_schedule(run, replayed, Path(folder), answer), task, answer)
                else:
                    finished: Finished = pickle.loads(Path(folder, "finished.pickle").read_bytes())
                    with self._keeping:
                        self._kept.append(child)
                    return finished
            except Stopped:
                child.kill()
                raise
            except _Failed as failure:
                error = str(failure)
            except Exception as mishap:  # the process may have written anything
                error = f"the process of the run returned no valid schedule: {mishap}"
            child.kill()
        jobs = len(run.workload)
        return Finished(error or None, jobs, began, time.time(), socket.gethostname(), **(came or {}))

    def _process(self, origins: list[str]) -> ChildProcess:
        """Return a process that has loaded the plugins of these origins and no others."""
        if not origins:
            with self._keeping:
                if self._kept:
                    return self._kept.pop()
        return ChildProcess(isolated_worker.__name__, "serve", json.dumps(origins), "[]", requests=True)

    def _answer(self, child: ChildProcess) -> dict[str, Any]:
        """Return the last message of the process about its run."""
        left = {"compiling": COMPILING, "running": self.limit or math.inf}  # [s]
        state, ready, since = "compiling", False, time.monotonic()
        try:
            while (line := child.line(left[state], self.stopping.is_set)) is not None:
                left[state] -= time.monotonic() - since
                since = time.monotonic()
                match _parsed(line):
                    case {"ready": True}:
                        state, ready = "running", True
                    case {"compiling": [str(words), int() | float() as seconds], "over": over}:
                        state = "running" if over and ready else "compiling"
                        for report in list(on_progress):
                            report(words[:200], float(seconds), bool(over))
                    case {"done": dict(answer)}:
                        return answer
                    case {"error": problem} | {"refused": problem}:
                        raise _Failed(str(problem))
            if self.stopping.is_set():
                raise Stopped
            raise _Failed(f"the run {child.ending(5.0)}")
        except TimeoutError:
            if state == "compiling":
                raise _Failed(f"given up: loading and compiling did not end within {COMPILING:g} s") from None
            raise _Failed(f"given up: the simulation did not end within {self.limit:g} s (--limit)") from None


class _Failed(Exception):  # noqa: N818 - it is the reason of a failed run
    """The run has failed, for the reason in the message."""


def _origins(run: "Run") -> list[str]:
    """Return the origins of the plugins that the process of a run loads: those that it needs.

    Without stand-ins these are all plugins, as in the process that leads the tournament.
    """
    used = {id(choice.policy) for part in run.scheduler.values() for choice in part.chain}
    found = zip(registry.plugin_sources(run.plugins), registry.plugins(*run.plugins).others, strict=False)
    return [source.origin for source, (_, plugin) in found if not isinstance(plugin, StandIn) or plugin.is_needed(used)]


def _schedule(run: "Run", workload: Workload, folder: Path, answer: dict[str, Any]) -> Schedule:
    """Return the schedule that a process wrote to a folder; raise an error if it is not of these jobs."""
    what = run_inputs(
        workload, run.platform, run.scheduler, seed=run.seed, plugins=run.plugins, timing=run.timing, signal=run.signal
    )
    found = {part: _records(folder / f"{part}.npy", layout) for part, layout in _LAYOUTS.items()}
    place = np.load(folder / "place.npy", mmap_mode="r", allow_pickle=False).astype(np.int64)
    jobs = workload.jobs.iloc[place]
    if len(found["jobs"]) != len(workload) or not np.array_equal(np.sort(place), np.arange(len(workload))):
        raise ValueError("it has other jobs")
    for column, field in _GIVEN.items():
        if not np.array_equal(jobs[column].to_numpy(), found["jobs"][field], equal_nan=True):
            raise ValueError(f"its jobs have another {column}")
    size = sum(one.nbytes for one in found.values())
    single = {part: found[part][0] for part in ("clock", "sums", "notes", "loop")}
    seconds = float(answer["seconds"])
    outcome = Outcome(found["jobs"], found["nodes"], **single, place=place, seconds=seconds, bytes=size, plain={})
    if what.meter is not None:
        what.meter.sum = float(answer["metered"])
    return what.schedule(outcome)


def _records(path: Path, layout: Any) -> Any:
    """Read records of a layout; refuse a header that promises more than the file has."""
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    if found.dtype != np.dtype(layout) or found.ndim != 1 or not len(found):
        raise ValueError(f"{path.stem}: other records than expected")
    return np.array(found).view(np.recarray)


def _results(schedule: Schedule, task: Task, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a schedule: computed here, except the measures of plugins."""
    own = {str(name): float(value) for name, value in answer["measures"].items()}
    return stored_results_of(schedule, task) | {"measures": own | schedule.measures()}
