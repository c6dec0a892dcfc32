"""Answers and helps fit a terminal of 80 columns, or fold between words: a real one, and what takes itself for one."""

import fcntl
import itertools
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from calling import Call

WIDTH = 80

TUNE = """objectives = ["mean_bounded_slowdown", "max_wait"]
workloads = ["lublin(jobs=60, seed=1)", "lublin(jobs=60, seed=2)", "lublin(jobs=60, seed=3)"]
held_out = ["lublin(jobs=60, seed=4)", "lublin(jobs=60, seed=5)", "lublin(jobs=60, seed=6)"]
[[scheduler]]
order = "wfp3(power=0.5..5)"
start = "easy(reservations=1..4)"
"""

FIELD = """workloads = ["lublin(jobs=90, seed=1)", "lublin(jobs=90, seed=2)"]
[[scheduler]]
order = ["fcfs", "wfp3(power=2)"]
start = ["none", "easy(reservations=2, backfill_order=spf)"]
"""

COMMANDS = {
    "run": ["sacct.txt", "--procs", "128", "--from", "2026-03-03", "--order", "multifactor(age=500, size=200)"],
    "compare": [
        "sacct.txt",
        "fcfs + easy",
        "wfp3(power=2) + easy(reservations=2)",
        "--procs",
        "128",
        "--resample",
        "6",
    ],
    "tournament": ["field.toml", "--workers", "1"],
    "adequacy": ["sacct.txt", "--procs", "128", "--repetitions", "2"],
    "tune": ["tune.toml", "--trials", "6", "--workers", "1"],
    "forecast": ["sacct.txt", "--at", "2026-03-05", "--procs", "128", "--repetitions", "3"],
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness_says: Call) -> None:
    monkeypatch.chdir(tmp_path)
    harness_says("data", "example", "sacct.txt", "--jobs", 300)
    Path("tune.toml").write_text(TUNE)
    Path("field.toml").write_text(FIELD)


def too_long(text: str) -> list[str]:
    """Return the lines that a terminal would break; commands to be copied may be as long as they are."""
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n").split("\n")
    return [line for line in lines if len(line.rpartition("\r")[2]) > WIDTH and not line.startswith("    ")]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_takes_itself_for_a_terminal_is_told_in_its_width(
    command: str, harness_says: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    told = harness_says(command, *COMMANDS[command])
    assert told.status == 0, told.err
    assert len(told.out.splitlines()) > 5
    assert too_long(told.out) == []
    assert max(map(len, told.out.splitlines())) > WIDTH // 2


@pytest.mark.parametrize("command", COMMANDS)
def test_helps_are_filled(command: str, harness_says: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line of a paragraph ends before the next word would have fitted on it."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    told = harness_says(command, "--help").out
    assert too_long(told) == []
    said = told[: told.index("╭")].splitlines()
    for line, following in itertools.pairwise(said):
        if line.strip() and following.strip() and "Usage" not in line and "harness" not in following:
            assert len(line.rstrip()) + 1 + len(following.split()[0]) > WIDTH - 2


def test_a_real_terminal_is_told_in_its_width() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [sys.executable, "-m", "harness", "run", *COMMANDS["run"]], stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        told = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # as Linux says that nobody writes any more
                break
            if not piece:
                break
            told += piece
    os.close(ours)
    assert process.returncode == 0
    assert "mean_wait" in told.decode()
    assert too_long(told.decode()) == []
