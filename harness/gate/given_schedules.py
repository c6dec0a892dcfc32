"""Schedules made elsewhere in the place of a check's runs: a new release of somebody's real scheduler, say."""

import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.errors import HarnessError, did_you_mean
from harness.experiment.execution import Finished
from harness.experiment.plan import Run
from harness.experiment.recorded import Recorded
from harness.gate import baseline as kept
from harness.gate.baseline import Key
from harness.results.measures import extra_measures
from harness.workload.log_reading import read_workload


def stand_ins(
    schedules: Mapping[str, str | Path], runs: Mapping[Key, Run], plugins: tuple[str, ...]
) -> dict[Key, Finished]:
    """Return what the `schedules` give in the place of runs, by workload; "" is the workload of the only run."""
    return {key: _result(path, runs[key], plugins) for name, path in schedules.items() for key in [_key(name, runs)]}


def _key(name: str, runs: Iterable[Key]) -> Key:
    """Return the one run that a schedule of a workload takes the place of."""
    keys = [key for key in runs if not name or key[0] == name]
    if not keys:
        known = dict.fromkeys(key[0] for key in runs)
        raise HarnessError(f"--schedule {name}=…: no run is of the workload {name!r}; {did_you_mean(name, known)}")
    if len(keys) > 1:
        whose = f" of {name}" if name else ", and of several workloads: WORKLOAD=FILE" * (len({k[0] for k in keys}) > 1)
        raise HarnessError(
            f"--schedule {name or 'FILE'}: it takes the place of one run, and the baseline has {len(keys)}{whose}; "
            "expected a field of one scheduler, platform and seed"
        )
    return keys[0]


def _result(path: str | Path, run: Run, plugins: tuple[str, ...]) -> Finished:
    """Return what a schedule gives in the place of a run."""
    recorded = Recorded(read_workload(str(path), plugins=plugins))
    began = time.time()
    workload = recorded.common(run.replayed, whole=True)
    schedule = recorded.simulate(workload, run.platform, seed=run.seed)
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
