"""Ctrl-C at any instant is one line and status 130."""

import os
import signal
import subprocess
import sys
import time
from os import _exit as posix_exit
from pathlib import Path

import pytest
from calling import Call
from numba.core import config

import harness.cli
from harness.cli import interrupt
from harness.cli.interrupt import forbid_exit_by_plugins
from harness.errors import UnexpectedExitError


def test_before_the_command_begins(harness_says: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(harness.cli, "app", interrupted)
    answer = harness_says("run")
    assert (answer.status, answer.out, answer.err) == (130, "", "harness: interrupted\n")


def test_while_it_works(harness_says: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.workload.log_reading.read_workload", interrupted)
    answer = harness_says("run")
    assert (answer.status, answer.out, answer.err) == (130, "", "harness: interrupted\n")


ENDS = """
import os
import sys

import harness


def {function}:
    {end}


@harness.hookimpl
def read_workload(source, lenient):
    return {read}


@harness.hookimpl
def order_queue():
    return [harness.Order("ends", score, compiled=False)]
"""


@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)"])
@pytest.mark.parametrize("where", ["score", "reader", "import"])
def test_no_plugin_ends_it_without_a_word(harness_says: Call, tmp_path: Path, log: Path, end: str, where: str) -> None:
    read = "score(1, 2)" if where == "reader" else "None"
    text = ENDS.format(function="score(job, clock)", end=end, read=read)
    (tmp_path / "ends.py").write_text(text + (f"\n{end}\n" if where == "import" else ""))
    answer = harness_says("run", log, "--plugins", tmp_path / "ends.py", "--order", "ends", "--format", "json")
    assert (answer.status, answer.out) == (2, "")
    said = {"score": "the policy 'ends' (order_queue)", "reader": "ends.py, line 9", "import": "ends.py, line 21"}
    assert said[where] in answer.err
    assert end in answer.err or "SystemExit: 0" in answer.err
    assert os._exit is posix_exit


def test_a_process_that_was_forked_ends_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(interrupt, "_exit", ended.append)
    with forbid_exit_by_plugins():
        monkeypatch.setattr(os, "getpid", lambda: 0)
        with pytest.raises(UnexpectedExitError):  # nobody ended here
            os._exit(7)
    assert ended == [7]


FOR_EVER = """
import harness


def for_ever(state):
    turns = 0
    while state.clock.now >= 0:
        turns += 1
    harness.start(state, turns)


@harness.hookimpl
def start_jobs():
    return [harness.Start("for-ever", for_ever)]
"""


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("times", [1, 2])
def test_where_compiled_code_goes_on_for_ever(tmp_path: Path, log: Path, times: int) -> None:
    """The first Ctrl-C waits a little for the command to end by itself, the second does not."""
    (tmp_path / "plugin.py").write_text(FOR_EVER)
    said = tmp_path / "said"
    begin = "import signal, sys, harness.cli; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [sys.executable, "-c", begin + "harness.cli.main()", "run", str(log), "--plugins", "plugin.py"]
    with said.open("w") as errors:
        child = subprocess.Popen([*command, "--start", "for-ever"], cwd=tmp_path, stderr=errors, stdout=errors)
    try:
        while not _computes_alone(child.pid):
            assert child.poll() is None, said.read_text()
            time.sleep(0.2)
        for _ in range(times):
            child.send_signal(signal.SIGINT)
            time.sleep(0.5)
        assert child.wait(timeout=30) == 130
    finally:
        child.kill()
    assert said.read_text().splitlines()[-1].startswith("harness: interrupted")


def _computes_alone(pid: int, seconds: float = 3.0) -> bool:
    """Whether the process has compiled everything: for some time it writes no file and reads none."""
    counts = Path(f"/proc/{pid}/io")
    if not counts.exists():
        pytest.skip("there is no /proc to see what a process does")
    before = counts.read_text()
    time.sleep(seconds)
    return before == counts.read_text()
