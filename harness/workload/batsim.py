"""Batsim's JSON workloads, limited to jobs with a delay as profile, which need no network model."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from harness.disk.size_limit import TREE
from harness.disk.stored import stored_bytes, suffix_of, unpacked
from harness.errors import HarnessError
from harness.present.numerals import integer, wrong_value
from harness.workload.frame import log_from_frame
from harness.workload.log import ALSO_PRECEDING, Log


def is_batsim(path: str) -> bool:
    """Return whether `path` has the suffix of a JSON file, packed or not."""
    return suffix_of(path) == ".json"


def read_batsim(path: str | Path) -> Log:
    """Read JSON with `nb_res`, `jobs` (`id`, `subtime`, `res`, `profile`, `walltime`, `dependencies`), `profiles`.

    A job may depend on up to eight others.
    """
    path = Path(path)
    try:
        content = json.loads(unpacked(stored_bytes(path, "a workload of Batsim"), path, TREE))
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{path}: cannot be read: {error}") from error
    try:
        rows = [_row(job, content["profiles"][job["profile"]], path) for job in content["jobs"]]
        procs = integer(content["nb_res"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise HarnessError(
            f"{path}: expected a workload of Batsim: nb_res, jobs (id, subtime, res, profile) and profiles, each "
            f"delay with its delay; {wrong_value(error)}"
        ) from error
    names = ["job", "submit", "run", "procs", "estimate", "preceding", *ALSO_PRECEDING]
    frame = pd.DataFrame(
        [dict(zip(names, row, strict=False)) for row in rows], columns=names[: max([6, *map(len, rows)])]
    )
    frame = frame.fillna(dict.fromkeys(ALSO_PRECEDING, -1))
    frame = frame.sort_values("submit", kind="stable", ignore_index=True)
    header = (f"; MaxProcs: {procs}",)  # part of the digest of these logs
    return log_from_frame(frame, path.name.split(".json")[0], procs=procs, header=header, source=str(path))


def _row(job: dict[str, Any], profile: dict[str, Any], path: Path) -> tuple[float, ...]:
    if profile["type"] != "delay":
        raise HarnessError(
            f"{path}: job {job['id']} has a profile of type {profile['type']!r}; its length depends on a network; "
            "expected 'delay'"
        )
    before = [_number(other) for other in job.get("dependencies", ())]
    if len(before) > 1 + len(ALSO_PRECEDING):
        raise HarnessError(
            f"{path}: job {job['id']} depends on {len(before)} others; expected {1 + len(ALSO_PRECEDING)} at most"
        )
    return _number(job["id"]), job["subtime"], profile["delay"], job["res"], job.get("walltime", -1), *(before or [-1])


def _number(name: Any) -> int:
    """Return the number of a job: 17 for `workload!17`."""
    return integer(str(name).rpartition("!")[2])
