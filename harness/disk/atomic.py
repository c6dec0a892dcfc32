"""Files that are written completely or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import HarnessError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to. It replaces `path` when the block ends without an error.

    A reader of `path` sees either the old or the new file. If the block raises, `path` is unchanged. The temporary name
    has the same suffix, for libraries that choose a format by it. An error of the system (no such folder, no
    permission, disk full) is a `HarnessError`.
    """
    try:
        with replacing_quietly(path) as temporary:
            yield temporary
    except OSError as error:
        raise HarnessError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing_quietly(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Do the same as `replacing`, but raise `OSError`, for callers that can continue without the file."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path  # /dev/stdout or a named pipe, which cannot be replaced
        return
    target = Path(os.path.realpath(path))  # keeps a link
    if target.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is read-only")  # a replacement would ignore that
    temporary = target.with_name(f".{secrets.token_hex(6)}-{target.name[-100:]}")
    try:
        yield temporary
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def replacing_both(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> Iterator[tuple[Path, Path]]:
    """Yield temporary paths as `replacing` does. They replace both paths, or on any error none."""
    with _as_before(Path(os.path.realpath(second))), replacing(first) as one, replacing(second) as two:
        yield one, two


@contextmanager
def _as_before(path: Path) -> Iterator[None]:
    """Restore a file, or remove a new one, if the block raises after replacing it."""
    former = path.with_name(f".{secrets.token_hex(6)}-{path.name[-100:]}")
    there = path.is_file()
    with suppress(OSError):  # a file system without links: the file cannot be restored
        os.link(path, former)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.replace(former, path) if there else path.unlink()
        raise
    finally:
        with suppress(OSError):
            former.unlink()
