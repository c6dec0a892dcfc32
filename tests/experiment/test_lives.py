"""A tournament of three hundred runs, killed and interrupted again and again, by any number of workers: a study.

test_runner.py does the same with twenty kills and smaller fields.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from shared.small_fields import Write

import harness
from harness.experiment.runner import tournament

KILLS, INTERRUPTIONS = 43, 13

#: 300 runs, of some hundredths of a second each.
FIELD = f"""
workloads = ["lublin(jobs=4000, procs=32, seed=1)", "poisson(jobs=3000, procs=16, seed=2)"]
seeds = {list(range(10))}
[[scheduler]]
order = ["fcfs", "spf", "wfp3", "lcfs", "saf"]
start = ["easy", "conservative", "none"]
select = "random"
"""

pytestmark = pytest.mark.study


def finished(folder: Path) -> dict[str, tuple[str, str]]:
    """Which runs are done, and when and by whom."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'store.sqlite'}?mode=ro", uri=True, timeout=60)) as store:
            rows = store.execute("SELECT identity, finished, worker FROM runs WHERE status = 'done'").fetchall()
    except sqlite3.OperationalError:
        return {}  # it was killed before there was a table
    return {identity: (when, who) for identity, when, who in rows}


def life(field: Path, folder: Path, end: signal.Signals, runs: int, pause: float) -> tuple[int, str]:
    """Let the tournament do so many further runs, end it a moment later; return its status and its last words."""
    command = [sys.executable, "-m", "harness", "tournament", str(field), "--out", str(folder), "--workers", "2"]
    before = len(finished(folder))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and len(finished(folder)) < before + runs:
            time.sleep(0.01)
        time.sleep(pause)
        process.send_signal(end)
        said = process.communicate(timeout=120)[1]
    return process.returncode, said


def same(one: Path, other: Path) -> None:
    """Two stores hold the same, to the last digit, but for the time it took."""
    frames = [harness.Results(path).frame().drop(columns="seconds") for path in (one, other)]
    assert len(frames[0]) == 300
    assert (frames[0]["status"] == "done").all()
    pd.testing.assert_frame_equal(*frames, check_exact=True)


def test_kills_and_interruptions_lose_and_repeat_nothing(write: Write, tmp_path: Path) -> None:
    field, folder = write(FIELD), tmp_path / "killed"
    dice = random.Random(13)
    ends = [signal.SIGKILL] * KILLS + [signal.SIGINT] * INTERRUPTIONS
    dice.shuffle(ends)
    done: dict[str, tuple[str, str]] = {}
    for end in ends:
        runs = dice.randint(0, 6)
        status, said = life(field, folder, end, runs, dice.uniform(0, 0.1 if runs else 2))
        if end == signal.SIGINT:
            assert status in (130, -signal.SIGINT), said  # before it is ready for it, Python itself ends
            assert status < 0 or said.splitlines()[-1].startswith("harness: interrupted"), said
        else:
            assert status == -signal.SIGKILL, said
        now = finished(folder)
        assert done.items() <= now.items(), "something finished was lost, or done again"
        done = now
    assert 100 < len(done) < 300, "they were ended too early, or too late"
    tournament(field, folder, workers=3)
    assert done.items() <= finished(folder).items()
    tournament(field, tmp_path / "whole", workers=1)
    same(folder, tmp_path / "whole")


def test_whoever_does_the_runs_gives_the_same(write: Write, tmp_path: Path) -> None:
    """One thread, many, two processes at once, and code compiled for another processor."""
    field = write(FIELD)
    tournament(field, tmp_path / "one", workers=1)
    tournament(field, tmp_path / "five", workers=5)
    same(tmp_path / "one", tmp_path / "five")
    command = [sys.executable, "-m", "harness", "tournament", str(field), "--workers", "2", "--out"]
    both = [subprocess.Popen([*command, str(tmp_path / "two")], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=1200) for process in both] == [0, 0]
    same(tmp_path / "one", tmp_path / "two")
    plain = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    subprocess.run([*command, str(tmp_path / "plain")], env=plain, check=True, stdout=subprocess.DEVNULL, timeout=2400)
    same(tmp_path / "one", tmp_path / "plain")
