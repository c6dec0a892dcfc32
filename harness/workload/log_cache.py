"""A binary cache of logs that were read, so that reading them again is fast.

A cache file is a SHA-256, followed by a numpy `.npz` archive to which it applies. Its name contains the hash of the log
file's bytes, the reader, its strictness, and the version of the format. Any cache file may be deleted. One that is
damaged, foreign or unreadable is ignored.
"""

import hashlib
import io
import json
import time
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.atomic import replacing_quietly
from harness.disk.data_search import cache_folder
from harness.disk.stored import DAMAGED
from harness.workload.content import narrowed
from harness.workload.log import Step

#: Increased when the format below, or the result of a reader, changes.
_VERSION = 8

_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True)
class CachedReading:
    """The part of a log that depends only on the bytes of its file."""

    jobs: pd.DataFrame
    header: tuple[str, ...]
    steps: tuple[Step, ...]
    digest: str


def load(key: str) -> CachedReading | None:
    """Return the reading saved under `key`, or None if there is no intact one."""
    try:
        content = _file(key).read_bytes()
    except OSError:
        return None
    checksum, archive = content[:_DIGEST_BYTES], memoryview(content)[_DIGEST_BYTES:]
    if hashlib.sha256(archive).digest() != checksum:
        return None
    try:
        return _reading(archive)
    except (*DAMAGED, AttributeError, LookupError, TypeError):  # not written by `save`
        return None


def _reading(archive: memoryview) -> CachedReading:
    """Return the reading in an archive. Anything may be raised if `save` did not write it."""
    with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
        if any(one.file_size > one.compress_size for one in arrays.zip.infolist()):
            raise ValueError("it is packed")
        about = json.loads(arrays["about"].tobytes())
        columns = {str(name): arrays[name] for name in about["columns"]}
    columns = {name: one.astype(np.int64) if one.dtype.kind in "iu" else one for name, one in columns.items()}
    return CachedReading(
        jobs=pd.DataFrame(columns, copy=False),
        header=tuple(about["header"]),
        steps=tuple(Step(*step) for step in about["steps"]),
        digest=about["digest"],
    )


def save(key: str, reading: CachedReading) -> None:
    """Save `reading` under `key`. Do nothing if the folder cannot be written."""
    about = {
        "columns": list(reading.jobs.columns),
        "header": reading.header,
        "steps": [astuple(step) for step in reading.steps],
        "digest": reading.digest,
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        str(name): narrowed(reading.jobs[name].to_numpy()) for name in reading.jobs.columns
    }
    archive = io.BytesIO()
    np.savez(archive, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    try:
        _file(key).parent.mkdir(parents=True, exist_ok=True)
        _sweep(_file(key).parent)
        with replacing_quietly(_file(key)) as temporary:
            temporary.write_bytes(hashlib.sha256(archive.getbuffer()).digest() + archive.getbuffer())
    except OSError:
        pass  # no space or no permission: the next reading is slow again


def _file(key: str) -> Path:
    return cache_folder() / "logs" / f"{key}.v{_VERSION}.npz"


def _sweep(folder: Path) -> None:
    """Remove temporary files of writers that were killed more than an hour ago."""
    for left in folder.glob(".*"):
        with suppress(OSError):  # another process may have removed it
            if left.stat().st_mtime < time.time() - 3600:
                left.unlink()
