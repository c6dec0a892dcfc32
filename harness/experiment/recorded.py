"""A schedule from elsewhere in a policy's place: its starts and runtimes replayed, so that every measure can be had.

Whoever made it is not asked: an execution on a real machine, another simulator, a log. Each job starts when it says
and runs as long as it says; energy, places and averages are then ours. It must be of the same jobs, by number, width
and submission. Clocks may differ, and submissions by some seconds, as dispatchers lag.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import harness
from harness.errors import HarnessError
from harness.experiment.simulation import choose_policies, machine_of, simulate
from harness.policy.kinds import Start
from harness.policy.scheduler import Chosen, Scheduler
from harness.policy.spec import Choice
from harness.present.words import counted
from harness.results.executions import LAG
from harness.workload.log import Log, Step, Workload

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.signals import Signal

Numbers = npt.NDArray[Any]

#: Where clocks that count whole seconds let two jobs overlap, the second starts as soon as it fits, within this [s].
LATEST = 60.0


def as_recorded(state, columns):  # type: ignore[no-untyped-def]
    """Start each job at the time that its record says, or as soon after as there are processors."""
    soonest = harness.INFINITY
    now = state.clock.now
    for job in harness.waiting(state):
        begin = columns[job, 0]
        if begin > now:
            soonest = min(soonest, begin)
        elif state.jobs[job].procs <= state.clock.free or now > begin + LATEST:
            harness.start(state, job)
    if soonest < harness.INFINITY:
        harness.call_again(state, soonest)


@dataclass(frozen=True)
class Recorded:
    """A schedule that somebody made."""

    log: Log

    @property
    def name(self) -> str:
        """What it is called."""
        return self.log.name

    def common(self, workload: Workload, *, whole: bool = False) -> Workload:
        """Return the jobs of `workload` that it has; with `whole` it must have all."""
        jobs = workload.jobs
        kept = jobs[jobs["job"].isin(self._known["job"])]
        lacking = len(jobs) - len(kept)
        if not len(kept) or (whole and lacking):
            first = int(jobs["job"][~jobs["job"].isin(kept["job"])].iloc[0])
            raise HarnessError(
                f"{self.name}: job {first} of {workload.name} is not in it, or it is not known when it started: "
                f"expected a schedule of {'all' if whole else 'some of'} its jobs"
            )
        if not lacking:
            return workload
        step = Step("not in the schedule", lacking, f"left out: {self.name} has not got them, or does not say when")
        digest = f"{workload.digest} {self.log.digest}"
        steps = (*workload.preparation, step)
        return replace(workload, jobs=kept.reset_index(drop=True), digest=digest, preparation=steps)

    def of(self, workload: Workload) -> Workload:
        """Return `workload`, of which it has all jobs, with its starts and runtimes."""
        jobs = workload.jobs
        theirs = self._known.set_index("job").loc[jobs["job"]]
        submit, procs = (jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "procs"))
        width = theirs["width"].to_numpy()
        self._refuse(jobs["job"].to_numpy(), width != procs, "processors", width, procs)
        came = theirs["submit"].to_numpy(dtype=np.float64)
        shift = float(np.median(came - submit))
        came = came - shift
        self._refuse(jobs["job"].to_numpy(), np.abs(came - submit) > LAG, "s as its submission", came, submit)
        begin = np.maximum(came + theirs["wait"].to_numpy(), submit)
        run = theirs["run"].to_numpy(dtype=np.float64)
        never = run < 0
        work = np.where(never, jobs["work"], np.maximum(run, 1e-6))
        changed = jobs.assign(
            work=work,
            estimate=np.maximum(jobs["estimate"], work),
            cancel=np.where(never, begin, np.inf),
            x_start=np.where(never, np.inf, begin),
        )
        step = Step("starts", int((~never).sum()), f"and runtimes as in {self.name}")
        return replace(workload, jobs=changed, preparation=(*workload.preparation, step))

    def simulate(
        self,
        workload: Workload,
        platform: "Platform | int | None",
        *,
        seed: int = 0,
        signal: "Signal | None" = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> "Schedule":
        """Replay its starts and runtimes of the jobs of `workload`."""
        jobs = self.of(workload)
        if not isinstance(platform, int | None) and len({platform.speed(one) for one in platform.types}) > 1:
            raise HarnessError(
                f"{self.name}: it does not say on which nodes its jobs ran, and those of {platform.name} are not "
                "equally fast: expected a platform of equal nodes"
            )
        try:
            schedule = simulate(jobs, platform, _scheduler(platform, jobs), seed=seed, signal=signal, progress=progress)
        except HarnessError as error:
            raise HarnessError(f"{self.name}: no schedule of this machine: {error}") from error
        late = schedule.of_those_that_ran("start") - jobs.jobs["x_start"].to_numpy()[schedule.who_ran]
        if (moved := int((late > 1e-6).sum())) == 0:
            return schedule
        words = f"{counted(moved, 'job')} later by up to {late.max():.3g} s: no processors were free before"
        told = replace(jobs, preparation=(*jobs.preparation, Step("moved", moved, words)))
        return replace(schedule, workload=told)

    @cached_property
    def _known(self) -> pd.DataFrame:
        """Its jobs of which it is known when they started, or left the queue."""
        jobs = self.log.jobs
        if (twice := jobs["job"].duplicated()).any():
            raise HarnessError(f"{self.name}: job {jobs['job'][twice].iloc[0]} is there twice; expected it once")
        width = jobs["procs"].where(jobs["procs"] > 0, jobs["used_procs"])
        known: pd.DataFrame = jobs.assign(width=width)[(jobs["wait"] >= 0) & (jobs["submit"] >= 0)]
        return known

    def _refuse(self, number: Numbers, wrong: Numbers, what: str, theirs: Numbers, ours: Numbers) -> None:
        if wrong.any():
            first = int(np.argmax(wrong))
            raise HarnessError(
                f"{self.name}: job {number[first]} has {theirs[first]:.15g} {what}, in the workload "
                f"{ours[first]:.15g}: expected a schedule of the same jobs"
            )


def _scheduler(platform: "Platform | int | None", jobs: Workload) -> Chosen:
    """Return the scheduler that starts jobs as they are recorded."""
    chosen = choose_policies(Scheduler(), machine_of(platform, jobs))
    return replace(chosen, choices={**chosen.choices, "start": Choice.plain(_STARTING)})


_STARTING = Start("recorded", as_recorded, columns=("x_start",))
