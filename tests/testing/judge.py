"""Run by mutations.py in a copy of the harness: the first check that a policy fails, and a digest of each schedule."""

import hashlib
import json
import sys
import time

import numpy as np

import harness
from harness.platform.machine import NodeType, Platform
from harness.policy.gallery import examples
from harness.policy.scheduler import Scheduler
from harness.results.schedule import Schedule
from harness.testing import PolicyFailure, check_policy
from harness.testing.cases import Case, Job
from harness.testing.declared_checks import CHECKS

#: Made to let every part of the bundled policies have its say.
SCHEDULERS = {
    "none": Scheduler(start="none"),
    "greedy": Scheduler(start="greedy"),
    "easy": Scheduler(start="easy"),
    "easy(backfill_order=spf)": Scheduler(start="easy(backfill_order=spf)"),
    "easy(reservations=2)": Scheduler(start="easy(reservations=2)"),
    "conservative": Scheduler(start="conservative"),
    "lcfs preempt": Scheduler(order="lcfs", start="preempt"),
    "spf preempt": Scheduler(order="spf", start="preempt"),
    "spf preempt(at=departure)": Scheduler(order="spf", start="preempt(at=departure)"),
    "wfp3 easy": Scheduler(order="wfp3", start="easy"),
    "unicef none": Scheduler(order="unicef", start="none"),
    "worst-fit": Scheduler(select="worst-fit"),
    "best-fit": Scheduler(select="best-fit"),
}

MACHINES = (
    Platform("equal", (NodeType(4, 3, idle=50.0, peak=150.0),)),
    Platform("mixed", (NodeType(2, 3, 3.0, 6.0, 50.0, 150.0), NodeType(3, 2, 4.0, 9.0, 40.0, 160.0, partition=1))),
)


def workload(machine: Platform, seed: int, count: int = 50, step: int = 1) -> Case:
    """Many ties, many early ends, a few that lose patience. Users request multiples of `step` seconds."""
    dice = np.random.default_rng(seed)
    mixed = len(machine.types) > 1
    now, jobs = 0, []
    for _ in range(count):
        now += int(dice.choice((0, 0, 1, 2, 5)))
        work = int(dice.integers(1, 13))
        impatient = dice.random() < 0.08
        jobs.append(
            Job(
                submit=now,
                procs=int(dice.integers(1, machine.cores + 1) if dice.random() < 0.3 else dice.integers(1, 5)),
                work=0 if impatient else work,
                estimate=-(-(work + int(dice.choice((0, 0, 1, 4, 9)))) // step) * step,
                memory=float(dice.choice((-1.0, 1.0, 2.0))) if mixed else -1.0,
                partition=int(dice.integers(-1, 2)) if mixed and dice.random() < 0.3 else -1,
                patience=float(dice.integers(0, 20)) if impatient else np.inf,
            )
        )
    return Case(tuple(jobs), machine)


def digest(schedule: Schedule) -> str:
    """Of who started and ended when, and what it drew."""
    frame = schedule.frame[["start", "end", "energy"]]
    return hashlib.sha256(frame.to_csv(float_format="%.9g").encode()).hexdigest()[:12]


def patience():
    """Ends a run that does not end: by processor time, which other work on the machine leaves alone."""
    began = time.process_time()

    def progress(done: int, jobs: int) -> None:
        if time.process_time() > began + 30.0:
            raise TimeoutError

    return progress


def replay(scheduler: Scheduler) -> str:
    """A digest for each workload, or what stopped a run."""
    digests = []
    for case in (*(workload(machine, 1) for machine in MACHINES), workload(MACHINES[0], 2, count=200, step=5)):
        try:
            digests.append(digest(harness.simulate(case.workload(), case.platform, scheduler, progress=patience())))
        except Exception as error:
            digests.append(f"{type(error).__name__}: {error}")
    return " ".join(digests)


def failing(policy: str) -> str:
    """The first check that the policy fails, but for how long it takes, which says something of the machine."""
    hook = "start_jobs" if policy == "none" else None
    plugins = [policy] if policy in examples() else []
    checks = [check for check in CHECKS if check != "pace"]
    try:
        check_policy(policy, hook=hook, plugins=plugins, checks=checks, examples=20)
    except PolicyFailure as failure:
        return failure.check
    return ""


schedules = {name: replay(scheduler) for name, scheduler in SCHEDULERS.items()}
print(json.dumps({"check": failing(sys.argv[1]), "schedules": schedules}))
