"""Requests of jobs that the platform of a replay does not have, so that the replay ignores them."""

from collections.abc import Iterator

import numpy as np

from harness.platform.machine import Platform
from harness.workload.asked import NEEDS
from harness.workload.log import Workload


def ignored_requests(workload: Workload, platform: Platform) -> list[str]:
    """Return a sentence for each kind of request that is ignored: how many jobs, and the option that respects it."""
    return [
        f"ignored: {jobs:,} {'job requests' if jobs == 1 else 'jobs request'} {what}, which the platform "
        f"{platform.name!r} does not have: expected --platform FILE.toml with {key}, or --slurm slurm.conf"
        for jobs, what, key in _ignored(workload, platform)
        if jobs
    ]


def _ignored(workload: Workload, platform: Platform) -> Iterator[tuple[int, str, str]]:
    """Yield the number of jobs, the resource that they request, and the key of a platform that describes it."""
    jobs, types = workload.jobs, platform.types

    def above_zero(*columns: str) -> int:
        found = [jobs[column].to_numpy() > 0 for column in columns if column in jobs]
        return int(np.any(found, axis=0).sum()) if found else 0

    partitions = jobs["partition"].to_numpy()
    if len({t.partitions or t.partition for t in types}) == 1 and len(np.unique(partitions[partitions >= 0])) > 1:
        yield int((partitions >= 0).sum()), "partitions", "partitions"
    if all(np.isinf(t.memory) for t in types):
        yield above_zero("memory", "node_memory"), "memory", "memory_gb"
    if not any(t.features for t in types):
        yield above_zero("features", "any_feature"), "features of nodes", "features"
    if all(t.cores == 1 for t in types):
        yield above_zero("nodes", "exclusive"), "whole nodes or a number of nodes", "nodes of several cores"
    known = {name for t in types for name in dict(t.resources)} | set(dict(platform.licences))
    for column in sorted(str(name) for name in jobs if str(name).startswith(NEEDS)):
        if (name := column.removeprefix(NEEDS)) not in known:
            yield above_zero(column), name, "resources or licences"
