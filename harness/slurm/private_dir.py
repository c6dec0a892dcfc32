"""A folder of one's own, and ports on loopback that nobody uses: where the daemons of an execution live."""

import fcntl
import os
import random
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import HarnessError
from harness.present.words import counted
from harness.slurm.confinement import rights
from harness.slurm.execution_folder import PREFIX, locked, processes_by_folder, remove_folder

#: Below it are ports of known services, and a good deal more.
_LOWEST_PORT = 10240


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a private folder with a short name, as sockets need it, and remove it afterwards.

    A lock on the folder shows other executions that this one lives. The kernel drops the lock with its process.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = locked(folder, fcntl.LOCK_SH)
        if folder.exists():  # no other execution removed it before it was locked
            break
    try:
        yield folder
    finally:
        end_processes(folder)
        remove_folder(folder)
        if lock is not None:
            os.close(lock)


def end_processes(folder: Path) -> int:
    """Kill the processes of an execution, and return how many there were."""
    found: set[int] = set()
    for _ in range(50):
        left = processes_by_folder().get(str(folder), [])
        if not left:
            break
        found.update(left)
        for number in left:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.1)
    return len(found)


def remove_leftovers() -> list[str]:
    """Remove folders and processes of executions whose programs were killed; return a sentence about each.

    Only folders of the caller are removed, and of the user as which root's daemons run. A folder is left over if no
    process holds its lock.
    """
    owners = {os.getuid(), rights().number}
    place = Path(tempfile.gettempdir())
    told = []
    for folder in sorted(place.glob(f"{PREFIX}*")):
        with suppress(OSError):
            if folder.is_symlink() or not folder.is_dir() or folder.lstat().st_uid not in owners:
                continue
            if (lock := locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)) is None:
                continue
            ended = end_processes(folder)
            remove_folder(folder)
            os.close(lock)
            told.append(_told(folder, ended))
    for name, numbers in sorted(processes_by_folder().items()):
        if Path(name).parent == place and not os.path.lexists(name):
            processes = " ".join(map(str, sorted(numbers)))
            told.append(
                f"processes are left of an execution in {name}, a folder that is gone: `kill -9 {processes}` ends them"
            )
    return told


def _told(folder: Path, ended: int) -> str:
    """Return a sentence about a folder that was left over."""
    if folder.exists():
        return f"{folder} is left of an execution that was killed, and cannot be removed: `rm -r {folder}` removes it"
    also = f", and ended {counted(ended, 'program')} of it" if ended else ""
    return f"removed {folder}, which an execution left that was killed{also}"


def free_ports(nodes: int) -> tuple[int, tuple[int, ...]]:
    """Return a port for the controller and a row of ports for the nodes that nobody uses, nor takes for a call."""
    given_out = Path("/proc/sys/net/ipv4/ip_local_port_range")
    highest = int(given_out.read_text(encoding="utf-8").split()[0]) if given_out.exists() else 32768
    highest = highest if highest - nodes > _LOWEST_PORT + 1000 else 65535
    for _ in range(100 if highest - nodes > _LOWEST_PORT else 0):
        first = random.randrange(_LOWEST_PORT, highest - nodes)
        row = range(first, first + nodes + 1)
        if all(map(_is_free, row)):
            return row[0], tuple(row[1:])
    raise HarnessError(f"there are no {nodes + 1} free ports in a row on 127.0.0.1")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
