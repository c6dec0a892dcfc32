"""Replay a schedule made elsewhere, with its starts and runtimes, so that every measure can be computed.

The schedule may come from an execution on a real machine, another simulator or a log. Each job starts at the recorded
time and runs for the recorded time. The replay adds energy, placement and averages. The schedule must have the same
jobs, by number, width and submission. Its clock may differ, and submissions may differ by some seconds.
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
from harness.workload.log import Log, LoggedStatus, Step, Workload

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.results.schedule import Schedule
    from harness.workload.signals import Signal

Numbers = npt.NDArray[Any]

#: Clocks of whole seconds may make two jobs overlap. The second starts as soon as it fits, at most this much later [s].
LATEST = 60.0

#: Runtimes by clocks of whole seconds differ by less than this [s].
ROUNDING = 1.0


def start_as_recorded(state, columns):  # type: ignore[no-untyped-def]
    """Start each job at its recorded time, or as soon after it as there are processors."""
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
class ExternalSchedule:
    """A schedule made elsewhere."""

    log: Log
    starts_only: bool = False  # replay the starts alone, with the runtimes of the workload

    @property
    def name(self) -> str:
        """The name of the schedule, as messages show it."""
        return self.log.name

    def shared_jobs(self, workload: Workload, *, whole: bool = False) -> Workload:
        """Return the jobs of `workload` that the schedule has.

        With `whole` the schedule must have all of them, and no others that ran. Jobs with a runtime of 0 are exempt, as
        the preparation of a log removes them.
        """
        jobs = workload.jobs
        kept = jobs[jobs["job"].isin(self._known["job"])]
        others = self.log.jobs[~self.log.jobs["job"].isin(jobs["job"])]
        ran = others["job"][others["run"] > 0]
        if whole and len(ran):
            raise HarnessError(
                f"{self.name}: job {ran.iloc[0]} is not in {workload.name} ({counted(len(ran), 'such job')}): "
                "expected a schedule of its jobs alone"
            )
        if len(others):
            step = Step("not in the workload", len(others), f"jobs of {self.name}, left out")
            workload = replace(workload, preparation=(*workload.preparation, step))
        lacking = len(jobs) - len(kept)
        if not len(kept) or (whole and lacking):
            first = int(jobs["job"][~jobs["job"].isin(kept["job"])].iloc[0])
            raise HarnessError(
                f"{self.name}: job {first} of {workload.name} is missing, or its start time is unknown: "
                f"expected a schedule of {'all' if whole else 'some of'} its jobs"
            )
        if not lacking:
            return workload
        step = Step("not in the schedule", lacking, f"left out: missing in {self.name}, or without a start time")
        digest = f"{workload.digest} {self.log.digest}"
        steps = (*workload.preparation, step)
        return replace(workload, jobs=kept.reset_index(drop=True), digest=digest, preparation=steps)

    def of(self, workload: Workload) -> Workload:
        """Return `workload` with the recorded starts, and the recorded runtimes unless `starts_only`."""
        jobs = workload.jobs
        theirs = self._of(jobs)
        submit, procs = (jobs[name].to_numpy(dtype=np.float64) for name in ("submit", "procs"))
        width = theirs["width"].to_numpy()
        self._refuse(jobs["job"].to_numpy(), width != procs, "processors", width, procs)
        came = theirs["submit"].to_numpy(dtype=np.float64)
        shift = float(np.median(came - submit))
        came = came - shift
        self._refuse(jobs["job"].to_numpy(), np.abs(came - submit) > LAG, "s as its submission", came, submit)
        wait = theirs["wait"].to_numpy(dtype=np.float64)
        run = theirs["run"].to_numpy(dtype=np.float64)
        last = float(np.max((came + wait + run)[run >= 0], initial=0.0))  # a job that never ended waits until then
        begin = np.maximum(np.where(wait >= 0, came + wait, last), submit)
        never = run < 0
        work, stays = jobs["work"].to_numpy(dtype=np.float64), jobs["cancel"].to_numpy(dtype=np.float64)
        if not self.starts_only:
            work, stays = np.where(never, work, np.maximum(run, 1e-6)), np.full(len(jobs), np.inf)
        changed = jobs.assign(
            work=work,
            estimate=np.maximum(jobs["estimate"], work),
            cancel=np.where(never, begin, stays),
            x_start=np.where(never, np.inf, begin),
        )
        what = "as" if self.starts_only else "and runtimes as"
        step = Step("starts", int((~never).sum()), f"{what} in {self.name}")
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
        """Replay the recorded starts and runtimes of the jobs of `workload`."""
        jobs = self.of(workload)
        if not isinstance(platform, int | None) and len({platform.speed(one) for one in platform.types}) > 1:
            raise HarnessError(
                f"{self.name}: the schedule does not name the nodes of its jobs, and the nodes of {platform.name} "
                "differ in speed: expected a platform of equal nodes"
            )
        try:
            schedule = simulate(jobs, platform, _scheduler(platform, jobs), seed=seed, signal=signal, progress=progress)
        except HarnessError as error:
            why = f"{error}".removeprefix(f"the policy {_STARTING.name!r} (start_jobs), ")
            why = why.partition(": it would overcommit")[0].replace(" s, started job", " s it starts job")
            machine = machine_of(platform, jobs)
            if any(one.cores > 1 for one in machine.types):
                why += (
                    "; it does not name the nodes of its jobs: expected a platform that counts processors alone, as "
                    f"in platforms = [{machine.cores}] or --procs {machine.cores}"
                )
            raise HarnessError(f"{self.name}: no schedule of this machine: {why}") from error
        late = schedule.ran_column("start") - jobs.jobs["x_start"].to_numpy()[schedule.ran_mask]
        if (moved := int((late > 1e-6).sum())) == 0:
            return schedule
        words = f"{counted(moved, 'job')} later by up to {late.max():.3g} s: no processors were free before"
        told = replace(jobs, preparation=(*jobs.preparation, Step("moved", moved, words)))
        return replace(schedule, workload=told)

    def refuse_other_runtimes(self, workload: Workload) -> None:
        """Raise an error if runtimes differ from those of `workload` by more than `ROUNDING`."""
        if others := self.other_runtimes(workload):
            raise HarnessError(
                f"{others}: expected the runtimes of the workload, or --starts-only, which replays the starts with "
                "these"
            )

    def other_runtimes(self, workload: Workload) -> str:
        """Return a message with the number of runtimes that differ from `workload`, and the first; empty if none
        differs.
        """
        jobs = workload.jobs
        run, work = self._of(jobs)["run"].to_numpy(dtype=np.float64), jobs["work"].to_numpy(dtype=np.float64)
        wrong = (run >= 0) & (np.abs(run - work) > ROUNDING)
        if not wrong.any():
            return ""
        first = int(np.argmax(wrong))
        return (
            f"{self.name}: job {jobs['job'].iloc[first]} runs {run[first]:.15g} s, in the workload "
            f"{work[first]:.15g} s ({counted(int(wrong.sum()), 'such job')})"
        )

    def _of(self, jobs: pd.DataFrame) -> pd.DataFrame:
        """Return the schedule's rows of `jobs`, in the order of `jobs`."""
        return self._known.set_index("job").loc[jobs["job"]]

    @cached_property
    def _known(self) -> pd.DataFrame:
        """The jobs of the schedule that started, were cancelled in the queue, or never started."""
        jobs = self.log.jobs
        if (twice := jobs["job"].duplicated()).any():
            raise HarnessError(f"{self.name}: job {jobs['job'][twice].iloc[0]} occurs twice: expected it once")
        never = (jobs["run"] < 0) & (jobs["status"] == LoggedStatus.CANCELLED)
        width = jobs["procs"].where(jobs["procs"] > 0, jobs["used_procs"])
        known: pd.DataFrame = jobs.assign(width=width)[((jobs["wait"] >= 0) | never) & (jobs["submit"] >= 0)]
        return known

    def _refuse(self, number: Numbers, wrong: Numbers, what: str, theirs: Numbers, ours: Numbers) -> None:
        if wrong.any():
            first = int(np.argmax(wrong))
            raise HarnessError(
                f"{self.name}: job {number[first]} has {theirs[first]:.15g} {what}, in the workload "
                f"{ours[first]:.15g}: expected a schedule of the same jobs"
            )


def _scheduler(platform: "Platform | int | None", jobs: Workload) -> Chosen:
    chosen = choose_policies(Scheduler(), machine_of(platform, jobs))
    return replace(chosen, choices={**chosen.choices, "start": Choice.plain(_STARTING)})


_STARTING = Start("recorded", start_as_recorded, columns=("x_start",))
