"""Ending executions before their time, and looking for what they leave behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest


def left_behind(temporary):
    """Folders and processes of executions that are there."""
    return [*temporary.iterdir(), *processes_below(temporary)]


def processes_below(temporary):
    """Processes of executions that live, or have lived, below a folder."""
    mark = f"SLURM_CONF={temporary}/".encode()
    return [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit() and mark in environment_of(entry)]


def environment_of(entry):
    try:
        return (entry / "environ").read_bytes()
    except OSError:
        return b""


def end_it(how, given, folder, temporary, processes):
    """End an execution of the configuration `given` as soon as it has so many processes; nothing stays behind."""
    command = [sys.executable, "-m", "harness", "execute", "lublin(jobs=50, procs=4)", "--slurm", given]
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.getcwd()}
    )
    deadline = time.monotonic() + 60
    while len(processes_below(temporary)) < processes:
        if time.monotonic() > deadline or process.poll() is not None:
            pytest.fail("the daemons did not start")
        time.sleep(0.2)
    process.send_signal(how)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while left_behind(temporary) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left_behind(temporary) == []
    assert list(folder.glob("*.csv")) == []
