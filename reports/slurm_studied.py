"""One configuration of slurm.md with a workload: executed by a real Slurm, kept, and replayed."""

import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from slurm_configurations import Case, Variation, workload

import harness
from harness.platform.windows import Window, read_windows
from harness.policy.timing import DecisionTiming
from harness.slurm.accounts_given import read_accounts
from harness.slurm.associations import read_shares
from harness.slurm.cluster import cluster_of
from harness.slurm.configuration import read_slurm
from harness.slurm.fair_tree import Shares
from harness.slurm.requests import said_of
from harness.slurm.shared_machine import with_partitions, with_requests
from harness.slurm.slurm_execution import execute
from harness.slurm.slurm_replay import slurm_replay

KEPT = Path(__file__).parent / "slurm-executions"

#: Number of replays for each execution, all with other phases of Slurm's loops.
REPLAYS = 8

Floats = npt.NDArray[np.float64]


class Times(NamedTuple):
    """How long the jobs of one run waited, and how long they were there [s]."""

    waits: Floats
    residences: Floats

    def apart(self, other: "Times") -> float:
        """Return P, the root of the mean squared difference of residence times [s]."""
        return float(np.sqrt(((self.residences - other.residences) ** 2).mean()))

    def together(self, other: "Times", within: float) -> float:
        """Return the share of jobs that began within this time of each other [%]."""
        return float(100 * (np.abs(self.waits - other.waits) <= within).mean())


class Studied:
    """One configuration with its workload, and the executions of it that are there."""

    def __init__(self, case: Case, which: Variation, folder: Path, kept: Path = KEPT) -> None:
        self.case, self.which, self.kept = case, which, kept
        self.configuration = case.configuration(folder)
        self.cluster = cluster_of(read_slurm(self.configuration))
        place = self.configuration.parent / f"{case.workload}-{which.name}.sacct"
        self.log = harness.read_workload(workload(case.workload, place, which))
        self.jobs = harness.prepare(self.log)
        self.accounts = self.configuration.parent / "accounts.dump" if case.accounts else None
        self.windows = self._windows()
        self._simulated: dict[tuple[str, str, float | None], Times] = {}

    def place(self, number: int) -> Path:
        """Return where an execution is kept."""
        return self.kept / f"{self.case.name}.{self.which.name}.{number}.csv.gz"

    @cached_property
    def executed(self) -> list[Times]:
        """The times of the jobs in each available execution."""
        places = sorted(self.kept.glob(f"{self.case.name}.{self.which.name}.[0-9].csv.gz"))
        frames = [harness.read_workload(place).jobs for place in places]
        waits = [frame["wait"].to_numpy(dtype=np.float64) for frame in frames]
        runs = [frame["run"].to_numpy(dtype=np.float64) for frame in frames]
        return [Times(wait, wait + run) for wait, run in zip(waits, runs, strict=True)]

    @cached_property
    def replayed(self) -> list[list[Times]]:
        """Replays for each execution, in which jobs run as much longer than their work as in it."""
        seeds = iter(range(REPLAYS * len(self.executed)))
        return [[self._replay(real, next(seeds)) for _ in range(REPLAYS)] for real in self.executed]

    def _replay(self, real: Times, seed: int) -> Times:
        """Replay the workload with the phases that a seed draws."""
        jobs = replace(self.jobs, jobs=self.jobs.jobs.assign(logged_run=real.residences - real.waits))
        return _times(
            slurm_replay(jobs, self.log, self.cluster, shares=self._shares(), windows=self.windows, seed=seed)
        )

    def _shares(self) -> Shares | None:
        """Return the accounts as they are before anything is used."""
        return read_shares(self.accounts) if self.accounts else None

    def _windows(self) -> tuple[Window, ...]:
        """Return the times of maintenance windows, by the clock of the workload."""
        if not self.case.reservations:
            return ()
        first = float(self.jobs.jobs["submit"].min())
        windows = read_windows(self.configuration.parent / "reservations.csv")
        return tuple(replace(one, begin=first + float(one.begin), end=first + float(one.end)) for one in windows)

    def simulated(self, order: str, start: str, interval: float | None) -> Times:
        """Return the same of policies of ours on the same nodes and partitions; backfill passes may be periodic."""
        if (order, start, interval) not in self._simulated:
            scheduler = harness.Scheduler(order=order, start=start)
            timing = DecisionTiming(backfill_interval=interval, main_interval=None if interval is None else 0)
            jobs = with_requests(self.jobs, said_of(self.log), self.cluster)
            nodes = with_partitions(self.cluster)
            schedule = harness.simulate(jobs, nodes, scheduler, timing=timing, plain=True)
            self._simulated[order, start, interval] = _times(schedule)
        return self._simulated[order, start, interval]


def _times(schedule: "harness.Schedule") -> Times:
    frame = schedule.frame
    start, end, submit = (frame[name].to_numpy(dtype=np.float64) for name in ("start", "end", "submit"))
    return Times(start - submit, end - submit)


def run(studied: Studied, number: int, speed: float) -> None:
    """Execute a workload once, and keep the schedule, small."""
    slower = partial(print, f"{studied.place(number).name}:", file=sys.stderr, flush=True)
    given = read_slurm(studied.configuration)
    accounts = read_accounts(studied.accounts, given) if studied.accounts else None
    done = execute(
        studied.jobs, given, studied.log, accounts=accounts, windows=studied.windows, speed=speed, slower=slower,
        as_root=accounts is not None,
    )  # fmt: skip
    frame = done.schedule.drop(columns=["eligible", "estimate"])
    for name in frame.columns.difference(["status", "nodes"]):
        frame[name] = frame[name].map(lambda value: "" if np.isnan(value) else f"{value:.0f}")
    place = studied.place(number)
    temporary = place.with_suffix(".part")
    temporary.write_bytes(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
    temporary.replace(place)


@contextmanager
def claimed(place: Path) -> Iterator[bool]:
    """Claim an execution, so that other processes of this command skip it. Return whether it was free."""
    claim = place.with_suffix(".claim")
    if claim.exists() and not Path(f"/proc/{claim.read_text(encoding='utf-8') or '-'}").exists():
        claim.unlink()  # of one that was killed
    try:
        with claim.open("x", encoding="utf-8") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        yield False
        return
    try:
        yield not place.exists()
    finally:
        claim.unlink()
