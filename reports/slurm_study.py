"""Makes the tables of slurm.md: workloads executed by a real Slurm, and how near replays come.

What is there is not executed again: `python reports/slurm_study.py` goes on where it was stopped, and two may run at
once. `--most 0` only prints the tables.
"""

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from slurm_configurations import CASES, PAIRS, Case, workload

import harness
from harness.cli import main
from harness.present.tables import render
from harness.present.words import readable
from harness.slurm.cluster import cluster_of
from harness.slurm.configuration import read_slurm
from harness.slurm.slurm_execution import execute
from harness.slurm.slurm_replay import slurm_replay

KEPT = Path(__file__).parent / "slurm-executions"

#: Replays beside each execution, all with other phases of Slurm's loops.
REPLAYS = 16

#: Jobs that begin within so many seconds of each other began together [s].
TOGETHER = 60.0

#: Of Student's t, two-sided, for the mean of `REPLAYS` numbers; of more it is less.
_T = 2.13

NEAR = (
    *("configuration", "executions", "P between them [s]", "P of the replay [s]", "ratio", "P between replays [s]"),
    *("P of EASY [s]", "P of conservative, replanned [s]", "P if nobody waited [s]", "one wait for all [s]"),
)
WAITS = (
    *("configuration", "mean waits executed [s]", "mean wait replayed [s]", "± [s]", "off [%]"),
    *("began within 60 s, executions [%]", "replays [%]"),
)
CHANGES: tuple[str, ...] = (
    "from",
    "to",
    "mean wait executed, from [s]",
    "to [s]",
    "told apart",
    "replayed, from [s]",
    "to [s]",
    "± [s]",
)
CHANGES += ("same sign",)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Floats = npt.NDArray[np.float64]


class Studied:
    """One configuration with its workload, and the executions of it that are there."""

    def __init__(self, case: Case, folder: Path, kept: Path = KEPT) -> None:
        self.case, self.kept = case, kept
        self.configuration = case.configuration(folder)
        self.cluster = cluster_of(read_slurm(self.configuration))
        self.log = harness.read_workload(workload(case.workload, self.configuration.parent / f"{case.workload}.sacct"))
        self.jobs = harness.prepare(self.log)

    def place(self, number: int) -> Path:
        """Return where an execution is kept."""
        return self.kept / f"{self.case.name}.{number}.csv.gz"

    @cached_property
    def executed(self) -> list[tuple[Floats, Floats]]:
        """The waits and the residence times of the jobs in each execution that is there."""
        logs = [harness.read_workload(path) for path in sorted(self.kept.glob(f"{self.case.name}.[0-9].csv.gz"))]
        waits = [each.jobs["wait"].to_numpy(dtype=np.float64) for each in logs]
        runs = [each.jobs["run"].to_numpy(dtype=np.float64) for each in logs]
        return [(wait, wait + run) for wait, run in zip(waits, runs, strict=True)]

    @cached_property
    def pairs(self) -> list[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]:
        """Replays beside executions: as many of each, in which jobs run as much longer than their work as in it."""
        executions = [real for real in self.executed for _ in range(REPLAYS)]
        return [(self._replay(real, seed), real) for seed, real in enumerate(executions)]

    @property
    def replayed(self) -> list[tuple[Floats, Floats]]:
        """The replays of all pairs."""
        return [ours for ours, _ in self.pairs]

    def _replay(self, real: tuple[Floats, Floats], seed: int) -> tuple[Floats, Floats]:
        """Replay the workload with the phases that a seed draws."""
        jobs = replace(self.jobs, jobs=self.jobs.jobs.assign(logged_run=real[1] - real[0]))
        return _times(slurm_replay(jobs, self.log, self.cluster, seed=seed))

    def simulated(self, start: str) -> tuple[Floats, Floats]:
        """Return the same of a policy of ours, which knows processors only."""
        return _times(harness.simulate(self.jobs, self.cluster.cpus, harness.Scheduler(start=start)))

    def mean_waits(self, times: list[tuple[Floats, Floats]]) -> list[float]:
        """Return the mean wait of each [s]."""
        return [float(waits.mean()) for waits, _ in times]


def _times(schedule: "harness.Schedule") -> tuple[Floats, Floats]:
    frame = schedule.frame
    start, end, submit = (frame[name].to_numpy(dtype=np.float64) for name in ("start", "end", "submit"))
    return start - submit, end - submit


def apart(pairs: list[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]) -> float:
    """Return P, the root of the mean squared difference of residence times, in the mean of some pairs [s]."""
    return float(np.mean([np.sqrt(((one[1] - other[1]) ** 2).mean()) for one, other in pairs])) if pairs else np.nan


def together(pairs: list[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]) -> float:
    """Return the part of the jobs that began within a minute of each other [%]."""
    found = [(np.abs(one[0] - other[0]) <= TOGETHER).mean() for one, other in pairs]
    return float(100 * np.mean(found)) if found else np.nan


def run(studied: Studied, number: int, speed: float) -> None:
    """Execute a workload once, and keep the schedule, small."""
    done = execute(studied.jobs, read_slurm(studied.configuration), studied.log, speed=speed)
    frame = done.schedule.drop(columns=["eligible", "estimate"])
    for name in frame.columns.difference(["status", "nodes"]):
        frame[name] = frame[name].map(lambda value: "" if np.isnan(value) else f"{value:.0f}")
    place = studied.place(number)
    temporary = place.with_suffix(".part")
    temporary.write_bytes(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
    temporary.replace(place)


@contextmanager
def claimed(place: Path) -> Iterator[bool]:
    """Claim an execution that is to be made, so that another of this command leaves it; say whether that is so."""
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


def near(one: Studied) -> tuple[Any, ...]:
    """Return how near the executions of a configuration are to each other, and replays to them."""
    real, ours = one.executed, one.replayed
    between, replay = apart(list(combinations(real, 2))), apart(one.pairs)
    nulls = [one.simulated("easy"), one.simulated("conservative(replan=true)")]
    nobody = [(real_one[0] * 0, real_one[1] - real_one[0]) for real_one in real]
    same = [(waits * 0, residence - waits + waits.mean()) for waits, residence in real]
    return (
        one.case.name, len(real), between, replay, replay / between, apart(list(combinations(ours, 2))),
        *(apart([(null, each) for each in real]) for null in nulls),
        apart(list(zip(nobody, real, strict=True))), apart(list(zip(same, real, strict=True))),
    )  # fmt: skip


def waits(one: Studied) -> tuple[Any, ...]:
    """Return how long jobs wait in executions and in replays, and how many begin together."""
    theirs, ours = one.mean_waits(one.executed), one.mean_waits(one.replayed)
    mean = float(np.mean(ours))
    return (
        one.case.name, ", ".join(f"{wait:.0f}" for wait in theirs), mean, _within(ours),
        100 * (mean / float(np.mean(theirs)) - 1), together(list(combinations(one.executed, 2))),
        together(one.pairs),
    )  # fmt: skip


def change(one: Studied, other: Studied) -> tuple[Any, ...]:
    """Return what a change of the configuration does, executed and replayed."""
    before, after = one.mean_waits(one.executed), other.mean_waits(other.executed)
    ours = one.mean_waits(one.replayed), other.mean_waits(other.replayed)
    several = len(before) > 1 and len(after) > 1
    apart_from = several and (max(before) < min(after) or max(after) < min(before))
    executed, replayed = float(np.mean(after)) - float(np.mean(before)), float(np.mean(ours[1]) - np.mean(ours[0]))
    return (
        one.case.name, other.case.name, float(np.mean(before)), float(np.mean(after)), "yes" if apart_from else "no",
        float(np.mean(ours[0])), float(np.mean(ours[1])), float(np.hypot(_within(ours[0]), _within(ours[1]))),
        "yes" if executed * replayed > 0 else "no",
    )  # fmt: skip


def _within(numbers: list[float]) -> float:
    """Return the half width of the interval that holds their mean with 95 %."""
    return _T * float(np.std(numbers, ddof=1)) / float(np.sqrt(len(numbers)))


def tables(studied: dict[str, Studied], format: str) -> str:
    """Return what is known so far."""
    several = [one for one in studied.values() if len(one.executed) > 1]
    changes = [
        change(studied[one], studied[other])
        for one, other in PAIRS
        if studied[one].executed and studied[other].executed
    ]
    lines = ((NEAR, [near(one) for one in several]), (WAITS, [waits(one) for one in several]), (CHANGES, changes))
    return "\n\n".join(render(headers, list(map(shown, rows)), format) for headers, rows in lines)


def shown(row: tuple[Any, ...]) -> list[Any]:
    """Return the cells of a row as they are printed."""
    return [readable(cell, 3) if isinstance(cell, float) else cell for cell in row]


@app.command()
def study(
    executions: Annotated[int, typer.Option(help="of each configuration", min=2, max=9)] = 2,
    most: Annotated[int, typer.Option(help="executions to make now, at most", min=0)] = 1000,
    speed: Annotated[float, typer.Option(help="how many times as fast as time")] = 30.0,
    kept: Annotated[Path, typer.Option(help="the folder of the executions")] = KEPT,
    format: Annotated[str, typer.Option(help="table, markdown, csv …")] = "table",
) -> None:
    """Execute what is missing, and print the tables."""
    kept.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        studied = {name: Studied(case, Path(folder), kept) for name, case in CASES.items()}
        for one, number in [(one, number) for number in range(1, executions + 1) for one in studied.values()]:
            place = one.place(number)
            if most <= 0 or place.exists():
                continue
            with claimed(place) as ours:
                if ours:
                    run(one, number, speed)
                    most -= 1
        print(tables(studied, format))


if __name__ == "__main__":
    main(app)
