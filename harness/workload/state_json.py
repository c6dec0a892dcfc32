"""The state of a machine as `squeue --json` prints it, as the table that other ways of asking give."""

import json
import re
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.present.numerals import integer

_COLUMNS = ("JobID", "User", "State", "Submit", "Start", "ElapsedRaw", "TimelimitRaw", "ReqCPUS", "Partition", "QOS",
            "Account", "Reason")  # fmt: skip

#: Columns of names → what the jobs have them under.
_NAMES = {"User": "user_name", "Partition": "partition", "QOS": "qos", "Account": "account", "Reason": "state_reason"}


def is_json(content: bytes) -> bool:
    """Say whether the content of a file begins as an object of JSON does."""
    return content.lstrip()[:1] == b"{"


def as_table(content: bytes, path: Path) -> bytes:
    """Return what `squeue --json` printed as `sacct -P` would print it; times are seconds since 1970."""
    try:
        told = json.loads(content)
        jobs, now = told["jobs"], _number(told["last_update"])
        if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
            raise ValueError("its jobs are no list of objects")
        lines = ["|".join(_COLUMNS), *(_line(job, now) for job in jobs)]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:80]
        raise HarnessError(f"{path}: cannot be read as what squeue --json prints: {what}") from error
    return "\n".join(lines).encode()


def _line(job: dict[str, Any], now: str) -> str:
    """Return the line of a job."""
    state = job["job_state"]
    if not state:
        raise ValueError("a job without a job_state")
    state = state if isinstance(state, str) else state[0] if isinstance(state, list) else None
    if not isinstance(state, str):
        raise ValueError("a job_state that is no text")
    start = _number(job["start_time"])
    cells = {
        "JobID": _called(job),
        "State": state,
        "Submit": _number(job["submit_time"]),
        "Start": start if state != "PENDING" else "",
        "ElapsedRaw": str(max(0, int(now) - int(start))) if now and start and state != "PENDING" else "",
        "TimelimitRaw": _number(job["time_limit"]),
        "ReqCPUS": _number(job["cpus"]),
        **{column: str(job.get(name, "")) for column, name in _NAMES.items()},
    }
    return "|".join(re.sub(r"[|\r\n]", " ", cells[name]) for name in _COLUMNS)


def _called(job: dict[str, Any]) -> str:
    """Return what a job is called: a part of an array by its place in it."""
    array, number = _number(job.get("array_job_id", 0)), _number(job.get("array_task_id"))
    if job.get("array_task_string"):
        return f"{array or job['job_id']}_[{job['array_task_string']}]"
    return f"{array}_{number}" if array not in ("", "0") and number else str(integer(job["job_id"]))


def _number(told: Any) -> str:
    """Return a number as Slurm's newer versions write it, with whether it is set, and as older ones do."""
    if isinstance(told, dict):
        return _number(told["number"]) if told.get("set", True) and not told.get("infinite", False) else ""
    return "" if told is None else str(integer(told))
