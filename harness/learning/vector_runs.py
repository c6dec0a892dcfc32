"""Several runs, each with its own jobs, that advance from choice to choice on threads without Python's lock."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import config

from harness.engine import stepping
from harness.engine.events.event_source import STEPS, TIMED
from harness.engine.observation import FEATURES
from harness.engine.prepare_run import prepare_run
from harness.engine.prepared_run import PreparedRun
from harness.errors import HarnessError
from harness.experiment.simulation import RunInputs, run_inputs
from harness.policy.own_queues import refuse_queues
from harness.policy.scheduler import Scheduler

if TYPE_CHECKING:
    from harness.experiment.simulation import Machine
    from harness.results.schedule import Schedule
    from harness.workload.log import Log, Workload


@dataclass(frozen=True, kw_only=True)
class Task:
    """The task to learn: the jobs, the machine, the rest of the scheduler, and the number of jobs shown."""

    workload: "Workload | Log | str | Path" = "lublin(jobs=5000, procs=128, seed=1)"
    platform: "Machine | None" = None
    jobs: int = 256  # of an episode, a part of the workload
    slots: int = 64  # waiting jobs that are shown, in queue order
    order: str = "fcfs"  # of the queue
    start: str = "easy"  # applied with the chosen job as the first of the queue
    plugins: tuple[str, ...] = ()

    def given(self) -> RunInputs:
        """Read and choose what all episodes have in common."""
        for name in ("jobs", "slots"):
            if getattr(self, name) < 1:
                raise HarnessError(f"{name}={getattr(self, name)!r}: expected a whole number of at least 1")
        what = run_inputs(self.workload, self.platform, Scheduler(self.order, self.start), plugins=self.plugins)
        start = what.chosen["start"]
        refuse_queues(start)
        if start.policy.preemptive or start.policy.rejects or "every reservation" in start.policy.guarantees:
            raise HarnessError(
                f"start={self.start!r}: expected a policy that makes no plan and does not preempt, as none, greedy or "
                "easy: it considers one job at a time"
            )
        if len(what.workload) < self.jobs:
            raise HarnessError(f"jobs={self.jobs}: {what.workload.name} has only {len(what.workload):,}")
        frame = what.workload.jobs
        in_order = np.argsort(frame["submit"].to_numpy(), kind="stable")
        return replace(what, workload=replace(what.workload, jobs=frame.iloc[in_order]))


class Copies:
    """Several runs of a task. `seen` and `masks` describe the first waiting jobs of each, `ends` the state of each."""

    def __init__(self, task: Task, count: int = 1, threads: int = 1) -> None:
        self.task = task
        self.given = task.given()
        self.seen: npt.NDArray[np.float32] = np.zeros((count, task.slots, FEATURES), np.float32)
        self.masks: npt.NDArray[np.int8] = np.zeros((count, task.slots), np.int8)
        self.ends: npt.NDArray[np.int64] = np.zeros(count, np.int64)
        self.choices: npt.NDArray[np.int64] = np.full(count, -1, np.int64)
        self.first: npt.NDArray[np.int64] = np.zeros(count, np.int64)  # with which job each began
        self._runs: list[tuple[RunInputs, PreparedRun]] = [self._made(0) for _ in range(count)]
        self._tables = np.stack([ready.state.table for _, ready in self._runs])
        bounds = np.linspace(0, count, max(1, min(threads, count)) + 1).astype(int)
        self._parts = [slice(int(a), int(b)) for a, b in pairwise(bounds)]
        self._pool = ThreadPoolExecutor(len(self._parts)) if len(self._parts) > 1 else None

    @property
    def firsts(self) -> int:
        """The number of jobs with which an episode may begin."""
        return len(self.given.workload) - self.task.jobs + 1

    def begin(self, place: int, first: int) -> None:
        """Begin an episode in run `place`, with job number `first`. It advances with the others."""
        self._runs[place][1].disconnect()
        self._runs[place] = self._made(first)
        self._tables[place] = self._runs[place][1].state.table
        self.choices[place], self.first[place] = -1, first

    def advance(self) -> None:
        """Apply the `choices` (−1 in a new episode), and go to the next ones. Fill `seen`, `masks` and `ends`."""
        with ExitStack() as blame:
            if len(self._runs) == 1:  # with several runs the policy at fault is unknown
                blame.enter_context(self._runs[0][1].explaining_errors())
            if self._pool is None:
                self._advance(self._parts[0])
            else:
                list(self._pool.map(self._advance, self._parts))

    def schedule(self, place: int) -> "Schedule":
        """Return the schedule of run `place` after its end."""
        what, ready = self._runs[place]
        return what.schedule(ready.outcome(0.0))

    def close(self) -> None:
        """Release the threads and the runs."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        for _, ready in self._runs:
            ready.disconnect()
        self._runs = []

    def _made(self, first: int) -> tuple[RunInputs, PreparedRun]:
        whole = self.given.workload
        stretch = replace(whole, jobs=whole.jobs.iloc[first : first + self.task.jobs])
        what = replace(self.given, workload=stretch)
        made = prepare_run(stretch, what.machine, what.chosen, extras=what.extras, features=TIMED | STEPS)
        made.view.notes.lasting = 0  # the start policy is shown the queue in parts: no trees are grown of it
        return what, made

    def _advance(self, part: slice) -> None:
        if config.DISABLE_JIT:
            for place in range(part.start, part.stop):
                self._plainly(place)
            return
        arrays = (self._tables, self.choices, self.ends, self.seen, self.masks)
        stepping.compiled_choices()(*(array[part] for array in arrays))

    def _plainly(self, place: int) -> None:
        """Advance one run in plain Python, as the compiled loop does for all."""
        state = self._runs[place][1].state
        end = stepping.choose(state, int(self.choices[place]), stepping.MOST_INSTANTS)
        self.ends[place] = end
        stepping.observe(state, self.seen[place], self.masks[place])
