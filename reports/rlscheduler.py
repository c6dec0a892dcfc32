"""Makes the tables of rlscheduler.md: Table V of RLScheduler (Zhang et al. 2020), by its own loop and as meant."""

import hashlib
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

import harness
from harness.cli import main
from harness.disk.data_search import find_data

#: Log → its processors, its number of lines, and the values of Table V: without and with backfilling.
PRINTED = {
    "lublin_256": (
        "anchors/rlscheduler/lublin_256.swf.gz", 256, 0,
        {"FCFS": ("7273.77", "235.82"), "WFP3": ("19753.53", "133.87"), "UNICEP": ("22274.74", "307.23"),
         "SJF": ("277.35", "73.31"), "F1": ("258.37", "75.07")},
    ),
    "SDSC-SP2": (
        "SDSC-SP2-1998-4.2-cln.swf.gz", 128, 10_000,
        {"FCFS": ("1727.54", "1595.12"), "WFP3": ("3000.88", "1083.12"), "UNICEP": ("1848.45", "548.01"),
         "SJF": ("2680.55", "2167.84"), "F1": ("1232.06", "1098.22")},
    ),
}  # fmt: skip

LENGTH, SEQUENCES, SEED, BOUND = 1024, 10, 1, 10

#: Their names → ours, of the same rule as it was meant.
MEANT = {"FCFS": "fcfs", "WFP3": "wfp3", "UNICEP": "unicef", "SJF": "spf", "F1": "f1"}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(eq=False)
class Job:
    """One line of a log, as their loader reads it."""

    number: int
    submit: int
    run: int
    procs: int
    request: int
    start: int = -1  # before it has begun, which WFP3 and UNICEP score all the same


def logarithm(time: int) -> float:
    """Return log10 as their F1 takes it: of a tenth, where there is none."""
    return math.log10(time if time > 0 else 0.1)


#: Their scores, the lowest first. The wait is that of a job which has no start time yet: −1 − submit.
SCORES: dict[str, Callable[[Job], Any]] = {
    "FCFS": lambda job: job.submit,
    "WFP3": lambda job: -(((job.start - job.submit) / job.request) ** 3) * job.procs,
    "UNICEP": lambda job: -(job.start - job.submit + 1e-15) / (np.log2(job.procs + 1e-15) * job.request),
    "SJF": lambda job: (job.request, job.submit),
    "F1": lambda job: logarithm(job.request) * job.procs + 870 * logarithm(job.submit),
}


class Replay:
    """Their loop: the best job of the queue is waited for, whatever comes meanwhile; others may be backfilled."""

    def __init__(self, jobs: list[Job], procs: int, score: Callable[[Job], Any], *, backfill: bool) -> None:
        self.coming = jobs[::-1]
        self.free, self.score, self.backfill = procs, score, backfill
        self.queue, self.running = [self.coming.pop()], list[Job]()
        self.now = self.queue[0].submit
        self.slowdowns: list[float] = []

    def run(self) -> float:
        """Return the mean bounded slowdown."""
        while self.queue or self.coming:
            while not self.queue:
                self.step()
            self.queue.sort(key=self.score)  # in place, as theirs: of equal scores, the one that was first before
            job = self.queue[0]
            by = self.believed_fit(job) if self.backfill and job.procs > self.free else 0.0
            while job.procs > self.free:
                if self.backfill:
                    self.queue.sort(key=lambda one: one.submit)
                for other in list(self.queue) if self.backfill else ():
                    if self.now + other.request < by and other.procs <= self.free:
                        self.begin(other)
                self.step()
            self.begin(job)
        return float(np.mean(self.slowdowns))

    def believed_fit(self, job: Job) -> float:
        """Return when enough running jobs have ended by their requests, as of the moment the job was chosen."""
        free, by = self.free, self.now
        self.running.sort(key=lambda one: one.start + one.request)
        for other in self.running:
            if free >= job.procs:
                break
            free, by = free + other.procs, other.start + other.request
        return by

    def begin(self, job: Job) -> None:
        """Start a job now, and score it."""
        self.queue.remove(job)
        self.running.append(job)
        self.free -= job.procs
        job.start = self.now
        self.slowdowns.append(max(1.0, (self.now - job.submit + job.run) / max(job.run, BOUND)))

    def step(self) -> None:
        """Go on to the next submission or completion, submissions first."""
        self.running.sort(key=lambda one: one.start + one.run)
        first = self.running[0] if self.running else None
        end = first.start + first.run if first else math.inf
        if self.coming and self.coming[-1].submit <= end:
            self.queue.append(self.coming.pop())
            self.now = max(self.now, self.queue[-1].submit)
        elif first:
            self.running.remove(first)
            self.free += first.procs
            self.now = max(self.now, first.start + first.run)


def read(path: str | Path, lines: int = 0) -> list[Job]:
    """Read a log as their loader does: no zero runtimes, unknown ones are 10 s, a missing request is the runtime."""
    log = harness.read_workload(path).jobs
    log = log.head(lines) if lines else log
    jobs = []
    for number, submit, run, used, asked, request in zip(
        *(log[name].to_numpy() for name in ("job", "submit", "run", "used_procs", "procs", "estimate")), strict=True
    ):
        request = int(run if request == -1 else request)  # −1, if both are unknown: nobody looks at it again
        run = 10 if run < 0 else int(run)
        jobs.append(Job(int(number), int(submit), run, max(int(used), int(asked)), request))
    return sorted((job for job in jobs if job.run > 0), key=lambda job: job.number)


def sequences(jobs: list[Job]) -> Iterator[list[Job]]:
    """Yield the jobs of each sequence: its first job is drawn as OpenAI Gym's seeding lets numpy draw."""
    # gym.utils.seeding hashes the seed: the first 8 bytes of its digest, as little-endian words of 32 bits.
    words = struct.unpack("<2I", hashlib.sha512(str(SEED).encode()).digest()[:8])
    dice = np.random.RandomState(list(words))
    for _ in range(SEQUENCES):
        first = int(dice.randint(LENGTH, len(jobs) - LENGTH - 1))
        yield [Job(job.number, job.submit, job.run, job.procs, job.request) for job in jobs[first : first + LENGTH]]


def theirs(jobs: list[Job], procs: int, policy: str, *, backfill: bool) -> float:
    """Return the mean over the sequences by their loop."""
    return float(np.mean([Replay(s, procs, SCORES[policy], backfill=backfill).run() for s in sequences(jobs)]))


def meant(jobs: list[Job], procs: int, policy: str, start: str) -> float:
    """Return the mean over the sequences under our policies, of the same jobs."""
    found = []
    for sequence in sequences(jobs):
        rows = [
            {"job": job.number, "submit": job.submit, "run": job.run, "procs": job.procs, "estimate": job.request}
            for job in sequence
        ]
        workload = harness.prepare(harness.log_from_frame(pd.DataFrame(rows), "sequence"))
        run = harness.simulate(workload, procs, harness.Scheduler(order=MEANT[policy], start=start, energy="none"))
        found.append(run.measures()["mean_bounded_slowdown"])
    return float(np.mean(found))


def table(name: str, jobs: list[Job], procs: int, printed: dict[str, tuple[str, str]]) -> str:
    """Return the table of one log as Markdown."""
    heads = ("none: printed", "their loop", "as meant", "backfilling: printed", "their loop", "as meant")
    lines = [f"| {name} | {' | '.join(heads)} |", "|---" + "|---:" * len(heads) + "|"]
    for policy in SCORES:
        cells = []
        for place, start in enumerate(("none", "easy")):
            cells.append(printed.get(policy, ("–", "–"))[place])
            cells.append(f"{theirs(jobs, procs, policy, backfill=bool(place)):.2f}")
            cells.append(f"{meant(jobs, procs, policy, start):.2f}")
        lines.append(f"| {policy} | {' | '.join(cells)} |")
    return "\n".join(lines)


@app.command()
def rlscheduler(
    log: Annotated[str, typer.Argument(help="a log; without one, those of Table V that are at hand")] = "",
    procs: Annotated[int, typer.Option(help="processors of its machine", min=0)] = 0,
    lines: Annotated[int, typer.Option(help="number of jobs of the log, from its beginning (0: all)", min=0)] = 0,
) -> None:
    """Replay ten sequences of 1,024 jobs by RLScheduler's loop and under the policies as they were meant."""
    if log:
        if not procs:
            raise harness.HarnessError(f"{log}: expected --procs N, the processors of its machine")
        typer.echo(table(log, read(log, lines), procs, {}))
        return
    typer.echo("\n\n".join(tables()))


def tables() -> Iterator[str]:
    """Yield the tables of the page."""
    for name, (path, procs, lines, printed) in PRINTED.items():
        yield table(name, read(find_data(path), lines), procs, printed)


if __name__ == "__main__":
    main(app)
