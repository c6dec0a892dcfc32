"""A reader that goes away changes nothing about the answer that the exit status gives."""

import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = f"{sys.executable} -m harness"


def status(command, tmp_path):
    """What a command exits with whose reader takes nothing."""
    script = f"set -o pipefail; {HARNESS} {command} | true; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)


@pytest.fixture
def overcommitted(tmp_path):
    """A schedule in which two jobs use the one processor at once."""
    text = "job,submit,start,end,procs,estimate\n1,0,0,10,1,10\n2,0,5,15,1,10\n"
    (tmp_path / "over.csv").write_text(text)
    return "over.csv"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("command", ["--help", "run -h", "list measures", "data list", "list orders --format json"])
def test_what_is_fine_stays_fine(command, tmp_path):
    done = status(command, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["--version", "list measures", "list orders --format json"])
def test_a_command_without_an_output_ends_as_with_one(command, closed, tmp_path):
    script = f"{HARNESS} {command} {closed}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_wrong_stays_wrong_without_an_output(tmp_path):
    script = f"{HARNESS} list nothing >&-"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("harness: ")


def test_what_is_wrong_stays_wrong(overcommitted, tmp_path):
    assert status(f"verify {overcommitted} --procs 2", tmp_path).returncode == 0
    assert status(f"verify {overcommitted} --procs 1", tmp_path).returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_output_without_room_is_named(tmp_path):
    words = ["bash", "-c", f"{HARNESS} list measures >/dev/full"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (2, "harness: the output: No space left on device\n")
