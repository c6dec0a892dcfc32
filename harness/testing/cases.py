"""The cases that policies are put to: a few jobs, a small platform, and the other policies of the scheduler."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from harness.platform.platform import NodeType, PerformanceState, Platform, SleepState, plain
from harness.policy import Policy, Scheduler
from harness.workload.log import Workload

NEVER = math.inf

#: What a platform may say of a node's power, by the names that policies need it under.
FIGURES: Mapping[str, Any] = {
    "idle": 50.0,
    "peak": 150.0,
    "curve": (50.0, 80.0, 95.0, 105.0, 112.0, 118.0, 124.0, 130.0, 137.0, 143.0, 150.0),
    "performance": (PerformanceState(0.5, 40.0, 80.0),),
    "sleep": (SleepState("nap", 5.0, down=1.0, up=2.0), SleepState("coma", 1.0, down=2.0, up=5.0)),
}

#: The other five policies: the first of each is what failing cases shrink to.
COMPANY = {
    "order": ("fcfs", "lcfs", "wfp3"),
    "start": ("easy", "none", "conservative", "preempt"),
    "select": ("first-fit", "worst-fit"),
    "rate": ("full", "fixed(rate=0.5)"),
    "sleep": ("never", "timeout(idle=2)"),
    "energy": ("none", "cores"),
}


@dataclass(frozen=True)
class Job:
    """One job. One that loses patience is in a log as cancelled before it started, of unknown runtime."""

    submit: float
    procs: int
    work: float
    estimate: float
    memory: float = -1.0
    partition: int = -1
    patience: float = NEVER


@dataclass(frozen=True)
class Case:
    """What one run is made of, but for the policy that is tested."""

    jobs: tuple[Job, ...]
    platform: Platform
    company: Mapping[str, str] = field(default_factory=dict)  # part of the scheduler → policy
    values: Mapping[str, Any] = field(default_factory=dict)  # parameters of the policy that is tested
    seed: int = 0

    def workload(self) -> Workload:
        """The jobs as `harness.prepare(unknown="cancel")` makes them of `swf`."""
        count = len(self.jobs)
        columns: dict[str, Any] = {
            name: np.array([getattr(job, name) for job in self.jobs], dtype)
            for name, dtype in (("submit", "f8"), ("procs", "i8"), ("work", "f8"), ("estimate", "f8"))
        }
        columns["memory"] = np.array([job.memory for job in self.jobs])
        columns["partition"] = np.array([job.partition for job in self.jobs])
        columns["cancel"] = np.array([job.submit + job.patience for job in self.jobs])
        columns |= {"job": np.arange(1, count + 1), "killed": np.zeros(count, bool)}
        columns |= {name: np.full(count, -1) for name in ("user", "group", "queue")}
        return Workload("case", pd.DataFrame(columns), self.platform.cores, "case")

    @property
    def in_swf(self) -> bool:
        """Whether a log can say it: there, nothing takes no time."""
        return all(job.estimate > 0 and (job.work > 0) == (job.patience == NEVER) for job in self.jobs)

    @property
    def impatient(self) -> bool:
        """Whether a job may leave before it starts."""
        return any(job.patience < NEVER for job in self.jobs)

    def swf(self) -> str:
        """The jobs as a log."""
        lines = [f"; MaxProcs: {self.platform.cores}"]
        for number, job in enumerate(self.jobs, 1):
            wait, run, status = (-1, job.work, 1) if job.patience == NEVER else (job.patience, -1, 5)
            fields = (number, job.submit, wait, run, job.procs, -1, -1, job.procs, job.estimate, job.memory, status)
            lines.append(" ".join(f"{value:.15g}" for value in (*fields, -1, -1, -1, -1, job.partition, -1, -1)))
        return "\n".join(lines) + "\n"

    def reversed(self) -> "Case":
        """Other jobs that the same platform can run."""
        times = [job.submit for job in self.jobs]
        jobs = zip(times, self.jobs[::-1], strict=True)
        return replace(self, jobs=tuple(replace(job, submit=time) for time, job in jobs))


# ---------------------------------------------------------------- small workloads and platforms


@st.composite
def jobs(draw: st.DrawFn, platform: Platform, most: int) -> tuple[Job, ...]:
    """Whole seconds and many ties; a few jobs wider than the platform, a few that lose patience, often early ends."""
    constrained = any(t.memory < NEVER for t in platform.types)
    partitions = len({t.partition for t in platform.types})
    made, now = [], 0
    for _ in range(draw(st.integers(1, most))):
        now += draw(st.sampled_from((0, 0, 0, 1, 1, 2, 5, 9)))
        work = draw(st.integers(1, 9))
        job = Job(
            submit=now,
            procs=draw(st.integers(1, platform.cores + (1 if draw(st.integers(0, 9)) == 9 else 0))),
            work=work,
            estimate=work + draw(st.sampled_from((0, 0, 0, 1, 3, 8))),
            memory=draw(st.sampled_from((-1.0, 1.0, 2.0, 3.0))) if constrained else -1.0,
            partition=draw(st.integers(-1, partitions - 1)) if partitions > 1 else -1,
        )
        if draw(st.integers(0, 9)) == 9:
            job = replace(job, work=0, patience=draw(st.integers(0, 12)))
        made.append(job)
    return tuple(made)


@st.composite
def power(draw: st.DrawFn, needs: tuple[str, ...]) -> dict[str, Any]:
    """What a node type says of its power: idle and peak, what is needed, and perhaps more."""
    return {name: figure for name, figure in FIGURES.items() if name in ("idle", "peak", *needs) or draw(st.booleans())}


@st.composite
def platforms(draw: st.DrawFn, policy: Policy, *, equal: bool) -> Platform:
    """From a few single processors to node types that differ in everything but what is to be `equal`."""
    powered = needs_power(policy)
    kind = draw(st.integers(0, 2 if equal else 3))
    if kind <= 1 and not powered:
        return plain(draw(st.integers(1, 6)))
    if kind <= 2:
        figures = draw(power(policy.needs)) if powered else {}
        return Platform("equal", (NodeType(draw(st.integers(1, 3)), draw(st.integers(1, 3)), **figures),))
    types = []
    for number in range(draw(st.integers(1, 3))):
        cores = draw(st.integers(1, 3))
        ops, memory = cores * draw(st.sampled_from((1.0, 2.0, 3.0))), draw(st.sampled_from((NEVER, 2.0, 4.0, 7.0)))
        partition = draw(st.integers(0, 1)) if number else 0
        figures = draw(power(policy.needs)) if powered else {}
        types.append(NodeType(draw(st.integers(1, 2)), cores, ops, memory, partition=partition, **figures))
    return Platform("mixed", tuple(types))


def needs_power(policy: Policy) -> bool:
    """Whether only platforms that say what nodes draw will do."""
    return bool(policy.needs) or policy.hook in ("account_energy", "set_rate", "set_sleep")


def settings_of(policy: Policy, fixed: Mapping[str, Any]) -> dict[str, st.SearchStrategy[Any]]:
    """What to try for the parameters that the user did not fix: every word, yes and no, another order, the least."""
    tried: dict[str, st.SearchStrategy[Any]] = {}
    for name, default in policy.parameters.items():
        if name in fixed:
            tried[name] = st.just(fixed[name])
        elif name in policy.choices:
            tried[name] = st.sampled_from([default, *(word for word in policy.choices[name] if word != default)])
        elif name == getattr(policy, "order", ""):
            tried[name] = st.sampled_from((default, "spf"))
        elif isinstance(default, bool):
            tried[name] = st.sampled_from((default, not default))
        elif name in policy.least:
            tried[name] = st.sampled_from((default, type(default)(policy.least[name])))
        else:
            tried[name] = st.just(default)
    return tried


@st.composite
def cases(draw: st.DrawFn, policy: Policy, fixed: Mapping[str, Any], *, equal: bool = False, most: int = 10) -> Case:
    """Cases for `policy`; with `equal`, they come first and run at full speed, on processors alike."""
    platform = draw(platforms(policy, equal=equal))
    company = {
        part: draw(st.sampled_from(names))
        for part, names in COMPANY.items()
        if Scheduler.HOOKS[part] != policy.hook
        and not (part in ("order", "rate", "sleep") and equal)
        and not (part in ("sleep", "energy") and not needs_power(policy))
    }
    values = {name: draw(strategy) for name, strategy in settings_of(policy, fixed).items()}
    return Case(draw(jobs(platform, most)), platform, company, values, seed=draw(st.integers(0, 2)))


# ---------------------------------------------------------------- corner cases


def corners(policy: Policy, fixed: Mapping[str, Any]) -> dict[str, Case]:
    """Name → the cases that everybody forgets."""
    machine = Platform("four", (NodeType(4, 1, **FIGURES),)) if needs_power(policy) else plain(4)
    values = policy.parameters | dict(fixed)
    day = 86400.0
    lists = {
        "one job": [Job(0, 1, 5, 5)],
        "all at one instant": [Job(7, 1 + k % 4, 3, 5) for k in range(8)],
        "as wide as the machine": [Job(0, 1, 5, 5), Job(1, 4, 5, 5), Job(2, 1, 2, 2), Job(3, 4, 1, 9)],
        "wider than the machine": [Job(0, 5, 5, 5), Job(1, 1, 5, 5), Job(9, 5, 1, 1)],
        "an empty queue in between": [Job(0, 1, 5, 5), Job(100, 4, 5, 5), Job(200, 2, 5, 5)],
        "cancelled while it waits": [Job(0, 4, 9, 9), Job(1, 4, 0, 5, patience=3), Job(1, 1, 4, 4)],
        "cancelled at once": [Job(0, 1, 0, 5, patience=0), Job(0, 4, 5, 5)],
        # Not huge work as well: a policy that looks about every minute could not be watched for months.
        "huge times": [Job(2e9 + k, 1 + k % 4, 3600, 365 * day) for k in range(6)],
        "estimates far too long": [Job(k, 1 + k % 3, 1, 30 * day) for k in range(8)],
        "no estimate and no work": [Job(0, 3, 0, 0), Job(0, 4, 0, 0), Job(1, 2, 4, 4), Job(1, 4, 0, 0)],
    }
    return {name: Case(tuple(jobs), machine, values=values) for name, jobs in lists.items()}
