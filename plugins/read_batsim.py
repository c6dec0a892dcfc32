"""Reading workloads of Batsim (its JSON), as far as they need no network: jobs whose profile is a delay."""

import gzip
import json
from pathlib import Path

import harness


@harness.hookimpl
def read_workload(source):
    """A `.json` or `.json.gz` file with `nb_res`, `jobs` and `profiles`."""
    if not source.endswith((".json", ".json.gz")):
        return None
    import pandas as pd

    path = Path(source)
    try:
        content = json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    except (OSError, ValueError) as error:
        raise harness.HarnessError(f"{source}: cannot be read: {error}") from error
    try:
        rows = [row(job, content["profiles"][job["profile"]], source) for job in content["jobs"]]
        header = (f"; MaxProcs: {int(content['nb_res'])}",)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise harness.HarnessError(
            f"{source}: expected a workload of Batsim: nb_res, jobs (id, subtime, res, profile) and profiles, each "
            f"delay with its delay; {type(error).__name__}: {error}"
        ) from error
    frame = pd.DataFrame(rows).sort_values("submit", kind="stable", ignore_index=True)
    return harness.log_from_frame(frame, path.name.split(".json")[0], header=header, source=source)


def row(job, profile, source):
    """One job by the names of our logs; numbers a job `workload!17` by what follows the mark."""
    if profile["type"] != "delay":
        raise harness.HarnessError(
            f"{source}: job {job['id']} has a profile of type {profile['type']!r}, whose length depends on a network; "
            "expected 'delay'"
        )
    return {
        "job": int(str(job["id"]).rpartition("!")[2]),
        "submit": float(job["subtime"]),
        "run": float(profile["delay"]),
        "procs": int(job["res"]),
        "estimate": float(job.get("walltime", -1)),
    }
