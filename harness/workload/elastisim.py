"""ElastiSim's JSON workloads, limited to jobs that compute for a number of iterations and need no network model.

Their width is fixed (rigid), or chosen at the start (moldable).
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from harness.disk.size_limit import TREE
from harness.disk.stored import beginning, stored_bytes, suffix_of, unpacked
from harness.errors import HarnessError
from harness.present.numerals import integer, wrong_value
from harness.workload.frame import log_from_frame
from harness.workload.log import Log
from harness.workload.widths import WIDTHS

#: The arguments that hold the runtime [s] on `base_nodes` nodes.
_LENGTHS = ("iterations", "nstep")


def is_elastisim(path: str) -> bool:
    """Return whether `path` is a JSON file of jobs with an application model."""
    return suffix_of(path) == ".json" and '"application_model"' in beginning(path)


def read_elastisim(path: str | Path) -> Log:
    """Read JSON with `jobs`: `type`, `submit_time`, `num_nodes`, `arguments` (`iterations` or `nstep`, `base_nodes`).

    An iteration takes one second on `base_nodes` nodes. Its time is inversely proportional to the number of nodes.
    Processors are nodes. Jobs are numbered from 1 in the order of the file. `walltime` is the requested time, if
    present. A moldable job has `num_nodes_min` and `num_nodes_max` instead of `num_nodes`. It requests `base_nodes`,
    within these limits.
    """
    path = Path(path)
    try:
        content = json.loads(unpacked(stored_bytes(path, "a workload of ElastiSim"), path, TREE))
        rows = [_row(number, job, path) for number, job in enumerate(content["jobs"], 1)]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise HarnessError(
            f"{path}: expected a workload of ElastiSim: jobs, with type, submit_time, num_nodes and arguments with "
            f"{' or '.join(_LENGTHS)}; {wrong_value(error)}"
        ) from error
    frame = pd.DataFrame(rows, columns=["job", "submit", "run", "procs", "estimate", *WIDTHS])
    if not (frame["procs_min"] < frame["procs_max"]).any():
        frame = frame.drop(columns=list(WIDTHS))
    return log_from_frame(frame, path.name.split(".json")[0], source=str(path))


def _row(number: int, job: dict[str, Any], path: Path) -> tuple[float, ...]:
    if job["type"] not in ("rigid", "moldable"):
        raise HarnessError(
            f"{path}: job {number} is {job['type']!r}: expected 'rigid' or 'moldable', with a number of nodes that is "
            "fixed, or chosen when it starts"
        )
    arguments = job["arguments"]
    length = next((arguments[name] for name in _LENGTHS if name in arguments), None)
    if length is None:
        raise HarnessError(
            f"{path}: job {number}: expected arguments with {' or '.join(_LENGTHS)}, not {arguments!r:.60}"
        )
    ends = ("_min", "_max") if job["type"] == "moldable" else ("", "")
    least, most = (integer(job[f"num_nodes{end}"]) for end in ends)
    if not 1 <= least <= most:
        raise HarnessError(f"{path}: job {number}: expected num_nodes_max of at least num_nodes_min, of at least 1")
    nodes = min(max(least, integer(arguments.get("base_nodes", least))), most)
    run = float(length) * float(arguments.get("base_nodes", nodes)) / nodes
    return number, float(job["submit_time"]), run, nodes, float(job.get("walltime", -1)), least, most
