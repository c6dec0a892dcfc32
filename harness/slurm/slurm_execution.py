"""A workload executed by a real Slurm: a controller and one daemon a node, on loopback, below one fast clock.

Jobs sleep for as long as their work takes. What comes out is a schedule like any other: who began and ended when, on
which nodes, with the times of the workload.
"""

import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError
from harness.platform.windows import Window
from harness.slurm import accounting, cluster_process
from harness.slurm.accounts_given import PROGRAMS as OF_ACCOUNTS
from harness.slurm.accounts_given import Accounts
from harness.slurm.adaptation import Difference, Place, adapted, node_names, prepare_folder
from harness.slurm.cluster import Cluster, cluster_of
from harness.slurm.configuration import SlurmConfiguration
from harness.slurm.confinement import Rights, confined, rights
from harness.slurm.private_dir import end_processes, free_ports, private_folder, remove_leftovers
from harness.slurm.requests import requests_of
from harness.slurm.sbatch_options import cancellations_of, submissions_of
from harness.slurm.slurm_replay import slurm_platform
from harness.slurm.slurm_reservations import kept_nodes
from harness.workload.log import Log, Workload

Progress = Callable[[int, int], None]  # (jobs that ended, all jobs)

#: The programs that are needed, and the packages of Debian that they are in.
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol", "scancel", "munged", "faketime")
PACKAGES = "slurmctld slurmd slurm-client munge faketime"

#: Submissions may be late by so much, but for one in twenty, and ends too, but for half of them [s of the workload].
LATE = 1.0

#: What whole seconds may hide of a run: Slurm writes down no others [s].
WHOLE_SECONDS = 1.0

#: No execution begins later than this for the sake of a phase [s of the workload].
_LONGEST_PHASE = 3600.0

#: How many submissions must be known before they are judged while it goes on.
ENOUGH = 20

_WORDS = {"COMPLETED": "completed", "TIMEOUT": "killed", "CANCELLED": "cancelled"}


@dataclass(frozen=True)
class SlurmExecution:
    """What a real Slurm did with a workload."""

    schedule: pd.DataFrame  # one row a job, in the order of the workload
    version: str  # of Slurm
    digest: str  # of the given configuration
    accounts: str  # digest of the given accounts, empty if there are none
    speed: float  # of the clock
    lags: np.ndarray[Any, Any]  # how late each job was submitted [s]
    overtime: float  # how much longer than their work jobs held their processors, the median [s]
    differences: tuple[Difference, ...]  # from the given configuration
    refused: dict[int, str]  # job → why Slurm would not have it
    stranded: tuple[str, ...]  # what still waited, and why, when nothing happened any more
    seconds: float  # it took
    rights: Rights  # as which user it ran

    @property
    def provenance(self) -> dict[str, Any]:
        """What a reader has to know to make it again, for JSON."""
        lags = self.lags if len(self.lags) else np.zeros(1)
        return {
            "slurm": self.version,
            "configuration": self.digest,
            **({"accounts": self.accounts} if self.accounts else {}),
            "speed": self.speed,
            "lag_p95": float(np.quantile(lags, 0.95)),
            "lag_max": float(lags.max()),
            "overtime_median": self.overtime,
            "refused": {str(job): why for job, why in self.refused.items()},
            "stranded": list(self.stranded),
            "differences": [vars(difference) for difference in self.differences],
            "seconds": self.seconds,
            "user": self.rights.user,
            "as_root": self.rights.still_root,
        }


class TooSlowError(Exception):
    """The machine does not keep up with the clock."""


def programs(*, accounts: bool = False) -> dict[str, str]:
    """Return where the programs are; refuse if one is missing."""
    wanted = (*PROGRAMS, *(OF_ACCOUNTS if accounts else ()))
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"))
    found = {name: shutil.which(name, path=places) for name in wanted}
    if missing := [name for name, place in found.items() if place is None]:
        raise HarnessError(
            f"a real Slurm needs {', '.join(missing)}, which are not installed: on Debian or Ubuntu, "
            f"apt-get install {PACKAGES}{f' {accounting.PACKAGES}' if accounts else ''}"
        )
    return {name: str(place) for name, place in found.items()}


def execute(
    workload: Workload,
    given: SlurmConfiguration,
    log: Log | None = None,
    *,
    accounts: Accounts | None = None,
    windows: tuple[Window, ...] = (),
    speed: float = 30.0,
    as_root: bool = False,
    progress: Progress | None = None,
    slower: Callable[[str], None] | None = None,
) -> SlurmExecution:
    """Let a real Slurm run the workload, `speed` times as fast as time; again and slower if the machine cannot.

    What jobs ask for besides processors is in the `log` that the workload was prepared of. With `accounts`, their
    shares, QOS and limits are in force, and every job is its user's. Nodes of `windows` are reserved for nobody.
    Root's daemons run as an unprivileged user; jobs of several users need `as_root`.
    `slower` is told, in a sentence, before it is tried again.
    """
    if as_root and accounts is None:
        raise HarnessError("--as-root: only accounts have jobs of several users: expected 'slurm.conf + accounts.dump'")
    running_as = rights(as_root=as_root)
    found = programs(accounts=accounts is not None)
    for sentence in remove_leftovers():
        warnings.warn(sentence, stacklevel=2)
    while True:
        try:
            return _attempt(workload, given, log, accounts, windows, found, speed, progress, running_as)
        except TooSlowError as error:
            if speed <= 1:
                raise HarnessError(f"{error}, at the speed of time itself: this machine is too busy") from None
            if slower is not None:
                slower(f"{error} at {speed:g} times the speed of time: once more, at {max(1.0, speed / 2):g}")
            speed = max(1.0, speed / 2)


def _attempt(
    workload: Workload,
    given: SlurmConfiguration,
    log: Log | None,
    accounts: Accounts | None,
    windows: tuple[Window, ...],
    found: dict[str, str],
    speed: float,
    progress: Progress | None,
    running_as: Rights,
) -> SlurmExecution:
    began = time.monotonic()
    cluster = cluster_of(given)
    requests = requests_of(workload, log, cluster)
    nodes = node_names(given)
    every = [name for line in nodes for name in line]
    kept = kept_nodes(windows, slurm_platform(cluster), workload)
    with private_folder() as folder:
        controller, ports = free_ports(len(every) + (accounts is not None))
        place = Place(folder, controller, ports[: len(every)], sum(ports[len(every) :]), running_as)
        text, differences = adapted(given, place, nodes)
        (folder / "slurm.conf").write_text(text, encoding="utf-8")
        differences += prepare_folder(given, place)
        if accounts is not None:
            differences += accounts.differences
        users = None if accounts is None else accounts.numbers(requests, running_as)
        jobs = list(submissions_of(requests, cluster, folder, users))
        plan = {
            "folder": str(folder), "speed": speed, "programs": found, "nodes": every, "jobs": jobs,
            "cancellations": cancellations_of(requests), "phases": _phases(cluster), "user": running_as.user,
            "kept": list(kept.named(min((one.submit for one in requests), default=0.0), cluster)),
            "accounts": None if accounts is None else accounts.prepared(place, given.setting("ClusterName"), users),
        }  # fmt: skip
        (folder / "plan.json").write_text(json.dumps(plan | running_as.planned), encoding="utf-8")
        running_as.hand_over(folder)

        def heard(count: int) -> None:
            if count == ENOUGH:
                _refuse_late_ends(workload, _ended(folder))
            if progress is not None:
                progress(count, len(jobs))

        told = _watch(folder, found["faketime"], confined(folder), speed, heard)
        ended = _ended(folder)
        _refuse_late_ends(workload, ended)
    schedule = _schedule(workload, ended, told)
    version = subprocess.run([found["slurmctld"], "-V"], capture_output=True, text=True).stdout.strip()
    return SlurmExecution(
        schedule, version, given.digest, accounts.digest if accounts else "", speed,
        np.array(told.lags), _overtime(workload, ended), tuple(differences),
        told.refused, tuple(told.stranded), time.monotonic() - began, running_as,
    )  # fmt: skip


def _phases(cluster: Cluster) -> int:
    """Return over how long the first submission is drawn, so that the phases of all loops are chance [s]."""
    parameters, weights = cluster.parameters, cluster.weights
    loops = (parameters.interval, parameters.main_interval, parameters.pinging, weights.period if weights.any else 0.0)
    return math.ceil(min(max(loops), _LONGEST_PHASE))


@dataclass
class _Told:
    """What the program below the clock told."""

    lags: list[float]
    refused: dict[int, str]
    stranded: list[str]
    ended: int = 0
    first: float = math.nan
    numbers: dict[int, int] | None = None

    def hear(self, said: dict[str, Any]) -> int | None:
        """Take in one line; return how many jobs have ended, if it says so."""
        match said["what"]:
            case "submitted":
                self.lags.append(said["lag"])
                if said["refused"]:
                    self.refused[said["job"]] = said["refused"]
                late = sum(lag > LATE for lag in self.lags)
                if len(self.lags) >= ENOUGH and late > len(self.lags) / 20:
                    raise TooSlowError(f"{late} of {len(self.lags)} jobs were submitted more than {LATE:g} s late")
            case "stranded":
                self.stranded = said["waiting"]
            case "failed":
                raise HarnessError(f"Slurm did not start: {said['why']}; its log ends: {said['log']}")
            case "done":
                self.first = said["first"]
                self.numbers = {int(job): number for job, number in said["numbers"].items()}
        return said.get("ended")


def _watch(folder: Path, clock: str, confinement: list[str], speed: float, heard: Callable[[int], None]) -> _Told:
    """Run the plan below a clock of this speed, and hear what is told; `heard` is called with how many jobs ended."""
    package = Path(cluster_process.__file__).parents[2]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
    environment |= {"SLURM_CONF": f"{folder}/slurm.conf", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(package), environment.get("PYTHONPATH"))))
    program = [sys.executable, "-P", "-m", cluster_process.__name__, str(folder / "plan.json")]
    command = [clock, "-m", "-f", f"+0 x{speed:g}", *confinement, *program]
    told = _Told([], {}, [])
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for line in process.stdout:
            ended = told.hear(json.loads(line))
            for count in range(told.ended + 1, (ended or 0) + 1):  # each once
                heard(count)
            told.ended = max(told.ended, ended or 0)
    finally:
        with suppress(OSError):
            process.stdin.close()  # the sign to end, if it has not
        _reap(process, folder)
    if told.numbers is None:
        raise HarnessError("the execution ended before its time: the program below the fast clock was stopped")
    return told


def _reap(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait until all is cleaned up below the clock, and see to it if it is not."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
    if process.poll() is None:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
    end_processes(folder)


def _ended(folder: Path) -> str:
    """Return what Slurm wrote down of the jobs that ended, a line each."""
    written = folder / "log" / "jobcomp"
    return written.read_text(encoding="utf-8") if written.exists() else ""


def _lines(ended: str) -> dict[int, dict[str, str]]:
    """Return what each line says, by the workload's number of the job."""
    found = (dict(re.findall(r"(\w+)=(\S*)", line)) for line in ended.splitlines())
    return {int(line["Name"]): line for line in found if "Name" in line}


def _overtime(workload: Workload, ended: str) -> float:
    """Return how much longer than their work jobs held their processors, the median [s]."""
    work = dict(zip(workload.jobs["job"].tolist(), workload.jobs["work"].tolist(), strict=True))
    over = [
        _since(line["EndTime"], 0.0) - _since(line["StartTime"], 0.0) - work[job]
        for job, line in _lines(ended).items()
        if line["JobState"] == "COMPLETED"
    ]
    return statistics.median(over) if over else 0.0


def _refuse_late_ends(workload: Workload, ended: str) -> None:
    """Refuse an execution in which jobs take longer than they should."""
    if (overtime := _overtime(workload, ended)) > LATE + WHOLE_SECONDS:
        raise TooSlowError(f"half of the jobs ended {overtime:.1f} s late or more")


def _schedule(workload: Workload, ended: str, told: _Told) -> pd.DataFrame:
    """Return what happened to every job of the workload, in the workload's times."""
    lines = _lines(ended)
    begin = float(workload.jobs["submit"].min())
    rows = []
    columns = [workload.jobs[name].tolist() for name in ("job", "submit", "procs", "estimate")]
    for job, submit, procs, estimate in zip(*columns, strict=True):
        found = lines.get(job, {})
        times = (_since(found.get(f"{name}Time", ""), told.first) for name in ("Eligible", "Start", "End"))
        eligible, start, end = times
        began = not math.isnan(start) and found.get("NodeList", "(null)") not in ("(null)", "")
        start = max(begin + start, submit) if began else math.nan  # Slurm cuts fractions of a second off
        end = max(begin + end, start) if began else begin + end
        state = found.get("JobState", "REFUSED" if job in told.refused else "PENDING")
        rows.append(
            {
                "job": job, "submit": submit, "eligible": max(begin + eligible, submit), "start": start, "end": end,
                "procs": procs, "wait": round(start - submit, 6), "run": round(end - start, 6), "estimate": estimate,
                "status": _WORDS.get(state, state.lower()),
                "nodes": found.get("NodeList", "") if began else "",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _since(text: str, first: float) -> float:
    """Return how long after the workload's time 0 it was; not a number if Slurm does not know [s]."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() - first
    except ValueError:
        return math.nan
