"""Requests of jobs for resources that the platform of a replay does not have, and which the replay ignores."""

from collections.abc import Iterable, Iterator

import numpy as np

from harness.platform.machine import Platform
from harness.present.words import counted, listed
from harness.workload.log import Workload
from harness.workload.resource_columns import NEEDS


def ignored_requests(workload: Workload, platform: Platform) -> list[str]:
    """Return a sentence for each ignored kind of request, with the number of jobs and the option that respects it."""
    return [
        f"ignored: {_request(jobs, what)}, which the platform {platform.name!r} does not have: expected --platform "
        f"FILE.toml with {key}, or --slurm slurm.conf"
        for jobs, what, key in _ignored(workload, platform)
    ]


def ignored_in_a_field(replays: Iterable[tuple[Workload, Platform]]) -> list[str]:
    """Return a sentence for each workload and kind of request that platforms of a field do not have."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for workload, platform in replays:
        for jobs, what, key in _ignored(workload, platform):
            found.setdefault((workload.name, _request(jobs, what), key), []).append(repr(platform.name))
    return [
        f"ignored: in {workload} {request}, which {counted(len(names), 'platform')} of the field "
        f"{'does' if len(names) == 1 else 'do'} not have ({listed(names)}): expected platforms with {key}, or --slurm "
        "slurm.conf"
        for (workload, request, key), names in found.items()
    ]


def _request(jobs: int, what: str) -> str:
    return f"{jobs:,} {'job requests' if jobs == 1 else 'jobs request'} {what}"


def _ignored(workload: Workload, platform: Platform) -> list[tuple[int, str, str]]:
    """Return the number of jobs, the resource that they request, and the key of a platform that describes it."""
    return [one for one in _requests(workload, platform) if one[0]]


def _requests(workload: Workload, platform: Platform) -> Iterator[tuple[int, str, str]]:
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
    lacking = {str(name).removeprefix(NEEDS) for name in jobs if str(name).startswith(NEEDS)} - known
    for name in sorted(lacking):
        if (kind := name.partition(":")[0]) == name or kind not in lacking:  # jobs with gpu:a100 are counted under gpu
            yield above_zero(NEEDS + name), name, "resources or licences"
