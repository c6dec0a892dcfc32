"""The folder of an execution: its lock, the processes that belong to it, its removal.

The program below the clock needs it too, so nothing but the standard library is used here.
"""

import contextlib
import fcntl
import os
import re
import shutil
import time
from pathlib import Path

#: What the names of folders of executions begin with.
PREFIX = "harness-execution-"

#: The shared memory of an accelerated clock, as faketime names it.
NAME_OF_CLOCK = re.compile(r"\bfaketime_(?:shm|sem)_\d+\b")


def processes_by_folder() -> dict[str, list[int]]:
    """Return the processes of executions by their folder, which their environment names; without this one."""
    mark = re.compile(rb"SLURM_CONF=(/[^\0]*/%s[^/\0]*)/slurm\.conf" % PREFIX.encode())
    spared = {os.getpid(), os.getppid()}
    found: dict[str, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in spared:
            with contextlib.suppress(OSError):
                for variable in (entry / "environ").read_bytes().split(b"\0"):
                    if match := mark.fullmatch(variable):
                        found.setdefault(os.fsdecode(match[1]), []).append(int(entry.name))
    return found


def locked(folder: Path, how: int) -> int | None:
    """Lock a folder, and return the file descriptor that holds the lock; nothing if another process holds one."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(number, how)
    except BlockingIOError:
        os.close(number)
        return None
    return number


def remove_folder(folder: Path) -> None:
    """Remove the folder of an execution, and the shared memory of its clock, which a killed faketime leaves."""
    with contextlib.suppress(OSError):
        for name in NAME_OF_CLOCK.findall((folder / "clock").read_text()):
            for kind in ("", "sem."):
                Path(f"/dev/shm/{kind}{name}").unlink(missing_ok=True)
    for _ in range(20):  # processes that are being killed may still write
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.1)
