"""What all readers of log files share: the bytes, plain or gzipped, and that reading them again is quick."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from harness.errors import HarnessError
from harness.workload.cache import CachedReading, load, save
from harness.workload.log import Log

_GZIP = b"\x1f\x8b"
_ENDINGS = re.compile(r"(\.(swf|log|txt|csv|parquet))?(\.gz)?$", re.IGNORECASE)


def read_file(
    path: Path, parse: Callable[[bytes], CachedReading], *, kind: str, expected: str, cache: bool = True
) -> Log:
    """The log that `parse` makes of the content of `path`, or what it made of the same bytes before.

    `kind` tells apart what different readers make of the same bytes; `expected` is what should be at `path`.
    """
    stored = stored_bytes(path, expected)
    key = hashlib.sha256(stored).hexdigest() + kind
    reading = load(key) if cache else None
    if reading is None:
        reading = parse(unpacked(stored, path))
        if cache:
            save(key, reading)
    return Log(log_name(path), reading.jobs, reading.header, str(path), reading.digest, reading.steps)


def stored_bytes(path: Path, expected: str) -> bytes:
    """What the file holds, as it is; clear words if it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no such file; expected {expected}") from None
    except IsADirectoryError:
        raise HarnessError(f"{path}: is a folder; expected {expected}") from None
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror or error}") from error


def unpacked(stored: bytes, path: Path) -> bytes:
    """`stored`, unpacked if it is gzipped, whatever its name."""
    if not stored.startswith(_GZIP):
        return stored
    try:
        return gzip.decompress(stored)
    except EOFError:
        raise HarnessError(f"{path}: the gzip data ends too early; fetch or copy the file again") from None
    except (OSError, zlib.error) as error:
        raise HarnessError(f"{path}: the gzip data is damaged ({error}); fetch or copy it again") from error


def plain_lines(content: bytes) -> bytes:
    """`content` without the byte order mark some editors put first, and with the line ends of Unix."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def text_of(content: bytes) -> str:
    """`content` as text: UTF-8, or else Latin-1, as in the archive's older headers."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def first_line(path: str | Path) -> str:
    """The first line of a file, plain or gzipped, by which its format is known; empty if it has none to show."""
    try:
        if not Path(path).is_file():
            return ""  # a name, or a pipe that can be read only once
        with open(path, "rb") as plain:
            start = plain.read(len(_GZIP))
        with gzip.open(path) if start == _GZIP else open(path, "rb") as file:
            return text_of(plain_lines(file.readline(1 << 16))).strip("\n")
    except (OSError, EOFError, zlib.error, ValueError):
        return ""  # whoever reads the file will say what is wrong


def log_name(path: Path) -> str:
    """What a log is called: its file's name without the endings."""
    return _ENDINGS.sub("", path.name)


def shortened(text: str, most: int = 80) -> str:
    """`text` as it is shown in an error: on one line, in ASCII, cut where it is too long."""
    shown = ascii(text.strip())[1:-1]
    return shown if len(shown) <= most else shown[: most - 3] + "..."
