"""A folder of one's own, and ports on loopback that nobody uses: where the daemons of an execution live."""

import random
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import HarnessError

#: Below it are ports of known services, and a good deal more.
_LOWEST_PORT = 10240


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a private folder with a short name, as sockets need it, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="harness-slurm-"))
    try:
        yield folder
    finally:
        for _ in range(20):  # what was killed may still write
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


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
