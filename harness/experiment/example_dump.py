"""An example of the output of `sacct --parsable2`, of an invented machine, for users without a dump at hand."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.disk.atomic import replacing
from harness.policy.scheduler import Scheduler
from harness.workload.frame import log_from_frame
from harness.workload.synthetic import lublin

if TYPE_CHECKING:
    from harness.workload.log import Log

#: The machine, and the Monday on which its records begin.
PROCS, LOAD = 128, 0.75
FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)

#: The time limits that users request [min]; each is above the runtime.
_LIMITS = np.array([15, 60, 240, 720, 1440, 2880, 10080])

#: The machine's scheduler: it uses site priorities that a replay does not know.
_SITE = Scheduler(order="multifactor(age=2000, size=500, fairshare=3000, partition=0)", start="easy(reservations=2)")


def write_example_dump(path: str | Path, jobs: int = 4000, seed: int = 1) -> None:
    """Write the accounting of `jobs` jobs of forty users on 128 processors, with the waits that the scheduler
    caused.
    """
    from harness.experiment.simulation import simulate
    from harness.workload.prepare import prepare

    log = _submitted(jobs, seed)
    begun = simulate(prepare(log), PROCS, _SITE).frame["start"].to_numpy()
    lines = _lines(log.jobs, begun, np.random.default_rng(seed + 1))
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _submitted(jobs: int, seed: int) -> "Log":
    """Return the submissions: the jobs of the model, with users and requested time limits."""
    frame = lublin(jobs=jobs, procs=PROCS, seed=seed, load=LOAD).jobs[["submit", "run", "procs"]].copy()
    dice = np.random.default_rng(seed)
    habit = 1.0 + dice.exponential(3.0, 40)  # the factor by which each user requests more time than needed
    shares = 1.0 / np.arange(1, 41)
    frame["user"] = dice.choice(40, jobs, p=shares / shares.sum())
    frame["group"] = frame["user"] % 5
    asked = frame["run"] / 60 * habit[frame["user"]]
    frame["estimate"] = 60 * _LIMITS[np.minimum(np.searchsorted(_LIMITS, asked), len(_LIMITS) - 1)]
    frame["run"] = np.minimum(frame["run"], frame["estimate"])
    return log_from_frame(frame, "example", procs=PROCS)


def _lines(jobs: pd.DataFrame, begun: Any, dice: np.random.Generator) -> list[str]:
    """Return the lines of the dump: its header, and each job followed by its step, as in Slurm."""
    lines = ["JobIDRaw|User|Account|Partition|Submit|Start|Elapsed|TimelimitRaw|ReqCPUS|State"]
    fails = dice.random(len(jobs)) < 0.04
    rows = jobs[["submit", "run", "estimate", "procs", "user", "group"]].to_dict("records")
    for number, (job, start, failed) in enumerate(zip(rows, begun, fails, strict=True), 1001):
        cut = job["run"] >= job["estimate"]
        state = "TIMEOUT" if cut else "FAILED" if failed else "COMPLETED"
        taken, account = _duration(job["run"]), f"group{job['group']:.0f}"
        when = f"{_date(job['submit'])}|{_date(start)}|{taken}|{job['estimate'] / 60:.0f}"
        lines.append(f"{number}|user{job['user']:02.0f}|{account}|batch|{when}|{job['procs']:.0f}|{state}")
        step = f"{number}.batch||{account}||{_date(start)}|{_date(start)}|{taken}||{job['procs']:.0f}"
        lines.append(f"{step}|{'CANCELLED' if cut else state}")
    return lines


def _date(seconds: float) -> str:
    return (FIRST_DAY + timedelta(seconds=round(seconds))).strftime("%Y-%m-%dT%H:%M:%S")


def _duration(seconds: float) -> str:
    days, rest = divmod(round(seconds), 86400)
    return f"{f'{days}-' if days else ''}{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
