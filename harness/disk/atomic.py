"""Files that are either written whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import HarnessError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to, which takes the place of `path` when the block ends well.

    Whoever reads `path` sees the old file or the new one, never half of one. If the block raises, `path`
    stays as it was. The temporary name ends like `path`, so libraries that choose a format by suffix choose
    the same. What the system refuses (no such folder, no permission, disk full) is a `HarnessError`.
    """
    try:
        with replacing_quietly(path) as temporary:
            yield temporary
    except OSError as error:
        raise HarnessError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing_quietly(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Do as `replacing`, but raise the system's own `OSError`, for writers that can do without the file."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path  # /dev/stdout, a named pipe: there is nothing to replace
        return
    target = Path(os.path.realpath(path))  # a link keeps pointing where it pointed
    if target.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is read-only")  # replacing would get round that
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
    """Yield temporary paths as `replacing` does, which take the place of both paths or, on any error, of neither."""
    with _as_before(Path(os.path.realpath(second))), replacing(first) as one, replacing(second) as two:
        yield one, two


@contextmanager
def _as_before(path: Path) -> Iterator[None]:
    """Bring a file back, or remove a new one, if the block raises after it was replaced."""
    former = path.with_name(f".{secrets.token_hex(6)}-{path.name[-100:]}")
    there = path.is_file()
    with suppress(OSError):  # a file system without links: the file stays as it is after the block
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
