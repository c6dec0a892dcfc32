"""The machine of a slurm.conf for policies that are compared with a Slurm: its nodes, partitions and usual requests."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pandas as pd

from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.slurm.cluster import Cluster
from harness.slurm.requests import Request, Said, limits_noted, requests_of
from harness.slurm.slurm_replay import node_type
from harness.slurm.slurm_scheduler import SlurmScheduler
from harness.workload.log import NO_LIMIT, Step, Workload

#: A job that asks for no partition has the default one; there a node is in none.
_OUTSIDE = 0


def machine_of_all(slurms: Sequence[SlurmScheduler]) -> SlurmScheduler:
    """Return the Slurm on whose machine policies run; refuse configurations that describe several machines."""
    first = slurms[0]
    for other in slurms[1:]:
        if _described(first.cluster) != _described(other.cluster):
            raise HarnessError(
                f"{first.written_as} and {other.written_as} describe different nodes or partitions, and a policy that "
                "is compared with both needs one machine: expected equal ones, or a comparison with each"
            )
    return first


def _described(cluster: Cluster) -> tuple[object, ...]:
    """Return all that decides where a job may run."""
    partitions = [(one.name, one.nodes, one.per_cpu, one.per_node, one.whole) for one in cluster.partitions.values()]
    nodes = [replace(node, weight=0) for node in cluster.nodes]
    return nodes, partitions, cluster.usual, cluster.licences, cluster.whole, cluster.counts_memory


def with_partitions(cluster: Cluster) -> Platform:
    """Return the nodes of a cluster, each with the partitions that it belongs to, if nodes differ in them."""
    of_node = [
        tuple(one.name for one in cluster.partitions.values() if one.nodes >> place & 1)
        for place in range(len(cluster.nodes))
    ]
    apart = len(set(of_node)) > 1
    alike = groupby(
        zip(cluster.nodes, of_node, strict=True),
        key=lambda one: (one[0].cpus, one[0].memory, one[0].features, one[0].gres, one[1]),
    )
    types = [
        replace(node_type(cluster, [node for node, _ in nodes]), partitions=(names or (_OUTSIDE,)) if apart else ())
        for (*_, names), nodes in alike
    ]
    return Platform(cluster.name, tuple(types), licences=cluster.licences)


def with_requests(workload: Workload, said: Said, cluster: Cluster) -> Workload:
    """Return a workload whose jobs ask for all that a cluster takes them to ask for, so that every scheduler heeds it.

    That is the default partition, the default memory of a partition, and whole nodes where they are given out whole.
    """
    requests = requests_of(workload, said, cluster)
    numbers = {name: number for number, name in enumerate(cluster.partitions, start=1)}
    jobs = workload.jobs
    found = jobs.assign(
        partition=pd.array([numbers[one.partition.name] for one in requests]).astype(jobs["partition"].dtype)
    )
    header = tuple(line for line in workload.header if not re.match(r";\s*Partition:", line))
    header += tuple(f"; Partition: {number} {name}" for name, number in numbers.items())
    if NO_LIMIT in jobs:
        limits = np.maximum([one.limit for one in requests], jobs["work"])
        found["estimate"] = jobs["estimate"].where(jobs[NO_LIMIT] <= 0, limits)
    if cluster.counts_memory:
        found = _with_memory(found, requests)
    whole = pd.Series([_whole(one, cluster) for one in requests], index=jobs.index)
    if whole.any():
        found["exclusive"] = whole.astype("int64")
    partitions = len({one.nodes for one in cluster.partitions.values()} | {cluster.everywhere}) > 1
    changed = [name for name in found if name not in jobs or not found[name].equals(jobs[name])]
    if not partitions and set(changed) <= {"partition"}:
        return workload
    told = hashlib.sha256("\n".join([workload.digest, *header]).encode())
    for name in changed:
        told.update(str(name).encode() + found[name].to_numpy().tobytes())
    step = Step("machine", len(jobs), "partitions, default memory and whole nodes as the slurm.conf has them")
    noted = limits_noted(workload)
    return replace(noted, jobs=found, header=header, digest=told.hexdigest(), preparation=(*noted.preparation, step))


def _with_memory(jobs: pd.DataFrame, requests: Sequence[Request]) -> pd.DataFrame:
    """Return jobs with the default memory of their partitions where they ask for none."""
    asked = jobs["memory"] > 0
    if "node_memory" in jobs:
        asked |= jobs["node_memory"] > 0
    amounts = [(0.0 if one.all_memory else one.memory, one.memory_per) for one in requests]
    per_cpu = pd.Series([amount if per == "c" else -1.0 for amount, per in amounts], index=jobs.index)
    per_node = pd.Series([amount if per == "n" else -1.0 for amount, per in amounts], index=jobs.index)
    found = jobs.assign(memory=jobs["memory"].where(asked | (per_cpu <= 0), per_cpu))
    if (~asked & (per_node > 0)).any():
        before = jobs["node_memory"] if "node_memory" in jobs else pd.Series(-1.0, index=jobs.index)
        found["node_memory"] = before.where(asked | (per_node <= 0), per_node)
    return found


def _whole(request: Request, cluster: Cluster) -> bool:
    """Return whether a job has its nodes to itself: a job that takes all their memory leaves none for others."""
    all_memory = cluster.counts_memory and request.all_memory
    return cluster.whole or request.partition.whole or request.exclusive or all_memory
