"""Shared by all readers of log files: the cache of readings, and the name of a log."""

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
    """Return the log that `parse` makes of the content of `path`, from the cache if these bytes were read before.

    `kind` distinguishes the readers in the cache. `expected` describes the file in error messages. `divisor` is that of
    `size_limit.py`.
    """
    stored = stored_bytes(path, expected)
    key = hashlib.sha256(stored).hexdigest() + kind
    reading = load(key) if cache else None
    if reading is None:
        reading = parse(unpacked(stored, path, divisor))
        del stored  # may be large
        if cache:
            save(key, reading)
    check_header(reading.header, str(path))
    procs = header_procs(reading.header)
    return Log(log_name(path), reading.jobs, reading.header, str(path), reading.digest, reading.steps, procs)


def log_name(path: Path) -> str:
    """Return the name of a log: its file name without suffixes."""
    return _ENDINGS.sub("", unpacked_name(path))
