"""Download of logs: verified, resumed after an interruption, and stored only when complete."""

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import pooch
import requests
import urllib3

from harness.disk.size_limit import max_size, too_large
from harness.errors import HarnessError
from harness.workload.catalogue import Trace, fetched_folder

#: The Parallel Workloads Archive. `HARNESS_MIRROR` may name a copy with the same folders.
ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"

#: Time limits for connecting, and between two bytes [s].
_TIMEOUTS = (10, 60)
_CHUNK = 1 << 16

#: Called with the bytes received so far and the total, if the server sends it.
Progress = Callable[[int, int | None], None]


def is_intact(trace: Trace, path: Path) -> bool:
    """Return whether the file equals the archive's. An unpacked file is accepted without a check."""
    if path.name != trace.file:
        return True
    return bool(pooch.file_hash(path) == trace.checksum) if trace.checksum else _is_whole_gzip(path)


def fetch(trace: Trace, *, mirror: str | None = None, progress: Progress | None = None) -> Path:
    """Fetch the file of `trace` into the cache folder from `mirror`, `HARNESS_MIRROR` or the archive. Return its path.

    After an interruption the received part stays there, and the next call continues it.
    """
    if not trace.path:
        raise HarnessError(
            f"trace {trace.name!r}: is not in the archive; copy its file {trace.file} to a folder in HARNESS_DATA"
        )
    archive = mirror or os.environ.get("HARNESS_MIRROR") or ARCHIVE
    if not archive.startswith(("http://", "https://")):
        raise HarnessError(f"the mirror {archive!r}: expected an address that begins with http:// or https://")
    url = "/".join((archive.rstrip("/"), trace.path))
    place = fetched_folder()
    part = place / f".{trace.file}.part"

    def download(url: str, output_file: str | os.PathLike[str], _: Any) -> None:
        _complete(url, part, progress or (lambda done, whole: None))
        if not trace.checksum and not _is_whole_gzip(part):  # an error page, or half a file
            part.unlink()
            raise HarnessError(f"{url}: the answer is not complete gzip data, and was not kept; try again")
        os.replace(part, output_file)

    pooch.get_logger().setLevel("WARNING")  # no messages of its own on stderr
    try:
        place.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(place / f".{trace.file}.lock", timeout=0):
            if (place / trace.file).exists() and not is_intact(trace, place / trace.file):
                (place / trace.file).unlink()
            known = f"sha256:{trace.checksum}" if trace.checksum else None
            return Path(pooch.retrieve(url, known, fname=trace.file, path=place, downloader=download))
    except filelock.Timeout:
        raise HarnessError(f"trace {trace.name!r}: is being fetched by another process; wait for it") from None
    except OSError as error:
        raise HarnessError(f"{place}: cannot store a trace there: {error.strerror or error}") from error
    except ValueError:  # pooch found another checksum
        raise HarnessError(
            f"{url}: the file is not the known {trace.file} (SHA-256 {trace.checksum[:12]}…), and was not kept; try "
            "again, or use another --mirror"
        ) from None


def _complete(url: str, part: Path, progress: Progress) -> None:
    """Download until `part` is complete. Give up when a connection brings nothing new."""
    retries = urllib3.Retry(
        total=2, backoff_factor=0.3, status_forcelist=(429, 502, 503, 504), raise_on_status=False, read=0
    )
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retries))
        while True:
            before = _size(part)
            try:
                return _transfer(session, url, part, progress)
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                if _size(part) <= before:
                    kept = f"; the {before:,} bytes received are kept, and the next call continues" if before else ""
                    raise HarnessError(f"{url}: cannot be fetched: {_reason(error)}{kept}") from error


def _transfer(session: requests.Session, url: str, part: Path, progress: Progress) -> None:
    """Append the missing bytes to `part`. If the server cannot resume, start again."""
    done = _size(part)
    headers = {"Accept-Encoding": "identity"}  # the stored bytes, to which the checksum applies
    if done:
        headers["Range"] = f"bytes={done}-"
    with session.get(url, headers=headers, stream=True, timeout=_TIMEOUTS) as response:
        extent = response.headers.get("Content-Range", "")
        if response.status_code == requests.codes.requested_range_not_satisfiable and done:
            if extent != f"bytes */{done}":  # otherwise it was already complete
                part.unlink()
                _transfer(session, url, part, progress)
            return
        if not response.ok:
            raise HarnessError(
                f"{url}: the server answers {response.status_code} {response.reason}; is the mirror the right one?"
            )
        resumed = response.status_code == requests.codes.partial_content and extent.startswith(f"bytes {done}-")
        done = done if resumed else 0
        length = response.headers.get("Content-Length", "")
        whole = done + int(length) if length.isdigit() else None
        with part.open("ab" if resumed else "wb") as file:
            progress(done, whole)
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                if done + len(chunk) > max_size():  # checked here because the length may be unknown
                    raise too_large(url)
                file.write(chunk)
                done += len(chunk)
                progress(done, whole)


def _is_whole_gzip(path: Path) -> bool:
    """Return whether a file is complete, non-empty gzip data."""
    try:
        with gzip.open(path) as file:
            unpacked = 0
            while chunk := file.read(_CHUNK):
                unpacked += len(chunk)
                if unpacked > max_size():
                    raise too_large(path)
    except (OSError, EOFError, zlib.error):
        return False
    return unpacked > 0


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _reason(error: Exception) -> str:
    """Return the message of the innermost exception."""
    cause: Any = error
    while (inner := getattr(cause, "reason", None) or (cause.args and cause.args[-1])) and isinstance(inner, Exception):
        cause = inner
    return str(cause).rpartition(">: ")[2] or type(cause).__name__
