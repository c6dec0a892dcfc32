"""What must hold for every policy, and the table of all checks.

A check takes the policy and a case, and raises `Wrong` with a sentence. It looks at the run from outside: at the
schedule, at what spies in plain Python saw, at the same run once more.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.platform.platform import NodeType
from harness.policy import Order, Policy
from harness.testing.cases import NEVER, Case, Job
from harness.testing.comparing import close, same
from harness.testing.power import energy
from harness.testing.subject import Chosen, Subject, Wrong, spy
from harness.testing.traits import GUARANTEES, constant_answer, constant_score, known_guarantees
from harness.testing.watch import Stretch, Watch, node_types


@dataclass(frozen=True)
class Check:
    """One thing that is checked."""

    name: str
    run: Callable[[Subject, Case], None]
    why: str  # it matters
    applies: Callable[[Policy], bool] = lambda policy: True
    equal: bool = False  # on equal processors at full speed, first come, first served


# ---------------------------------------------------------------- every policy


def runs(subject: Subject, case: Case) -> None:
    """The run ends well, and changes nothing that may only be read; `Subject.run` says so if not."""
    subject.run(case)


def capacity(subject: Subject, case: Case) -> None:
    """At no time is a node given more than it has, and every job is where it may be, as wide as it asked."""
    watch = Watch()
    subject.run(case, watched=watch.around)
    nodes = node_types(case.platform)
    constrained = len({node.partition for node in nodes}) > 1
    used = defaultdict(list)
    for stretch in watch.stretches:
        job = case.jobs[stretch.job - 1]
        width = sum(cores for _, cores in stretch.pieces)
        if width != job.procs:
            raise Wrong(f"job {stretch.job} asked for {job.procs} processors and got {width}, at {stretch.begin:g} s")
        if stretch.begin < job.submit:
            raise Wrong(f"job {stretch.job} started at {stretch.begin:g} s, before it was submitted")
        for node, cores in stretch.pieces:
            used[node].append((stretch, cores))
            if constrained and job.partition not in (-1, nodes[node].partition):
                raise Wrong(f"job {stretch.job} of partition {job.partition} ran on node {node} of another")
    for number, uses in used.items():
        _fits(number, uses, nodes[number], case.jobs)


def _fits(number: int, uses: list[tuple[Stretch, int]], node: NodeType, jobs: tuple[Job, ...]) -> None:
    for begun, _ in uses:
        now = begun.begin
        there = [(s, cores) for s, cores in uses if s.begin <= now < s.end]
        cores = sum(cores for _, cores in there)
        memory = sum(cores * max(0.0, jobs[s.job - 1].memory) for s, cores in there)
        who = ", ".join(str(s.job) for s, _ in there)
        if cores > node.cores:
            raise Wrong(f"at {now:g} s node {number} of {node.cores} cores serves {cores} at once, for jobs {who}")
        if memory > node.memory:
            raise Wrong(f"at {now:g} s jobs {who} hold {memory:g} KB on node {number}, which has {node.memory:g}")


def completeness(subject: Subject, case: Case) -> None:
    """Every job that the platform can run gets exactly its work done, and nobody else runs."""
    watch = Watch()
    schedule = subject.run(case, watched=watch.around)
    nodes = node_types(case.platform)
    asleep = str(schedule.scheduler["sleep"]) != "never"  # then waking takes part of the service
    ends = zip(case.jobs, schedule.frame["status"], schedule.frame["end"], strict=True)
    for number, (job, status, end) in enumerate(ends, 1):
        possible = job.procs <= sum(_most(node, job, nodes) for node in nodes)
        if status != ("unaccepted" if not possible else "completed" if job.patience == NEVER else "cancelled"):
            raise Wrong(f"job {number} is {status} in the end, which it should not be")
        if possible and math.isnan(end):
            raise Wrong(f"job {number} never ended")
    done: dict[int, float] = defaultdict(float)
    for stretch in watch.stretches:
        speed = min(case.platform.speed(nodes[node]) for node, _ in stretch.pieces)
        end = stretch.end if math.isfinite(stretch.end) else schedule.frame["end"][stretch.job - 1]
        done[stretch.job] += speed * watch.virtual(stretch.begin, end)
    for number, work in done.items():
        wanted = case.jobs[number - 1].work
        if not close(work, wanted) and not (asleep and work > wanted):
            raise Wrong(f"job {number} has {wanted:g} s of work at reference speed, and {work:g} s of it were done")


def _most(node: NodeType, job: Job, nodes: list[NodeType]) -> float:
    """How many processors of an empty node a job may have."""
    if len({other.partition for other in nodes}) > 1 and job.partition not in (-1, node.partition):
        return 0
    return min(node.cores, node.memory // job.memory) if job.memory > 0 else node.cores


def determinism(subject: Subject, case: Case) -> None:
    """The same inputs and the same seed give the same schedule, whatever the state of global generators."""
    kept, numpys = random.getstate(), np.random.get_state()  # noqa: NPY002 - the one that must not matter
    try:
        results = []
        for seed in (1, 2):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            results.append(subject.run(case))
    finally:
        random.setstate(kept)
        np.random.set_state(numpys)  # noqa: NPY002
    same(results[0], results[1], "two runs of the same case with the same seed differ")


def fresh(subject: Subject, case: Case) -> None:
    """Nothing is kept from one run to the next, nor shared by two that go on at once."""
    alone = subject.run(case, plain=True)
    subject.run(case.reversed(), plain=True)
    same(alone, subject.run(case, plain=True), "the run differs after another one")
    asked: list[int] = []

    def interrupt(*arguments: Any) -> None:
        asked.append(0)
        if len(asked) in (2, 4):
            subject.run(case.reversed(), plain=True)

    def interrupted(chosen: Chosen) -> Chosen:
        if not getattr(subject.policy, "constant", False):
            spy(chosen, subject.part, before=interrupt)
        return chosen

    same(alone, subject.run(case, plain=True, watched=interrupted), "the run differs with another one in its middle")


def plain(subject: Subject, case: Case) -> None:
    """Compiled or not, the schedule is the same."""
    same(subject.run(case), subject.run(case, plain=True), "compiled and as plain Python, the runs differ")


#: What no policy may change.
FIXED_OF_JOBS = ("submit", "procs", "estimate", "memory", "partition", "number", "user", "group", "queue")
FIXED_OF_NODES = ("cores", "idle", "peak", "speed", "partition", "memory")


def read_only(subject: Subject, case: Case) -> None:
    """What a policy is given to read is as it was when it returns."""
    scores_only = subject.policy.hook in ("order_queue", "account_energy")
    seen: dict[str, bytes] = {}

    def look(*arguments: Any) -> dict[str, bytes]:
        if scores_only:
            kinds = ("job" if subject.policy.hook == "order_queue" else "node", "clock")
            return {
                f"{kind}.{name}": np.asarray(record[name]).tobytes()
                for kind, record in zip(kinds, arguments, strict=False)
                for name in record.dtype.names
            }
        state = arguments[0]
        found = {f"job.{name}": np.asarray(state.jobs[name]).tobytes() for name in FIXED_OF_JOBS}
        return found | {f"node.{name}": np.asarray(state.nodes[name]).tobytes() for name in FIXED_OF_NODES}

    def before(*arguments: Any) -> None:
        seen.clear()
        seen.update(look(*arguments))

    def after(answer: Any, *arguments: Any) -> None:
        changed = [name for name, value in look(*arguments).items() if seen[name] != value]
        if changed:
            raise Wrong(f"it changes {changed[0]}, which is only to be read")

    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, subject.part, before=before, after=after)
        return chosen

    subject.run(case, watched=watched)


# ---------------------------------------------------------------- all of them, in the order in which they are made


def _of(*hooks: str) -> Callable[[Policy], bool]:
    return lambda policy: policy.hook in hooks


def _guaranteeing(guarantee: str) -> Callable[[Policy], bool]:
    return lambda policy: guarantee in getattr(policy, "guarantees", ())


CHECKS = (
    Check(
        "runs",
        runs,
        "a policy that stops the run gives no schedule at all; it must know what to do with every job there can be: "
        "one that takes no time, one as wide as the machine, a whole queue at one instant",
    ),
    Check(
        "capacity",
        capacity,
        "a schedule in which two jobs have the same core at the same time cannot be carried out by any machine",
    ),
    Check(
        "completeness",
        completeness,
        "averages are only comparable between policies that did the same work for the same jobs",
    ),
    Check(
        "determinism",
        determinism,
        "results could not be repeated, nor two policies compared on the same case; a policy that flips coins names "
        "`dice` among its arguments and calls harness.uniform(dice)",
    ),
    Check(
        "fresh",
        fresh,
        "a tournament makes many runs in one process, some at the same time; what a policy wants to remember within a "
        "run belongs in its `memory`, which begins with zeros, not in variables of the module",
    ),
    Check(
        "plain",
        plain,
        "the function means different things to numba and to Python, so that one of the two is not what was meant",
        applies=lambda policy: policy.compiled,
    ),
    Check(
        "read-only",
        read_only,
        "records are the engine's own memory: what a policy changes there, it changes for every other policy and for "
        "the results",
    ),
    Check(
        "varies",
        constant_score,
        "the loop asks for a score once, when the job joins the queue, unless the order says varies=True: the queue "
        "would be in an order that nobody asked for",
        applies=lambda policy: isinstance(policy, Order) and not policy.varies,
    ),
    Check(
        "constant",
        constant_answer,
        "a policy that says constant=True is asked at the first instant only",
        applies=lambda policy: bool(getattr(policy, "constant", False)),
    ),
    Check(
        "guarantees",
        known_guarantees,
        "a guarantee that nothing checks is worth nothing to those who rely on it",
        applies=lambda policy: bool(getattr(policy, "guarantees", ())),
    ),
    *(
        Check(
            name,
            check,
            f"the policy says guarantees={name!r}, and users choose it for that",
            applies=_guaranteeing(name),
            equal=True,
        )
        for name, check in GUARANTEES.items()
    ),
    Check(
        "energy",
        energy,
        "the loop asks what a node draws when its busy cores or the rate change, and takes that to hold until then",
        applies=_of("account_energy"),
    ),
)
