"""Cells of Slurm's accounting, and the repair of lines with too many of them."""

import re
from collections.abc import Callable
from datetime import datetime

import numpy as np

from harness.workload.delimited import Repair
from harness.workload.log import WITHOUT_LIMIT, LoggedStatus

#: Slurm's words for unknown, unlimited and missing values.
_UNKNOWN = {"", "unknown", "none", "n/a", "invalid", *WITHOUT_LIMIT}

#: The first word of a state → its status code.
STATUS = {
    **dict.fromkeys(("COMPLETED",), LoggedStatus.COMPLETED),
    **dict.fromkeys(
        ("FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED"), LoggedStatus.FAILED
    ),
    **dict.fromkeys(("CANCELLED", "REVOKED"), LoggedStatus.CANCELLED),
    **dict.fromkeys(("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING"), LoggedStatus.UNKNOWN),
}
UNFINISHED = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING")

_EPOCH = datetime(1970, 1, 1)
_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)([cn]?)\??")
_JOB = re.compile(r"(\d+)(?:_(?:\d+|\[[^]]*\])|\+\d+)?")
STEP = re.compile(rf"{_JOB.pattern}\..+")
_KILOBYTES = {"K": 1.0, "": 1024.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3, "P": 1024.0**4}


def attempt(reader: Callable[[str], float], text: str) -> float | None:
    """Return the number in a cell, NaN if it is unknown to Slurm, None if the cell is malformed."""
    if text.strip().lower() in _UNKNOWN:
        return np.nan
    try:
        return reader(text.strip())
    except (ValueError, OverflowError):
        return None


def _instant(text: str) -> float:
    """Return seconds since 1970 in the site's time zone, from `2021-01-06T14:09:15` or from seconds."""
    if text.isdigit():
        return float(text)
    return (datetime.fromisoformat(text).replace(tzinfo=None) - _EPOCH).total_seconds()


def _duration(text: str) -> float:
    """Return the seconds of `1-02:03:04`, `02:03:04` or `03:04.567`."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + seconds


def _count(text: str) -> float:
    return float(int(text))


def kilobytes(text: str) -> float:
    """Return the KB of `2800Mc`, `187000M`, `500G` or `0n`, without regard to the last letter."""
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1]) * _KILOBYTES[match[2]]


def _job(text: str) -> float:
    match = _JOB.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1])


def _state(text: str) -> float:
    state = state_word(text)
    if state not in STATUS:
        raise ValueError(text)
    return STATUS[state]


def state_word(text: str) -> str:
    """Return `CANCELLED` for `CANCELLED by 1000` and for `CANCELLED+`."""
    return next(iter(text.split()), "").rstrip("+")


def _exit_code(text: str) -> float:
    code, _, signal = text.partition(":")
    return int(code) + int(signal)


#: The columns that are used → the function that reads a cell; None for text.
READERS: dict[str, Callable[[str], float] | None] = {
    **dict.fromkeys(("JobID", "JobIDRaw"), _job),
    **dict.fromkeys(("Submit", "Start", "End", "Eligible"), _instant),
    "Elapsed": _duration,
    "ElapsedRaw": _count,
    **dict.fromkeys(("ReqCPUS", "AllocCPUS", "NCPUS", "AllocNodes", "NNodes", "ReqNodes", "ArrayJobID"), _count),
    "Timelimit": _duration,
    "TimelimitRaw": lambda minutes: 60.0 * int(minutes),
    "ReqMem": kilobytes,
    "State": _state,
    **dict.fromkeys(("User", "UID", "Group", "GID", "Account", "QOS", "Partition", "Cluster"), None),
    **dict.fromkeys(("Constraints", "ReqTRES", "SubmitLine"), None),
}

# Repair: names of jobs, constraints and the like may contain the character that separates the cells.

#: Columns of free text.
_FREE = ("AdminComment", "Comment", "Constraints", "Container", "JobName", "Reason", "SubmitLine", "SystemComment",
         "WCKey", "WorkDir")  # fmt: skip

#: Unused columns with a form that shows whether the cells are in the right columns.
_SHAPES: dict[str, Callable[[str], float]] = {
    **dict.fromkeys(("CPUTimeRAW", "DBIndex", "NTasks", "Priority", "QOSRAW", "UID", "GID"), _count),
    **dict.fromkeys(("CPUTime", "Suspended", "TotalCPU"), _duration),
    "ExitCode": _exit_code,
}
_NEVER_EMPTY = ("JobID", "JobIDRaw", "Submit", "State", "Elapsed", "NCPUS", "NNodes", "AllocCPUS")


#: With more bars than this in one line, which no person writes, a repair would take too long.
_MOST_BARS = 100


def repair_with(names: list[str]) -> Repair:
    """Return a function that repairs a line with too many cells, if the used cells have only one possible reading."""
    shapes = [_SHAPES.get(name) or READERS.get(name) for name in names]

    def fits(place: int, cell: str) -> bool:
        if not cell and names[place] in _NEVER_EMPTY:
            return False
        shape = shapes[place]
        return shape is None or attempt(shape, cell) is not None

    def repair(cells: list[str]) -> list[str] | None:
        extra = len(cells) - len(names)
        if extra > _MOST_BARS:
            return None
        # For each column: the number of cells consumed and the used cells so far → the line so far.
        readings: dict[tuple[int, tuple[str, ...]], list[str]] = {(0, ()): []}
        for place, name in enumerate(names):
            longer: dict[tuple[int, tuple[str, ...]], list[str]] = {}
            for (taken, used), line in readings.items():
                most = extra - (taken - place) if name in _FREE else 0
                for end in range(taken + 1, taken + 2 + most):
                    cell = " ".join(cells[taken:end])
                    if fits(place, cell):
                        matters = name in READERS and name not in _FREE
                        longer.setdefault((end, (*used, cell) if matters else used), [*line, cell])
            readings = longer
        whole = [line for (taken, _), line in readings.items() if taken == len(cells)]
        return whole[0] if len(whole) == 1 else None

    return repair
