"""The golden corpus: 1,000 runs drawn over the features of the engine, and a digest of each of their schedules.

Every redesign of the engine must give the same schedules. `python tests/golden/corpus.py` repeats the runs and lists
those that differ from `corpus.csv`. `--sample 50` repeats 50 of them. With `--update` it rewrites the file. `--show
NUMBER` prints one schedule as CSV: two versions of the engine can then be compared job by job. `--seed` draws another
corpus. The file also holds the digests of runs of two real logs, which are repeated where the data is available.
"""

import argparse
import csv
import hashlib
import multiprocessing
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import harness
from harness import DecisionTiming, HarnessError, NodeType, PerformanceState, Platform, Scheduler, SleepState, Window
from harness.policy.gallery import examples
from harness.workload.log import Workload

FILE = Path(__file__).with_name("corpus.csv")
COUNT, SEED = 1000, 2026  # about 600 of them are schedules today; the engine refuses the others

#: The policies and settings of each dimension. A run has one of each.
DIMENSIONS: dict[str, tuple[str, ...]] = {
    "resources": ("counts", "counts", "memory", "gpus", "features", "licences", "exclusive", "speeds"),
    "windows": ("no", "no", "no", "yes"),
    "sleep": ("never", "never", "timeout(idle=60)", "reserve(spare=2, idle=30)"),
    "width": ("rigid", "rigid", "moldable"),
    "timing": ("together", "together", "each", "ends", "pass", "depth"),
    "hold": ("none", "none", "limits(user_jobs=3)", "limits(user_procs=24, group_jobs=6)", "dependencies", "begin"),
    "order": ("fcfs", "fcfs", "spf", "lpf", "lcfs", "saf", "wfp3", "unicef", "f1", "fairshare", "multifactor"),
    "start": (
        *("none", "greedy", "easy", "easy", "easy(reservations=3)", "easy(spare=false)", "easy(backfill_order=spf)"),
        *("conservative", "conservative", "conservative(replan=true)", "preempt", "preempt(at=departure)", "lull"),
        *("relaxed", "lookahead", "selective", "slack", "gang"),
    ),
    "predict": ("requested", "requested", "requested", "recent", "actual", "similar"),
    "select": ("first-fit", "first-fit", "best-fit", "worst-fit", "random", "contiguous", "whole-nodes", "efficient"),
    "rate": ("full", "full", "full", "full", "fixed(rate=0.5)", "hysteresis(low=4, high=12, slow=0.5)"),
}
TIMINGS = {
    "together": DecisionTiming(),
    "each": DecisionTiming("per-event"),
    "ends": DecisionTiming("per-event-completions-first"),
    "pass": DecisionTiming(backfill_interval=60),
    "depth": DecisionTiming(backfill_interval=60, main_interval=0, backfill_depth=20, plan_horizon=3600),
}
GALLERY = ("relaxed", "lookahead", "selective", "slack", "gang")


@dataclass(frozen=True)
class Run:
    """One run of the corpus: its number, its number of jobs, and its place in each dimension."""

    number: int
    jobs: int
    resources: str
    windows: str
    sleep: str
    width: str
    timing: str
    hold: str
    order: str
    start: str
    predict: str
    select: str
    rate: str

    @property
    def title(self) -> str:
        """Return the run in one line."""
        return ", ".join(f"{field.name} {getattr(self, field.name)}" for field in fields(self)[1:])


@dataclass(frozen=True)
class Digest:
    """The digests of one schedule, or the beginning of the message with which the run was refused."""

    starts: str
    ends: str
    nodes: str
    energy: str
    refused: str = ""


def draw(count: int = COUNT, seed: int = SEED) -> list[Run]:
    """Return the runs. Each dimension is dealt out evenly and shuffled, so that every value occurs in its share."""
    dice = np.random.default_rng(seed)
    columns = {name: dice.permutation(np.resize(np.arange(len(values)), count)) for name, values in DIMENSIONS.items()}
    lengths = np.exp(dice.uniform(np.log(120), np.log(2000), count)).astype(int)
    return [
        _possible(
            Run(number, int(lengths[number]), **{name: DIMENSIONS[name][columns[name][number]] for name in DIMENSIONS})
        )
        for number in range(count)
    ]


def _possible(run: Run) -> Run:
    """Return the run, changed where its combination would not end, or would take minutes.

    Starts in order at every event resume the jobs that a policy suspends. Plans of a long queue by nodes are slow.
    """
    if run.start.startswith(("gang", "preempt")) and run.timing == "depth":
        run = replace(run, timing="pass")
    if run.start.startswith(("conservative", "slack", "selective")) and run.resources not in ("counts", "speeds"):
        run = replace(run, jobs=min(run.jobs, 600))
    return run


#: The real logs, and the schedulers with which the first jobs of each are simulated.
LOGS = ("KTH-SP2", "SDSC-SP2")
LOG_SCHEDULERS = (("fcfs", "easy"), ("spf", "easy(reservations=2)"), ("wfp3", "conservative"), ("fcfs", "conservative"))
LOG_JOBS = 4000


def log_runs() -> list[tuple[str, str, str]]:
    """Return the log, the order and the start policy of each run of a real log."""
    return [(log, *parts) for log in LOGS for parts in LOG_SCHEDULERS]


# ---------------------------------------------------------------- the machine and the jobs of a run


def platform(run: Run) -> Platform:
    """Return a machine of 48 cores with power figures and sleep states, and with what the run's jobs request."""
    node = partial(
        NodeType,
        idle=50.0,
        peak=150.0,
        curve=(50.0, 80.0, 95.0, 105.0, 112.0, 118.0, 124.0, 130.0, 137.0, 143.0, 150.0),
        performance=(PerformanceState(0.5, 40.0, 80.0),),
        sleep=(SleepState("nap", 5.0, down=10.0, up=30.0), SleepState("coma", 1.0, down=20.0, up=120.0)),
    )
    types = {
        "counts": [node(12, 4, 4.0)],
        "memory": [node(8, 4, 4.0, 8.0), node(4, 4, 4.0, 24.0, partition=1)],
        "gpus": [node(8, 4, 4.0), node(4, 4, 4.0, resources={"gpu": 2})],
        "features": [node(8, 4, 4.0, features=("big",)), node(4, 4, 4.0, features=("big", "new"))],
        "licences": [node(12, 4, 4.0)],
        "exclusive": [node(10, 4, 4.0), node(4, 2, 2.0)],
        "speeds": [node(6, 4, 4.0), node(6, 4, 6.0)],
    }[run.resources]
    windows = ()
    if run.windows == "yes":
        windows = (Window(20_000, 30_000, (0, 1, 2, 3)), Window(50_000, 52_000, tuple(range(8)), users=(1, 2)))
    licences = {"licence": 5} if run.resources == "licences" else {}
    return Platform(run.resources, tuple(types), windows=windows, licences=licences)


def workload(run: Run, seed: int = SEED) -> Workload:
    """Return jobs that keep about 85 % of the machine busy at the run's rate.

    There are ties, early ends, late ends and cancellations.
    """
    dice = np.random.default_rng((seed, run.number))
    count = run.jobs
    procs = np.minimum(2 ** dice.integers(0, 6, count) * dice.choice((1, 1, 3), count), 40)
    work = np.ceil(np.exp(dice.normal(5.5, 1.4, count)).clip(1, 20_000))
    estimate = np.ceil(work * dice.choice((0.7, 1.0, 1.0, 1.5, 4.0, 20.0), count))
    estimate = np.maximum(estimate, work) if run.predict == "requested" else estimate
    gaps = dice.exponential(1.0, count) * dice.choice((0, 1, 3), count)
    load = 0.43 if run.rate.startswith("fixed") else 0.85
    submit = np.floor(np.cumsum(gaps) * (procs * work).sum() / 48 / load / gaps.sum())
    frame = {
        "job": np.arange(1, count + 1),
        "submit": submit,
        "procs": procs,
        "work": work,
        "estimate": np.maximum(estimate, work),
        "memory": np.full(count, -1.0),
        "partition": np.full(count, -1),
        "cancel": np.where(dice.random(count) < 0.02, submit + dice.integers(0, 3000, count), np.inf),
        "killed": np.zeros(count, bool),
        "user": dice.integers(0, 12, count),
        "group": dice.integers(0, 4, count),
        "queue": dice.integers(0, 2, count),
    }
    frame |= _requests(run, dice, count, procs, submit)
    features = "".join(f"\n; Feature: {bit} {name}" for bit, name in enumerate(("big", "new"), 1)).strip().splitlines()
    header = tuple(features) if run.resources == "features" else ()
    return Workload(f"golden {run.number}", pd.DataFrame(frame), 48, "golden", header=header)


def _requests(
    run: Run, dice: np.random.Generator, count: int, procs: np.ndarray, submit: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns that only some runs have."""
    match run.resources:
        case "memory":
            yield "memory", dice.choice((-1.0, 0.5, 1.0, 2.0, 4.0), count)
            yield "partition", np.where(procs <= 16, dice.choice((-1, -1, 0, 1), count), -1)
        case "gpus":
            yield "needs_gpu", np.where(procs <= 8, dice.choice((-1, -1, -1, 1, 2), count), -1)
        case "features":
            yield "features", np.where(procs <= 16, dice.choice((-1, -1, 1, 2, 3), count), -1)
        case "licences":
            yield "needs_licence", dice.choice((-1, -1, -1, 1, 2, 3), count)
        case "exclusive":
            yield "exclusive", dice.choice((-1, -1, 1), count)
            yield "nodes", np.where(procs <= 8, dice.choice((-1, 2, 3), count), -1)
    if run.width == "moldable":
        yield "procs_min", np.maximum(procs // 2, 1)
        yield "procs_max", np.minimum(procs * 2, 48)
    if run.hold == "dependencies":
        jobs = np.arange(1, count + 1)
        earlier = np.maximum(jobs - dice.integers(1, 30, count), -1)
        yield "x_preceding", np.where((dice.random(count) < 0.2) & (earlier > 0), earlier, -1)
        yield "x_think", dice.choice((-1, 0, 60), count)
    if run.hold == "begin":
        yield "x_begin", np.where(dice.random(count) < 0.1, submit + dice.integers(0, 20_000, count), -1.0)


def schedule(run: Run, seed: int = SEED) -> "harness.Schedule":
    """Simulate the run."""
    parts = {name: getattr(run, name) for name in ("order", "start", "select", "rate", "sleep", "predict", "hold")}
    signal = _signal() if run.start.startswith("lull") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return harness.simulate(
            workload(run, seed),
            platform(run),
            Scheduler(**parts, energy="spec"),
            seed=run.number,
            plugins=[str(examples()[run.start])] if run.start in GALLERY else [],
            timing=TIMINGS[run.timing],
            signal=signal,
            placements=True,
        )


def _signal() -> "harness.Signal":
    """Return a signal that rises and falls every six hours."""
    rows = [f"{21_600 * k},{100 if k % 2 else 300}" for k in range(400)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "signal.csv"
        path.write_text("\n".join(("time,value", *rows)) + "\n", encoding="utf-8")
        return harness.read_signal(path)


# ---------------------------------------------------------------- digests


def digest(run: Run, seed: int = SEED) -> Digest:
    """Simulate the run and return its digests. Times are rounded to milliseconds, energies to six digits."""
    try:
        made = schedule(run, seed)
    except HarnessError as error:
        return Digest("", "", "", "", " ".join(str(error).split()[:8]))
    frame = made.frame
    nodes = made.placements.sort_values(["job", "begin", "node"])
    held = nodes[["job", "node", "cores"]].to_numpy(np.int64)
    return Digest(
        _hash(_milliseconds(frame["start"])),
        _hash(_milliseconds(frame["end"])),
        _hash(held),
        f"{made.measures()['energy']:.6g}",
    )


def digest_of_log(log: str, order: str, start: str) -> Digest:
    """Simulate the first jobs of a real log and return the digest of the schedule."""
    workload = harness.prepare(harness.read_workload(log), jobs=LOG_JOBS)
    made = harness.simulate(workload, scheduler=Scheduler(order=order, start=start))
    frame = made.frame
    return Digest(_hash(_milliseconds(frame["start"])), _hash(_milliseconds(frame["end"])), "", "")


def _milliseconds(times: pd.Series) -> np.ndarray:
    return np.round(times.fillna(-1.0).to_numpy() * 1000).astype(np.int64)


def _hash(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:12]


def stored(path: Path = FILE) -> dict[str, Digest]:
    """Return the stored digests by the name of the run: its number, or its log, order and start policy."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row.pop("run"): Digest(**row) for row in csv.DictReader(file)}


def store(found: dict[str, Digest], path: Path = FILE) -> None:
    """Write the digests, a line each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["run", *(field.name for field in fields(Digest))])
        table.writerows([name, *vars(one).values()] for name, one in found.items())


def changes(found: dict[str, Digest], before: dict[str, Digest]) -> list[str]:
    """Return a sentence for each run whose digests differ from the stored ones."""
    titles = {str(run.number): run.title for run in draw()}
    lines = []
    for name, new in found.items():
        old = before.get(name)
        if old != new:
            parts = [part for part in vars(new) if old is None or getattr(old, part) != getattr(new, part)]
            lines.append(f"run {name} differs in {', '.join(parts)}: {titles.get(name, 'a real log')} {new.refused}")
    return lines


def main() -> int:
    """Repeat the corpus, and compare, update or show."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--update", action="store_true", help="rewrite the file with the digests of this engine")
    options.add_argument("--show", type=int, metavar="NUMBER", help="print the schedule of one run as CSV")
    options.add_argument("--sample", type=int, metavar="COUNT", help="repeat only that many runs, evenly drawn")
    options.add_argument("--workers", type=int, default=1, help="processes that repeat the runs")
    options.add_argument("--seed", type=int, default=SEED, help="draw other runs; they are compared with --file")
    options.add_argument("--file", type=Path, default=FILE, help="the file of digests")
    given = options.parse_args()
    runs = draw(seed=given.seed)
    if given.show is not None:
        schedule(runs[given.show], given.seed).frame.to_csv(sys.stdout, index=False)
        return 0
    if given.sample:
        runs = runs[:: max(1, len(runs) // given.sample)]
    found = {}
    with multiprocessing.Pool(given.workers) as pool:
        for run, made in zip(runs, pool.imap(partial(digest, seed=given.seed), runs, chunksize=5), strict=True):
            found[str(run.number)] = made
            print(f"\r{len(found)} of {len(runs)} runs", end="", file=sys.stderr, flush=True)
    if given.sample is None and given.seed == SEED:
        found |= {" ".join(parts): digest_of_log(*parts) for parts in log_runs()}
    print(file=sys.stderr)
    lines = changes(found, stored(given.file) if given.file.exists() else {})
    print(*lines, f"{len(lines)} of {len(found)} runs differ", sep="\n")
    if given.update:
        store(found, given.file)
    return 1 if lines and not given.update else 0


if __name__ == "__main__":
    sys.exit(main())
