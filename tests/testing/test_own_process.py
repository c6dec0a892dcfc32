"""A plugin is checked in a process of its own: whatever it does to that, there is a verdict."""

import json
import re
import subprocess
import sys

import pytest
from numba.core import config

from harness.errors import HarnessError
from harness.testing.separate_process import check_plugin

PLUGIN = """
import ctypes, os, signal, sys, threading, time

import numpy as np

import harness

{before}

def score(job, clock):
    {inside}
    return job.submit

def fair(job, clock):
    return job.submit

@harness.hookimpl
def order_queue():
    return [harness.Order("bad", score, compiled={compiled}), harness.Order("fair", fair)]
"""

#: What its function does, and what is said of it; nothing where that does no harm.
DANGEROUS = {
    "os._exit(0)": r"'bad' \(order_queue\) ended the process \(0\), in the check 'runs'",
    "os._exit(3)": r"ended the process \(3\)",
    "os.execvp('true', ['true'])": r"ended the process \(0\)",
    "sys.exit(0)": r"called sys\.exit\(0\)",
    "raise KeyboardInterrupt": "KeyboardInterrupt|ended the process",
    "raise GeneratorExit('enough')": "GeneratorExit|ended the process",
    "os.abort()": "ended the process by signal 6",
    "os.kill(os.getpid(), 9)": "ended the process by signal 9",
    "ctypes.string_at(0)": "ended the process by signal 11",
    "signal.raise_signal(signal.SIGALRM)": "ended the process by signal 14",
    "return score(job, clock)": "RecursionError",
    "bytearray(10**15)": "MemoryError",
    "np.zeros(10**14)": "MemoryError",
    "os.closerange(0, 256)": "OSError|ended the process",
    "job.user = 3": "changed 'user' of a record",
    "print('0 checks passed')": "",
    "sys.stdout = None": "",
    "threading.Thread(target=time.sleep, args=(600,)).start() if threading.active_count() < 9 else 0": "",
    "os.chdir('/')": "",
}


@pytest.fixture
def verdicts(tmp_path):
    """What is said of a plugin with this in its function, and this at its top."""

    def check(inside, *, before="", compiled=False, patience=60.0):
        path = tmp_path / "mine.py"
        path.write_text(PLUGIN.format(inside=inside, before=before, compiled=compiled))
        return check_plugin(str(path), 1, lambda what: None, patience)

    return check


@pytest.mark.slow
def test_who_wants_more_memory_than_there_is_fails_and_the_others_are_checked(verdicts):
    bad, fair = verdicts("pass", compiled="True, memory=10**14")
    assert (bad.failed, fair.failed) == ("runs", "")
    assert re.search(r"'bad' \(order_queue\) cannot be prepared: .*MemoryError", bad.why)


@pytest.mark.slow
@pytest.mark.parametrize("inside", DANGEROUS)
def test_who_harms_the_process_fails_and_the_others_are_checked(verdicts, inside):
    bad, fair = verdicts(inside)
    assert (bad.policy, bad.failed) == ("bad", "runs" if DANGEROUS[inside] else "")
    assert re.search(DANGEROUS[inside], bad.why)
    assert "Traceback" not in bad.why
    assert fair.failed == ""
    assert fair.passed == fair.of > 3


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("inside", "compiled"),
    [("while job.procs > 0: pass", True), ("while True: pass", False), ("time.sleep(1e6)", False)],
)
def test_who_never_comes_back_fails(verdicts, inside, compiled):
    bad, fair = verdicts(inside, compiled=compiled, patience=25.0)
    assert bad.failed == "runs"
    assert "does not return: no answer for 25 s" in bad.why
    assert fair.failed == ""


@pytest.mark.parametrize(
    ("before", "words"),
    [("os._exit(0)", "ended the process .0. while it was loaded"), ("sys.exit(3)", "SystemExit: 3")],
)
def test_who_ends_it_while_it_is_loaded_is_refused(verdicts, before, words):
    with pytest.raises(HarnessError, match=words):
        verdicts("pass", before=before)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("inside", "status"), [("os._exit(0)", 1), ("os.abort()", 1), ("print('0 passes')", 0)])
def test_the_command_says_so_and_ends_well(tmp_path, inside, status):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN.format(inside=inside, before="", compiled=False))
    command = [sys.executable, "-m", "harness", "plugin", "check", str(path), "--examples", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    assert len(re.findall("^(bad|fair) ", done.stdout, re.MULTILINE)) == 2
    assert "0 passes" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_what_a_plugin_prints_is_no_part_of_the_answer(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN.format(inside="print('in a policy')", before="print('at its top')", compiled=False))
    command = [sys.executable, "-m", "harness", "run", "lublin(jobs=5)", "--plugins", path, "--order", "bad"]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=120)

    assert json.loads(done.stdout)["measures"]["accepted"] == 5
    assert "in a policy" in done.stderr
    assert "at its top" in done.stderr


@pytest.mark.slow
def test_a_policy_may_be_called_as_the_end_is(tmp_path):
    """What the other process says is read, not searched for words."""
    path = tmp_path / "over.py"
    path.write_text(PLUGIN.format(before="", inside="pass", compiled=True).replace('"bad"', '"over"'))
    found = check_plugin(str(path), 1, lambda _: None, patience=60)
    assert [checked.policy for checked in found] == ["over", "fair"]
