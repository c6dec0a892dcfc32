"""Folders in which the program writes and deletes, without following links to other places.

A folder of results may come from another person, as a download or a clone. The path to it comes from the user and may
contain links. Everything below is opened relative to the open folder, so a link there only causes an error.
"""

import errno
import fcntl
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from harness.errors import HarnessError

#: The names of lock files: the form of `secrets.token_hex(8)`.
LOCK_NAME = re.compile(r"[0-9a-f]{16}")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class OwnFolder:
    """An open folder. Its methods take the name of an entry, which must be a plain file with one name."""

    def __init__(
        self, path: str | os.PathLike[str], inside: "OwnFolder | None" = None, *, create: bool = False
    ) -> None:
        """Open the folder at a path, or the folder of that name `inside` another one, which must not be a link."""
        self.path: Path = Path(path) if inside is None else inside.path / path
        if inside is None:
            if create:
                self.path.mkdir(parents=True, exist_ok=True)
            self._opened = os.open(path, _FOLDER)
            return
        if create:
            with suppress(FileExistsError):
                os.mkdir(path, dir_fd=inside._opened)
        try:
            self._opened = os.open(path, _FOLDER | os.O_NOFOLLOW, dir_fd=inside._opened)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise HarnessError(f"{self.path}: is a link or a file: expected a folder") from error
            raise

    def close(self) -> None:
        """Close the folder."""
        os.close(self._opened)

    def size(self, name: str) -> int:
        """Return the size of a file, 0 if it is missing. Refuse a link, a device and a file with a second name."""
        try:
            found = os.stat(name, dir_fd=self._opened, follow_symlinks=False)
        except FileNotFoundError:
            return 0
        self._refuse_unless_plain(name, found)
        return found.st_size

    def names(self) -> list[str]:
        """Return the names of all entries."""
        return os.listdir(self._opened)

    def lock(self, name: str, *, create: bool = False) -> int | None:
        """Lock a file and return its descriptor, or None if another process has locked it.

        The system releases the lock when the descriptor is closed, or when the process ends.
        """
        try:
            descriptor = os.open(name, _FILE | (os.O_CREAT if create else 0), 0o666, dir_fd=self._opened)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
                raise self._unexpected(name) from error
            raise
        try:
            self._refuse_unless_plain(name, os.fstat(descriptor))
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return None
            raise
        return descriptor

    def remove_lock(self, name: str) -> None:
        """Remove a lock file. Keep files with another name, with content, or with a second name."""
        if not LOCK_NAME.fullmatch(name):
            return
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=self._opened, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size == 0:
                os.unlink(name, dir_fd=self._opened)

    def write(self, name: str, content: bytes) -> None:
        """Write a file completely or not at all. A link of that name is replaced, not followed."""
        temporary = f".{secrets.token_hex(6)}"
        exclusive = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, exclusive, 0o666, dir_fd=self._opened), "wb") as file:
                file.write(content)
            os.replace(temporary, name, src_dir_fd=self._opened, dst_dir_fd=self._opened)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=self._opened)
            raise

    def _refuse_unless_plain(self, name: str, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise self._unexpected(name)

    def _unexpected(self, name: str) -> HarnessError:
        return HarnessError(
            f"{self.path / name}: is a link, a folder, a device, or a file with a second name: expected a plain file"
        )
