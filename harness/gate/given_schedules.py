"""Schedules made elsewhere that replace runs of a check, such as those of a new release of a real scheduler.

Only the starts of such a schedule count. They are replayed with the runtimes of the workload, because a scheduler does
not decide how long jobs run.
"""

import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError, did_you_mean
from harness.experiment.execution import Finished
from harness.experiment.external_schedule import ExternalSchedule
from harness.experiment.run_matrix import Run
from harness.gate import baseline as kept
from harness.gate.baseline import Key
from harness.results.measures import extra_measures
from harness.workload.log_reading import read_workload


@dataclass(frozen=True)
class GivenSchedule:
    """A schedule made elsewhere, and the name of its scheduler."""

    recorded: ExternalSchedule
    scheduler: str

    def result(self, run: Run, plugins: tuple[str, ...], *, starts_only: bool) -> Finished:
        """Return the result of the schedule as that of a run.

        The schedule must have the jobs of the workload and, unless `starts_only`, their runtimes.
        """
        began = time.time()
        workload = self.recorded.shared_jobs(run.replayed, whole=True)
        if not starts_only:
            self.recorded.refuse_other_runtimes(workload)
        schedule = self.recorded.simulate(workload, run.platform, seed=run.seed)
        return Finished(
            None,
            len(workload),
            began,
            time.time(),
            socket.gethostname(),
            measures=schedule.measures(extra_measures(plugins)),
            schedule_digest=schedule.digest,
            kept=kept.pack(schedule),
        )


def given_schedules(
    schedules: Mapping[str, str | Path], runs: Iterable[Key], plugins: tuple[str, ...], scheduler: str
) -> dict[Key, GivenSchedule]:
    """Return the `schedules` by the run that each replaces.

    They are given by workload; "" is the workload of the only run. `scheduler` names the scheduler that made them; by
    default it is the name of the file.
    """
    found = {}
    for name, path in schedules.items():
        recorded = ExternalSchedule(read_workload(str(path), plugins=plugins), starts_only=True)
        found[_key(name, runs)] = GivenSchedule(recorded, scheduler or recorded.name)
    return found


def _key(name: str, runs: Iterable[Key]) -> Key:
    keys = [key for key in runs if not name or key[0] == name]
    if not keys:
        known = dict.fromkeys(key[0] for key in runs)
        raise HarnessError(f"--schedule {name}=…: no run is of the workload {name!r}; {did_you_mean(name, known)}")
    if len(keys) > 1:
        whose = f" of {name}" if name else ", and of several workloads: WORKLOAD=FILE" * (len({k[0] for k in keys}) > 1)
        raise HarnessError(
            f"--schedule {name or 'FILE'}: it replaces one run, but the baseline has {len(keys)}{whose}; "
            "expected a field of one scheduler, platform and seed"
        )
    return keys[0]
