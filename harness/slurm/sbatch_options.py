"""What is told to Slurm of each job: what it asks for, in the words of `sbatch`, when it comes and when it gives up."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.slurm.cluster import Cluster
from harness.slurm.requests import Request
from harness.slurm.slurm_names import FEATURE, checked_name

#: Times of Slurm are whole minutes where nothing else is said [s].
_MINUTE = 60.0


def asked_of_sbatch(request: Request, cluster: Cluster) -> list[str]:
    """Return the options that ask for what the request does; what nobody asked for is left to the configuration."""
    where = f"job {request.job}"
    found = [f"--ntasks={request.cpus}", f"--time={max(1, math.ceil(request.limit / _MINUTE))}"]
    found.append(f"--partition={request.partition.name}")
    if request.per_node:
        found.append(f"--ntasks-per-node={request.per_node}")
    if request.most_nodes or (request.nodes > 1 and not request.per_node):
        found.append(f"--nodes={request.nodes}-{request.most_nodes or len(cluster.nodes)}")
    if cluster.counts_memory and not request.all_memory:
        found.append(f"--mem{'' if request.memory_per == 'n' else '-per-cpu'}={math.ceil(request.memory)}K")
    if request.features:
        for name in frozenset().union(*request.features):
            checked_name(name, "a feature", where, FEATURE)
        found.append("--constraint=" + "|".join("&".join(sorted(one)) for one in request.features))
    for option, wanted in (("gres", request.gres), ("licenses", request.licences)):
        if wanted:
            things = [f"{checked_name(name, option, where, FEATURE)}:{count}" for name, count in sorted(wanted.items())]
            found.append(f"--{option}=" + ",".join(things))
    if request.exclusive:
        found.append("--exclusive")
    if request.eligible > request.submit:
        found.append(f"--begin=now+{math.ceil(request.eligible - request.submit)}")
    return found


def whose(request: Request, users: Mapping[str, int]) -> list[str]:
    """Return the options that say whose a job is: its account, its QOS, and its user by number, if there are others."""
    asked = (("account", request.account), ("qos", request.qos))
    found = [f"--{option}={checked_name(name, option, f'job {request.job}')}" for option, name in asked if name]
    return found + ([f"--uid={users[request.user]}"] if request.user in users else [])


def submissions_of(
    requests: list[Request], cluster: Cluster, folder: Path, users: Mapping[str, int] | None = None
) -> Iterator[list[Any]]:
    """Write the scripts of the jobs, and yield (job, submit, arguments of sbatch) by time since the first.

    Where there are accounts, `users` are the numbers of those whose jobs they are; else everything is one user's.
    """
    first = min(one.submit for one in requests)
    for one in sorted(requests, key=lambda request: request.submit):
        script = folder / "jobs" / f"{one.job}"
        script.write_text(f"#!/bin/sh\nexec sleep {one.work:.9g}\n", encoding="utf-8")
        arguments = ["--parsable", f"--job-name={one.job}", "--output=/dev/null", "--error=/dev/null", "--no-requeue"]
        if users is not None:
            arguments += whose(one, users)
        yield [one.job, one.submit - first, [*arguments, *asked_of_sbatch(one, cluster), str(script)]]


def cancellations_of(requests: list[Request]) -> list[tuple[float, int]]:
    """Return when jobs give up waiting, since the first submission, and which, by time."""
    first = min((one.submit for one in requests), default=0.0)
    return sorted((one.cancel - first, one.job) for one in requests if one.cancel < math.inf)
