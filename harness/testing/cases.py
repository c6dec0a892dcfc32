"""Test cases for policies: a few jobs, a small platform, and the other policies of the scheduler."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from harness.engine.policy_analysis import plans_by_counts
from harness.platform.machine import NodeType, PerformanceState, Platform, SleepState, plain
from harness.policy.declared_traits import SIGNAL
from harness.policy.kinds import Policy
from harness.policy.scheduler import Scheduler
from harness.policy.table import Table
from harness.testing.resource_cases import (
    ASKED,
    FEATURES,
    bound_platform,
    demand,
    request_strategy,
    reservation_windows,
    resource_strategy,
)
from harness.workload.log import Workload

NEVER = math.inf

#: The power figures of a node, by the names under which policies need them.
FIGURES: Mapping[str, Any] = {
    "idle": 50.0,
    "peak": 150.0,
    "curve": (50.0, 80.0, 95.0, 105.0, 112.0, 118.0, 124.0, 130.0, 137.0, 143.0, 150.0),
    "performance": (PerformanceState(0.5, 40.0, 80.0),),
    "sleep": (SleepState("nap", 5.0, down=1.0, up=2.0), SleepState("coma", 1.0, down=2.0, up=5.0)),
}

#: Policies for the other parts; failing cases shrink to the first of each.
OTHER_POLICIES = {
    "order": ("fcfs", "lcfs", "wfp3"),
    "start": ("easy", "none", "conservative", "preempt"),
    "select": ("first-fit", "worst-fit"),
    "rate": ("full", "fixed(rate=0.5)"),
    "sleep": ("never", "timeout(idle=2)"),
    "energy": ("none", "cores"),
}


@dataclass(frozen=True)
class Job:
    """One job. A job with `patience` is cancelled in the log before it starts, with unknown runtime."""

    submit: float
    procs: int
    work: float
    estimate: float
    memory: float = -1.0
    partition: int = -1
    patience: float = NEVER
    user: int = -1
    group: int = -1
    queue: int = -1
    # Further requests, see `harness.workload.resource_columns`.
    nodes: int = -1
    exclusive: int = -1
    node_memory: float = -1.0
    features: int = -1
    any_feature: int = -1
    needs_gpu: int = -1
    needs_licence: int = -1

    @property
    def portion(self) -> int:
        """Processors on each of its nodes, fewer on the last; 0: any number."""
        return -(-self.procs // self.nodes) if self.nodes > 0 else 0


@dataclass(frozen=True)
class Case:
    """The inputs of one run, except the tested policy."""

    jobs: tuple[Job, ...]
    platform: Platform
    company: Mapping[str, str] = field(default_factory=dict)  # part of the scheduler → policy
    values: Mapping[str, Any] = field(default_factory=dict)  # parameters of the tested policy
    seed: int = 0

    def workload(self, further: tuple[str, ...] = ()) -> Workload:
        """Return the jobs as `prepare(unknown="cancel")` makes them from `swf`, with small numbers in further
        columns.
        """
        count = len(self.jobs)
        columns: dict[str, Any] = {
            name: np.array([getattr(job, name) for job in self.jobs], dtype)
            for name, dtype in (("submit", "f8"), ("procs", "i8"), ("work", "f8"), ("estimate", "f8"))
        }
        columns["memory"] = np.array([job.memory for job in self.jobs])
        columns["partition"] = np.array([job.partition for job in self.jobs])
        columns["cancel"] = np.array([job.submit + job.patience for job in self.jobs])
        columns |= {"job": np.arange(1, count + 1), "killed": np.zeros(count, bool)}
        columns |= {name: np.array([getattr(job, name) for job in self.jobs]) for name in ("user", "group", "queue")}
        columns |= {name: np.arange(7 * place, 7 * place + count) * 5 % 3.0 for place, name in enumerate(further)}
        if self.asking:
            columns |= {name: np.array([getattr(job, name) for job in self.jobs]) for name in ASKED}
        header = tuple(f"; Feature: {bit} {name}" for bit, name in enumerate(FEATURES, 1)) if self.asking else ()
        return Workload("case", pd.DataFrame(columns), self.platform.cores, "case", header=header)

    @property
    def asking(self) -> bool:
        """Whether a job requests something that is only in further columns."""
        return any(getattr(job, name) > 0 for job in self.jobs for name in ASKED)

    @property
    def in_swf(self) -> bool:
        """Whether a log in SWF can contain it: there, runtimes and requested times are positive."""
        return not self.asking and all(
            job.estimate > 0 and (job.work > 0) == (job.patience == NEVER) for job in self.jobs
        )

    @property
    def impatient(self) -> bool:
        """Whether a job may leave before it starts."""
        return any(job.patience < NEVER for job in self.jobs)

    def swf(self) -> str:
        """Return the jobs as a log."""
        lines = [f"; MaxProcs: {self.platform.cores}"]
        for number, job in enumerate(self.jobs, 1):
            wait, run, status = (-1, job.work, 1) if job.patience == NEVER else (job.patience, -1, 5)
            fields = (number, job.submit, wait, run, job.procs, -1, -1, job.procs, job.estimate, job.memory, status)
            who = (job.user, job.group, -1, job.queue)
            lines.append(" ".join(f"{value:.15g}" for value in (*fields, *who, job.partition, -1, -1)))
        return "\n".join(lines) + "\n"

    def reversed(self) -> "Case":
        """Return other jobs that the same platform can run."""
        times = [job.submit for job in self.jobs]
        jobs = zip(times, self.jobs[::-1], strict=True)
        return replace(self, jobs=tuple(replace(job, submit=time) for time, job in jobs))


# ---------------------------------------------------------------- small workloads and platforms


@st.composite
def jobs(draw: st.DrawFn, platform: Platform, most: int) -> tuple[Job, ...]:
    """Draw jobs with times in whole seconds, many ties and early ends; a few are too wide, and a few leave the
    queue.
    """
    constrained = any(t.memory < NEVER for t in platform.types)
    partitions = 2 if _asks(platform) else len({t.partition for t in platform.types})
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
            **dict.fromkeys(("user", "group", "queue"), draw(st.integers(-1, 2))),
        )
        if _asks(platform):
            job = replace(job, **draw(request_strategy))
        if draw(st.integers(0, 9)) == 9:
            job = replace(job, work=0, patience=draw(st.integers(0, 12)))
        made.append(job)
    return tuple(made)


def _asks(platform: Platform) -> bool:
    return any(t.features for t in platform.types)


@st.composite
def power(draw: st.DrawFn, needs: tuple[str, ...]) -> dict[str, Any]:
    """Draw the power figures of a node type: idle and peak, the needed ones, and perhaps others."""
    return {name: figure for name, figure in FIGURES.items() if name in ("idle", "peak", *needs) or draw(st.booleans())}


@st.composite
def platforms(draw: st.DrawFn, policy: Policy, *, equal: bool, bound: bool) -> Platform:
    """Draw a platform: from a few single processors to node types that differ in everything.

    Nodes are equally fast if `equal`. They differ in memory and partitions only if `bound`.
    """
    powered = needs_power(policy)
    kind = draw(st.integers(0, 2 if (equal and not bound) or plans_by_counts(policy) else 3))
    if kind <= 1 and not powered:
        return plain(draw(st.integers(1, 6)))
    if kind <= 2:
        figures = draw(power(policy.needs)) if powered else {}
        return Platform("equal", (NodeType(draw(st.integers(1, 3)), draw(st.integers(1, 3)), **figures),))
    types = []
    asked = draw(st.booleans())
    for number in range(draw(st.integers(1, 3))):
        cores = draw(st.integers(1, 3))
        ops = cores * (1.0 if equal else draw(st.sampled_from((1.0, 2.0, 3.0))))
        memory = draw(st.sampled_from((NEVER, 2.0, 4.0, 7.0)))
        partition = draw(st.integers(0, 1)) if number and not asked else 0
        figures = draw(power(policy.needs)) if powered else {}
        more = draw(resource_strategy) if asked else {}
        types.append(NodeType(draw(st.integers(1, 2)), cores, ops, memory, partition=partition, **figures, **more))
    if not asked:
        return Platform("mixed", tuple(types))
    windows = (
        draw(reservation_windows(sum(t.count for t in types))) if equal else ()
    )  # plans take these into account at full rate only
    return Platform("mixed", tuple(types), windows=windows, licences={"licence": draw(st.integers(0, 3))})


def needs_power(policy: Policy) -> bool:
    """Return whether the policy needs a platform with power figures."""
    return bool(set(policy.needs) - {SIGNAL}) or policy.hook in ("account_energy", "set_rate", "set_sleep")


def parameter_strategies(policy: Policy, fixed: Mapping[str, Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Return strategies for parameters that the user did not fix: all words, both truth values, another order, the
    minimum.
    """
    tried: dict[str, st.SearchStrategy[Any]] = {}
    for name, default in policy.parameters.items():
        if name in fixed:
            tried[name] = st.just(fixed[name])
        elif name in policy.choices:
            tried[name] = st.sampled_from([default, *(word for word in policy.choices[name] if word != default)])
        elif name == getattr(policy, "order", ""):
            tried[name] = st.sampled_from((default, "spf"))
        elif isinstance(default, Table):
            tried[name] = st.just(default)
        elif isinstance(default, bool):
            tried[name] = st.sampled_from((default, not default))
        elif name in policy.least:
            tried[name] = st.sampled_from((default, type(default)(policy.least[name])))
        else:
            tried[name] = st.just(default)
    return tried


@st.composite
def cases(
    draw: st.DrawFn,
    policy: Policy,
    fixed: Mapping[str, Any],
    *,
    equal: bool = False,
    bound: bool = False,
    orders: tuple[str, ...] = (),
    most: int = 10,
) -> Case:
    """Draw a case for `policy`.

    With `equal`, jobs run at full speed on equal processors, in order of submission, or of one of `orders` if no
    parameter is changed. With `bound`, memory and partitions may still differ.
    """
    platform = draw(platforms(policy, equal=equal, bound=bound))
    declines = getattr(policy, "fits", None)  # plans that count processors are refused then
    company = {
        part: draw(st.sampled_from([name for name in names if not (declines and name == "conservative")]))
        for part, names in OTHER_POLICIES.items()
        if Scheduler.HOOKS[part] != policy.hook
        and not (part in ("order", "rate", "sleep") and equal)
        and not (part in ("sleep", "energy") and not needs_power(policy))
    }
    values = {name: draw(strategy) for name, strategy in parameter_strategies(policy, fixed).items()}
    if orders:
        default = all(value == policy.parameters[name] for name, value in values.items())
        company["order"] = draw(st.sampled_from(orders if default else orders[:1]))
    return Case(draw(jobs(platform, most)), platform, company, values, seed=draw(st.integers(0, 2)))


# ---------------------------------------------------------------- corner cases


def corner_cases(
    policy: Policy, fixed: Mapping[str, Any], *, crowds: int = 1, equal: bool = False, bound: bool = False
) -> dict[str, Case]:
    """Return corner cases by name, and `crowds` cases with more jobs than usual.

    `equal` and `bound` are as for `cases`.
    """
    powered = FIGURES if needs_power(policy) else {}
    machine = Platform("four", (NodeType(4, 1, **powered),)) if powered else plain(4)
    values = policy.parameters | dict(fixed)
    day = 86400.0
    lists = {
        "one job": [Job(0, 1, 5, 5)],
        "all at one instant": [Job(7, 1 + k % 4, 3, 5) for k in range(8)],
        "as wide as the machine": [Job(0, 1, 5, 5), Job(1, 4, 5, 5), Job(2, 1, 2, 2), Job(3, 4, 1, 9)],
        "wider than the machine": [Job(0, 5, 5, 5), Job(1, 1, 5, 5), Job(9, 5, 1, 1)],
        # The reservation of the third begins when the fourth would have ended if no job had ended early.
        "a reservation without early ends": [Job(0, 2, 5, 20), Job(0, 2, 8, 8), Job(1, 4, 5, 5), Job(1, 2, 10, 10)],
        "an empty queue in between": [Job(0, 1, 5, 5), Job(100, 4, 5, 5), Job(200, 2, 5, 5)],
        "cancelled while it waits": [Job(0, 4, 9, 9), Job(1, 4, 0, 5, patience=3), Job(1, 1, 4, 4)],
        "cancelled at once": [Job(0, 1, 0, 5, patience=0), Job(0, 4, 5, 5)],
        # The work is not huge: a policy that acts every minute would take too long.
        "huge times": [Job(2e9 + k, 1 + k % 4, 3600, 365 * day) for k in range(6)],
        "estimates far too long": [Job(k, 1 + k % 3, 1, 30 * day) for k in range(8)],
        "no estimate and no work": [Job(0, 3, 0, 0), Job(0, 4, 0, 0), Job(1, 2, 4, 4), Job(1, 4, 0, 0)],
    }
    made = {name: Case(tuple(jobs), machine, values=values) for name, jobs in lists.items()}
    if (bound or not equal) and not plans_by_counts(policy):  # such policies are refused there
        binds = [NodeType(1, 2, 2.0, memory, partition=p, **powered) for p, memory in enumerate((2.0, 4.0))]
        hungry = [Job(k, 1 + k % 2, 5, 5, memory=2.0, partition=(-1, 1, 0)[k % 3]) for k in range(8)]
        made["memory and partitions that bind"] = Case(tuple(hungry), Platform("bound", tuple(binds)), values=values)
        made["GPUs and licences that bind"] = Case(
            tuple(Job(k // 2, 1 + k % 2, 5, 5 + k % 3, **demand(k)) for k in range(8)),
            bound_platform(powered),
            values=values,
        )
    steps = Platform("steps", tuple(NodeType(1, 2, ops, **powered) for ops in (2.0, 3.0, 4.0, 5.0)))
    for seed in range(crowds):
        made[f"a crowd, {seed}"] = Case(many_jobs(seed, 4), machine, values=values)
    if crowds and not equal:
        made["a crowd on unlike nodes"] = Case(many_jobs(0, 8), steps, values=values)
    return made


def many_jobs(seed: int, procs: int, count: int = 41) -> tuple[Job, ...]:
    """Return many jobs, most of them narrow, with a load near the capacity.

    Their number is prime: a policy that visits the nodes in turn, and continues across runs, is then at another node.
    """
    dice = random.Random(seed)
    made, now = [], 0
    for _ in range(count):
        now += dice.choice((0, 0, 1, 2, 4, 12))
        work = dice.randint(1, 12)
        wide = dice.random() < 0.3
        estimate = work + dice.choice((0, 0, 1, 5, 20))
        made.append(Job(now, dice.randint(1, procs) if wide else dice.randint(1, max(1, procs // 2)), work, estimate))
    return tuple(made)
