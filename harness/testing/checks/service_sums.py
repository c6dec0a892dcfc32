"""Check allocations with independent sums: cores and memory, work, time and energy."""

import math
from collections import defaultdict
from typing import Any

from harness.platform.machine import NodeType
from harness.policy.kinds import Rate
from harness.policy.spec import Choice
from harness.results.schedule import Schedule
from harness.testing.cases import NEVER, Case, Job
from harness.testing.comparing import close
from harness.testing.declared_checks import check
from harness.testing.resource_cases import FEATURES
from harness.testing.run_audit import Allocation, AllocationRecorder, node_types
from harness.testing.subject import CheckError, Chosen, Subject


@check(
    "capacity",
    "no machine can carry out a schedule in which two jobs have the same core at the same time",
)
def capacity(subject: Subject, case: Case) -> None:
    """Require that allocations never exceed a node, and that every job has its width on nodes that it may use."""
    watch = AllocationRecorder()
    subject.run(case, watched=watch.around)
    nodes = node_types(case.platform)
    used = defaultdict(list)
    for stretch in watch.stretches:
        job = case.jobs[stretch.job - 1]
        width = sum(cores for _, cores in stretch.pieces)
        if width != job.procs:
            raise CheckError(
                f"job {stretch.job} asked for {job.procs} processors and got {width}, at {stretch.begin:g} s"
            )
        if stretch.begin < job.submit:
            raise CheckError(f"job {stretch.job} started at {stretch.begin:g} s, before it was submitted")
        for node, cores in stretch.pieces:
            used[node].append((stretch, cores))
            if not may_use(job, nodes[node], nodes):
                raise CheckError(
                    f"job {stretch.job} ran on node {node}, which lacks its requested partition or features"
                )
        if (
            max(node.cores for node in nodes) > 1
            and job.portion
            and len(stretch.pieces) != -(-job.procs // job.portion)
        ):
            raise CheckError(f"job {stretch.job} asked for {job.nodes} nodes and ran on {len(stretch.pieces)}")
    _licensed(watch.stretches, case)
    for number, uses in used.items():
        _fits(number, uses, nodes[number], case.jobs)


def _fits(number: int, uses: list[tuple[Allocation, int]], node: NodeType, jobs: tuple[Job, ...]) -> None:
    for begun, _ in uses:
        now = begun.begin
        there = [(s, cores) for s, cores in uses if s.begin <= now and not s.end <= now]
        cores = sum(cores for _, cores in there)
        memory = sum(cores * max(0.0, jobs[s.job - 1].memory) for s, cores in there)
        memory += sum(max(0.0, jobs[s.job - 1].node_memory) for s, _ in there)
        gpus = sum(max(0, jobs[s.job - 1].needs_gpu) for s, _ in there)
        who = ", ".join(str(s.job) for s, _ in there)
        if cores > node.cores:
            raise CheckError(f"at {now:g} s node {number} of {node.cores} cores serves {cores} at once, for jobs {who}")
        if memory > node.memory:
            raise CheckError(f"at {now:g} s jobs {who} hold {memory:g} KB on node {number}, which has {node.memory:g}")
        if node.features and gpus > dict(node.resources).get("gpu", 0):
            raise CheckError(f"at {now:g} s jobs {who} hold {gpus} GPUs on node {number}, which has fewer")
        alone = any(jobs[s.job - 1].exclusive > 0 for s, _ in there)
        if alone and len(there) > 1 and node.cores > 1:
            raise CheckError(f"at {now:g} s jobs {who} share node {number}, which one of them has exclusively")


def _licensed(stretches: list[Allocation], case: Case) -> None:
    most = dict(case.platform.licences).get("licence")
    if most is None:
        return
    for now in {stretch.begin for stretch in stretches}:
        there = [s for s in stretches if s.begin <= now and not s.end <= now]
        if sum(max(0, case.jobs[s.job - 1].needs_licence) for s in there) > most:
            raise CheckError(f"at {now:g} s jobs {', '.join(str(s.job) for s in there)} hold more than {most} licences")


def may_use(job: Job, node: NodeType, nodes: list[NodeType]) -> bool:
    """Return whether the node has the job's partition and features."""
    partitions = [other.partitions or (other.partition,) for other in nodes]
    if len(set(partitions)) > 1 and job.partition not in (-1, *(node.partitions or (node.partition,))):
        return False
    if not any(other.features for other in nodes):
        return True
    bits = sum(1 << FEATURES.index(name) for name in node.features)
    return not (job.features > 0 and job.features & ~bits) and (job.any_feature < 1 or bool(job.any_feature & bits))


@check(
    "completeness",
    "averages are only comparable between policies that did the same work for the same jobs",
)
def completeness(subject: Subject, case: Case) -> None:
    """Require that every job that the platform can run gets exactly its work done, and no other job runs."""
    watch = AllocationRecorder()
    _complete(case, subject.run(case, watched=watch.around), watch)


def switching(state: Any, memory: Any) -> float:
    """Return another rate at every call."""
    memory[0] += 1
    return 0.75 if memory[0] % 3 == 0 else 1.25 if memory[0] % 3 == 1 else 1.0


SWITCHING = Choice(Rate("switching", switching, memory=1), {})


@check(
    "switching",
    "work is done at the current rate, and a change of the rate must neither lose nor add work",
    applies=lambda policy: not isinstance(policy, Rate),
)
def work_at_changing_rates(subject: Subject, case: Case) -> None:
    """Require the same with a rate that changes at every instant."""
    watch = AllocationRecorder()

    def watched(chosen: Chosen) -> Chosen:
        chosen["rate"] = SWITCHING
        return watch.around(chosen)

    _complete(case, subject.run(case, watched=watched), watch)


def _complete(case: Case, schedule: Schedule, watch: AllocationRecorder) -> None:
    nodes = node_types(case.platform)
    frame, jobs = schedule.frame, schedule.outcome.jobs
    _ended_as_expected(case, schedule, nodes)
    done: dict[int, float] = defaultdict(float)
    served: dict[int, float] = defaultdict(float)
    record = {int(one.number): one for one in jobs}
    for stretch in watch.stretches:
        if stretch.restarts < record[stretch.job].restarts:  # a restart lost this work
            continue
        speed = min(case.platform.speed(nodes[node]) for node, _ in stretch.pieces)
        end = stretch.end if math.isfinite(stretch.end) else frame["end"][stretch.job - 1]
        done[stretch.job] += speed * watch.virtual(stretch.begin, end)
        served[stretch.job] += end - stretch.begin
    asleep = str(schedule.scheduler["sleep"]) != "never"  # waking then takes part of the service
    # Whole seconds have no rounding errors.
    equal = (lambda one, other: one == other) if _whole(case, watch) else close
    for number, work in done.items():
        wanted = case.jobs[number - 1].work + record[number].overhead
        if not equal(work, wanted) and not (asleep and work > wanted):
            raise CheckError(
                f"job {number} has {wanted:g} s of work at reference speed, and {work:g} s of it were done"
            )
    for number, service in zip(jobs.number, jobs.service, strict=True):
        if not close(service, served[int(number)]) and not asleep:
            raise CheckError(
                f"job {number} has a recorded service of {service:g} s, but was served for {served[number]:g} s"
            )
    _charged(schedule)


def _ended_as_expected(case: Case, schedule: Schedule, nodes: list[NodeType]) -> None:
    """Refuse jobs that end otherwise than by their work, their patience, or a policy that may reject them."""
    frame = schedule.frame
    ends = zip(case.jobs, frame["status"], frame["start"], frame["end"], strict=True)
    may_reject = schedule.policies["start"].says("rejects")
    may_hold = not schedule.policies["hold"].policy.constant
    for number, (job, status, start, end) in enumerate(ends, 1):
        if may_reject and status == "unaccepted" and math.isnan(start) and end >= job.submit:
            continue
        if may_hold and status == "stranded" and math.isnan(end):
            continue
        licences = dict(case.platform.licences)
        possible = job.procs <= _usable([_most(node, job, nodes) for node in nodes], job, nodes)
        possible = possible and job.needs_licence <= licences.get("licence", math.inf)
        if status != ("unaccepted" if not possible else "completed" if job.patience == NEVER else "cancelled"):
            raise CheckError(f"job {number} is {status} in the end: expected another status")
        if possible and math.isnan(end):
            raise CheckError(f"job {number} never ended")
        if status == "cancelled" and math.isnan(start) and end != job.submit + job.patience:
            raise CheckError(
                f"job {number} left at {end:g} s: expected it to wait until {job.submit + job.patience:g} s"
            )


def _whole(case: Case, watch: AllocationRecorder) -> bool:
    """Return whether every job ran at full speed, from one whole second to another."""
    full = len(case.platform.types) == 1 and all(rate == 1 for _, rate in watch.rates)
    return full and all(float(stretch.begin).is_integer() for stretch in watch.stretches)


def _charged(schedule: Schedule) -> None:
    """Refuse a difference between the energy of nodes and the energy charged to jobs and idle nodes."""
    nodes, jobs = schedule.outcome.nodes, schedule.outcome.jobs
    total = float(nodes.energy.sum())
    apart = sum(float(nodes[name].sum()) for name in nodes.dtype.names if name.endswith("_energy"))
    if not close(total, float(jobs.energy.sum()) + apart):
        raise CheckError(f"jobs are charged {jobs.energy.sum():g} J and idle nodes {apart:g} J of {total:g} J")


def _most(node: NodeType, job: Job, nodes: list[NodeType]) -> float:
    """Return how many processors of an empty node a job may have."""
    if not may_use(job, node, nodes) or (node.features and job.needs_gpu > dict(node.resources).get("gpu", 0)):
        return 0
    memory = node.memory - max(0.0, job.node_memory)
    room = min(node.cores, memory // job.memory) if job.memory > 0 else node.cores if memory >= 0 else 0
    return max(0, room)


def _usable(rooms: list[float], job: Job, nodes: list[NodeType]) -> float:
    """Return how many processors the job may have on nodes with these capacities: equal shares, and fewer on its last
    node.
    """
    if not job.portion or max(node.cores for node in nodes) == 1:
        return sum(rooms)
    rest = (job.procs - 1) % job.portion + 1
    fewer = any(rest <= room < job.portion for room in rooms)
    return job.portion * sum(room >= job.portion for room in rooms) + rest * fewer
