"""The state of a machine from `squeue --json`, converted to the table of the other commands."""

import json
import re
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.present.numerals import integer

_COLUMNS = ("JobID", "User", "State", "Submit", "Start", "ElapsedRaw", "TimelimitRaw", "ReqCPUS", "Partition", "QOS",
            "Account", "Reason")  # fmt: skip

#: Columns of names → keys of a job.
_NAMES = {"User": "user_name", "Partition": "partition", "QOS": "qos", "Account": "account", "Reason": "state_reason"}


def is_json(content: bytes) -> bool:
    """Return whether the content of a file begins like a JSON object."""
    return content.lstrip()[:1] == b"{"


def as_table(content: bytes, path: Path) -> bytes:
    """Return the output of `squeue --json` in the form of `sacct -P`, with times in seconds since 1970."""
    try:
        state = json.loads(content)
        jobs, now = state["jobs"], _number(state["last_update"])
        if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
            raise ValueError("its jobs are not a list of objects")
        lines = ["|".join(_COLUMNS), *(_line(job, now) for job in jobs)]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:80]
        raise HarnessError(f"{path}: cannot be read as output of squeue --json: {what}") from error
    return "\n".join(lines).encode()


def _line(job: dict[str, Any], now: str) -> str:
    state = job["job_state"]
    if not state:
        raise ValueError("a job without a job_state")
    state = state if isinstance(state, str) else state[0] if isinstance(state, list) else None
    if not isinstance(state, str):
        raise ValueError("a job_state that is not a text")
    start = _number(job["start_time"])
    cells = {
        "JobID": _job_id(job),
        "State": state,
        "Submit": _number(job["submit_time"]),
        "Start": start if state != "PENDING" else "",
        "ElapsedRaw": str(max(0, int(now) - int(start))) if now and start and state != "PENDING" else "",
        "TimelimitRaw": _number(job["time_limit"]),
        "ReqCPUS": _number(job["cpus"]),
        **{column: str(job.get(name, "")) for column, name in _NAMES.items()},
    }
    return "|".join(re.sub(r"[|\r\n]", " ", cells[name]) for name in _COLUMNS)


def _job_id(job: dict[str, Any]) -> str:
    """Return the number of a job. A part of an array has the array's number and its index."""
    array, number = _number(job.get("array_job_id", 0)), _number(job.get("array_task_id"))
    if job.get("array_task_string"):
        return f"{array or job['job_id']}_[{job['array_task_string']}]"
    return f"{array}_{number}" if array not in ("", "0") and number else str(integer(job["job_id"]))


def _number(value: Any) -> str:
    """Return a number: newer versions of Slurm write an object that contains whether it is set."""
    if isinstance(value, dict):
        return _number(value["number"]) if value.get("set", True) and not value.get("infinite", False) else ""
    return "" if value is None else str(integer(value))
