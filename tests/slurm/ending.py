"""Ending executions before their time, and looking for what they leave behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: Three jobs on four processors; two of them start at once.
FEW = """; MaxProcs: 4
1 0 -1 6000 2 -1 -1 2 9000 -1 1 1 1 -1 1 -1 -1 -1
2 0 -1 6000 2 -1 -1 2 9000 -1 1 1 1 -1 1 -1 -1 -1
3 1 -1 6000 1 -1 -1 1 9000 -1 1 1 1 -1 1 -1 -1 -1
"""


def left_behind(temporary):
    """Folders and processes of executions that are there."""
    return [*temporary.iterdir(), *processes_below(temporary)]


def processes_below(temporary):
    """Processes of executions that live, or have lived, below a folder: their names by their numbers."""
    mark = f"SLURM_CONF={temporary}/".encode()
    entries = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {int(entry.name): name_of(entry) for entry in entries if mark in read(entry / "environ")}


def name_of(entry):
    """The program of a process; `inside` for the one that submits the jobs."""
    words = [os.fsdecode(word) for word in read(entry / "cmdline").split(b"\0")]
    name = words[0].rpartition("/")[2]
    return "inside" if name.startswith("python") and "harness.slurm.cluster_process" in words else name.rstrip(":")


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def started(given, folder, *, before=(), options=(), workload="few.swf"):
    """Start an execution of the configuration `given`; `before` are words before the command."""
    (folder / "few.swf").write_text(FEW)
    command = [sys.executable, "-m", "harness", "execute", workload, "--slurm", given, "--speed", "10"]
    return subprocess.Popen(
        [*(before or command[:3]), *command[3:], *options],
        cwd=folder,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )


def wait_for(process, temporary, *names):
    """Wait until an execution has processes of all these names; return its processes."""
    deadline = time.monotonic() + 120
    while not set(names) <= set((there := processes_below(temporary)).values()):
        if time.monotonic() > deadline or process.poll() is not None:
            process.kill()
            pytest.fail(f"no {names} but {there}: {process.communicate()[1].decode()}")
        time.sleep(0.05)
    return there


def wait_until_none(temporary):
    """Wait until no process of an execution is left."""
    deadline = time.monotonic() + 60
    while processes_below(temporary) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert processes_below(temporary) == {}


def end_it(how, given, folder, temporary, *names, before=(), options=()):
    """End an execution of the configuration `given` when it has processes of these names; nothing stays behind."""
    process = started(given, folder, before=before, options=options)
    wait_for(process, temporary, *names)
    process.send_signal(how)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while left_behind(temporary) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left_behind(temporary) == []
    assert list(folder.glob("*.csv")) == []
