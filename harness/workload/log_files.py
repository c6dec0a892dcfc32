"""What all readers of log files share: that reading the same bytes again is quick, and how a log is named."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from harness.disk.stored import stored_bytes, unpacked, unpacked_name
from harness.workload.log import Log
from harness.workload.log_cache import CachedReading, load, save
from harness.workload.swf_header import check_header, header_procs

_ENDINGS = re.compile(r"\.(swf|log|txt|csv|parquet)$", re.IGNORECASE)


def read_file(
    path: Path,
    parse: Callable[[bytes], CachedReading],
    *,
    kind: str,
    expected: str,
    cache: bool = True,
    divisor: int = 1,
) -> Log:
    """Return the log that `parse` makes of the content of `path`, or what it made of the same bytes before.

    `kind` tells apart what different readers make of the same bytes; `expected` is what should be at `path`.
    `divisor` is that of the limit of its size (`size_limit.py`).
    """
    stored = stored_bytes(path, expected)
    key = hashlib.sha256(stored).hexdigest() + kind
    reading = load(key) if cache else None
    if reading is None:
        reading = parse(unpacked(stored, path, divisor))
        del stored  # which may be large
        if cache:
            save(key, reading)
    check_header(reading.header, str(path))
    procs = header_procs(reading.header)
    return Log(log_name(path), reading.jobs, reading.header, str(path), reading.digest, reading.steps, procs)


def log_name(path: Path) -> str:
    """Return what a log is called: its file's name without the endings."""
    return _ENDINGS.sub("", unpacked_name(path))
